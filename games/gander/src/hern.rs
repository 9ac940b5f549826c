//! Herns: herons that cross the fen at a knight's height, turn beyond the edge and come back.
//!
//! Only a lance level with the throat, met head on, kills one. Called by `tick.rs` and `joust.rs`.
//! Absent: when they come (`flow.rs`) and which knight they hunt.

use gaggle_kit::State;

use crate::arena::{HEARTHSTONE, LEDGE, PX, SPAN, WIDTH, Y_MAX, Y_MIN, apart, row, wrap};
use crate::glide::Glide;
use crate::ledges::Ground;
use crate::mover::{Mover, TALL};

/// Most Herns at the same time.
pub const HERNS: usize = 3;
/// Frames between two Herns of a wave's plan.
pub const HERN_APART: u16 = 65;
/// Frames between the cry and the arrival.
pub const CRY_FRAMES: u16 = 90;
/// Points for killing one.
pub const HERN_POINTS: u16 = 1000;

/// Distance beyond the edge at which it turns, in sub-pixels.
const BEYOND: i32 = 44 * PX;
/// Frames it stays away between two crossings.
const AWAY_FRAMES: u8 = 120;
/// Half its length, and its extent above and below the throat, in sub-pixels.
const LONG: i32 = 20 * PX;
const UP: i32 = 6 * PX;
const DOWN: i32 = 8 * PX;
/// Half the width of a goose it can hit, in sub-pixels.
const GOOSE: i32 = 7 * PX;
/// Distance to its quarry at which the beak opens, in sub-pixels.
const STRIKE: i32 = 90 * PX;
/// Largest distance of lance and throat that kills, in pixels: beak open, beak shut.
const THROAT_OPEN: i32 = 3;
const THROAT_SHUT: i32 = 2;
/// Rows between which its throat stays: above the rock, below the ceiling.
const LOWEST: i32 = LEDGE[HEARTHSTONE].top - 10;
const HIGHEST: i32 = 26;

/// Phase of a place for a Hern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub enum HernPhase {
    /// No Hern is in this place.
    #[default]
    None,
    /// Beyond the edge, about to come in.
    Away,
    /// Crossing the fen.
    Crossing,
    /// Crossing it for the last time.
    Leaving,
}

/// One place for a Hern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Hern {
    /// Phase of the place.
    pub phase: HernPhase,
    /// Frames left in `Away`.
    pub left_away: u8,
    /// Middle in sub-pixels, beyond the edges at times; for meetings it wraps.
    #[state(range = -2 * BEYOND..=SPAN + 2 * BEYOND)]
    pub x: i32,
    /// Height of its throat, in sub-pixels.
    #[state(range = Y_MIN..=Y_MAX)]
    pub y: i32,
    /// Whether it flies left.
    pub left: bool,
    /// Whether its beak is open, as it strikes.
    pub open: bool,
    /// Frames of flight, for the wings in the picture; wraps.
    pub beat: u8,
}

/// Outcome of a meeting with a goose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meeting {
    /// The lance hit the throat: the Hern dies.
    Killed,
    /// The Hern unseats the knight.
    Struck,
}

impl Hern {
    /// A Hern that comes in from an edge after `after` frames.
    pub fn arriving(from_left: bool, y: i32, after: u8) -> Hern {
        let x = if from_left { -BEYOND } else { WIDTH * PX + BEYOND };
        Hern { phase: HernPhase::Away, left_away: after, x, y, left: !from_left, ..Hern::default() }
    }

    /// Whether a Hern is in this place.
    pub const fn live(&self) -> bool {
        !matches!(self.phase, HernPhase::None)
    }

    /// Whether it can meet a goose.
    pub const fn tangible(&self) -> bool {
        matches!(self.phase, HernPhase::Crossing | HernPhase::Leaving)
    }

    /// Lets it finish its crossing and not return.
    pub fn dismiss(&mut self) {
        self.phase = match self.phase {
            HernPhase::Crossing => HernPhase::Leaving,
            HernPhase::Away => HernPhase::None,
            phase => phase,
        };
    }

    /// Moves it one frame. `quarry` is the x and feet of the knight it hunts; `wave` sets its
    /// speed.
    pub fn step(&mut self, quarry: Option<(i32, i32)>, wave: u16, ground: &Ground) {
        self.beat = self.beat.wrapping_add(1);
        match self.phase {
            HernPhase::None => {}
            HernPhase::Away => {
                self.left_away = self.left_away.saturating_sub(1);
                if let Some((_, feet)) = quarry {
                    self.y = aim(feet);
                }
                self.y = self.glide().steer(self.y, ground);
                if self.left_away == 0 {
                    self.phase = HernPhase::Crossing;
                }
            }
            HernPhase::Crossing | HernPhase::Leaving => self.cross(quarry, wave, ground),
        }
    }

    fn cross(&mut self, quarry: Option<(i32, i32)>, wave: u16, ground: &Ground) {
        let speed = PX * 3 / 2 + i32::from(wave.min(40)) * 5;
        self.x += if self.left { -speed } else { speed };
        let mut want = self.y;
        self.open = false;
        if let Some((x, feet)) = quarry {
            let ahead = (x - self.x) * if self.left { -1 } else { 1 };
            if ahead > 0 {
                want = aim(feet);
                self.open = ahead < STRIKE;
            }
        }
        // With the beak open it hardly corrects its height: the moment to evade.
        let climb = if self.open { PX / 4 } else { PX * 3 / 4 };
        let safe = self.glide().steer(want, ground);
        let climb = if safe == want { climb } else { PX * 3 / 2 };
        self.y += (safe - self.y).clamp(-climb, climb);
        self.y = self.y.clamp(HIGHEST * PX, LOWEST * PX);
        if self.x < -BEYOND || self.x > WIDTH * PX + BEYOND {
            self.turn();
        }
    }

    fn glide(&self) -> Glide {
        Glide { x: self.x, y: self.y, left: self.left, above: UP, below: DOWN }
    }

    fn turn(&mut self) {
        if self.phase == HernPhase::Leaving {
            *self = Hern::default();
        } else {
            self.phase = HernPhase::Away;
            self.left_away = AWAY_FRAMES;
            self.left = self.x > 0;
            self.open = false;
        }
    }

    /// Outcome of meeting this goose, if they touch.
    pub fn meets(&self, goose: &Mover) -> Option<Meeting> {
        let dx = apart(wrap(self.x), goose.x);
        let touch = self.tangible()
            && dx.abs() < LONG + GOOSE
            && goose.y > self.y - UP
            && goose.y - TALL < self.y + DOWN;
        if !touch {
            return None;
        }
        let in_front = (dx < 0) == self.left;
        let head_on = in_front && goose.left != self.left;
        let tolerance = if self.open { THROAT_OPEN } else { THROAT_SHUT };
        let level = (row(goose.lance()) - row(self.y)).abs() <= tolerance;
        Some(if head_on && level { Meeting::Killed } else { Meeting::Struck })
    }

    /// Turns both around if they fly into each other.
    pub fn bounce(&mut self, other: &mut Hern) {
        let dx = apart(wrap(self.x), wrap(other.x));
        let meet = self.tangible() && other.tangible() && self.left != other.left;
        let ahead = (dx < 0) == self.left;
        if meet && ahead && dx.abs() < 2 * LONG && (self.y - other.y).abs() < UP + DOWN {
            (self.left, other.left) = (other.left, self.left);
        }
    }
}

/// Height of the throat for a knight with its feet here: 4 pixels below the lance, so that keeping
/// still loses and sinking as it strikes hits the throat.
const fn aim(feet: i32) -> i32 {
    feet - 11 * PX
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mover::LANCE;

    fn hern() -> Hern {
        Hern { phase: HernPhase::Crossing, x: 200 * PX, y: 100 * PX, open: true, ..Hern::default() }
    }

    fn goose(x: i32, off: i32, left: bool) -> Mover {
        Mover { x: x * PX, y: 100 * PX + LANCE + off * PX, left, ..Mover::default() }
    }

    #[test]
    fn only_lance_level_with_throat_kills() {
        for off in -20..=20 {
            let expected = match off {
                -3..=3 => Some(Meeting::Killed),
                -20..=12 => Some(Meeting::Struck),
                _ => None,
            };
            let met = hern().meets(&goose(220, off, true));
            assert_eq!(met, expected, "lance {off} px below the throat");
        }
    }

    #[test]
    fn shut_beak_leaves_narrower_throat() {
        let shut = Hern { open: false, ..hern() };
        assert_eq!(shut.meets(&goose(220, 2, true)), Some(Meeting::Killed));
        assert_eq!(shut.meets(&goose(220, 3, true)), Some(Meeting::Struck));
    }

    #[test]
    fn throat_is_hit_only_head_on() {
        assert_eq!(hern().meets(&goose(220, 0, false)), Some(Meeting::Struck), "goose looks away");
        assert_eq!(hern().meets(&goose(180, 0, false)), Some(Meeting::Struck), "from behind");
        assert_eq!(hern().meets(&goose(240, 0, true)), None, "too far off");
    }

    #[test]
    fn hern_crosses_fen_clear_of_every_set_of_ledges() {
        for solid in [u8::MAX, 0b10_1100, 0b10_1101, 0b10_1110] {
            let ground = Ground { solid, bridges: crate::pits::Bridges::GONE };
            for feet in (34..=193).step_by(3) {
                for (from_left, x) in [(true, 380), (false, 4), (true, 200), (false, 200)] {
                    let mut hern = Hern::arriving(from_left, aim(feet * PX), 1);
                    let mut inside = 0;
                    for _ in 0..400 {
                        hern.step(Some((x * PX, feet * PX)), 8, &ground);
                        let body = ground.inside(wrap(hern.x), 8 * PX, hern.y - 3 * PX, hern.y + 3 * PX);
                        inside +=
                            i32::from(hern.tangible() && (0..WIDTH * PX).contains(&hern.x) && body.is_some());
                    }
                    assert!(
                        inside <= 4,
                        "{inside} frames inside rock, feet {feet}, solid {solid:#b}, {from_left} {x}"
                    );
                }
            }
        }
    }
}
