//! Who is present at which frame.
//!
//! A stream is what one machine has to say during one stay: it is immutable and has a name. Peers
//! can therefore never disagree about a value in it, only about from which frame to which it
//! counts.

use std::fmt;

use gaggle_kit::{Frame, PeerId, SlotSet};

/// Tells apart the stays of one machine in a match: drawn at random, used once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Incarnation(pub u32);

impl fmt::Debug for Incarnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:08x}", self.0)
    }
}

/// The name of a stream: a machine and its stay.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId {
    /// Peer that owns the stream.
    pub peer: PeerId,
    /// Which of its stays.
    pub incarnation: Incarnation,
}

impl fmt::Debug for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}{:?}", self.peer, self.incarnation)
    }
}

/// A match: of two that meet, the one founded earlier goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct MatchId {
    /// When it was founded, in a unit all founders share: best a server's time, else a local clock.
    pub started_at: u64,
    /// Drawn at random by its founder.
    pub nonce: u64,
}

/// One stream's place in the roster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RosterEntry {
    /// Whose, and of which stay.
    pub stream: StreamId,
    /// Slots of its players.
    pub slots: SlotSet,
    /// The first frame in which it counts.
    pub first_frame: Frame,
    /// The last frame in which it counts; [`Frame::NEVER`] while it is open.
    pub last_frame: Frame,
}

impl RosterEntry {
    /// Whether it has no end yet.
    pub fn is_active(&self) -> bool {
        self.last_frame == Frame::NEVER
    }

    /// Whether it counts at `frame`.
    pub fn is_present_at(&self, frame: Frame) -> bool {
        self.first_frame <= frame && frame <= self.last_frame
    }

    /// Longest present first; of those who came together, the lowest slot. The stream only breaks
    /// ties between rows without slots.
    pub(crate) fn rank(&self) -> (Frame, u32, StreamId) {
        (self.first_frame, self.slots.bits().trailing_zeros(), self.stream)
    }

    /// Whether both ever need the same slot in the same frame.
    pub(crate) fn collides(&self, other: &RosterEntry) -> bool {
        !self.slots.intersection(other.slots).is_empty()
            && self.first_frame <= other.last_frame
            && other.first_frame <= self.last_frame
            && self.first_frame <= self.last_frame
            && other.first_frame <= other.last_frame
    }
}
