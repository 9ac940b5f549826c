//! Flapping: a pad that flies a goose at a height and in a direction, around ledges and out of the
//! fire.
//!
//! Called by `mind.rs`, bots and `howto.rs`, which choose height and direction. Absent: opponents.

use crate::arena::{LEDGE, Ledge, PX, apart, over_pit, wrap};
use crate::ledges::Ground;
use crate::mover::{HALF, Mover, TALL};
use crate::pad::Pad;

/// Row above which feet over a pit are kept, whatever height is wanted.
const DANGER: i32 = 176;
/// Frames a flap holds the wings down.
const BEAT: u8 = 3;
/// Frames ahead in which a ledge to fly around is looked for.
const LOOK: i32 = 20;

/// Limits of a pilot, by class or strength.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pilot {
    /// Least frames between two flaps.
    pub(crate) gap: u8,
    /// Fastest horizontal step.
    pub(crate) top: i8,
}

impl Pilot {
    /// Pad that brings the feet of a goose to row `lane`, in direction `dir`.
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
            // A flap for speed also lifts, so it waits until the goose is low enough, and does not
            // push against walls.
            let push = slow && dir != 0 && mover.since.bump > 12;
            soon > lane * PX || (push && soon > (lane - 10) * PX)
        };
        lean.flapping((beat && mover.since_wings >= self.gap) || falling_into_fire)
    }
}

/// Row and direction that lead around ledges above the goose.
fn around(mover: &Mover, lane: i32, dir: i8, ground: &Ground) -> (i32, i8) {
    let ahead = mover.speed.signum();
    if let Some(ledge) = roof(mover, mover.x, lane, ground) {
        // Out from below it: in its present direction, or to the nearer end.
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
        // It would fly below a ledge before it is high enough: turn back.
        return (lane, -ahead);
    }
    (lane, dir)
}

/// Lowest ledge between a goose at `x` and row `lane`.
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
