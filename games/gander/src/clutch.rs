//! The Clutch: a hand in the fire that grips what flies low over a pit and pulls it down.
//!
//! Called by `tick.rs`. Absent: which bodies exist, points, sounds.

use gaggle_kit::State;

use crate::arena::{FIRE, PX, SPAN, apart, over_pit, wrap};
use crate::cue::NO_SLOT;
use crate::mover::Mover;

/// Frames the fingers show before they can close.
pub const RISE_FRAMES: u8 = 30;
/// Frames the open hand waits for its prey.
const OPEN_FRAMES: u8 = 45;
/// Frames it takes to sink.
pub const SINK_FRAMES: u8 = 30;
/// Frames it stays down before it can wake again.
const REST_FRAMES: u8 = 60;
/// Row; feet below it wake the hand.
const WAKE: i32 = FIRE - 22;
/// Row; feet below it can be gripped.
const REACH: i32 = FIRE - 20;
/// Row; feet above it are out of reach.
pub const ESCAPE: i32 = FIRE - 34;
/// Horizontal reach, in sub-pixels.
const WIDE: i32 = 10 * PX;
/// Speed at which it follows its prey while rising, in sub-pixels a frame.
const FOLLOW: i32 = PX;
/// Upward speed that breaks the grip, in sub-pixels a frame.
const BREAK_SPEED: i32 = 384;
/// Pull in the first wave it wakes in, and the most it grows to by wave, in sub-pixels per frame
/// squared.
const PULL_FIRST: i32 = 4;
const PULL_LAST: i32 = 45;
/// Frames of holding after which the pull grows every frame, up to `PULL_ANGRY`.
const PATIENCE: u16 = 1800;
const PULL_ANGRY: i32 = 1280;
/// Points for breaking out.
pub const FREE_POINTS: u16 = 50;

/// Phase of the hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub enum ClutchPhase {
    /// Down in the fire, not visible.
    #[default]
    Hidden,
    /// Fingers show above the surface.
    Rising,
    /// Open above the surface, ready to close.
    Open,
    /// Closed around its prey.
    Grip,
    /// Going down, without prey.
    Sinking,
}

/// The hand in the fire; there is only one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Clutch {
    /// Phase of the hand.
    pub phase: ClutchPhase,
    /// Frames left of the phase; while hidden, frames until it can wake.
    pub left: u8,
    /// Horizontal place, in sub-pixels.
    #[state(range = 0..=SPAN - 1)]
    pub x: i32,
    /// Body it is after or holds: knights are 0 to 3, riders 4 and up.
    pub prey: u8,
    /// Frames it has held its prey.
    pub held: u16,
}

impl Default for Clutch {
    fn default() -> Clutch {
        Clutch { phase: ClutchPhase::Hidden, left: 0, x: 0, prey: NO_SLOT, held: 0 }
    }
}

/// Events of one step of the hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClutchEvent {
    /// The fingers became visible.
    Rose,
    /// The hand gripped its prey.
    Gripped,
    /// The prey broke out.
    Lost,
}

/// Pull in sub-pixels per frame squared, by wave and by frames of holding.
pub fn pull(wave: u16, held: u16) -> i32 {
    let waves = i32::from(wave.saturating_sub(crate::waves::CLUTCH_WAKES));
    let calm = (PULL_FIRST + waves).min(PULL_LAST);
    (calm + i32::from(held.saturating_sub(PATIENCE))).min(PULL_ANGRY)
}

/// Whether this goose flies low enough over a pit to wake the hand.
pub fn tempting(bird: &Mover) -> bool {
    over_pit(bird.x) && bird.y > WAKE * PX && !bird.grounded
}

impl Clutch {
    /// Body it holds, if any.
    pub fn holds(&self) -> Option<usize> {
        (self.phase == ClutchPhase::Grip).then_some(usize::from(self.prey))
    }

    /// Moves the hand one frame. `prey` is the body it is after or holds, while that exists;
    /// `tempted` the number and x of a body that would wake it.
    pub fn step(&mut self, prey: Option<&mut Mover>, tempted: Option<(usize, i32)>) -> Option<ClutchEvent> {
        self.left = self.left.saturating_sub(1);
        match self.phase {
            ClutchPhase::Hidden => {
                let (who, x) = tempted.filter(|_| self.left == 0)?;
                *self = Clutch { phase: ClutchPhase::Rising, left: RISE_FRAMES, x, prey: who as u8, held: 0 };
                Some(ClutchEvent::Rose)
            }
            ClutchPhase::Rising => {
                self.follow(prey);
                if self.left == 0 {
                    self.phase = ClutchPhase::Open;
                    self.left = OPEN_FRAMES;
                }
                None
            }
            ClutchPhase::Open => {
                if let Some(bird) = prey
                    && apart(self.x, bird.x).abs() < WIDE
                    && bird.y > REACH * PX
                    && !bird.grounded
                {
                    bird.x = self.x;
                    bird.speed = 0;
                    self.phase = ClutchPhase::Grip;
                    self.held = 0;
                    return Some(ClutchEvent::Gripped);
                }
                if self.left == 0 {
                    self.sink();
                }
                None
            }
            ClutchPhase::Grip => self.hold(prey),
            ClutchPhase::Sinking => {
                if self.left == 0 {
                    *self = Clutch { left: REST_FRAMES, ..Clutch::default() };
                }
                None
            }
        }
    }

    fn follow(&mut self, prey: Option<&mut Mover>) {
        if let Some(bird) = prey {
            let x = wrap(self.x + apart(self.x, bird.x).clamp(-FOLLOW, FOLLOW));
            if over_pit(x) {
                self.x = x;
            }
        }
    }

    fn hold(&mut self, prey: Option<&mut Mover>) -> Option<ClutchEvent> {
        self.held = self.held.saturating_add(1);
        let Some(bird) = prey else {
            self.sink();
            return None;
        };
        bird.x = self.x;
        bird.speed = 0;
        if i32::from(bird.vy) < -BREAK_SPEED || bird.y < ESCAPE * PX {
            self.sink();
            return Some(ClutchEvent::Lost);
        }
        None
    }

    /// Lets go of its prey and goes down.
    pub fn sink(&mut self) {
        self.phase = ClutchPhase::Sinking;
        self.left = SINK_FRAMES;
        self.prey = NO_SLOT;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pull_grows_by_wave_and_after_thirty_seconds() {
        assert_eq!(pull(4, 0), 4);
        assert_eq!(pull(5, 0), 5);
        assert_eq!(pull(4, 1800), 4);
        assert_eq!(pull(4, 1900), 104);
        assert_eq!(pull(200, 0), 45);
        assert_eq!(pull(200, u16::MAX), 1280);
    }

    #[test]
    fn fingers_show_for_half_second_before_closing() {
        let mut clutch = Clutch::default();
        let mut bird = Mover { x: 20 * PX, y: (FIRE - 8) * PX, ..Mover::default() };
        assert_eq!(clutch.step(None, Some((2, bird.x))), Some(ClutchEvent::Rose));
        for _ in 0..RISE_FRAMES {
            assert_eq!(clutch.step(Some(&mut bird), None), None);
        }
        assert_eq!(clutch.step(Some(&mut bird), None), Some(ClutchEvent::Gripped));
        assert_eq!(clutch.holds(), Some(2));
    }

    #[test]
    fn goose_leaving_in_time_is_not_gripped() {
        let mut clutch = Clutch::default();
        let mut bird = Mover { x: 20 * PX, y: (FIRE - 60) * PX, ..Mover::default() };
        clutch.step(None, Some((0, bird.x)));
        for _ in 0..200 {
            assert_eq!(clutch.step(Some(&mut bird), None), None);
        }
        assert_eq!(clutch.phase, ClutchPhase::Hidden);
    }

    #[test]
    fn speed_or_height_breaks_grip() {
        for (vy, y) in [(-385, FIRE - 10), (0, ESCAPE - 1)] {
            let mut clutch = Clutch { phase: ClutchPhase::Grip, prey: 0, x: 20 * PX, ..Clutch::default() };
            let mut bird = Mover { x: 20 * PX, y: y * PX, vy, ..Mover::default() };
            assert_eq!(clutch.step(Some(&mut bird), None), Some(ClutchEvent::Lost));
            assert_eq!(clutch.holds(), None);
        }
        let mut clutch = Clutch { phase: ClutchPhase::Grip, prey: 0, x: 20 * PX, ..Clutch::default() };
        let mut bird = Mover { x: 20 * PX, y: (FIRE - 10) * PX, vy: -384, ..Mover::default() };
        assert_eq!(clutch.step(Some(&mut bird), None), None);
    }
}
