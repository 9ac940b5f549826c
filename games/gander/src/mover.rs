//! Physics of a goose, ridden by a knight or a rider: flight, running, skidding, ledges, wrapping.
//!
//! Rules of 1982: a flap lifts more the sooner it follows the last change of the wings, and in the
//! air only a flap changes the horizontal step. Called by `tick.rs` for every knight and rider.
//! Absent: meetings of two geese (`joust.rs`).

use gaggle_kit::State;

use crate::arena::{CEILING, LEDGE, PX, SPAN, Y_MAX, Y_MIN, apart, wrap};
use crate::ledges::Ground;
use crate::pad::Pad;

/// Half the width that collides with ledges, in sub-pixels.
pub const HALF: i32 = 6 * PX;
/// Height of goose and rider, in sub-pixels.
pub const TALL: i32 = 20 * PX;
/// Height of the lance above the feet in every pose, in sub-pixels.
pub const LANCE: i32 = 15 * PX;

/// Fastest horizontal step, left or right.
pub const SPEED_MAX: i8 = 4;
/// Sub-pixels a frame by step: 0, ¼, ½, 1 and 2 pixels.
const STRIDE: [i32; 5] = [0, PX / 4, PX / 2, PX, 2 * PX];
/// Frames of running before the next step, by step. The first comes at once, so that a goose
/// answers the stick.
const RUN_WAIT: [u8; 5] = [1, 8, 4, 2, 0];
/// Frames without input before a running goose loses a step.
const COAST_WAIT: u8 = 6;
/// Frames of skidding before it loses a step.
const SKID_WAIT: u8 = 5;
/// Least step at which turning around skids first.
const SKID_FROM: i8 = 2;

/// Gravity with the wings down, in sub-pixels per frame squared.
pub const GRAVITY_HELD: i32 = 4;
/// Gravity with the wings up, in sub-pixels per frame squared.
pub const GRAVITY: i32 = 8;
/// Lift of a flap right after the last change of the wings, in sub-pixels a frame.
pub const LIFT: i32 = 96;
/// Highest upward speed, in sub-pixels a frame; four quick flaps reach it.
const RISE_MAX: i32 = 3 * PX;
/// Highest downward speed: less than a ledge is deep, so that a goose cannot fall through one.
const FALL_MAX: i32 = 4 * PX;

/// Position and motion of one goose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Mover {
    /// Center between the feet, in sub-pixels.
    #[state(range = 0..=SPAN - 1)]
    pub x: i32,
    /// Soles of the feet, in sub-pixels.
    #[state(range = Y_MIN..=Y_MAX)]
    pub y: i32,
    /// Downward speed, in sub-pixels a frame.
    #[state(range = -RISE_MAX as i16..=FALL_MAX as i16)]
    pub vy: i16,
    /// Horizontal step, −4 to 4: an index of `STRIDE` with a sign.
    #[state(range = -SPEED_MAX..=SPEED_MAX)]
    pub speed: i8,
    /// Whether it faces left.
    pub left: bool,
    /// Whether its feet are on ground.
    pub grounded: bool,
    /// Whether it brakes on its heels.
    pub skidding: bool,
    /// Whether the wings are down, as the flap button is.
    pub wings_down: bool,
    /// Frames since the wings last went up or down, at most 255.
    pub since_wings: u8,
    /// Frames since the last change of step by running, coasting or skidding.
    pub gait: u8,
    /// Sub-pixels run, modulo 16 pixels: the phase of the legs.
    #[state(range = 0..=16 * PX as u16)]
    pub stride: u16,
    /// Ages of events the picture shows.
    pub since: Since,
}

/// Ages in frames, at most 255, that only the picture reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Since {
    /// Frames since it turned around.
    pub turn: u8,
    /// Frames since it landed.
    pub land: u8,
    /// Frames since it bounced off a ledge, the ceiling or another goose.
    pub bump: u8,
}

impl Default for Since {
    fn default() -> Since {
        Since { turn: u8::MAX, land: u8::MAX, bump: u8::MAX }
    }
}

/// Sounds of one step of movement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Heard {
    /// The wings went down.
    pub flap: bool,
    /// A foot touched the ground.
    pub step: bool,
    /// Skidding began now.
    pub skid: bool,
    /// It bounced off a ledge or the ceiling.
    pub thud: bool,
}

impl Mover {
    /// A goose at rest on the ground at `x`, `y`, in sub-pixels.
    pub fn standing(x: i32, y: i32, left: bool) -> Mover {
        Mover { x: wrap(x), y, left, grounded: true, since_wings: u8::MAX, ..Mover::default() }
    }

    /// Horizontal velocity, in sub-pixels a frame.
    #[inline]
    pub const fn vx(&self) -> i32 {
        let step = STRIDE[self.speed.unsigned_abs() as usize];
        if self.speed < 0 { -step } else { step }
    }

    /// Height of the lance, as a y in sub-pixels.
    #[inline]
    pub const fn lance(&self) -> i32 {
        self.y - LANCE
    }

    /// −1 if it faces left, else 1.
    #[inline]
    pub const fn facing(&self) -> i32 {
        if self.left { -1 } else { 1 }
    }

    /// Moves it one frame: wings, then running or flight, then ledges. `pull` replaces gravity
    /// while the Clutch holds it.
    pub fn step(&mut self, pad: Pad, ground: &Ground, pull: Option<i32>) -> Heard {
        let mut heard = Heard::default();
        self.since.turn = self.since.turn.saturating_add(1);
        self.since.land = self.since.land.saturating_add(1);
        self.since.bump = self.since.bump.saturating_add(1);
        self.beat(pad, &mut heard);
        if self.grounded {
            self.run(pad, ground, &mut heard);
        } else {
            let gravity = pull.unwrap_or(if self.wings_down { GRAVITY_HELD } else { GRAVITY });
            self.vy = (i32::from(self.vy) + gravity).clamp(-RISE_MAX, FALL_MAX) as i16;
            self.look(pad.dir());
            self.fly(ground, &mut heard);
        }
        heard
    }

    /// Wings follow the button without delay. A flap lifts, and changes the step where the stick
    /// points.
    fn beat(&mut self, pad: Pad, heard: &mut Heard) {
        self.since_wings = self.since_wings.saturating_add(1);
        if pad.flap == self.wings_down {
            return;
        }
        if pad.flap {
            let fresh = i32::from(u8::MAX - self.since_wings);
            let lift = LIFT * fresh / i32::from(u8::MAX);
            // A flap from the ground has a minimum lift: the first hop must not fail.
            let lift = if self.grounded { lift.max(LIFT * 3 / 4) } else { lift };
            self.vy = (i32::from(self.vy) - lift).clamp(-RISE_MAX, FALL_MAX) as i16;
            self.speed = (self.speed + pad.dir()).clamp(-SPEED_MAX, SPEED_MAX);
            self.grounded = false;
            self.skidding = false;
            heard.flap = true;
        }
        self.wings_down = pad.flap;
        self.since_wings = 0;
    }

    fn look(&mut self, dir: i8) {
        let left = dir < 0;
        if dir != 0 && left != self.left {
            self.left = left;
            self.since.turn = 0;
        }
    }

    fn run(&mut self, pad: Pad, ground: &Ground, heard: &mut Heard) {
        let dir = pad.dir();
        let pace = self.speed.unsigned_abs();
        let ahead = self.speed.signum();
        self.gait = self.gait.saturating_add(1);
        if dir != 0 && dir == -ahead && (self.skidding || self.speed.abs() >= SKID_FROM) {
            if !self.skidding {
                self.skidding = true;
                self.gait = 0;
                heard.skid = true;
            }
            if self.gait >= SKID_WAIT {
                self.speed -= ahead;
                self.gait = 0;
            }
        } else if dir != 0 {
            self.skidding = false;
            self.look(dir);
            if dir == -ahead {
                self.speed = 0;
            } else if self.speed.abs() < SPEED_MAX && self.gait >= RUN_WAIT[usize::from(pace)] {
                self.speed += dir;
                self.gait = 0;
            }
        } else {
            self.skidding = false;
            if pace > 0 && self.gait >= COAST_WAIT {
                self.speed -= ahead;
                self.gait = 0;
            }
        }
        if self.speed == 0 {
            self.skidding = false;
        }
        self.walk(ground, heard);
    }

    fn walk(&mut self, ground: &Ground, heard: &mut Heard) {
        let vx = self.vx();
        self.x = wrap(self.x + vx);
        if !self.skidding {
            // A foot comes down every 8 pixels; a cycle of both feet is 16.
            let before = self.stride / (8 * PX as u16);
            self.stride = self.stride.wrapping_add(vx.unsigned_abs() as u16) % (16 * PX as u16);
            heard.step = vx != 0 && self.stride / (8 * PX as u16) != before;
        }
        match ground.support(self.x, HALF, self.y) {
            Some(top) => {
                self.y = top;
                self.vy = 0;
            }
            None => {
                self.grounded = false;
                self.skidding = false;
                self.vy = 0;
            }
        }
        self.keep_out(ground, heard);
    }

    fn fly(&mut self, ground: &Ground, heard: &mut Heard) {
        let from = self.y;
        self.x = wrap(self.x + self.vx());
        self.y += i32::from(self.vy);
        if self.vy >= 0
            && let Some(top) = ground.landing(self.x, HALF, from, self.y)
        {
            self.y = top;
            self.vy = 0;
            self.grounded = true;
            self.gait = 0;
            self.since.land = 0;
            return;
        }
        if self.y - TALL < CEILING * PX {
            self.y = CEILING * PX + TALL;
            self.vy = self.vy.saturating_abs();
            self.bumped(heard);
        }
        self.keep_out(ground, heard);
    }

    /// Moves the body out of the ledge it is inside of: below it, or beside it.
    fn keep_out(&mut self, ground: &Ground, heard: &mut Heard) {
        let Some(number) = ground.inside(self.x, HALF, self.y - TALL, self.y) else { return };
        let ledge = &LEDGE[number];
        let beside = apart(ledge.middle(), self.x);
        let over = ledge.width * PX / 2 + HALF - beside.abs();
        let under = ledge.bottom() * PX - (self.y - TALL);
        let above = self.y - ledge.top * PX;
        if under <= over && under <= above && !self.grounded {
            self.y = ledge.bottom() * PX + TALL;
            self.vy = self.vy.saturating_abs();
        } else if above < over && above <= under && !self.grounded {
            // Only a ledge that has just returned is inside a goose from below.
            self.y = ledge.top * PX;
            self.vy = 0;
            self.grounded = true;
            return;
        } else {
            let away: i8 = if beside < 0 { -1 } else { 1 };
            self.x = wrap(self.x + i32::from(away) * over.max(0));
            if self.speed.signum() == -away {
                self.speed = away * (self.speed.abs() - 1).max(0);
            }
        }
        self.bumped(heard);
    }

    fn bumped(&mut self, heard: &mut Heard) {
        heard.thud = self.since.bump > 8;
        self.since.bump = 0;
    }
}
