//! Marks: events of the game, kept in a ring for pictures and sounds.
//!
//! The rules push them, `net` sends them, `stage` reads them. Absent: anything the rules read.

use gaggle_kit::State;

use crate::field::Vec2;

/// Kind of an event in the game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, State)]
#[repr(u8)]
pub enum What {
    /// No event: an entry never written.
    #[default]
    None,
    /// A pea was fired.
    Fire,
    /// A dash began.
    Dash,
    /// A craft collided with a wall or a rock.
    Bump,
    /// A rock broke; the value is its radius.
    Crack,
    /// A pea hit something it does not hurt.
    Tick,
    /// A drake was shot down by the seat in `by`.
    Down,
    /// A shell broke and saved its drake.
    ShellBroke,
    /// A duckling was caught.
    Caught,
    /// A duckling reached its nest.
    Home,
    /// An egg was taken; the value is its [`Load`](crate::Load).
    Egg,
    /// A puffball was laid.
    Laid,
    /// A puffball burst.
    Burst,
    /// A hornet was let out.
    Hornet,
    /// A lantern began to glow.
    Glow,
    /// A lantern began to burn.
    Beam,
    /// The turning direction of all crafts was reversed.
    Whirl,
    /// The countdown shows the number in the value.
    Count,
    /// A round begins.
    Begin,
    /// A round ended; `who` won it.
    Won,
    /// A match ended; `who` won it.
    Over,
    /// A player took a seat.
    Join,
    /// A player left its seat to a bot.
    Leave,
    /// A craft moved as the rules do not allow and is out of the round.
    Offside,
    /// A player who is out of the round cheers.
    Cheer,
}

/// No seat, in a mark's `who` or `by`.
pub const NOBODY: u8 = u8::MAX;

/// One event of the game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Mark {
    /// Frame of the event.
    pub frame: u32,
    /// Kind of the event.
    pub what: What,
    /// Seat it happened to; 255 for none.
    pub who: u8,
    /// Seat that caused it; 255 for none.
    pub by: u8,
    /// Number whose meaning depends on `what`.
    pub value: u8,
    /// Column, in pixels.
    pub x: i16,
    /// Row, in pixels.
    pub y: i16,
}

impl Mark {
    /// A mark without a cause and a value.
    pub fn at(what: What, who: u8, place: Vec2) -> Mark {
        Mark {
            what,
            who,
            by: NOBODY,
            x: place[0].floor() as i16,
            y: place[1].floor() as i16,
            ..Mark::default()
        }
    }

    /// The same mark with the seat that caused it.
    #[must_use]
    pub const fn by(self, seat: u8) -> Mark {
        Mark { by: seat, ..self }
    }

    /// The same mark with a number.
    #[must_use]
    pub const fn value(self, value: u8) -> Mark {
        Mark { value, ..self }
    }
}

/// Number of events remembered.
pub const MARKS: usize = 64;

/// Ring of the last [`MARKS`] events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Marks {
    ring: [Mark; MARKS],
    #[state(range = 0..=MARKS as u8 - 1)]
    next: u8,
}

impl Default for Marks {
    fn default() -> Marks {
        Marks { ring: [Mark::default(); MARKS], next: 0 }
    }
}

impl Marks {
    /// Adds an event in place of the oldest.
    pub fn push(&mut self, mark: Mark) {
        self.ring[usize::from(self.next)] = mark;
        self.next = (self.next + 1) % MARKS as u8;
    }

    /// Events of the last `frames` frames up to `now`, in the order of the ring, which is that of
    /// time except where it wraps.
    pub fn recent(&self, now: u32, frames: u32) -> impl Iterator<Item = &Mark> {
        self.ring.iter().filter(move |mark| mark.what != What::None && now.wrapping_sub(mark.frame) < frames)
    }
}
