//! Output types of a client: phases, events, errors, packets to send.
//!
//! `Client` makes them, its owner reads them. Absent: when.

use std::collections::VecDeque;

use gaggle_kit::{DecodeError, Frame};
use thiserror::Error;

use crate::lanes::LaneError;
use crate::lineage::Epoch;
use crate::message::OverReason;

/// The referee sent invalid bytes: the caller closes the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ClientError {
    /// A packet header or a message is malformed.
    #[error("not decodable: {0}")]
    Malformed(#[from] DecodeError),
    /// Sealed frames contradict the log.
    #[error(transparent)]
    Lane(#[from] LaneError),
}

/// Phase of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientPhase {
    /// It has no log yet and requests one.
    Entering,
    /// It follows the log, with a row or without.
    Following,
    /// The match is over for it.
    Over(OverReason),
}

/// An event in the match of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientEvent {
    /// The log begins at this frame. The state is from a donor; it is empty at the start of a
    /// match.
    ///
    /// After [`ClientEvent::Desync`] the log goes on as it is, and the state replaces the game's.
    SnapshotReceived {
        /// Frame of the state.
        frame: Frame,
        /// The game's state as its donor encoded it.
        state: Vec<u8>,
        /// Checksum that most clients computed for it, 0 if the state is empty. If the decoded
        /// state has another one, call [`enter_anew`](crate::Client::enter_anew).
        state_hash: u64,
    },
    /// The referee asks for the state of a frame, which is not sealed yet: keep it when it is, and
    /// pass it to [`offer_state`](crate::Client::offer_state).
    StateWanted {
        /// Number of the request.
        number: u32,
        /// Frame whose state is wanted.
        frame: Frame,
    },
    /// The game's state of a frame is not that of most other clients. Theirs follows.
    Desync {
        /// Frame whose states differ.
        frame: Frame,
    },
    /// The referee has not been heard for `abandon_timeout`. The client goes on waiting for it.
    RefereeLost,
    /// An own entry did not count: the frame was sealed without it.
    Refused {
        /// Frame of the entry.
        frame: Frame,
    },
    /// Another start of the referee continues sealing. Frames after `kept` were taken back.
    TermChanged {
        /// The new term.
        epoch: Epoch,
        /// Last frame that is kept.
        kept: Frame,
        /// Last frame that was sealed before.
        sealed: Frame,
    },
    /// The log has no frame in common with the new referee's: the match begins again.
    Reset,
    /// The match is over.
    Over {
        /// Why it is over.
        reason: OverReason,
    },
}

/// A packet or message to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientTransmit<'a> {
    /// Whether it must arrive, in order with other reliable ones of its stream.
    pub is_reliable: bool,
    /// Stream of reliable ones: 0, or 1 for pieces of states, so that nothing waits for them.
    pub stream: u8,
    /// Bytes of the packet or message.
    pub bytes: &'a [u8],
}

/// Most events that wait to be polled; then the oldest are dropped.
const EVENTS_MAX: usize = 1_024;

/// Events in order, and the number of dropped ones.
#[derive(Debug, Default)]
pub(super) struct Events {
    queue: VecDeque<ClientEvent>,
    dropped: u64,
}

impl Events {
    pub(super) fn push(&mut self, event: ClientEvent) {
        if self.queue.len() == EVENTS_MAX {
            self.queue.pop_front();
            self.dropped += 1;
        }
        self.queue.push_back(event);
    }

    pub(super) fn pop(&mut self) -> Option<ClientEvent> {
        self.queue.pop_front()
    }

    pub(super) const fn dropped(&self) -> u64 {
        self.dropped
    }
}
