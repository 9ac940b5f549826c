//! Whether things came to where they are as things do. Whoever has something moves it, so he could
//! put it anywhere, or say that there is more of it; and anybody could put new things on the pond.
//! Whoever leads does not believe that, and in the end undoes it.

use std::collections::BTreeMap;

use gaggle_kit::Fixed16;
use gaggle_replica::ObjectId;

use crate::boat::{self, Boat};
use crate::thing::{self, Sort, Thing};
use crate::water::{self, RATE, SEATS, Vec2};

/// Frames of its way somebody may be behind with telling, on the worst of lines.
const FRAMES_MAX: i32 = 90;
/// Pixels that rounding, being shoved, and another's view of where it was when it changed hands can
/// add.
const SLACK: Fixed16 = Fixed16::from_int(30);
/// A quarter more than things and boats are moved by themselves: they are shoved, too.
const TOLERANCE: (i32, i32) = (5, 4);
/// Pixels a second the bell can be moved by one alone.
const BELL_SPEED: i32 = 40;
/// Pixels from it within which two boats must be to move it faster.
const BELL_REACH: i32 = 90;
/// Frames after which what is not believed is undone: what explains it would have come.
const DOUBT_MAX: u16 = 180;
/// Frames for which a boat that leapt holds no paddle.
const BOAT_DOUBT: u16 = 900;
/// Frames for which what was taken from a stack, or is to be put on one, is looked for.
const LOOSE_FRAMES: u16 = 180;
/// Pixels from where it was within which it can turn up.
const LOOSE_REACH: i32 = 120;
/// Most that can be on its way between stacks.
const LOOSE_MAX: usize = 64;

/// What a frame adds to what can have been done at this speed.
fn per_frame(speed: i32) -> Fixed16 {
    Fixed16::from_ratio(speed * TOLERANCE.0, RATE * TOLERANCE.1)
}

/// How far something can have come.
#[derive(Debug, Clone, Copy)]
struct Way {
    place: Vec2,
    credit: Fixed16,
}

impl Way {
    /// From here, by somebody who may have been on his way for a while.
    fn from(place: Vec2, speed: i32) -> Way {
        Way { place, credit: per_frame(speed) * FRAMES_MAX }
    }

    /// A frame later it is said to be there. Whether it can be; if not it is still where it was.
    fn leads_to(&mut self, there: Vec2, speed: i32) -> bool {
        let gained = per_frame(speed);
        self.credit = (self.credit + gained).min(gained * FRAMES_MAX).max(-SLACK);
        let far = water::length(water::offset(self.place, there));
        let can_be = far <= self.credit + SLACK;
        if can_be {
            (self.place, self.credit) = (there, self.credit - far);
        }
        can_be
    }
}

/// What is believed of a thing.
#[derive(Debug, Clone, Copy)]
struct Trail {
    way: Way,
    sort: Sort,
    /// How many stand on one another. None, if nobody knows where it came from.
    count: u8,
    /// For how many frames something else has been said.
    doubt: u16,
    /// It was moved by this machine.
    here: bool,
}

/// One that is not where it was: taken from a stack, or off the water to be put on one.
#[derive(Debug, Clone, Copy)]
struct Loose {
    sort: Sort,
    way: Way,
    left: u16,
}

/// What whoever leads believes.
#[derive(Debug, Clone, Default)]
pub(super) struct Watch {
    trails: BTreeMap<ObjectId, Trail>,
    loose: Vec<Loose>,
    boats: [Option<(Way, u16)>; SEATS],
}

/// Something that is said to be on the pond.
#[derive(Debug, Clone, Copy)]
pub(super) struct Said {
    pub(super) id: ObjectId,
    /// As it was said, not as it is shown.
    pub(super) thing: Thing,
    /// It is moved by this machine.
    pub(super) here: bool,
    /// Whether it is believed if nothing was known of it: it was made by this machine, or was here
    /// before that led.
    pub(super) known: bool,
}

impl Watch {
    /// Forgets everything: somebody else leads.
    pub(super) fn forget(&mut self) {
        *self = Watch::default();
    }

    /// Whether a thing is what and where it is said to be.
    pub(super) fn believes(&self, id: ObjectId) -> bool {
        self.trails.get(&id).is_some_and(|trail| trail.doubt == 0)
    }

    /// Whether the boat of a seat came to where it is as boats do.
    pub(super) fn believes_boat(&self, seat: usize) -> bool {
        self.boats.get(seat).copied().flatten().is_some_and(|(_, doubt)| doubt == 0)
    }

    /// What was said long enough without being believed, and what should be there instead, if
    /// anything.
    pub(super) fn wrongs(&self) -> Vec<(ObjectId, Option<Thing>)> {
        let wrong = self.trails.iter().filter(|(_, trail)| trail.doubt >= DOUBT_MAX);
        let instead = |trail: &Trail| {
            let right = Thing { count: trail.count, ..Thing::new(trail.sort, trail.way.place) };
            (trail.count > 0).then_some(right)
        };
        wrong.map(|(id, trail)| (*id, instead(trail))).collect()
    }

    /// This machine took it off the pond: nobody may look for it.
    pub(super) fn drop(&mut self, id: ObjectId) {
        self.trails.remove(&id);
    }

    /// A frame later this is said to be on the pond, in the order of ids.
    pub(super) fn step(&mut self, said: &[Said], boats: &[Option<Boat>; SEATS]) {
        self.loose.retain_mut(|loose| {
            loose.left -= 1;
            loose.left > 0
        });
        self.step_boats(boats);
        let gone: Vec<ObjectId> =
            self.trails.keys().copied().filter(|id| find(said, *id).is_none()).collect();
        for id in gone {
            if let Some(trail) = self.trails.remove(&id) {
                self.loosen(&trail, trail.count);
            }
        }
        // What was taken away first: it may be what was put elsewhere in the same frame.
        for Said { id, thing, .. } in said {
            if let Some(trail) = self.trails.get(id).copied().filter(|trail| trail.count > thing.count) {
                self.loosen(&trail, trail.count - thing.count);
                self.trails.insert(*id, Trail { count: thing.count, ..trail });
            }
        }
        for said in said {
            let trail = self.trails.get(&said.id).copied();
            let trail = self.follow(said, trail, boats);
            self.trails.insert(said.id, trail);
        }
    }

    fn follow(&mut self, said: &Said, before: Option<Trail>, boats: &[Option<Boat>; SEATS]) -> Trail {
        let Said { thing, here, known, .. } = *said;
        let speed = speed_of(&thing, boats);
        let nothing =
            Trail { way: Way::from(thing.place, speed), sort: thing.sort, count: 0, doubt: 0, here };
        let mut trail = before.unwrap_or(nothing);
        while trail.count < thing.count
            && let Some(found) = self.find_loose(thing.sort, trail.way.place)
        {
            // A new one goes on from where it was taken; what is put on another is where that is.
            if trail.count == 0 {
                trail.way = found.way;
            }
            trail.count += 1;
        }
        if before.is_none() && known {
            return Trail { count: thing.count, ..nothing };
        }
        // Whoever leads knows where it moves something; but not that it came before his bow as
        // things do.
        if here && trail.here && trail.doubt == 0 {
            trail.way.place = thing.place;
        }
        trail.here = here;
        let so = trail.count == thing.count && trail.sort == thing.sort;
        let there = trail.count > 0 && trail.way.leads_to(thing.place, speed);
        trail.doubt = if so && there { 0 } else { trail.doubt.saturating_add(1) };
        trail
    }

    fn step_boats(&mut self, boats: &[Option<Boat>; SEATS]) {
        for (known, boat) in self.boats.iter_mut().zip(boats) {
            *known = boat.map(|boat| {
                let Some((mut way, doubt)) = *known else {
                    return (Way::from(boat.place, boat::SPEED_MAX), 0);
                };
                match way.leads_to(boat.place, boat::SPEED_MAX) {
                    true => (way, doubt.saturating_sub(1)),
                    false => (Way { place: boat.place, credit: Fixed16::ZERO }, BOAT_DOUBT),
                }
            });
        }
    }

    /// Some of a thing are not where they were.
    fn loosen(&mut self, trail: &Trail, count: u8) {
        for _ in 0..count {
            if self.loose.len() == LOOSE_MAX {
                self.loose.remove(0);
            }
            self.loose.push(Loose { sort: trail.sort, way: trail.way, left: LOOSE_FRAMES });
        }
    }

    /// One of a sort that was near a place a moment ago.
    fn find_loose(&mut self, sort: Sort, place: Vec2) -> Option<Loose> {
        let fits =
            |loose: &Loose| loose.sort == sort && water::is_within(loose.way.place, place, LOOSE_REACH);
        let found = self.loose.iter().position(fits)?;
        Some(self.loose.remove(found))
    }
}

fn find(said: &[Said], id: ObjectId) -> Option<&Said> {
    said.binary_search_by_key(&id, |said| said.id).ok().map(|place| &said[place])
}

/// How fast something can be moved.
fn speed_of(thing: &Thing, boats: &[Option<Boat>; SEATS]) -> i32 {
    let at_it = boats.iter().flatten().filter(|boat| water::is_within(boat.place, thing.place, BELL_REACH));
    if thing.sort == Sort::Bell && at_it.count() < 2 { BELL_SPEED } else { thing::SPEED_MAX }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOBODY: [Option<Boat>; SEATS] = [None; SEATS];

    fn said(id: u64, sort: Sort, x: i32, count: u8) -> Said {
        let thing = Thing { count, ..Thing::new(sort, water::at(x, 300)) };
        Said { id: ObjectId::from_bits(id), thing, here: false, known: false }
    }

    /// A watch that believes this.
    fn believing(all: &[Said]) -> Watch {
        let mut watch = Watch::default();
        let all: Vec<Said> = all.iter().map(|said| Said { known: true, ..*said }).collect();
        watch.step(&all, &NOBODY);
        watch
    }

    fn believed(watch: &mut Watch, all: &[Said], frames: u16) -> Vec<bool> {
        (0..frames).for_each(|_| watch.step(all, &NOBODY));
        all.iter().map(|said| watch.believes(said.id)).collect()
    }

    #[test]
    fn unknown_thing_is_rejected_and_removed() {
        let mut watch = believing(&[said(1, Sort::Crate, 100, 1)]);
        let all = [said(1, Sort::Crate, 100, 1), said(2, Sort::Crate, 120, 4)];
        assert_eq!(believed(&mut watch, &all, 1), [true, false]);
        assert!(watch.wrongs().is_empty(), "what explains it may be on its way");
        assert_eq!(believed(&mut watch, &all, DOUBT_MAX), [true, false]);
        assert_eq!(watch.wrongs(), [(all[1].id, None)]);
    }

    #[test]
    fn a_leap_is_put_back_and_so_is_one_in_small_steps() {
        let (here, there) = (said(1, Sort::Crate, 100, 1), said(1, Sort::Crate, 700, 1));
        let mut watch = believing(&[here]);
        assert_eq!(believed(&mut watch, &[there], DOUBT_MAX), [false]);
        assert_eq!(watch.wrongs(), [(here.id, Some(here.thing))]);
        // Two hundred pixels a second, told in steps that nobody would notice.
        let mut watch = believing(&[here]);
        let found = (0..300).any(|frame| {
            let x = 100 + frame * 10 / 3;
            !believed(&mut watch, &[said(1, Sort::Crate, x, 1)], 1)[0]
        });
        assert!(found);
        let mut watch = believing(&[here]);
        let rowed =
            (0..480).all(|frame| believed(&mut watch, &[said(1, Sort::Crate, 100 + frame * 3 / 2, 1)], 1)[0]);
        assert!(rowed, "as fast as a boat goes");
    }

    #[test]
    fn leap_toward_bow_of_leader_is_rejected() {
        let (here, there) = (said(1, Sort::Crate, 100, 1), said(1, Sort::Crate, 700, 1));
        let mine = |said: Said| Said { here: true, ..said };
        // He bumps into it at once, or later.
        for frames in [0, 20] {
            let mut watch = believing(&[here]);
            believed(&mut watch, &[there], frames);
            assert_eq!(believed(&mut watch, &[mine(there)], DOUBT_MAX), [false]);
            assert_eq!(watch.wrongs(), [(here.id, Some(here.thing))]);
        }
        // What was where it should be he may take anywhere.
        let mut watch = believing(&[here]);
        let all = (0..200).map(|step| mine(said(1, Sort::Crate, 100 + step * 3, 1)));
        assert!(all.into_iter().all(|said| believed(&mut watch, &[said], 1)[0]));
    }

    #[test]
    fn stacking_is_believed_in_any_order_of_packets() {
        let apart = [said(1, Sort::Barrel, 100, 1), said(2, Sort::Barrel, 115, 2)];
        let stacked = [said(2, Sort::Barrel, 115, 3)];
        let mut watch = believing(&apart);
        assert_eq!(believed(&mut watch, &stacked, 1), [true]);
        // One is taken again; that the stack is lower is told later.
        let late = [said(2, Sort::Barrel, 115, 3), said(3, Sort::Barrel, 140, 1)];
        assert_eq!(believed(&mut watch, &late, 30), [true, false]);
        let told = [said(2, Sort::Barrel, 115, 2), said(3, Sort::Barrel, 150, 1)];
        assert_eq!(believed(&mut watch, &told, 1), [true, true]);
        // And the other way about.
        let mut watch = believing(&stacked);
        let lower = [said(2, Sort::Barrel, 115, 2)];
        assert_eq!(believed(&mut watch, &lower, 30), [true]);
        assert_eq!(believed(&mut watch, &told, 1), [true, true]);
    }

    #[test]
    fn forged_count_kind_or_copy_of_thing_is_rejected() {
        let lily = said(1, Sort::Lily, 100, 1);
        let crate_ = said(2, Sort::Crate, 150, 1);
        let mut watch = believing(&[lily, crate_]);
        let lies = [said(1, Sort::Crate, 100, 1), said(2, Sort::Crate, 150, 4)];
        assert_eq!(believed(&mut watch, &lies, DOUBT_MAX), [false, false]);
        assert_eq!(watch.wrongs(), [(lily.id, Some(lily.thing)), (crate_.id, Some(crate_.thing))]);
        // Deleted here, made there.
        let mut watch = believing(&[lily, crate_]);
        assert_eq!(believed(&mut watch, &[lily, said(3, Sort::Crate, 600, 1)], 10), [true, false]);
        // Delivered: it is not anybody's to make again.
        let mut watch = believing(&[lily, crate_]);
        watch.drop(crate_.id);
        assert_eq!(believed(&mut watch, &[lily, said(3, Sort::Crate, 150, 1)], 10), [true, false]);
    }

    #[test]
    fn the_bell_takes_two_whatever_one_says() {
        // Three pixels in every two frames, with so many boats beside it.
        let moves = |beside: usize| {
            let bell = said(1, Sort::Bell, 200, 1);
            let mut watch = believing(&[bell]);
            (0..300).all(|frame| {
                let mut boats = NOBODY;
                for (seat, boat) in boats.iter_mut().enumerate().take(beside) {
                    *boat = Some(Boat { place: water::at(230 + frame * 3 / 2, 300), ..Boat::moored(seat) });
                }
                watch.step(&[said(1, Sort::Bell, 200 + frame * 3 / 2, 1)], &boats);
                watch.believes(bell.id)
            })
        };
        assert!(!moves(0) && !moves(1) && moves(2));
    }

    #[test]
    fn a_boat_that_leaps_is_not_there_for_a_while() {
        let at = |x| {
            let mut boats = NOBODY;
            boats[2] = Some(Boat { place: water::at(x, 200), ..Boat::moored(2) });
            boats
        };
        let mut watch = Watch::default();
        for x in 100..300 {
            watch.step(&[], &at(x));
        }
        assert!(watch.believes_boat(2) && !watch.believes_boat(1));
        watch.step(&[], &at(800));
        assert!(!watch.believes_boat(2));
        (0..BOAT_DOUBT).for_each(|_| watch.step(&[], &at(800)));
        assert!(watch.believes_boat(2));
    }
}
