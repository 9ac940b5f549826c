//! Roster types: streams, their rows, and the identity of a match.
//!
//! A stream is the sequence of one peer's entries during one stay, and never changes. So peers
//! cannot disagree about a value in it, only about the frames it counts in. Absent: how rows are
//! agreed.

use std::fmt;

use gaggle_kit::{Frame, PeerId, SlotSet};

/// Distinguishes the stays of one peer in a match: drawn at random, used once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Incarnation(pub u32);

impl fmt::Debug for Incarnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:08x}", self.0)
    }
}

/// Identity of a stream: a peer and its stay.
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

/// Identity of a match: of two that meet, the one created earlier goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct MatchId {
    /// When it was created, in a unit all creators share: best a server's time, else a local clock.
    pub started_at: u64,
    /// Random number drawn by its creator.
    pub nonce: u64,
}

/// One stream's row in the roster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RosterEntry {
    /// Stream the row is about.
    pub stream: StreamId,
    /// Slots of its players.
    pub slots: SlotSet,
    /// The first frame in which it counts.
    pub first_frame: Frame,
    /// The last frame in which it counts; [`Frame::NEVER`] while it is open.
    pub last_frame: Frame,
}

impl RosterEntry {
    /// Whether the row is open: it has no last frame yet.
    pub fn is_active(&self) -> bool {
        self.last_frame == Frame::NEVER
    }

    /// Whether it counts at `frame`.
    pub fn is_present_at(&self, frame: Frame) -> bool {
        self.first_frame <= frame && frame <= self.last_frame
    }

    /// Join order: earlier first frames first; among equal ones, the lowest slot. The stream only
    /// breaks ties between rows without slots.
    pub(crate) fn rank(&self) -> (Frame, u32, StreamId) {
        (self.first_frame, self.slots.bits().trailing_zeros(), self.stream)
    }

    /// Whether both rows have a slot in common in some frame.
    pub(crate) fn collides(&self, other: &RosterEntry) -> bool {
        !self.slots.intersection(other.slots).is_empty()
            && self.first_frame <= other.last_frame
            && other.first_frame <= self.last_frame
            && self.first_frame <= self.last_frame
            && other.first_frame <= other.last_frame
    }
}
