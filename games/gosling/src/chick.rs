//! One gosling: whose it is, where it swims and what it carries.
//!
//! Moved by `tick`. Absent: the other goslings, pikes, inputs.

use gaggle_kit::State;

use crate::water::Swimmer;
use crate::wish::Stale;

/// Slots of the great reed.
pub const SEATS: usize = 64;
/// Crumbs a gosling carries at most.
pub const LOAD_MAX: u8 = 12;
/// Units a frame of an empty gosling.
pub const SPEED: u16 = 640;
/// Units a frame that each crumb costs.
pub const BURDEN: u16 = 8;
/// Units a frame of a goose.
pub const GOOSE_SPEED: u16 = 896;
/// Units a frame of a dizzy gosling.
pub const DIZZY_SPEED: u16 = 320;
/// Frames a caught gosling is away.
pub const AWAY_FRAMES: u8 = 60;
/// Frames a gosling that leaves its nest is safe.
pub const SAFE_FRAMES: u8 = 45;
/// Frames a gosling whose player just came is safe.
pub const JOIN_SAFE: u8 = 30;
/// Frames after which a gosling leaves the nest by itself.
pub const NEST_FRAMES: u8 = 240;
/// Frames as a goose.
pub const GOOSE_FRAMES: u8 = 240;
/// Frames of which the first half are dizzy; in the rest no goose scatters it again.
pub const DIZZY_FRAMES: u8 = 60;
/// Frames a slot keeps what its player banked.
pub const KEPT_FRAMES: u16 = 900;

/// Who plays a gosling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub enum Seat {
    /// There is no gosling.
    #[default]
    Free,
    /// The tick plays it.
    Bot,
    /// A player plays it.
    Person,
}

/// What a gosling is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub enum Swim {
    /// It waits in its nest; the timer counts up.
    #[default]
    Nest,
    /// It swims, and pikes can catch it.
    Swimming,
    /// It was caught; the timer counts down.
    Away,
}

/// A gosling: one player's bird.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Chick {
    /// Who plays it.
    pub seat: Seat,
    /// What it is doing.
    pub swim: Swim,
    /// Brood it belongs to, and banks crumbs for.
    #[state(range = 0..=3)]
    pub brood: u8,
    /// Where it is.
    pub at: Swimmer,
    /// What it knows of an old wish.
    pub stale: Stale,
    /// Frames, as `swim` says.
    pub timer: u8,
    /// Frames nothing bites it.
    pub safe: u8,
    /// Frames since a goose scattered it, counting down.
    pub dizzy: u8,
    /// Frames it is still a goose.
    pub goose: u8,
    /// Crumbs it carries.
    #[state(range = 0..=LOAD_MAX)]
    pub load: u8,
    /// The heaviest load it brought home in this round.
    pub heaviest: u8,
    /// Points of this player in this round.
    pub banked: u16,
    /// Times it was caught in this round.
    pub caught: u8,
    /// Pikes it sent home in this round.
    pub sent: u8,
    /// Frames its slot keeps all that for a player who left.
    pub kept: u16,
    /// Frames its player was here in this round.
    pub here: u16,
    /// Rounds its player played in a row.
    pub rounds: u8,
    /// The frame of its last crumb, for ears.
    pub fed: u16,
    /// The frame of its last turn, for ears.
    pub turned: u16,
}

impl Chick {
    /// Whether a player plays it.
    pub const fn is_person(&self) -> bool {
        matches!(self.seat, Seat::Person)
    }

    /// Whether there is a gosling at all.
    pub const fn is_here(&self) -> bool {
        !matches!(self.seat, Seat::Free)
    }

    /// Whether it swims.
    pub const fn is_swimming(&self) -> bool {
        self.is_here() && matches!(self.swim, Swim::Swimming)
    }

    /// Whether it is a goose.
    pub const fn is_goose(&self) -> bool {
        self.is_swimming() && self.goose > 0
    }

    /// Whether it can do nothing but swim on.
    pub const fn is_dizzy(&self) -> bool {
        self.dizzy > DIZZY_FRAMES / 2
    }

    /// Whether pikes hunt it.
    pub const fn is_prey(&self) -> bool {
        self.is_swimming() && self.safe == 0 && self.goose == 0
    }

    /// Units it swims in a frame.
    pub const fn speed(&self) -> u16 {
        if self.is_dizzy() {
            DIZZY_SPEED
        } else if self.goose > 0 {
            GOOSE_SPEED
        } else {
            SPEED - BURDEN * self.load as u16
        }
    }
}
