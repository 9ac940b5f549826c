//! Plausibility check of things and boats that other peers move: place, speed, sort and count.
//!
//! `Mill` steps it at the leader and removes what it rejects for long enough. It tracks each thing,
//! and those that left a stack and may turn up again. Absent: deliveries, credit.

use std::collections::BTreeMap;

use gaggle_kit::Fixed16;
use gaggle_replica::ObjectId;

use crate::boat::{self, Boat};
use crate::thing::{self, Sort, Thing};
use crate::water::{self, RATE, SEATS, Vec2};

/// Frames of motion a report may be late by on a very bad link.
const FRAMES_MAX: i32 = 90;
/// Pixels for rounding, for pushes, and for the different view of a peer that takes over a thing.
const SLACK: Fixed16 = Fixed16::from_int(30);
/// A quarter above the rules' speeds: things and boats are also pushed.
const TOLERANCE: (i32, i32) = (5, 4);
/// Bound of the bell's speed with one boat, in pixels per second.
const BELL_SPEED: i32 = 40;
/// Distance at which two boats may move the bell faster, in pixels.
const BELL_REACH: i32 = 90;
/// Frames after which a report without explanation is undone: the explanation may be late.
const DOUBT_MAX: u16 = 180;
/// Frames for which a boat that leapt cannot hold a paddle.
const BOAT_DOUBT: u16 = 900;
/// Frames for which a thing that left a stack or the pond is searched for.
const LOOSE_FRAMES: u16 = 180;
/// Distance from its last place at which it may turn up, in pixels.
const LOOSE_REACH: i32 = 120;
/// Missing things tracked at most.
const LOOSE_MAX: usize = 64;

/// Distance allowed per frame at a speed, with the tolerance.
fn per_frame(speed: i32) -> Fixed16 {
    Fixed16::from_ratio(speed * TOLERANCE.0, RATE * TOLERANCE.1)
}

/// Bound on the motion of something since its last believed place.
#[derive(Debug, Clone, Copy)]
struct Way {
    place: Vec2,
    credit: Fixed16,
}

impl Way {
    /// Starts at a place, with the allowance of a late report.
    fn from(place: Vec2, speed: i32) -> Way {
        Way { place, credit: per_frame(speed) * FRAMES_MAX }
    }

    /// Adds a frame's allowance. Returns whether `there` is possible; if not, the place stays.
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

/// Believed state of one thing.
#[derive(Debug, Clone, Copy)]
struct Trail {
    way: Way,
    sort: Sort,
    /// Believed number in the stack; 0 if the thing's origin is unknown.
    count: u8,
    /// Frames for which the report has differed from the belief.
    doubt: u16,
    /// Whether this peer moved it.
    here: bool,
}

/// One thing that left a stack or the pond and may turn up elsewhere.
#[derive(Debug, Clone, Copy)]
struct Loose {
    sort: Sort,
    way: Way,
    left: u16,
}

/// Beliefs of the leader about all things and boats.
#[derive(Debug, Clone, Default)]
pub(super) struct Watch {
    trails: BTreeMap<ObjectId, Trail>,
    loose: Vec<Loose>,
    boats: [Option<(Way, u16)>; SEATS],
}

/// Report about one thing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Said {
    pub(super) id: ObjectId,
    /// State as reported, not interpolated.
    pub(super) thing: Thing,
    /// Whether this peer moves it.
    pub(super) here: bool,
    /// Whether it is believed without a history: this leader spawned it, or it existed before the
    /// leader took over.
    pub(super) known: bool,
}

impl Watch {
    /// Forgets all beliefs when this peer no longer leads.
    pub(super) fn forget(&mut self) {
        *self = Watch::default();
    }

    /// Whether the report about a thing is believed.
    pub(super) fn believes(&self, id: ObjectId) -> bool {
        self.trails.get(&id).is_some_and(|trail| trail.doubt == 0)
    }

    /// Whether the reported place of a seat's boat is believed.
    pub(super) fn believes_boat(&self, seat: usize) -> bool {
        self.boats.get(seat).copied().flatten().is_some_and(|(_, doubt)| doubt == 0)
    }

    /// Things doubted for too long, with the believed state to put in their place, if there is one.
    pub(super) fn wrongs(&self) -> Vec<(ObjectId, Option<Thing>)> {
        let wrong = self.trails.iter().filter(|(_, trail)| trail.doubt >= DOUBT_MAX);
        let instead = |trail: &Trail| {
            let right = Thing { count: trail.count, ..Thing::new(trail.sort, trail.way.place) };
            (trail.count > 0).then_some(right)
        };
        wrong.map(|(id, trail)| (*id, instead(trail))).collect()
    }

    /// Stops tracking a thing the leader removed, so that it cannot turn up elsewhere.
    pub(super) fn drop(&mut self, id: ObjectId) {
        self.trails.remove(&id);
    }

    /// Checks the reports of a frame, ascending by id.
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
        // Losses first, because the same frame may report their reappearance.
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
            // A thing seen for the first time goes on from the place where it was lost; one that
            // joins a stack is at the place of the stack.
            if trail.count == 0 {
                trail.way = found.way;
            }
            trail.count += 1;
        }
        if before.is_none() && known {
            return Trail { count: thing.count, ..nothing };
        }
        // The leader knows where it moves a thing itself, if the thing was plausible before.
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

    /// Marks `count` of a thing as missing.
    fn loosen(&mut self, trail: &Trail, count: u8) {
        for _ in 0..count {
            if self.loose.len() == LOOSE_MAX {
                self.loose.remove(0);
            }
            self.loose.push(Loose { sort: trail.sort, way: trail.way, left: LOOSE_FRAMES });
        }
    }

    /// Takes a missing thing of a sort near a place.
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

/// Bound of the thing's speed, in pixels per second.
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

    /// A watch that believes these reports.
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
        assert!(watch.wrongs().is_empty(), "removed before its explanation could arrive");
        assert_eq!(believed(&mut watch, &all, DOUBT_MAX), [true, false]);
        assert_eq!(watch.wrongs(), [(all[1].id, None)]);
    }

    #[test]
    fn leap_and_fast_small_steps_are_put_back() {
        let (here, there) = (said(1, Sort::Crate, 100, 1), said(1, Sort::Crate, 700, 1));
        let mut watch = believing(&[here]);
        assert_eq!(believed(&mut watch, &[there], DOUBT_MAX), [false]);
        assert_eq!(watch.wrongs(), [(here.id, Some(here.thing))]);
        // Two hundred pixels per second in small steps.
        let mut watch = believing(&[here]);
        let found = (0..300).any(|frame| {
            let x = 100 + frame * 10 / 3;
            !believed(&mut watch, &[said(1, Sort::Crate, x, 1)], 1)[0]
        });
        assert!(found);
        let mut watch = believing(&[here]);
        let rowed =
            (0..480).all(|frame| believed(&mut watch, &[said(1, Sort::Crate, 100 + frame * 3 / 2, 1)], 1)[0]);
        assert!(rowed, "motion at a boat's speed was rejected");
    }

    #[test]
    fn leap_toward_bow_of_leader_is_rejected() {
        let (here, there) = (said(1, Sort::Crate, 100, 1), said(1, Sort::Crate, 700, 1));
        let mine = |said: Said| Said { here: true, ..said };
        // The leader's boat collides with it at once, or later.
        for frames in [0, 20] {
            let mut watch = believing(&[here]);
            believed(&mut watch, &[there], frames);
            assert_eq!(believed(&mut watch, &[mine(there)], DOUBT_MAX), [false]);
            assert_eq!(watch.wrongs(), [(here.id, Some(here.thing))]);
        }
        // The leader may move a thing that was plausible anywhere.
        let mut watch = believing(&[here]);
        let all = (0..200).map(|step| mine(said(1, Sort::Crate, 100 + step * 3, 1)));
        assert!(all.into_iter().all(|said| believed(&mut watch, &[said], 1)[0]));
    }

    #[test]
    fn stacking_is_believed_in_each_order_of_packets() {
        let apart = [said(1, Sort::Barrel, 100, 1), said(2, Sort::Barrel, 115, 2)];
        let stacked = [said(2, Sort::Barrel, 115, 3)];
        let mut watch = believing(&apart);
        assert_eq!(believed(&mut watch, &stacked, 1), [true]);
        // One is taken again; the lower count of the stack arrives later.
        let late = [said(2, Sort::Barrel, 115, 3), said(3, Sort::Barrel, 140, 1)];
        assert_eq!(believed(&mut watch, &late, 30), [true, false]);
        let told = [said(2, Sort::Barrel, 115, 2), said(3, Sort::Barrel, 150, 1)];
        assert_eq!(believed(&mut watch, &told, 1), [true, true]);
        // The reverse order.
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
        // Deleted here, spawned there.
        let mut watch = believing(&[lily, crate_]);
        assert_eq!(believed(&mut watch, &[lily, said(3, Sort::Crate, 600, 1)], 10), [true, false]);
        // A delivered thing cannot turn up again.
        let mut watch = believing(&[lily, crate_]);
        watch.drop(crate_.id);
        assert_eq!(believed(&mut watch, &[lily, said(3, Sort::Crate, 150, 1)], 10), [true, false]);
    }

    #[test]
    fn bell_at_full_speed_is_believed_with_two_boats_only() {
        // Three pixels in two frames, with this many boats beside the bell.
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
    fn leaping_boat_is_doubted_for_its_penalty() {
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
