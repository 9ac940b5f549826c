//! The leader's rules: deliveries, sluice, end of the day, and enough things on the pond.
//!
//! `net::mill` calls it at the leader, `attract` and tutorials without a network. Absent: how a
//! peer's report is checked.

use crate::ledger::{
    BELL, DAY_FRAMES, JETTY_REACH, Ledger, PADDLE_FRAMES, PADDLE_REACH, PADDLES, SLUICE_FRAMES, WISHES,
};
use crate::mark::{Mark, NOBODY, What};
use crate::pond::{Floating, Hands, LITTER, Pond, free_place};
use crate::thing::{ADRIFT, Sort, Thing};
use crate::water::{self, Vec2};

/// A reported fact that the leader may not believe.
#[derive(Debug, Clone, Copy)]
pub enum Word<'a> {
    /// The thing has the reported sort, count and place.
    Thing(&'a Floating),
    /// The boat of the seat is at its reported place.
    Boat(usize),
    /// The boat named in the thing's `by` moved it.
    Mover(&'a Floating),
}

/// Counters of the leader. Not replicated: the next leader starts them at zero.
#[derive(Debug, Clone, Default)]
pub struct Keeper {
    paddles: u8,
    open: u16,
    done: u16,
}

impl Keeper {
    /// Plays one frame. `honest` says whether a report is believed.
    pub fn step(&mut self, pond: &mut Pond, hands: &mut impl Hands, honest: impl Fn(Word<'_>) -> bool) {
        self.sluice(pond, &honest);
        self.deliveries(pond, hands, &honest);
        if pond.ledger.complete() && !pond.ledger.done {
            pond.ledger.done = true;
            self.done = 0;
            pond.mark(Mark::at(What::Day, NOBODY, water::at(512, 288), 0));
        }
        if pond.ledger.done {
            self.done += 1;
            if self.done >= DAY_FRAMES {
                let Ledger { day, open, credit, .. } = pond.ledger;
                pond.ledger = Ledger { day: day.wrapping_add(1), open, credit, ..Ledger::default() };
                // The new day wants the bell again.
                if !pond.floating.iter().any(|floating| floating.thing.sort == Sort::Bell) {
                    more(pond, Sort::Bell, hands);
                }
            }
        }
    }

    /// Opens the sluice when boats have held both paddles for a second.
    fn sluice(&mut self, pond: &mut Pond, honest: &impl Fn(Word<'_>) -> bool) {
        let held = |paddle: (i32, i32)| {
            let at = water::at(paddle.0, paddle.1);
            let mut boats = pond.boats.iter().enumerate().filter_map(|(seat, boat)| Some((seat, (*boat)?)));
            boats.any(|(seat, boat)| {
                water::is_within(boat.place, at, PADDLE_REACH) && honest(Word::Boat(seat))
            })
        };
        let both = PADDLES.iter().all(|paddle| held(*paddle));
        self.paddles = if both { self.paddles.saturating_add(1) } else { 0 };
        if self.paddles == PADDLE_FRAMES && !pond.ledger.open {
            (pond.ledger.open, pond.ledger.sluiced) = (true, true);
            self.open = SLUICE_FRAMES;
            pond.mark(Mark::at(What::Sluice, NOBODY, water::at(PADDLES[0].0, water::RACE), 0));
        }
        self.open = self.open.saturating_sub(1);
        if self.open == 0 {
            pond.ledger.open = false;
        }
    }

    fn deliveries(&mut self, pond: &mut Pond, hands: &mut impl Hands, honest: &impl Fn(Word<'_>) -> bool) {
        for (number, wish) in WISHES.iter().enumerate() {
            if pond.ledger.wanted(number) == 0 {
                continue;
            }
            let brought = pond.floating.iter().find(|floating| {
                floating.thing.sort == wish.sort
                    && !floating.held
                    && water::is_within(floating.thing.place, wish.place(), JETTY_REACH)
                    && honest(Word::Thing(floating))
            });
            let Some(floating @ Floating { id, thing, .. }) = brought.copied() else { continue };
            let by = if honest(Word::Mover(&floating)) { thing.by } else { ADRIFT };
            if !hands.delete(id) {
                continue;
            }
            pond.floating.retain(|floating| floating.id != id);
            let ledger = &mut pond.ledger;
            ledger.brought[number] = ledger.brought[number].saturating_add(thing.count).min(wish.count);
            if let Some(credit) = ledger.credit.get_mut(usize::from(by)) {
                *credit = credit.saturating_add(thing.count);
            }
            let what = if wish.sort == Sort::Bell { What::Bell } else { What::Delivered };
            let who = if by == ADRIFT { NOBODY } else { by };
            pond.mark(Mark::at(what, who, wish.place(), thing.sort as u8));
            self.trade(pond, wish.place(), wish.gift, hands);
            for _ in 0..thing.count {
                if thing.sort != Sort::Bell {
                    more(pond, thing.sort, hands);
                }
            }
        }
    }

    /// Adds one thing of a wanted sort if too few are afloat; called once a second, because a
    /// partition may have lost some.
    pub fn restock(&self, pond: &mut Pond, hands: &mut impl Hands) {
        let afloat = |sort: Sort| {
            let all = pond.floating.iter().filter(|floating| floating.thing.sort == sort);
            all.map(|floating| usize::from(floating.thing.count)).sum::<usize>()
        };
        let bell = usize::from(pond.ledger.wanted(BELL) > 0);
        let stock = LITTER.into_iter().filter(|(sort, _)| WISHES.iter().any(|wish| wish.sort == *sort));
        let wanted = stock.map(|(sort, count)| (sort, if sort == Sort::Bell { bell } else { count }));
        let missing = wanted.filter(|(sort, count)| afloat(*sort) < *count).map(|(sort, _)| sort).next();
        if let Some(sort) = missing {
            more(pond, sort, hands);
        }
    }

    /// Puts the gift for a delivery on the water beside the jetty.
    fn trade(&mut self, pond: &mut Pond, jetty: Vec2, gift: Sort, hands: &mut impl Hands) {
        let out = water::direction(water::offset(jetty, water::at(512, 320)));
        let place =
            water::add(jetty, water::from_polar(out, gaggle_kit::Fixed16::from_int(JETTY_REACH + 14)));
        let velocity = water::from_polar(out, gaggle_kit::Fixed16::from_int(20));
        pond.put(Thing { velocity, ..Thing::new(gift, place) }, hands);
        // A lily is removed, so that the pond does not fill up.
        let lily = pond.floating.iter().find(|floating| floating.thing.sort == Sort::Lily && floating.mine);
        if let Some(id) = lily.map(|floating| floating.id)
            && hands.delete(id)
        {
            pond.floating.retain(|floating| floating.id != id);
        }
    }
}

/// Adds a thing of a sort at a free place.
fn more(pond: &mut Pond, sort: Sort, hands: &mut impl Hands) {
    let things: Vec<Thing> = pond.floating.iter().map(|floating| floating.thing).collect();
    let place = free_place(&things, sort, &mut pond.random);
    pond.put(Thing::new(sort, place), hands);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boat::Boat;
    use crate::pad::Pad;
    use crate::pond::Alone;

    /// Credit by seat after the delivery of a crate that `by` is said to have moved.
    fn credited(by: u8, honest: bool) -> [u8; water::SEATS] {
        let (mut pond, mut hands) = (Pond::new(1), Alone::default());
        let thing = Thing { by, ..Thing::new(Sort::Crate, WISHES[0].place()) };
        pond.put(thing, &mut hands);
        let believes = |word: Word<'_>| honest || !matches!(word, Word::Mover(_));
        Keeper::default().step(&mut pond, &mut hands, believes);
        assert_eq!(pond.ledger.brought[0], 1);
        pond.ledger.credit
    }

    #[test]
    fn credit_is_for_last_boat_that_moved_thing() {
        assert_eq!(credited(2, true), [0, 0, 1, 0, 0, 0]);
        assert_eq!(credited(ADRIFT, true), [0; water::SEATS], "a drifting thing was credited");
        assert_eq!(credited(2, false), [0; water::SEATS], "a false mover was credited");
    }

    #[test]
    fn boat_that_pushes_through_another_thing_moved_it() {
        let (mut pond, mut hands) = (Pond::new(1), Alone::default());
        pond.boats[3] = Some(Boat { place: water::at(300, 400), ..Boat::moored(3) });
        let near = pond.put(Thing::new(Sort::Log, water::at(300, 380)), &mut hands).unwrap();
        let far = pond.put(Thing::new(Sort::Crate, water::at(300, 360)), &mut hands).unwrap();
        for _ in 0..120 {
            pond.frame += 1;
            pond.row(3, Pad { up: true, ..Pad::NONE }, &mut hands);
            pond.float(&mut hands);
        }
        assert_eq!([near, far].map(|id| pond.find(id).unwrap().thing.by), [3, 3]);
    }
}
