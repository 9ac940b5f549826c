//! Things that float on the pond: their sorts and their motion in water and wind.
//!
//! `pond` moves them, the replica session sends them. Absent: collisions, authority.

use gaggle_kit::{Fixed16, State};
use gaggle_replica::{Field, Kind};

use crate::water::{self, Vec2};

/// Sort of a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State, Field)]
pub enum Sort {
    /// A lily pad, light enough for the wind.
    #[default]
    Lily,
    /// A slice of a tree.
    Log,
    /// A crate, which stacks.
    Crate,
    /// A barrel, which stacks.
    Barrel,
    /// A round cheese, wanted by the dairy.
    Cheese,
    /// A wooden duck, moved by the wind.
    Decoy,
    /// A lantern on a float.
    Lantern,
    /// The bell on a raft, which takes two boats.
    Bell,
}

impl Sort {
    /// All sorts of things.
    pub const ALL: [Sort; 8] = [
        Sort::Lily,
        Sort::Log,
        Sort::Crate,
        Sort::Barrel,
        Sort::Cheese,
        Sort::Decoy,
        Sort::Lantern,
        Sort::Bell,
    ];

    /// Pixels from the center to the edge.
    pub const fn radius(self) -> i32 {
        match self {
            Sort::Lily => 6,
            Sort::Log | Sort::Crate | Sort::Barrel => 7,
            Sort::Cheese | Sort::Decoy | Sort::Lantern => 5,
            Sort::Bell => 13,
        }
    }

    /// Mass of one; a boat has 36.
    pub const fn weight(self) -> i32 {
        match self {
            Sort::Lily => 1,
            Sort::Decoy | Sort::Lantern => 2,
            Sort::Cheese => 4,
            Sort::Log | Sort::Crate | Sort::Barrel => 5,
            Sort::Bell => 90,
        }
    }

    /// Whether one can be put on another.
    pub const fn stacks(self) -> bool {
        matches!(self, Sort::Crate | Sort::Barrel)
    }

    /// Whether a boat can take it in tow.
    pub const fn tows(self) -> bool {
        !matches!(self, Sort::Lily)
    }

    /// Name shown to players.
    pub const fn name(self) -> &'static str {
        match self {
            Sort::Lily => "lily",
            Sort::Log => "log",
            Sort::Crate => "crate",
            Sort::Barrel => "barrel",
            Sort::Cheese => "cheese",
            Sort::Decoy => "decoy",
            Sort::Lantern => "lantern",
            Sort::Bell => "bell",
        }
    }
}

/// Things in a stack at most.
pub const STACK_MAX: u8 = 4;

/// Share of the velocity left after a frame on still water.
const DRAG: Fixed16 = Fixed16::lit("0.965");
/// Share of the bell's velocity left while one boat moves it.
const STUCK: Fixed16 = Fixed16::lit("0.6");
/// Speed below which a thing rests, in pixels per second.
const REST: Fixed16 = Fixed16::lit("1.2");
/// Bound of a thing's speed, in pixels per second.
pub(crate) const SPEED_MAX: i32 = 110;

/// A thing or a stack of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State, Kind)]
#[kind(smoothing = 0.2, snap_distance = 90.0, priority = 2, claim_cooldown_ms = 300, idle_release_ms = 600)]
pub struct Thing {
    /// Position of the center.
    #[kind(range = 0.0..=1024.0, precision = 1.0 / 8.0, moved_by = velocity)]
    pub place: Vec2,
    /// Velocity in pixels per second.
    #[kind(range = -128.0..=128.0, precision = 1.0 / 2.0)]
    pub velocity: Vec2,
    /// Sort of the thing.
    #[kind(constant)]
    pub sort: Sort,
    /// Number in the stack, from 1.
    #[kind(range = 1..=4)]
    pub count: u8,
    /// Seat of the boat that moved it last, or [`ADRIFT`].
    #[kind(range = 0..=6)]
    pub by: u8,
}

/// In [`Thing::by`]: no boat has moved it. One more than the last seat.
pub const ADRIFT: u8 = water::SEATS as u8;

impl Thing {
    /// One thing at rest.
    pub fn new(sort: Sort, place: Vec2) -> Thing {
        Thing { place, sort, count: 1, by: ADRIFT, ..Thing::default() }
    }

    /// Mass of the whole stack.
    pub fn weight(&self) -> i32 {
        self.sort.weight() * i32::from(self.count)
    }

    /// Whether it is at rest.
    pub fn rests(&self) -> bool {
        self.velocity == [Fixed16::ZERO; 2]
    }

    /// Applies one frame of water and wind. `pulled`: it is in tow; `hands`: boats near enough to
    /// move it.
    pub fn float(&mut self, wind: Vec2, sluice: bool, pulled: bool, hands: usize) {
        let flow = water::current(self.place, sluice);
        let running = flow != [Fixed16::ZERO; 2];
        let through = water::offset(flow, self.velocity).map(|part| part * DRAG);
        self.velocity = water::add(flow, through);
        // Lilies go with every gust, decoys and lanterns only with its end.
        if self.weight() <= 2 {
            self.velocity = water::add(self.velocity, wind.map(|part| part / self.weight()));
        }
        if self.sort == Sort::Bell && hands < 2 {
            self.velocity = self.velocity.map(|part| part * STUCK);
        }
        self.velocity = water::clamp_length(self.velocity, Fixed16::from_int(SPEED_MAX));
        let still = wind == [Fixed16::ZERO; 2] || self.weight() > 2;
        if !running && !pulled && still && water::length(self.velocity) < REST {
            self.velocity = [Fixed16::ZERO; 2];
        }
        self.place = water::moved(self.place, self.velocity);
        if water::keep_afloat(&mut self.place, &mut self.velocity, self.sort.radius()) && running {
            // At the end of the race it waits before the wheel until a boat fetches it.
            self.velocity = [Fixed16::ZERO; 2];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pushed_thing_rests_except_in_race() {
        let mut log = Thing { velocity: water::at(60, 0), ..Thing::new(Sort::Log, water::at(300, 400)) };
        let mut frames = 0;
        while !log.rests() {
            log.float([Fixed16::ZERO; 2], false, false, 0);
            frames += 1;
            assert!(frames < 600);
        }
        let mut afloat = Thing::new(Sort::Log, water::at(300, water::RACE));
        (0..120).for_each(|_| afloat.float([Fixed16::ZERO; 2], false, false, 0));
        assert!(afloat.place[0] > Fixed16::from_int(303));
    }

    #[test]
    fn bell_moves_with_two_boats_only() {
        let pushed = |hands| {
            let mut bell = Thing::new(Sort::Bell, water::at(300, 400));
            for _ in 0..60 {
                bell.velocity = water::add(bell.velocity, water::at(3, 0));
                bell.float([Fixed16::ZERO; 2], false, false, hands);
            }
            (bell.place[0] - Fixed16::from_int(300)).floor()
        };
        assert!(pushed(2) > 4 * pushed(1).max(1), "{} and {}", pushed(1), pushed(2));
    }
}
