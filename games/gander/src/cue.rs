//! What happened, for eyes and ears: every sound, feather and number on the screen starts from one
//! of these.
//!
//! They are part of the state so that the picture is a function of it alone. The identity of a cue
//! is (frame, kind, who): simulating a frame again gives the same cues the same identities, so
//! whoever plays them can tell a repetition from something new.

use gaggle_kit::State;

use crate::arena::PX;

/// Kind of an audible event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, State)]
#[repr(u8)]
pub enum Kind {
    /// Nothing: an entry never written.
    #[default]
    None,
    /// A goose beat its wings.
    Flap,
    /// A foot came down.
    Step,
    /// Heels began to drag.
    Skid,
    /// A goose bumped into a ledge or the ceiling.
    Thud,
    /// A lance won.
    Clang,
    /// Two met at the same height.
    Bounce,
    /// Somebody lost his saddle.
    Unseated,
    /// Something fell into the fire.
    Splash,
    /// An egg was taken; the value is its points, `by` the taker.
    EggTaken,
    /// An egg touched the ground.
    EggDown,
    /// An egg began to crack.
    Crack,
    /// A rider stood up from his shell.
    Hatch,
    /// A hatchling was fetched by a bird.
    Mounted,
    /// A Hern is about to come.
    Cry,
    /// A Hern was killed.
    HernDown,
    /// Fingers break the surface of the fire.
    Rise,
    /// The Clutch closed on somebody.
    Grip,
    /// Somebody tore himself out of the Clutch.
    Free,
    /// A wave begins.
    Wave,
    /// A wave is over.
    Clear,
    /// Points were won that are not those of an egg; the value says how many.
    Points,
    /// A rider or player begins to appear on a pad.
    Appear,
    /// A player sat down.
    Join,
    /// A player left.
    Leave,
    /// A player won another goose.
    ExtraMount,
    /// Nobody has a goose left.
    GameOver,
    /// The bridges catch fire.
    Burn,
    /// A ledge begins to shake.
    LedgeShake,
    /// A ledge drops.
    LedgeDrop,
    /// A ledge begins to rise.
    LedgeRise,
}

/// Nobody, where a cue could name a seat.
pub const NOBODY: u8 = u8::MAX;

/// One thing that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Mark {
    /// Frame of the event.
    pub frame: u32,
    /// Kind of the event.
    pub kind: Kind,
    /// To whom: unique among cues of one kind in one frame. Seats are 0 to 3, riders 4 and up.
    pub who: u8,
    /// The seat it happened through, or [`NOBODY`].
    pub by: u8,
    /// How the one it happened to looks: a seat, or 4 plus the class of a rider.
    pub look: u8,
    /// Whether he looked left.
    pub left: bool,
    /// Where, in pixels.
    pub x: i16,
    /// Where, in pixels.
    pub y: i16,
    /// Points, where there are any.
    pub value: u16,
}

impl Mark {
    /// A mark of this kind, at a place in sub-pixels.
    pub fn at(kind: Kind, who: usize, x: i32, y: i32) -> Mark {
        let who = who as u8;
        Mark { kind, who, by: NOBODY, look: who, x: (x / PX) as i16, y: (y / PX) as i16, ..Mark::default() }
    }
}

/// The most recent things of note: long enough for a feather to come down.
pub const MARKS: usize = 32;
/// The most recent small noises: long enough for any rollback.
pub const MURMURS: usize = 48;

/// What is worth seeing and hearing, newest overwriting oldest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Marks {
    /// In a ring.
    pub ring: [Mark; MARKS],
    /// Where the next goes.
    #[state(range = 0..=MARKS as u8 - 1)]
    pub next: u8,
}

/// A small noise: wings, feet, bumps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Murmur {
    /// Frame of the event.
    pub frame: u32,
    /// Kind of the event.
    pub kind: Kind,
    /// Whose: seats are 0 to 3, riders 4 and up, eggs after them.
    pub who: u8,
    /// Where, in pixels.
    pub x: i16,
    /// Where, in pixels.
    pub y: i16,
}

/// The small noises, newest overwriting oldest. They come by the dozen, so they have a ring of
/// their own and never push a falling feather out of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Murmurs {
    /// In a ring.
    pub ring: [Murmur; MURMURS],
    /// Where the next goes.
    #[state(range = 0..=MURMURS as u8 - 1)]
    pub next: u8,
}

impl Default for Marks {
    fn default() -> Marks {
        Marks { ring: [Mark::default(); MARKS], next: 0 }
    }
}

impl Default for Murmurs {
    fn default() -> Murmurs {
        Murmurs { ring: [Murmur::default(); MURMURS], next: 0 }
    }
}

impl Marks {
    /// Notes one more thing.
    pub fn push(&mut self, mark: Mark) {
        self.ring[usize::from(self.next)] = mark;
        self.next = (self.next + 1) % MARKS as u8;
    }

    /// Things of the last `frames` frames before and including `now`.
    pub fn recent(&self, now: u32, frames: u32) -> impl Iterator<Item = &Mark> {
        self.ring.iter().filter(move |mark| mark.kind != Kind::None && now.wrapping_sub(mark.frame) < frames)
    }
}

impl Murmurs {
    /// Notes one more noise.
    pub fn push(&mut self, murmur: Murmur) {
        self.ring[usize::from(self.next)] = murmur;
        self.next = (self.next + 1) % MURMURS as u8;
    }

    /// Noises of the last `frames` frames before and including `now`.
    pub fn recent(&self, now: u32, frames: u32) -> impl Iterator<Item = &Murmur> {
        self.ring
            .iter()
            .filter(move |murmur| murmur.kind != Kind::None && now.wrapping_sub(murmur.frame) < frames)
    }
}
