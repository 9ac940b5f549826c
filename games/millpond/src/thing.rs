//! What floats on the pond.

use gaggle_kit::{Fixed16, State};
use gaggle_replica::{Field, Kind};

use crate::water::{self, Vec2};

/// What it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State, Field)]
pub enum Sort {
    /// A lily pad: light, the wind has it.
    #[default]
    Lily,
    /// A slice of a tree.
    Log,
    /// A crate. Crates stack.
    Crate,
    /// A barrel. Barrels stack too.
    Barrel,
    /// A cheese, round. Nobody knows who lost it.
    Cheese,
    /// A wooden duck.
    Decoy,
    /// A lantern on a float.
    Lantern,
    /// The bell, on a raft. It takes two.
    Bell,
}

impl Sort {
    /// All of them.
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

    /// Pixels from its middle to its edge.
    pub const fn radius(self) -> i32 {
        match self {
            Sort::Lily => 6,
            Sort::Log | Sort::Crate | Sort::Barrel => 7,
            Sort::Cheese | Sort::Decoy | Sort::Lantern => 5,
            Sort::Bell => 13,
        }
    }

    /// How heavy one of it is, against a boat's 36.
    pub const fn weight(self) -> i32 {
        match self {
            Sort::Lily => 1,
            Sort::Decoy | Sort::Lantern => 2,
            Sort::Cheese => 4,
            Sort::Log | Sort::Crate | Sort::Barrel => 5,
            Sort::Bell => 90,
        }
    }

    /// Whether one can stand on another.
    pub const fn stacks(self) -> bool {
        matches!(self, Sort::Crate | Sort::Barrel)
    }

    /// Whether it can be taken in tow.
    pub const fn tows(self) -> bool {
        !matches!(self, Sort::Lily)
    }

    /// What it is called.
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

/// Most on one another.
pub const STACK_MAX: u8 = 4;

/// What is left of a velocity after a frame on still water.
const DRAG: Fixed16 = Fixed16::lit("0.965");
/// What is left of the bell's while only one pulls.
const STUCK: Fixed16 = Fixed16::lit("0.6");
/// Slower than this, in pixels a second, is at rest.
const REST: Fixed16 = Fixed16::lit("1.2");
/// Nothing floats faster, in pixels a second.
pub(crate) const SPEED_MAX: i32 = 110;

/// Thing afloat on the pond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State, Kind)]
#[kind(smoothing = 0.2, snap_distance = 90.0, priority = 2, claim_cooldown_ms = 300, idle_release_ms = 600)]
pub struct Thing {
    /// Position of the middle.
    #[kind(range = 0.0..=1024.0, precision = 1.0 / 8.0, moved_by = velocity)]
    pub place: Vec2,
    /// How fast, in pixels a second.
    #[kind(range = -128.0..=128.0, precision = 1.0 / 2.0)]
    pub velocity: Vec2,
    /// What it is.
    #[kind(constant)]
    pub sort: Sort,
    /// How many stand on one another.
    #[kind(range = 1..=4)]
    pub count: u8,
    /// Whose boat moved it last, by seat, or [`ADRIFT`].
    #[kind(range = 0..=6)]
    pub by: u8,
}

/// No boat has moved it: the seat after the last.
pub const ADRIFT: u8 = water::SEATS as u8;

impl Thing {
    /// One of a sort, at rest.
    pub fn new(sort: Sort, place: Vec2) -> Thing {
        Thing { place, sort, count: 1, by: ADRIFT, ..Thing::default() }
    }

    /// How heavy it is.
    pub fn weight(&self) -> i32 {
        self.sort.weight() * i32::from(self.count)
    }

    /// Whether it lies still.
    pub fn rests(&self) -> bool {
        self.velocity == [Fixed16::ZERO; 2]
    }

    /// One frame of water and wind. `pulled` says that somebody has it in tow, `hands` how many
    /// boats are at it.
    pub fn float(&mut self, wind: Vec2, sluice: bool, pulled: bool, hands: usize) {
        let flow = water::current(self.place, sluice);
        let running = flow != [Fixed16::ZERO; 2];
        let through = water::offset(flow, self.velocity).map(|part| part * DRAG);
        self.velocity = water::add(flow, through);
        // Lilies go with every gust, decoys and lanterns with the end of one.
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
            // At the end of the race the wheel takes nothing: it lies there until somebody fetches
            // it.
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
    fn the_bell_takes_two() {
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
