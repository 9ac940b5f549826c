//! Parts of a [`Link`](super::Link), and the results of its methods.
//!
//! Absent: what is done with them.

use gaggle_kit::Micros;

use crate::CloseCode;
use crate::link::congestion::Congestion;
use crate::link::pacer::Pacer;
use crate::link::rtt::Rtt;
use crate::link::sent::Pieces;

/// Measurements of the current path.
#[derive(Debug)]
pub(super) struct Path {
    /// When the path last changed, and the first packet since: measurements start there.
    pub(super) rerouted_at: Micros,
    pub(super) first_of_path: u64,
    pub(super) rtt: Rtt,
    pub(super) congestion: Congestion,
}

impl Path {
    pub(super) fn new(rerouted_at: Micros, first_of_path: u64) -> Path {
        Path { rerouted_at, first_of_path, rtt: Rtt::default(), congestion: Congestion::new() }
    }
}

/// When packets may be sent.
#[derive(Debug)]
pub(super) struct Pacing {
    pub(super) pacer: Pacer,
    pub(super) busy_until: Option<Micros>,
    /// Stream data was left when packets were last made.
    pub(super) waiting: bool,
    /// When the last unreliable message was sent, and until when stream data waits for the next
    /// one.
    pub(super) unreliable_at: Option<Micros>,
    pub(super) hold_until: Micros,
}

impl Pacing {
    pub(super) fn new(now: Micros) -> Pacing {
        Pacing {
            pacer: Pacer::new(now),
            busy_until: None,
            waiting: false,
            unreliable_at: None,
            hold_until: Micros::ZERO,
        }
    }
}

/// Sums over the life of a link.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) packets_in: u64,
    pub(super) packets_out: u64,
    pub(super) bytes_in: u64,
    pub(super) bytes_out: u64,
    pub(super) packets_resent: u64,
    pub(super) packets_refused: u64,
}

/// Result of a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Handled {
    /// The other side closes the link.
    Bye(CloseCode),
    /// There may be something to read or to send.
    Other,
    /// It was repeated, too old, or of another link.
    Refused,
}

/// A packet in the caller's buffer. Report with [`Link::transmitted`](super::Link::transmitted)
/// whether it was sent.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) bytes: usize,
    pub(super) what: What,
}

#[derive(Debug)]
pub(super) enum What {
    Unreliable,
    Ping { asks: bool, answers: bool },
    Streams { pieces: Pieces, acks: bool, idle: bool },
    Ack,
}

/// Whether a peer counts as alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Silence {
    Fine,
    TooLong,
}
