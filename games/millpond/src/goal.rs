//! The next destination of a player: the jetty for the towed thing, or the nearest wanted thing.
//!
//! `stage::arrow` points at it and bots row to it. Absent: state of its own.

use crate::ledger::{BELL, PADDLES, WISHES};
use crate::pond::Pond;
use crate::water::{self, Vec2};

/// Destination of a seat's boat; none if nothing is left to do.
pub fn goal(pond: &Pond, seat: usize) -> Option<Vec2> {
    let boat = pond.boats.get(seat).copied().flatten()?;
    if pond.ledger.done {
        return None;
    }
    let wanted = |wish: &usize| pond.ledger.wanted(*wish) > 0;
    if let Some(towed) = boat.tow.and_then(|id| pond.find(id)) {
        let wish = (0..WISHES.len()).filter(wanted).find(|wish| WISHES[*wish].sort == towed.thing.sort)?;
        return Some(WISHES[wish].place());
    }
    let nearest = |places: &mut dyn Iterator<Item = Vec2>| {
        places.min_by_key(|place| water::length(water::offset(boat.place, *place)))
    };
    let free = |wish: usize| {
        let things = pond.floating.iter().filter(|floating| !floating.held).map(|floating| floating.thing);
        things.filter(move |thing| thing.sort == WISHES[wish].sort).map(|thing| thing.place)
    };
    // The bell and the sluice take two boats, so they come last.
    nearest(&mut (0..BELL).filter(wanted).flat_map(free))
        .or_else(|| nearest(&mut [BELL].into_iter().filter(wanted).flat_map(free)))
        .or_else(|| {
            let paddles = PADDLES.iter().filter(|_| !pond.ledger.sluiced);
            nearest(&mut paddles.map(|(x, y)| water::at(*x, *y)))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boat::Boat;
    use crate::pond::Alone;
    use crate::thing::{Sort, Thing};

    #[test]
    fn goal_is_wanted_thing_then_its_jetty_then_sluice() {
        let (mut pond, mut hands) = (Pond::new(1), Alone::default());
        pond.boats[2] = Some(Boat { place: water::at(300, 400), ..Boat::moored(2) });
        assert_eq!(goal(&pond, 0), None, "a seat without a boat has a goal");
        pond.put(Thing::new(Sort::Log, water::at(310, 400)), &mut hands);
        pond.put(Thing::new(Sort::Crate, water::at(700, 400)), &mut hands);
        let near = pond.put(Thing::new(Sort::Barrel, water::at(350, 400)), &mut hands);
        assert_eq!(goal(&pond, 2), Some(water::at(350, 400)), "the goal is not the crate");
        pond.boats[2] = pond.boats[2].map(|boat| Boat { tow: near, ..boat });
        assert_eq!(goal(&pond, 2), Some(WISHES[1].place()));
        pond.ledger.brought[1] = WISHES[1].count;
        assert_eq!(goal(&pond, 2), None, "an unwanted thing in tow has a goal");
        pond.boats[2] = pond.boats[2].map(|boat| Boat { tow: None, ..boat });
        assert_eq!(goal(&pond, 2), Some(water::at(700, 400)));
        pond.ledger.brought = WISHES.map(|wish| wish.count);
        assert_eq!(goal(&pond, 2), Some(water::at(PADDLES[1].0, PADDLES[1].1)));
        pond.ledger.done = true;
        assert_eq!(goal(&pond, 2), None);
    }
}
