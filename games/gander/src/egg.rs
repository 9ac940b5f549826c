//! Eggs of unseated riders: falling, bouncing, cracking, hatching, and the goose that comes for the
//! hatchling.
//!
//! Called by `tick.rs` for every egg. Absent: taking of eggs (`joust.rs`), places of an egg wave's
//! eggs (`spawn.rs`).

use gaggle_kit::State;

use crate::arena::{CEILING, DROWN, LEDGE, PX, SPAN, WIDTH, Y_MAX, Y_MIN, apart, wrap};
use crate::glide::Glide;
use crate::ledges::Ground;
use crate::rider::Class;

/// Places for eggs: 12 of an egg wave plus 2 for each player beyond the second.
pub const EGGS: usize = 16;
/// Half the width of an egg, in sub-pixels.
pub const EGG_HALF: i32 = 3 * PX;
/// Height of an egg, in sub-pixels.
pub const EGG_TALL: i32 = 8 * PX;

/// Frames after an unseating in which the egg cannot be taken: the winner is right beside it.
pub const EGG_FRESH: u8 = 24;
/// Frames in one unit of waiting.
const UNIT: u16 = 12;
/// Units until an egg hatches in the first wave, and least in later ones; each wave takes off 2.
const WAIT_FIRST: u16 = 96;
const WAIT_LEAST: u16 = 16;
/// Frames a hatchling stands before its goose sets out.
const BIRD_AFTER: u16 = 45;
/// Horizontal speed of the fetching goose, in sub-pixels a frame.
const BIRD_SPEED: i32 = 2 * PX;
/// Its vertical speed, in sub-pixels a frame.
const BIRD_CLIMB: i32 = PX;
/// Its height, in sub-pixels.
const BIRD_TALL: i32 = 14 * PX;
/// Distance outside the picture at which it starts, in sub-pixels.
const BIRD_START: i32 = 24 * PX;

const GRAVITY: i32 = 7;

/// Phase of a place for an egg.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub enum EggPhase {
    /// No egg is in this place.
    #[default]
    None,
    /// Falling or bouncing.
    Falling,
    /// Lying on ground, waiting to hatch.
    Resting,
    /// Hatched: a rider stands in half of its shell and waits for a goose.
    Hatchling,
}

/// Goose without a rider that comes for a hatchling. It touches no other body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Fetcher {
    /// Whether it is on its way.
    pub coming: bool,
    /// Horizontal place, in sub-pixels; outside the fen at first.
    #[state(range = -BIRD_START..=SPAN + BIRD_START)]
    pub x: i32,
    /// Height of its feet, in sub-pixels.
    #[state(range = Y_MIN..=Y_MAX)]
    pub y: i32,
    /// Whether it flies left.
    pub left: bool,
}

/// One place for an egg or a hatchling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Egg {
    /// Phase of the place.
    pub phase: EggPhase,
    /// Class of the rider inside; from hatching on, the class it became.
    pub class: Class,
    /// Eggs the rider has left after this one.
    pub eggs: u8,
    /// Horizontal middle, in sub-pixels.
    #[state(range = 0..=SPAN - 1)]
    pub x: i32,
    /// Bottom, in sub-pixels.
    #[state(range = Y_MIN..=Y_MAX)]
    pub y: i32,
    /// Horizontal speed, in sub-pixels a frame.
    #[state(range = -4 * PX as i16..=4 * PX as i16)]
    pub vx: i16,
    /// Downward speed, in sub-pixels a frame.
    #[state(range = -4 * PX as i16..=4 * PX as i16)]
    pub vy: i16,
    /// Whether it has touched ground: taking it gives no more mid-air points.
    pub landed: bool,
    /// Frames in which it cannot be taken.
    pub fresh: u8,
    /// Frames it has waited in this phase.
    pub waited: u16,
    /// Frames after which it hatches; of a hatchling, after which its goose sets out.
    pub wait: u16,
    /// Goose that comes for the hatchling.
    pub bird: Fetcher,
}

/// Events of one step of an egg.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EggEvent {
    /// The egg touched ground.
    Landed,
    /// The egg or hatchling fell into the fire.
    Drowned,
    /// Cracks began to show.
    Cracked,
    /// A rider stood up in its shell.
    Hatched,
    /// Its goose has arrived.
    Fetched,
}

/// Frames an egg of this wave waits before it hatches.
pub const fn wait_frames(wave: u16) -> u16 {
    let less = wave.saturating_sub(1).saturating_mul(2);
    let units = WAIT_FIRST.saturating_sub(less);
    UNIT * if units < WAIT_LEAST { WAIT_LEAST } else { units }
}

impl Egg {
    /// Whether a knight in reach takes it.
    pub const fn takeable(&self) -> bool {
        !matches!(self.phase, EggPhase::None) && self.fresh == 0
    }

    /// Whether cracks show: after three quarters of the wait.
    pub const fn cracked(&self) -> bool {
        matches!(self.phase, EggPhase::Resting) && self.waited >= self.wait / 4 * 3
    }

    /// Advances it one frame. `may_hatch`: the wave has room for one more rider.
    pub fn step(&mut self, ground: &Ground, may_hatch: bool) -> Option<EggEvent> {
        self.fresh = self.fresh.saturating_sub(1);
        match self.phase {
            EggPhase::None => None,
            EggPhase::Falling => self.fall(ground),
            EggPhase::Resting => self.lie(ground, may_hatch),
            EggPhase::Hatchling => self.stand(ground),
        }
    }

    fn fall(&mut self, ground: &Ground) -> Option<EggEvent> {
        let from = self.y;
        self.vy = (i32::from(self.vy) + GRAVITY).min(3 * PX) as i16;
        self.x = wrap(self.x + i32::from(self.vx));
        self.y += i32::from(self.vy);
        if self.vy >= 0
            && let Some(top) = ground.landing(self.x, EGG_HALF, from, self.y)
        {
            self.y = top;
            return Some(self.bounce());
        }
        if self.y - EGG_TALL < CEILING * PX {
            self.y = CEILING * PX + EGG_TALL;
            self.vy = self.vy.saturating_abs();
        }
        if let Some(number) = ground.inside(self.x, EGG_HALF, self.y - EGG_TALL, self.y) {
            self.keep_out(number);
        }
        (self.y > DROWN * PX).then_some(EggEvent::Drowned)
    }

    /// Moves it out of a ledge, at the underside or the end.
    fn keep_out(&mut self, number: usize) {
        let ledge = &LEDGE[number];
        let beside = apart(ledge.middle(), self.x);
        let over = ledge.width * PX / 2 + EGG_HALF - beside.abs();
        let under = ledge.bottom() * PX - (self.y - EGG_TALL);
        if under < over && self.vy < 0 {
            self.y = ledge.bottom() * PX + EGG_TALL;
            self.vy = -self.vy / 2;
        } else {
            let away = if beside < 0 { -1 } else { 1 };
            self.x = wrap(self.x + away * over.max(0));
            self.vx = (away * i32::from(self.vx).abs() / 2) as i16;
        }
    }

    fn bounce(&mut self) -> EggEvent {
        self.landed = true;
        self.vx -= self.vx / 4;
        if self.vy > 128 {
            self.vy = -(self.vy / 2);
        } else {
            self.vy = 0;
            self.phase = EggPhase::Resting;
        }
        EggEvent::Landed
    }

    fn lie(&mut self, ground: &Ground, may_hatch: bool) -> Option<EggEvent> {
        // It rolls a few pixels before it stops.
        self.vx -= self.vx.signum() * self.vx.abs().min(6);
        self.x = wrap(self.x + i32::from(self.vx));
        if !self.supported(ground) {
            self.phase = EggPhase::Falling;
            self.vy = 0;
            return None;
        }
        let before = self.cracked();
        if self.waited < self.wait {
            self.waited += 1;
        } else if may_hatch {
            self.phase = EggPhase::Hatchling;
            self.class = self.class.hatched();
            self.waited = 0;
            self.wait = BIRD_AFTER;
            self.vx = 0;
            return Some(EggEvent::Hatched);
        }
        (self.cracked() && !before).then_some(EggEvent::Cracked)
    }

    fn stand(&mut self, ground: &Ground) -> Option<EggEvent> {
        if !self.supported(ground) {
            // A hatchling whose ledge is gone falls; its goose follows.
            let from = self.y;
            self.vy = (i32::from(self.vy) + GRAVITY).min(3 * PX) as i16;
            self.y += i32::from(self.vy);
            if let Some(top) = ground.landing(self.x, EGG_HALF, from, self.y) {
                self.y = top;
            }
            return (self.y > DROWN * PX).then_some(EggEvent::Drowned);
        }
        self.vy = 0;
        if !self.bird.coming {
            self.waited = self.waited.saturating_add(1);
            if self.waited >= self.wait {
                self.call_bird();
            }
            return None;
        }
        self.bird.approach(self.x, self.y, ground).then_some(EggEvent::Fetched)
    }

    /// Whether there is ground below. Adjusts `y` to it.
    fn supported(&mut self, ground: &Ground) -> bool {
        let top = ground.support(self.x, EGG_HALF, self.y);
        self.y = top.unwrap_or(self.y);
        top.is_some()
    }

    /// The goose comes from the farther side, so that players have time to take the hatchling.
    fn call_bird(&mut self) {
        let left = self.x < SPAN / 2;
        let x = if left { WIDTH * PX + BIRD_START } else { -BIRD_START };
        self.bird = Fetcher { coming: true, x, y: self.y - 16 * PX, left };
    }
}

impl Fetcher {
    /// Flies toward its rider. True on arrival.
    fn approach(&mut self, x: i32, y: i32, ground: &Ground) -> bool {
        let dx = x - self.x;
        let dy = y - self.y;
        if dx.abs() <= BIRD_SPEED && dy.abs() <= 4 * PX {
            return true;
        }
        if dx.abs() > BIRD_SPEED {
            self.left = dx < 0;
            self.x += if self.left { -BIRD_SPEED } else { BIRD_SPEED };
        }
        // On the way it stays 10 pixels above its rider, and clear of ledges.
        let want = if dx.abs() < 24 * PX { y } else { y - 10 * PX };
        let glide = Glide { x: self.x, y: self.y, left: self.left, above: BIRD_TALL, below: 0 };
        let want = glide.steer(want, ground);
        self.y += (want - self.y).clamp(-BIRD_CLIMB, BIRD_CLIMB);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pits::Bridges;

    const WHOLE: Ground = Ground { solid: u8::MAX, bridges: Bridges { burnt: 0 } };

    #[test]
    fn egg_waits_19_seconds_at_first_and_3_in_late_waves() {
        assert_eq!(wait_frames(1), 96 * 12);
        assert_eq!(wait_frames(2), 94 * 12);
        assert_eq!(wait_frames(41), 16 * 12);
        assert_eq!(wait_frames(u16::MAX), 16 * 12);
    }

    #[test]
    fn goose_reaches_hatchling_on_every_ledge() {
        for solid in [u8::MAX, 0b10_1100] {
            let ground = Ground { solid, ..WHOLE };
            for (number, ledge) in LEDGE.iter().enumerate().filter(|(number, _)| ground.bears(*number)) {
                for part in 1..8 {
                    let x = wrap((ledge.x + ledge.width * part / 8) * PX);
                    let mut egg = Egg {
                        phase: EggPhase::Hatchling,
                        x,
                        y: ledge.top * PX,
                        wait: BIRD_AFTER,
                        ..Egg::default()
                    };
                    let fetched = (0..600).any(|_| egg.step(&ground, true) == Some(EggEvent::Fetched));
                    assert!(fetched, "{} at {}", LEDGE[number].name, x / PX);
                }
            }
        }
    }
}
