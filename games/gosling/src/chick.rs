//! One gosling: whose it is, where it swims and what it carries.
//!
//! Moved by `tick`. Absent: the other goslings, pikes, inputs.

use gaggle_kit::State;

use crate::water::Swimmer;
use crate::wish::Stale;

/// Slots of `Mode::Great`, the most of any mode.
pub const SEATS: usize = 64;
/// Crumbs a gosling carries at most.
pub const LOAD_MAX: u8 = 12;
/// Speed of a gosling that carries nothing, in units a frame (`water.rs`).
pub const SPEED: u16 = 640;
/// Units a frame by which each crumb slows it.
pub const BURDEN: u16 = 8;
/// Speed of a goose (a gosling with a feather), in units a frame.
pub const GOOSE_SPEED: u16 = 896;
/// Speed of a dizzy gosling, which a goose scattered, in units a frame.
pub const DIZZY_SPEED: u16 = 320;
/// Frames a caught gosling is away.
pub const AWAY_FRAMES: u8 = 60;
/// Frames a gosling that leaves its nest is safe.
pub const SAFE_FRAMES: u8 = 45;
/// Frames a gosling is safe after its player joined.
pub const JOIN_SAFE: u8 = 30;
/// Frames after which a gosling leaves the nest by itself.
pub const NEST_FRAMES: u8 = 240;
/// Frames as a goose.
pub const GOOSE_FRAMES: u8 = 240;
/// Frames after a scattering: dizzy in the first half, then safe from geese.
pub const DIZZY_FRAMES: u8 = 60;
/// Frames a slot keeps the points of a player who left.
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

/// A gosling, controlled by one player or a bot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Chick {
    /// Who plays it.
    pub seat: Seat,
    /// What it is doing.
    pub swim: Swim,
    /// Brood it belongs to, and banks crumbs for.
    #[state(range = 0..=3)]
    pub brood: u8,
    /// Place and heading.
    pub at: Swimmer,
    /// Wish of its player to ignore.
    pub stale: Stale,
    /// Frames in the nest, or until it is back, as `swim` says.
    pub timer: u8,
    /// Frames in which pikes and geese leave it alone.
    pub safe: u8,
    /// Frames left of `DIZZY_FRAMES`.
    pub dizzy: u8,
    /// Frames it stays a goose.
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
    /// Frames its slot keeps these figures for a player who left.
    pub kept: u16,
    /// Frames its player was here in this round.
    pub here: u16,
    /// Rounds its player played in a row.
    pub rounds: u8,
    /// The frame of its last crumb (low bits), for sounds.
    pub fed: u16,
    /// The frame of its last turn (low bits), for sounds.
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

    /// Whether it swims on without a say of its player.
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
