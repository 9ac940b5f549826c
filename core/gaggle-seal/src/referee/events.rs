//! What a referee tells its server: phases, events, errors, counters, what to send.
//!
//! `Referee` makes them. Absent: when.

use gaggle_kit::{Frame, Slot};
use thiserror::Error;

use super::LinkId;
use crate::roster::{OutReason, Row, StreamId};

/// What a referee is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefereePhase {
    /// It has no journal and asks clients for what they hold.
    Asking,
    /// It seals frames.
    Running,
    /// It seals no more and waits until clients hold everything.
    Draining,
    /// All clients hold everything, or were waited for long enough.
    Drained,
}

/// What happened in a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "fields named after their types")]
pub enum RefereeEvent {
    /// The stream's row begins with this frame.
    Joined { stream: StreamId, slot: Slot, frame: Frame },
    /// The row ended before this frame.
    Left { row: Row, slot: Slot, frame: Frame, why: OutReason },
    /// Clients wait for a state: give one with [`put_snapshot`](crate::Referee::put_snapshot).
    SnapshotWanted,
    /// The referee goes on without its journal: from so many clients' answers, or anew.
    Resumed { base: Frame, answers: usize, is_anew: bool },
}

/// A client that cannot be let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ConnectError {
    /// As many clients as the room may have.
    #[error("{0} clients are connected, as many as the room may have; let it try later")]
    Full(usize),
    /// A slot beyond the match.
    #[error("{0} is beyond the match; issue another ticket")]
    NoSuchSlot(Slot),
    /// A newer process of the same peer is connected.
    #[error("a newer process of this peer is connected; close this one")]
    OlderProcess,
}

/// Counters of a referee, from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RefereeStats {
    /// Frames it sealed.
    pub frames_sealed: u64,
    /// Entries it took.
    pub entries_taken: u64,
    /// Entries whose frame was sealed without them.
    pub entries_refused: u64,
    /// Merged packets it wrote, and their bytes.
    pub packets_sent: u64,
    /// Bytes of those.
    pub bytes_sent: u64,
    /// Packets and messages beyond a client's rate, dropped.
    pub over_rate: u64,
    /// Events that were not polled in time, dropped.
    pub events_dropped: u64,
}

/// A packet or message that is to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmit<'a> {
    /// Link it is for.
    pub link: LinkId,
    /// Must arrive, in order with other reliable ones.
    pub is_reliable: bool,
    /// What is sent.
    pub bytes: &'a [u8],
}
