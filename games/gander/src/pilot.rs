//! The craft of flying: turns a height and a direction into beats of the wings, around ledges and
//! out of the fire. Riders and bots share it; they differ in how quick their wings are and in what
//! they want.

use crate::arena::{LEDGE, Ledge, PX, apart, over_pit, wrap};
use crate::ledges::Ground;
use crate::mover::{HALF, Mover, TALL};
use crate::pad::Pad;

/// Over a pit, feet that will be below this row have to come up, whatever else is wanted.
const DANGER: i32 = 176;
/// Frames a beat holds the wings down.
const BEAT: u8 = 3;
/// Frames a pilot looks ahead for a ledge he would have to fly around.
const LOOK: i32 = 20;

/// How somebody flies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pilot {
    /// Frames between two beats at least.
    pub(crate) gap: u8,
    /// Fastest step he flies at.
    pub(crate) top: i8,
}

impl Pilot {
    /// The pad that brings a goose's feet to row `lane`, going `dir`.
    pub(crate) fn fly(self, mover: &Mover, lane: i32, dir: i8, ground: &Ground) -> Pad {
        let (lane, dir) = around(mover, lane, dir, ground);
        let slow = mover.speed * dir < self.top;
        let lean = Pad::leaning(if slow || mover.grounded { dir } else { 0 });
        if mover.wings_down {
            return lean.flapping(mover.since_wings + 1 < BEAT);
        }
        let falling_into_fire = over_pit(mover.x)
            && mover.y + i32::from(mover.vy) * 10 > DANGER * PX
            && mover.since_wings >= BEAT
            && !mover.grounded;
        let soon = mover.y + i32::from(mover.vy) * 6;
        let beat = if mover.grounded {
            mover.y > (lane + 8) * PX
        } else {
            // A push costs height, so it waits until there is some to spare, and does not try
            // walls.
            let push = slow && dir != 0 && mover.since.bump > 12;
            soon > lane * PX || (push && soon > (lane - 10) * PX)
        };
        lean.flapping((beat && mover.since_wings >= self.gap) || falling_into_fire)
    }
}

/// Height and direction, allowing for ledges in the way up.
fn around(mover: &Mover, lane: i32, dir: i8, ground: &Ground) -> (i32, i8) {
    let ahead = mover.speed.signum();
    if let Some(ledge) = roof(mover, mover.x, lane, ground) {
        // Out from under it: on the way he is already going, or by the nearer end.
        let out = match ahead {
            0 if apart(ledge.middle(), mover.x) < 0 => -1,
            0 => 1,
            ahead => ahead,
        };
        return (lane.max(ledge.bottom() + TALL / PX + 6), out);
    }
    let high_above = mover.y - lane * PX > 20 * PX;
    if high_above && !mover.grounded && roof(mover, wrap(mover.x + mover.vx() * LOOK), lane, ground).is_some()
    {
        // Open sky above, but not for long: stay under it.
        return (lane, -ahead);
    }
    (lane, dir)
}

/// The lowest ledge between a goose and row `lane`, if it were at `x`.
fn roof(mover: &Mover, x: i32, lane: i32, ground: &Ground) -> Option<&'static Ledge> {
    let head = mover.y - TALL;
    let number = (0..LEDGE.len()).rev().find(|&number| {
        let ledge = &LEDGE[number];
        ground.bears(number)
            && ledge.bottom() * PX <= head + 2 * PX
            && ledge.top > lane - 8
            && ledge.spans(x, HALF + 4 * PX)
    });
    number.map(|number| &LEDGE[number])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::FIRE;
    use crate::pits::Bridges;

    const GROUND: Ground = Ground { solid: u8::MAX, bridges: Bridges::GONE };
    const PILOT: Pilot = Pilot { gap: 6, top: 3 };

    #[test]
    fn pilot_reaches_height_of_any_ledge_in_fifteen_seconds() {
        for from in &LEDGE {
            for to in &LEDGE {
                for dir in [-1, 1] {
                    let lane = to.top - 14;
                    let mut mover = Mover::standing(from.middle(), from.top * PX, dir < 0);
                    let arrived = (0..900).any(|_| {
                        let pad = PILOT.fly(&mover, lane, dir, &GROUND);
                        mover.step(pad, &GROUND, None);
                        assert!(mover.y < FIRE * PX, "{} to {} ended in the fire", from.name, to.name);
                        (mover.y - lane * PX).abs() < 8 * PX
                    });
                    assert!(arrived, "{} to {}, {dir}", from.name, to.name);
                }
            }
        }
    }
}
