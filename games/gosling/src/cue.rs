//! Marks of what happened lately, from which sounds, captions and flying crumbs start.
//!
//! Pushed by all parts of the simulation, read by `stage`. Part of the state, so that the picture
//! is a function of it alone. Absent: pictures and sounds.

use gaggle_kit::State;

/// What a mark is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, State)]
#[repr(u8)]
pub enum Kind {
    /// An unused place of the ring.
    #[default]
    None,
    /// A gosling banked; the value is its points.
    Bank,
    /// A pike caught a gosling; the value is what it dropped.
    Caught,
    /// A goose scattered a gosling; the value is what it dropped.
    Scattered,
    /// A pike dashes; `who` is its number.
    Dash,
    /// A gosling found a feather.
    Feather,
    /// A goose became a gosling again.
    GooseOver,
    /// A goose sent a pike home.
    SentHome,
    /// A crust was taken.
    Crust,
    /// Two geese turned each other back; the value is the slot of the other.
    Clash,
    /// The lead changed; `who` is the brood, or in `Mode::Free` the slot.
    Lead,
    /// A player joined.
    Join,
    /// A player left, and a bot took its gosling over.
    Leave,
    /// A round begins; the value is its number.
    Begin,
    /// Half a minute is left.
    Late,
    /// One of the last ten seconds.
    Last,
    /// The round is over.
    Over,
}

/// One thing that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Mark {
    /// The frame it happened in.
    pub frame: u32,
    /// What it was.
    pub kind: Kind,
    /// Slot, pike or brood it concerns: unique among marks of a kind in a frame.
    pub who: u8,
    /// The cell it happened at.
    pub cell: u16,
    /// Points, or what the kind says.
    pub value: u8,
}

impl Mark {
    /// A mark at a cell; the frame is filled in when it is pushed.
    pub fn at(kind: Kind, who: usize, cell: u16) -> Mark {
        Mark { kind, who: who as u8, cell, ..Mark::default() }
    }

    /// The same mark with a value.
    #[must_use]
    pub fn worth(self, value: u8) -> Mark {
        Mark { value, ..self }
    }
}

/// Marks kept in the state.
pub const MARKS: usize = 64;

/// The last marks, the oldest overwritten first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Marks {
    /// The marks in a ring.
    ring: [Mark; MARKS],
    /// Index of the mark to overwrite next.
    #[state(range = 0..=MARKS as u8 - 1)]
    next: u8,
}

impl Default for Marks {
    fn default() -> Marks {
        Marks { ring: [Mark::default(); MARKS], next: 0 }
    }
}

impl Marks {
    /// Keeps one more mark.
    pub fn push(&mut self, mark: Mark) {
        self.ring[usize::from(self.next)] = mark;
        self.next = (self.next + 1) % MARKS as u8;
    }

    /// Marks of the last `frames` frames, `now` included.
    pub fn recent(&self, now: u32, frames: u32) -> impl Iterator<Item = &Mark> {
        self.ring.iter().filter(move |mark| mark.kind != Kind::None && now.wrapping_sub(mark.frame) < frames)
    }
}
