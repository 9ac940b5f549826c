//! A rowing boat, moved by whoever sits in it.

use gaggle_kit::{Angle, Fixed16};
use gaggle_replica::{Kind, ObjectId};

use crate::pad::Pad;
use crate::water::{self, Vec2};

/// Pixels from the middle of a boat to its side.
pub const RADIUS: i32 = 8;
/// How heavy a boat is.
pub const WEIGHT: i32 = 36;
/// A full turn takes 120 frames.
const TURN: u16 = 546;
const ROW: Fixed16 = Fixed16::lit("2.1");
const ROW_TURNING: Fixed16 = Fixed16::lit("1.2");
/// What is left of a velocity ahead, and of one aside: a boat has a keel.
const AHEAD: Fixed16 = Fixed16::lit("0.972");
const ASIDE: Fixed16 = Fixed16::lit("0.88");
/// Nothing a player rows is faster, in pixels a second.
pub const SPEED_MAX: i32 = 92;

/// Boat of one player.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Kind)]
#[kind(smoothing = 0.3, snap_distance = 90.0, priority = 12, idle_release_ms = 60000)]
pub struct Boat {
    /// Position of the middle.
    #[kind(range = 0.0..=1024.0, precision = 1.0 / 8.0, moved_by = velocity)]
    pub place: Vec2,
    /// How fast, in pixels a second.
    #[kind(range = -128.0..=128.0, precision = 1.0 / 4.0)]
    pub velocity: Vec2,
    /// Where its bow points.
    #[kind(angle = 8)]
    pub heading: Angle,
    /// Slot of its player.
    #[kind(constant)]
    pub seat: u8,
    /// Whether the oars are in the water.
    pub rows: bool,
    /// What it has in tow.
    pub tow: Option<ObjectId>,
}

/// Where boats lie at the beginning, by seat: before the jetty of the mill.
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

    /// One frame of rowing.
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
        // Ahead and aside of where the bow points.
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

    /// Where a rope is tied.
    pub fn stern(&self) -> Vec2 {
        water::add(self.place, water::from_polar(self.heading, Fixed16::from_int(-9)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oars_answer_in_the_same_frame_and_a_keel_keeps_the_course() {
        let mut boat = Boat::moored(0);
        let before = boat;
        boat.row(Pad { up: true, ..Pad::NONE }, false);
        assert_ne!(boat.place, before.place);
        (0..120).for_each(|_| boat.row(Pad { up: true, ..Pad::NONE }, false));
        assert!(water::length(boat.velocity) > Fixed16::from_int(50));
        // A quarter turn later it goes where it points.
        (0..60).for_each(|_| boat.row(Pad { right: true, up: true, ..Pad::NONE }, false));
        let off = water::direction(boat.velocity).delta_to(boat.heading).unsigned_abs();
        assert!(off < 6_000, "{off}");
    }
}
