//! Marks: events of the game, kept in a ring for pictures and sounds.
//!
//! The rules push them, `net` sends them, `stage` reads them. Absent: anything the rules read.

use gaggle_kit::State;

use crate::water::Vec2;

/// Kind of an event in the game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, State)]
#[repr(u8)]
pub enum What {
    /// No event: an entry never written.
    #[default]
    None,
    /// A boat began a stroke.
    Stroke,
    /// A boat collided with a thing.
    Bump,
    /// A thing was taken in tow.
    Tow,
    /// A towed thing was let go.
    Drop,
    /// A thing could not be taken: another player holds it.
    Refused,
    /// A thing was put on a stack; the value is the new count.
    Stack,
    /// A thing was taken from a stack.
    Unstack,
    /// A thing was delivered; the value is its sort.
    Delivered,
    /// The bell was delivered.
    Bell,
    /// The sluice opens.
    Sluice,
    /// All wishes of the day are fulfilled.
    Day,
    /// A player joined.
    Join,
    /// A player left.
    Leave,
}

/// No seat, in a mark's `who`.
pub const NOBODY: u8 = u8::MAX;

/// One event of the game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Mark {
    /// Frame of the event.
    pub frame: u32,
    /// Kind of the event.
    pub what: What,
    /// Seat it belongs to; 255 for none.
    pub who: u8,
    /// Number whose meaning depends on `what`.
    pub value: u8,
    /// Column, in pixels.
    pub x: i16,
    /// Row, in pixels.
    pub y: i16,
}

impl Mark {
    /// A mark of this frame at a place.
    pub fn at(what: What, who: u8, place: Vec2, value: u8) -> Mark {
        Mark { frame: 0, what, who, value, x: place[0].floor() as i16, y: place[1].floor() as i16 }
    }
}

/// Number of events remembered.
const MARKS: usize = 64;

/// Ring of the last events.
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
    /// Adds an event in place of the oldest.
    pub fn push(&mut self, mark: Mark) {
        self.ring[self.next] = mark;
        self.next = (self.next + 1) % MARKS;
    }

    /// Events of the last `frames` frames up to `now`.
    pub fn recent(&self, now: u32, frames: u32) -> impl Iterator<Item = &Mark> {
        self.ring.iter().filter(move |mark| mark.what != What::None && now.wrapping_sub(mark.frame) < frames)
    }
}
