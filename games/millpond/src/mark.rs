//! What happened, for eyes and ears.

use gaggle_kit::State;

use crate::water::Vec2;

/// Kind of an event in the game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, State)]
#[repr(u8)]
pub enum What {
    /// Nothing: an entry never written.
    #[default]
    None,
    /// An oar went in.
    Stroke,
    /// A boat bumped into something.
    Bump,
    /// Something was taken in tow.
    Tow,
    /// It was let go.
    Drop,
    /// Somebody else has it.
    Refused,
    /// One was put on another; the value is how many there are now.
    Stack,
    /// One was taken from a stack.
    Unstack,
    /// Something was delivered; the value is what.
    Delivered,
    /// The bell is rung.
    Bell,
    /// The sluice opens.
    Sluice,
    /// Everything on the list is done.
    Day,
    /// A player joined.
    Join,
    /// A player left.
    Leave,
}

/// Nobody, where a mark could name a seat.
pub const NOBODY: u8 = u8::MAX;

/// One thing that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Mark {
    /// Frame of the event.
    pub frame: u32,
    /// Kind of the event.
    pub what: What,
    /// Who, by seat, or [`NOBODY`].
    pub who: u8,
    /// A number, where there is one.
    pub value: u8,
    /// Where, in pixels.
    pub x: i16,
    /// Where, in pixels.
    pub y: i16,
}

impl Mark {
    /// A mark at a place.
    pub fn at(what: What, who: u8, place: Vec2, value: u8) -> Mark {
        Mark { frame: 0, what, who, value, x: place[0].floor() as i16, y: place[1].floor() as i16 }
    }
}

/// Number of events remembered.
const MARKS: usize = 64;

/// What happened lately, newest overwriting oldest.
#[derive(Debug, Clone)]
pub struct Marks {
    ring: [Mark; MARKS],
    next: usize,
}

impl Default for Marks {
    fn default() -> Marks {
        Marks { ring: [Mark::default(); MARKS], next: 0 }
    }
}

impl Marks {
    /// Notes one more thing.
    pub fn push(&mut self, mark: Mark) {
        self.ring[self.next] = mark;
        self.next = (self.next + 1) % MARKS;
    }

    /// Things of the last `frames` frames before and including `now`.
    pub fn recent(&self, now: u32, frames: u32) -> impl Iterator<Item = &Mark> {
        self.ring.iter().filter(move |mark| mark.what != What::None && now.wrapping_sub(mark.frame) < frames)
    }
}
