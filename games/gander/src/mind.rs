//! Decisions of riders: a direction and a height, now and then, which the pad then follows.
//!
//! Riders steer with the pad of a player. Classes differ in how often they decide, how well they
//! judge heights, how fast they fly and what they do below a knight. Called by `tick.rs`. Absent:
//! flapping (`pilot.rs`).

use gaggle_kit::{Prng, State};

use crate::arena::{PX, apart};
use crate::ledges::Ground;
use crate::mover::Mover;
use crate::pad::Pad;
use crate::pilot::Pilot;
use crate::rider::Class;

/// Current decision of a rider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Mind {
    /// Frames until the next decision.
    pub rest: u8,
    /// Row for its feet.
    pub lane: u8,
    /// Direction: −1, 0 or 1.
    #[state(range = -1..=1)]
    pub dir: i8,
    /// Whether it hunts a knight.
    pub hunting: bool,
}

/// Parameters of a class.
struct Temper {
    /// Fastest step when roaming and when hunting.
    roam: i8,
    hunt: i8,
    /// Least frames the wings stay up.
    gap: u8,
    /// Mean frames between decisions.
    rest: u8,
    /// Largest error of a height, in pixels.
    error: i32,
    /// Height above the quarry that it seeks, in pixels.
    above: i32,
}

const TEMPER: [Temper; 3] = [
    Temper { roam: 3, hunt: 3, gap: 8, rest: 80, error: 26, above: 2 },
    Temper { roam: 3, hunt: 4, gap: 6, rest: 36, error: 12, above: 8 },
    Temper { roam: 4, hunt: 4, gap: 5, rest: 12, error: 4, above: 14 },
];

/// Rows to roam at: above each pair of ledges, and low over the rock.
const LANES: [i32; 4] = [44, 98, 136, 180];
/// Lowest row for feet: the fire is near.
const LOWEST: i32 = 182;
/// Highest row for feet: the ceiling is near.
const HIGHEST: i32 = 38;

/// Knight that a rider can hunt, in sub-pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quarry {
    /// Horizontal place of the knight.
    pub x: i32,
    /// Height of its feet.
    pub y: i32,
    /// Downward speed in a frame.
    pub vy: i32,
}

impl Mind {
    /// Decides anew once `rest` is over. `haste` shortens the time between decisions.
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
        // Mostly it keeps its direction: a flock that turns at every decision looks lost.
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
            // Below its quarry, every other reeve turns away instead of flying into the lance.
            Class::Reeve => {
                if near && below > 2 * PX && random.chance(1, 2) {
                    self.dir = -toward;
                    self.set_lane(aim - 24);
                }
            }
            // A wraith extrapolates its quarry, comes from above and never from below.
            Class::Wraith => {
                let soon = (quarry.y + quarry.vy * 12) / PX;
                self.set_lane(soon - temper.above + random.range(-temper.error..=temper.error));
                if near && below > -4 * PX {
                    self.dir = -toward;
                    self.set_lane(soon - 40);
                } else if !near {
                    // From far off it gains height first.
                    self.set_lane(soon - 30);
                }
            }
        }
    }

    fn set_lane(&mut self, row: i32) {
        self.lane = row.clamp(HIGHEST, LOWEST) as u8;
    }

    /// Pad that follows the decision.
    pub fn steer(&self, class: Class, mover: &Mover, ground: &Ground) -> Pad {
        let temper = &TEMPER[class as usize];
        let top = if self.hunting { temper.hunt } else { temper.roam };
        Pilot { gap: temper.gap, top }.fly(mover, i32::from(self.lane), self.dir, ground)
    }
}

/// Nearest of some quarries, by the sum of both distances.
pub fn nearest(from: &Mover, quarries: impl Iterator<Item = Quarry>) -> Option<Quarry> {
    quarries.min_by_key(|quarry| apart(from.x, quarry.x).abs() + (quarry.y - from.y).abs())
}
