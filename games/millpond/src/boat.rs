//! The boat of a player: rowing, turning, rope.
//!
//! Its player's peer rows it; bots and `net::watch` use its constants. Absent: collisions, things.

use gaggle_kit::{Angle, Fixed16};
use gaggle_replica::{Kind, ObjectId};

use crate::pad::Pad;
use crate::water::{self, Vec2};

/// Pixels from a boat's center to its side.
pub const RADIUS: i32 = 8;
/// Mass of a boat, in the units of [`Sort::weight`](crate::Sort::weight).
pub const WEIGHT: i32 = 36;
/// Turn per frame, in 1/65,536 of a circle: a full turn takes 120 frames.
const TURN: u16 = 546;
const ROW: Fixed16 = Fixed16::lit("2.1");
const ROW_TURNING: Fixed16 = Fixed16::lit("1.2");
/// Share of the forward velocity left after a frame; sideways less, because of the keel.
const AHEAD: Fixed16 = Fixed16::lit("0.972");
const ASIDE: Fixed16 = Fixed16::lit("0.88");
/// Bound of every boat's speed, in pixels per second.
pub const SPEED_MAX: i32 = 92;

/// Boat of one player.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Kind)]
#[kind(smoothing = 0.3, snap_distance = 90.0, priority = 12, idle_release_ms = 60000)]
pub struct Boat {
    /// Position of the center.
    #[kind(range = 0.0..=1024.0, precision = 1.0 / 8.0, moved_by = velocity)]
    pub place: Vec2,
    /// Velocity in pixels per second.
    #[kind(range = -128.0..=128.0, precision = 1.0 / 4.0)]
    pub velocity: Vec2,
    /// Direction of its bow.
    #[kind(angle = 8)]
    pub heading: Angle,
    /// Slot of its player.
    #[kind(constant)]
    pub seat: u8,
    /// Whether it is being rowed in this frame.
    pub rows: bool,
    /// Thing it has in tow, if any.
    pub tow: Option<ObjectId>,
}

/// Places of boats at the start, by seat.
const BERTHS: [(i32, i32); water::SEATS] =
    [(480, 300), (544, 300), (480, 340), (544, 340), (448, 320), (576, 320)];

impl Boat {
    /// A boat at its berth.
    pub fn moored(seat: usize) -> Boat {
        let (x, y) = BERTHS[seat % BERTHS.len()];
        Boat {
            place: water::at(x, y),
            velocity: [Fixed16::ZERO; 2],
            heading: Angle::from_bits(3 << 14),
            seat: seat as u8,
            rows: false,
            tow: None,
        }
    }

    /// Rows one frame.
    pub fn row(&mut self, pad: Pad, sluice: bool) {
        let turn = pad.turn();
        if turn != 0 {
            let units = if turn > 0 { TURN } else { TURN.wrapping_neg() };
            self.heading = Angle::from_bits(self.heading.to_bits().wrapping_add(units));
        }
        let forward = pad.up || pad.left && pad.right;
        self.rows = forward || pad.down || turn != 0;
        let push = match (pad.down, forward, turn != 0) {
            (true, ..) => -ROW_TURNING,
            (_, true, _) => ROW,
            (_, _, true) => ROW_TURNING,
            _ => Fixed16::ZERO,
        };
        // Components along and across the heading.
        let (cos, sin) = (self.heading.cos::<16>(), self.heading.sin::<16>());
        let flow = water::current(self.place, sluice);
        let [x, y] = water::offset(flow, self.velocity);
        let (ahead, aside) = ((x * cos + y * sin) * AHEAD + push, (y * cos - x * sin) * ASIDE);
        let through = [ahead * cos - aside * sin, ahead * sin + aside * cos];
        self.velocity = water::clamp_length(water::add(flow, through), Fixed16::from_int(SPEED_MAX));
        if !self.rows && water::length(self.velocity) < Fixed16::ONE {
            self.velocity = [Fixed16::ZERO; 2];
        }
        self.place = water::moved(self.place, self.velocity);
        water::keep_afloat(&mut self.place, &mut self.velocity, RADIUS);
    }

    /// Point of the stern where the rope is tied.
    pub fn stern(&self) -> Vec2 {
        water::add(self.place, water::from_polar(self.heading, Fixed16::from_int(-9)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boat_rows_in_same_frame_and_turns_velocity_with_bow() {
        let mut boat = Boat::moored(0);
        let before = boat;
        boat.row(Pad { up: true, ..Pad::NONE }, false);
        assert_ne!(boat.place, before.place);
        (0..120).for_each(|_| boat.row(Pad { up: true, ..Pad::NONE }, false));
        assert!(water::length(boat.velocity) > Fixed16::from_int(50));
        // A quarter turn later the velocity follows the bow.
        (0..60).for_each(|_| boat.row(Pad { right: true, up: true, ..Pad::NONE }, false));
        let off = water::direction(boat.velocity).delta_to(boat.heading).unsigned_abs();
        assert!(off < 6_000, "{off}");
    }
}
