//! Game events (marks), from which pictures and sounds are derived.
//!
//! Pushed by all parts of the simulation, read by `stage`. They are part of the state, so that the
//! picture is a function of it alone. Absent: pictures and sounds.

use gaggle_kit::State;

use crate::sky::{PX, Spot};

/// Kind of a game event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, State)]
#[repr(u8)]
pub enum Kind {
    /// An entry of the ring that was never written.
    #[default]
    None,
    /// A small enemy was destroyed; the value is its points, with the factor of the V.
    Kill,
    /// A large enemy was destroyed; the value is its points, with the factor of the V.
    KillLarge,
    /// A goose came into a wake.
    Wake,
    /// A goose took the lead of its V.
    Point,
    /// The leading goose ran out of breath.
    Winded,
    /// A goose honks; the value is 1 for a chorus.
    Honk,
    /// A honk without enough breath.
    Peep,
    /// An ember passed close by for the first time.
    Graze,
    /// A goose was hit and falls; the value is the cause: 0 ember, 1 body, 2 lightning.
    Fall,
    /// A falling goose was caught; `who` fell, the value is the catcher.
    Caught,
    /// A falling goose was not caught.
    Lost,
    /// A crumb was taken; the value is its points, with the factor of the V.
    Crumb,
    /// A column is marked for lightning.
    ThunderMark,
    /// Lightning strikes a column.
    Thunder,
    /// A boss changes its phase.
    BossPhase,
    /// A boss is beaten.
    BossDown,
    /// A boss appears.
    BossUp,
    /// A stage begins; the value is its number.
    Stage,
    /// A wave begins; the value is its number from 0.
    Wave,
    /// The roost between two stages.
    Roost,
    /// A player joined.
    Join,
    /// A player left; the goose flies on.
    Leave,
    /// A goose comes in from the left.
    Enter,
    /// A spare goose was won.
    Spare,
    /// The run is over; the value is 1 at dawn.
    Over,
    /// Eyes of an owl light up, a beak shuts: something is about to fire.
    Warn,
    /// A boss or an enemy was hit hard enough to be heard.
    Hurt,
}

/// One game event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Mark {
    /// Frame of the event.
    pub frame: u32,
    /// Kind of the event.
    pub kind: Kind,
    /// Goose, enemy or entry concerned: unique among events of a kind in a frame.
    pub who: u8,
    /// The column in pixels.
    pub x: i16,
    /// The row in pixels.
    pub y: i16,
    /// Points, or a number whose meaning depends on the kind.
    pub value: u16,
}

impl Mark {
    /// An event at a place. The frame is set when it is pushed.
    pub fn at(kind: Kind, who: usize, spot: Spot) -> Mark {
        let (x, y) = ((spot.0 / PX) as i16, (spot.1 / PX) as i16);
        Mark { kind, who: who as u8, x, y, ..Mark::default() }
    }

    /// The same event with a value.
    #[must_use]
    pub fn worth(self, value: u32) -> Mark {
        Mark { value: value.min(u32::from(u16::MAX)) as u16, ..self }
    }
}

/// Events kept: long enough for a feather to come down.
pub const MARKS: usize = 80;

/// The last events; the oldest is overwritten first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Marks {
    /// Events in a ring.
    ring: [Mark; MARKS],
    /// Entry for the next event.
    #[state(range = 0..=MARKS as u8 - 1)]
    next: u8,
}

impl Default for Marks {
    fn default() -> Marks {
        Marks { ring: [Mark::default(); MARKS], next: 0 }
    }
}

impl Marks {
    /// Adds an event.
    pub fn push(&mut self, mark: Mark) {
        self.ring[usize::from(self.next)] = mark;
        self.next = (self.next + 1) % MARKS as u8;
    }

    /// Events of the last `frames` frames, `now` included.
    pub fn recent(&self, now: u32, frames: u32) -> impl Iterator<Item = &Mark> {
        self.ring.iter().filter(move |mark| mark.kind != Kind::None && now.wrapping_sub(mark.frame) < frames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_ring_overwrites_oldest_mark() {
        let mut marks = Marks::default();
        for frame in 0..=MARKS as u32 {
            marks.push(Mark { frame, ..Mark::at(Kind::Kill, 0, (0, 0)) });
        }
        let now = MARKS as u32;
        assert_eq!(marks.recent(now, 1000).count(), MARKS);
        assert!(!marks.recent(now, 1000).any(|mark| mark.frame == 0));
        assert_eq!(marks.recent(now, 3).count(), 3);
    }
}
