//! Output types of a referee: phases, events, errors, counters, packets to send.
//!
//! `Referee` makes them, its server reads them. Absent: when.

use gaggle_kit::{Frame, PeerId, Slot};
use thiserror::Error;

use super::LinkId;
use crate::roster::{OutReason, Row, StreamId};

/// Phase of a referee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefereePhase {
    /// It has no journal and asks clients for their logs.
    Asking,
    /// It seals frames.
    Running,
    /// It seals no more and waits until clients hold all frames.
    Draining,
    /// All clients hold all frames, or the wait timed out.
    Drained,
}

/// An event in a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "fields named after their types")]
pub enum RefereeEvent {
    /// The stream's row begins with this frame.
    Joined { stream: StreamId, slot: Slot, frame: Frame },
    /// The row ended before this frame.
    Left { row: Row, slot: Slot, frame: Frame, why: OutReason },
    /// Clients wait for a state. Others are asked for theirs; an application that has one may pass
    /// it to [`put_snapshot`](crate::Referee::put_snapshot).
    SnapshotWanted,
    /// The client's state of a frame is not that of most others: it is sent theirs.
    Desync { stream: StreamId, frame: Frame },
    /// The referee continues without its journal: from this many clients' answers, or from the
    /// start.
    Resumed { base: Frame, answers: usize, is_anew: bool },
}

/// Why a client cannot be admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ConnectError {
    /// The room has its largest number of clients.
    #[error("{0} clients are connected, as many as the room may have; let it try later")]
    Full(usize),
    /// The match does not have this slot.
    #[error("{0} is beyond the match; issue another ticket")]
    NoSuchSlot(Slot),
    /// A newer process of the same peer is connected.
    #[error("a newer process of this peer is connected; close this one")]
    OlderProcess,
}

/// Counters of a referee since its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RefereeStats {
    /// Frames it sealed.
    pub frames_sealed: u64,
    /// Entries it took.
    pub entries_taken: u64,
    /// Entries whose frame was sealed without them.
    pub entries_refused: u64,
    /// Merged packets it wrote.
    pub packets_sent: u64,
    /// Bytes of those.
    pub bytes_sent: u64,
    /// Packets and messages that were dropped because a client exceeded its rate.
    pub over_rate: u64,
    /// States that clients gave for joiners.
    pub states_donated: u64,
    /// Clients whose state of a frame was not that of most others.
    pub desyncs: u64,
    /// Clients whose log was not the referee's, and that began with a snapshot again.
    pub logs_rejected: u64,
    /// Events that were dropped because they were not polled in time.
    pub events_dropped: u64,
}

/// A packet or message to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmit<'a> {
    /// Link it is for.
    pub link: LinkId,
    /// Peer behind the link.
    pub peer: PeerId,
    /// Whether it must arrive, in order with other reliable ones of its stream.
    pub is_reliable: bool,
    /// Stream of reliable ones: 0, or 1 for pieces of states.
    pub stream: u8,
    /// Bytes of the packet or message.
    pub bytes: &'a [u8],
}
