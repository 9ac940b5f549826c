//! What happened, for eyes and ears: every sound, puff and word on the screen starts from one of
//! these.

use gaggle_kit::State;

use crate::field::Vec2;

/// Kind of an event in the game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, State)]
#[repr(u8)]
pub enum What {
    /// Nothing: an entry never written.
    #[default]
    None,
    /// A pea was spat.
    Fire,
    /// A dash began.
    Dash,
    /// Somebody ran into a wall or a rock.
    Bump,
    /// A rock broke; the value is its radius.
    Crack,
    /// A pea met something it does not hurt.
    Tick,
    /// A drake was brought down; `by` is who did it.
    Down,
    /// A shell broke instead of its drake.
    ShellBroke,
    /// A duckling was caught.
    Caught,
    /// A duckling got home.
    Home,
    /// An egg was taken; the value is what was in it.
    Egg,
    /// A puffball was laid.
    Laid,
    /// A puffball burst.
    Burst,
    /// A hornet was let out.
    Hornet,
    /// A lantern begins to glow.
    Glow,
    /// A lantern burns.
    Beam,
    /// Everybody turns the other way.
    Whirl,
    /// The countdown: the value is the number.
    Count,
    /// A round begins.
    Begin,
    /// A round is over; `who` won it.
    Won,
    /// A match is over; `who` won it.
    Over,
    /// Somebody sat down.
    Join,
    /// Somebody left his drake to a bot.
    Leave,
    /// Somebody flew as nobody can, and is out.
    Offside,
    /// A player who is out of the round cheers.
    Cheer,
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
    /// To whom, by seat, or [`NOBODY`].
    pub who: u8,
    /// Through whom, by seat, or [`NOBODY`].
    pub by: u8,
    /// A number, where there is one.
    pub value: u8,
    /// Where, in pixels.
    pub x: i16,
    /// Where, in pixels.
    pub y: i16,
}

impl Mark {
    /// A mark at a place.
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

    /// The same, through somebody.
    #[must_use]
    pub const fn by(self, seat: u8) -> Mark {
        Mark { by: seat, ..self }
    }

    /// The same, with a number.
    #[must_use]
    pub const fn value(self, value: u8) -> Mark {
        Mark { value, ..self }
    }
}

/// Number of events remembered.
pub const MARKS: usize = 64;

/// What happened lately, newest overwriting oldest.
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
    /// Notes one more thing.
    pub fn push(&mut self, mark: Mark) {
        self.ring[usize::from(self.next)] = mark;
        self.next = (self.next + 1) % MARKS as u8;
    }

    /// Things of the last `frames` frames before and including `now`, the older first among those
    /// of one lap.
    pub fn recent(&self, now: u32, frames: u32) -> impl Iterator<Item = &Mark> {
        self.ring.iter().filter(move |mark| mark.what != What::None && now.wrapping_sub(mark.frame) < frames)
    }
}
