//! Peas: the shots of drakes.
//!
//! The referee's rules fire and step them, `net::ghosts` predicts them. Absent: what they hit.

use gaggle_kit::{Angle, Fixed16, State};
use gaggle_replica::Kind;

use crate::craft::Craft;
use crate::field::{self, Vec2};

/// Peas in flight at most; more are dropped.
pub const SHOTS: usize = 40;
/// Speed in pixels per second.
pub const SHOT_SPEED: i32 = 250;
/// Frames a pea flies at most.
const FRAMES: u8 = 80;

/// A pea in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State, Kind)]
#[kind(smoothing = 0.4, snap_distance = 150.0, priority = 4)]
pub struct Shot {
    /// Position of the pea.
    #[kind(range = 0.0..=384.0, precision = 1.0 / 16.0, moved_by = velocity)]
    pub place: Vec2,
    /// Velocity in pixels per second.
    #[kind(range = -300.0..=300.0, precision = 1.0 / 4.0)]
    pub velocity: Vec2,
    /// Seat that fired it.
    #[kind(constant)]
    pub seat: u8,
    /// Frames left at spawn. Sent once; the leader counts it down.
    #[kind(constant)]
    pub left: u8,
}

impl Shot {
    /// A pea at the craft's bill, headed `aside` (1/65,536 turn) from the craft's heading.
    pub fn from(craft: &Craft, aside: i16) -> Shot {
        let heading = Angle::from_bits(craft.heading.to_bits().wrapping_add_signed(aside));
        let velocity = field::from_polar(heading, Fixed16::from_int(SHOT_SPEED));
        Shot { place: craft.bill(), velocity, seat: craft.seat, left: FRAMES }
    }

    /// Moves it by one frame. Returns whether it still flies.
    pub fn step(&mut self) -> bool {
        self.place = field::moved(self.place, self.velocity);
        self.left = self.left.saturating_sub(1);
        self.left > 0 && field::inside(self.place)
    }
}
