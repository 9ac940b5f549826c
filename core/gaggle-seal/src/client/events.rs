//! What a client tells its owner: phases, events, errors, what to send.
//!
//! `Client` makes them. Absent: when.

use std::collections::VecDeque;

use gaggle_kit::{DecodeError, Frame};
use thiserror::Error;

use crate::lanes::LaneError;
use crate::lineage::Epoch;
use crate::message::OverReason;

/// Bytes of the referee that make no sense: the caller closes the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ClientError {
    /// A head or a message.
    #[error("not decodable: {0}")]
    Malformed(#[from] DecodeError),
    /// Sealed frames contradict the log.
    #[error(transparent)]
    Lane(#[from] LaneError),
}

/// Where a client stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientPhase {
    /// It has no log yet and asks for one.
    Entering,
    /// It follows the log, with a row or without.
    Following,
    /// The match is over for it.
    Over(OverReason),
}

/// What happened to the match of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientEvent {
    /// The log begins at this frame. The state is the donor's, empty at the start of a match.
    SnapshotReceived {
        /// Frame of the state.
        frame: Frame,
        /// The game's state as its donor encoded it.
        state: Vec<u8>,
    },
    /// An own entry did not count: the frame was sealed without it.
    Refused {
        /// Frame of the entry.
        frame: Frame,
    },
    /// Another start of the referee seals on. Frames after `kept` were taken back.
    TermChanged {
        /// The new term.
        epoch: Epoch,
        /// Last frame that stays.
        kept: Frame,
        /// Last frame that was sealed before.
        sealed: Frame,
    },
    /// Nothing of the log is the new referee's: the match begins anew.
    Reset,
    /// The match is over.
    Over {
        /// Why it is over.
        reason: OverReason,
    },
}

/// A packet or message that is to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientTransmit<'a> {
    /// Must arrive, in order with other reliable ones.
    pub is_reliable: bool,
    /// What is sent.
    pub bytes: &'a [u8],
}

/// Events that wait to be polled; the oldest make room for new ones.
const EVENTS_MAX: usize = 1_024;

/// Events in order, with how many were dropped.
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
