//! What riders want. A rider steers his brent with the same pad as a player and sees the same fen.
//!
//! He thinks now and then: which way, which height. In between he only keeps to that. Classes
//! differ in how often they think, how well they judge a height, how fast they fly and what they do
//! when somebody is above them.

use gaggle_kit::{Prng, State};

use crate::arena::{PX, apart};
use crate::ledges::Ground;
use crate::mover::Mover;
use crate::pad::Pad;
use crate::pilot::Pilot;
use crate::rider::Class;

/// What a rider is up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Mind {
    /// Frames until he thinks again.
    pub rest: u8,
    /// The row he wants his feet on.
    pub lane: u8,
    /// Which way: −1, 0 or 1.
    #[state(range = -1..=1)]
    pub dir: i8,
    /// Whether he is after somebody.
    pub hunting: bool,
}

/// How a class flies.
struct Temper {
    /// Fastest step when roaming and when hunting.
    roam: i8,
    hunt: i8,
    /// Frames the wings stay up at least.
    gap: u8,
    /// Frames between thoughts.
    rest: u8,
    /// How far he misjudges a height, in pixels.
    error: i32,
    /// How far above his quarry he wants to be, in pixels.
    above: i32,
}

const TEMPER: [Temper; 3] = [
    Temper { roam: 3, hunt: 3, gap: 8, rest: 80, error: 26, above: 2 },
    Temper { roam: 3, hunt: 4, gap: 6, rest: 36, error: 12, above: 8 },
    Temper { roam: 4, hunt: 4, gap: 5, rest: 12, error: 4, above: 14 },
];

/// Rows to roam at: above each pair of ledges, and low over the rock.
const LANES: [i32; 4] = [44, 98, 136, 180];
/// Nobody wants his feet below this row: the fire is near.
const LOWEST: i32 = 182;
/// Nor above this one: the ceiling is near.
const HIGHEST: i32 = 38;

/// Somebody worth hunting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quarry {
    /// Where he is.
    pub x: i32,
    /// The height of his feet.
    pub y: i32,
    /// How fast he falls.
    pub vy: i32,
}

impl Mind {
    /// Decides anew, if it is time. `haste` grows as the wave drags: riders think more often.
    pub fn think(&mut self, class: Class, mover: &Mover, hunt: Option<Quarry>, haste: u8, random: &mut Prng) {
        if self.rest > 0 {
            self.rest -= 1;
            return;
        }
        let temper = &TEMPER[class as usize];
        let pause = temper.rest / (1 + haste.min(3) / 2).max(1);
        self.rest = pause / 2 + random.below(u32::from(pause) + 1) as u8;
        self.hunting = hunt.is_some();
        match hunt {
            Some(quarry) => self.hunt(class, temper, mover, quarry, random),
            None => self.roam(mover, random),
        }
    }

    fn roam(&mut self, mover: &Mover, random: &mut Prng) {
        // Mostly on, in the same direction: a flock that turns at every thought looks lost.
        if self.dir == 0 || random.chance(1, 5) {
            self.dir = if random.chance(1, 2) { -1 } else { 1 };
        }
        if mover.since.bump < 30 {
            self.dir = if mover.speed < 0 { -1 } else { 1 };
        }
        if random.chance(2, 3) {
            self.set_lane(LANES[random.below(LANES.len() as u32) as usize] + random.range(-6..=6));
        }
    }

    fn hunt(&mut self, class: Class, temper: &Temper, mover: &Mover, quarry: Quarry, random: &mut Prng) {
        let dx = apart(mover.x, quarry.x);
        let toward: i8 = if dx < 0 { -1 } else { 1 };
        let below = mover.y - quarry.y;
        let near = dx.abs() < 72 * PX;
        let aim = quarry.y / PX - temper.above + random.range(-temper.error..=temper.error);
        self.dir = toward;
        self.set_lane(aim);
        match class {
            Class::Knave => {}
            // Losing the height, every other reeve sheers off instead of flying into the lance.
            Class::Reeve => {
                if near && below > 2 * PX && random.chance(1, 2) {
                    self.dir = -toward;
                    self.set_lane(aim - 24);
                }
            }
            // A wraith looks where his quarry will be, comes from above and never from below.
            Class::Wraith => {
                let soon = (quarry.y + quarry.vy * 12) / PX;
                self.set_lane(soon - temper.above + random.range(-temper.error..=temper.error));
                if near && below > -4 * PX {
                    self.dir = -toward;
                    self.set_lane(soon - 40);
                } else if !near {
                    // From far off he gains height first, and then falls upon his quarry.
                    self.set_lane(soon - 30);
                }
            }
        }
    }

    fn set_lane(&mut self, row: i32) {
        self.lane = row.clamp(HIGHEST, LOWEST) as u8;
    }

    /// The pad that follows the decision.
    pub fn steer(&self, class: Class, mover: &Mover, ground: &Ground) -> Pad {
        let temper = &TEMPER[class as usize];
        let top = if self.hunting { temper.hunt } else { temper.roam };
        Pilot { gap: temper.gap, top }.fly(mover, i32::from(self.lane), self.dir, ground)
    }
}

/// Of some quarries the nearest one to `from`, the way a crow counts.
pub fn nearest(from: &Mover, quarries: impl Iterator<Item = Quarry>) -> Option<Quarry> {
    quarries.min_by_key(|quarry| apart(from.x, quarry.x).abs() + (quarry.y - from.y).abs())
}
