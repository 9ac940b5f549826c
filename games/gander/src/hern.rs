//! The hunter of the skies: a heron that ate the fire. It crosses the fen at the height of
//! somebody, turns beyond the edge and comes back. Only a lance at the height of its throat, met
//! head on, kills it.

use gaggle_kit::State;

use crate::arena::{HEARTHSTONE, LEDGE, PX, SPAN, WIDTH, Y_MAX, Y_MIN, apart, row, wrap};
use crate::glide::Glide;
use crate::ledges::Ground;
use crate::mover::{Mover, TALL};

/// At most this many at the same time.
pub const HERNS: usize = 3;
/// Frames between two Herns that belong to a wave.
pub const HERN_APART: u16 = 65;
/// Frames between the cry and the arrival.
pub const CRY_FRAMES: u16 = 90;
/// Points for killing one.
pub const HERN_POINTS: u16 = 1000;

/// How far beyond the edge it turns, in sub-pixels.
const BEYOND: i32 = 44 * PX;
/// Frames it stays away between two crossings.
const AWAY_FRAMES: u8 = 120;
/// Half its length, and its reach above and below the throat, in sub-pixels.
const LONG: i32 = 20 * PX;
const UP: i32 = 6 * PX;
const DOWN: i32 = 8 * PX;
/// Half the width of a goose that can be hit.
const GOOSE: i32 = 7 * PX;
/// How far off its quarry it opens its beak, in sub-pixels.
const STRIKE: i32 = 90 * PX;
/// How far the lance may be off the throat, in pixels: with the beak open, and shut.
const THROAT_OPEN: i32 = 3;
const THROAT_SHUT: i32 = 2;
/// Lowest its throat gets: clear of the rock.
const LOWEST: i32 = LEDGE[HEARTHSTONE].top - 10;
const HIGHEST: i32 = 26;

/// What a Hern is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub enum HernPhase {
    /// There is none in this place.
    #[default]
    None,
    /// Beyond the edge, about to come in.
    Away,
    /// Crossing the fen.
    Crossing,
    /// Crossing it for the last time.
    Leaving,
}

/// Hern that hunts slow knights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Hern {
    /// What it is doing.
    pub phase: HernPhase,
    /// Frames left of being away.
    pub left_away: u8,
    /// Its middle, in sub-pixels; beyond the edges at times. Where it overlaps the fen it wraps
    /// like all else.
    #[state(range = -2 * BEYOND..=SPAN + 2 * BEYOND)]
    pub x: i32,
    /// The height of its throat.
    #[state(range = Y_MIN..=Y_MAX)]
    pub y: i32,
    /// Whether it flies left.
    pub left: bool,
    /// Whether its beak is open: the attack.
    pub open: bool,
    /// Frames since its wings last turned, for the picture; wraps.
    pub beat: u8,
}

/// How a goose and a Hern met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meeting {
    /// The lance found the throat.
    Killed,
    /// Killed in another way.
    Struck,
}

impl Hern {
    /// One that will come in from an edge after some frames.
    pub fn arriving(from_left: bool, y: i32, after: u8) -> Hern {
        let x = if from_left { -BEYOND } else { WIDTH * PX + BEYOND };
        Hern { phase: HernPhase::Away, left_away: after, x, y, left: !from_left, ..Hern::default() }
    }

    /// Whether it is anywhere near.
    pub const fn live(&self) -> bool {
        !matches!(self.phase, HernPhase::None)
    }

    /// Whether it can meet anybody.
    pub const fn tangible(&self) -> bool {
        matches!(self.phase, HernPhase::Crossing | HernPhase::Leaving)
    }

    /// No more turning back.
    pub fn dismiss(&mut self) {
        self.phase = match self.phase {
            HernPhase::Crossing => HernPhase::Leaving,
            HernPhase::Away => HernPhase::None,
            phase => phase,
        };
    }

    /// One frame. `quarry` is the feet of whoever it is after; the wave sets its speed.
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
        // Once the beak is open it can hardly correct: that is the moment to change height.
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

    /// What comes of meeting this goose, if they meet.
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

    /// Two Herns that fly into each other both turn around, the higher one higher.
    pub fn bounce(&mut self, other: &mut Hern) {
        let dx = apart(wrap(self.x), wrap(other.x));
        let meet = self.tangible() && other.tangible() && self.left != other.left;
        let ahead = (dx < 0) == self.left;
        if meet && ahead && dx.abs() < 2 * LONG && (self.y - other.y).abs() < UP + DOWN {
            (self.left, other.left) = (other.left, self.left);
        }
    }
}

/// Where it aims: at the body of somebody with his feet here, a little below his lance. Whoever
/// keeps still loses; whoever sinks as it strikes meets it.
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
    fn only_a_lance_at_the_height_of_the_throat_kills() {
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
    fn with_the_beak_shut_the_throat_is_narrower() {
        let shut = Hern { open: false, ..hern() };
        assert_eq!(shut.meets(&goose(220, 2, true)), Some(Meeting::Killed));
        assert_eq!(shut.meets(&goose(220, 3, true)), Some(Meeting::Struck));
    }

    #[test]
    fn both_have_to_face_each_other() {
        assert_eq!(hern().meets(&goose(220, 0, false)), Some(Meeting::Struck), "goose looks away");
        assert_eq!(hern().meets(&goose(180, 0, false)), Some(Meeting::Struck), "from behind");
        assert_eq!(hern().meets(&goose(240, 0, true)), None, "too far off");
    }

    #[test]
    fn it_crosses_every_arrangement_of_ledges_without_touching_them() {
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
