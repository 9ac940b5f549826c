//! Events that start every sound and effect of the picture, kept in the state.
//!
//! (frame, kind, who) is the identity of a cue: a resimulated frame gives its events the same
//! identities, so that none is played twice. Recorded by the rules, read by `stage/`. Absent:
//! sounds and pictures.

use gaggle_kit::State;

use crate::arena::PX;

/// Kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, State)]
#[repr(u8)]
pub enum Kind {
    /// A ring entry that was never written.
    #[default]
    None,
    /// A goose beat its wings.
    Flap,
    /// A knight's foot touched the ground.
    Step,
    /// A goose began to skid.
    Skid,
    /// A goose bumped into a ledge or the ceiling.
    Thud,
    /// A lance unseated a rider.
    Clang,
    /// Two bodies met with level lances, or as allies.
    Bounce,
    /// A knight was unseated.
    Unseated,
    /// A body or an egg fell into the fire.
    Splash,
    /// A knight took an egg; `value` is its points, `by` the slot.
    EggTaken,
    /// An egg landed or bounced.
    EggDown,
    /// An egg began to crack.
    Crack,
    /// A rider stands in half of its shell.
    Hatch,
    /// A hatchling mounted its goose.
    Mounted,
    /// A Hern cries at the edge of the fen.
    Cry,
    /// A Hern was killed.
    HernDown,
    /// Fingers break the surface of the fire.
    Rise,
    /// The Clutch gripped a body.
    Grip,
    /// A body broke out of the Clutch.
    Free,
    /// A wave was announced.
    Wave,
    /// A wave was won.
    Clear,
    /// Points were won other than for an egg; `value` says how many.
    Points,
    /// A rider or knight begins to appear on a pad.
    Appear,
    /// A player arrived.
    Join,
    /// A player left.
    Leave,
    /// A player earned another goose.
    ExtraMount,
    /// No player has a goose left.
    GameOver,
    /// The bridges caught fire.
    Burn,
    /// A ledge began to shake.
    LedgeShake,
    /// A ledge dropped.
    LedgeDrop,
    /// A ledge began to rise.
    LedgeRise,
}

/// Value of a slot in an event that no player caused.
pub const NO_SLOT: u8 = u8::MAX;

/// One event that the picture shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Mark {
    /// Frame in which it happened.
    pub frame: u32,
    /// Kind of event.
    pub kind: Kind,
    /// What it happened to, unique among events of one kind in one frame: knights are 0 to 3,
    /// riders 4 and up; ledges, eggs and Herns have their own numbers.
    pub who: u8,
    /// Slot that caused it, or [`NO_SLOT`].
    pub by: u8,
    /// Appearance of that body: a slot, or 4 plus the class of a rider.
    pub look: u8,
    /// Whether that body faced left.
    pub left: bool,
    /// Horizontal place, in pixels.
    pub x: i16,
    /// Vertical place, in pixels.
    pub y: i16,
    /// Points won, or 0.
    pub value: u16,
}

impl Mark {
    /// An event at a place in sub-pixels, with `by` unset.
    pub fn at(kind: Kind, who: usize, x: i32, y: i32) -> Mark {
        let who = who as u8;
        Mark { kind, who, by: NO_SLOT, look: who, x: (x / PX) as i16, y: (y / PX) as i16, ..Mark::default() }
    }
}

/// Events kept: enough for as long as the longest effect lasts.
pub const MARKS: usize = 32;
/// Quiet sounds kept: enough for the longest rollback.
pub const MURMURS: usize = 48;

/// Ring of recent events; the newest overwrites the oldest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Marks {
    /// Entries, in no order of time.
    pub ring: [Mark; MARKS],
    /// Index of the entry written next.
    #[state(range = 0..=MARKS as u8 - 1)]
    pub next: u8,
}

/// One quiet sound: wings, feet, bumps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Murmur {
    /// Frame in which it was made.
    pub frame: u32,
    /// Kind of sound.
    pub kind: Kind,
    /// Body that made it: knights are 0 to 3, riders 4 and up, eggs after them.
    pub who: u8,
    /// Horizontal place, in pixels.
    pub x: i16,
    /// Vertical place, in pixels.
    pub y: i16,
}

/// Ring of recent quiet sounds. They are frequent, so in the ring of [`Marks`] they would overwrite
/// events whose effects still show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Murmurs {
    /// Entries, in no order of time.
    pub ring: [Murmur; MURMURS],
    /// Index of the entry written next.
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
    /// Adds an event in place of the oldest.
    pub fn push(&mut self, mark: Mark) {
        self.ring[usize::from(self.next)] = mark;
        self.next = (self.next + 1) % MARKS as u8;
    }

    /// Events of the last `frames` frames, `now` included.
    pub fn recent(&self, now: u32, frames: u32) -> impl Iterator<Item = &Mark> {
        self.ring.iter().filter(move |mark| mark.kind != Kind::None && now.wrapping_sub(mark.frame) < frames)
    }
}

impl Murmurs {
    /// Adds a sound in place of the oldest.
    pub fn push(&mut self, murmur: Murmur) {
        self.ring[usize::from(self.next)] = murmur;
        self.next = (self.next + 1) % MURMURS as u8;
    }

    /// Sounds of the last `frames` frames, `now` included.
    pub fn recent(&self, now: u32, frames: u32) -> impl Iterator<Item = &Murmur> {
        self.ring
            .iter()
            .filter(move |murmur| murmur.kind != Kind::None && now.wrapping_sub(murmur.frame) < frames)
    }
}
