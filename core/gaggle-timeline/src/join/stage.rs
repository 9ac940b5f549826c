//! Stages of joining through one donor, and the decisions between them.
//!
//! `Joiner` moves from one to the next. Absent: when.

use gaggle_kit::{Micros, PeerId};

use super::incoming::IncomingState;
use crate::transfer::Offer;

/// How far a donor has brought this peer.
#[derive(Debug, Default)]
pub(super) enum Stage {
    /// Nothing under way: the peer is in a match, or was not asked to join one yet.
    #[default]
    Idle,
    /// A state was requested.
    Asked { donor: PeerId, at: Micros },
    /// The state is arriving.
    Receiving { donor: PeerId, incoming: Box<IncomingState> },
    /// The state arrived: the game must take it next, or once the simulation has reached its frame.
    Complete { donor: PeerId, offer: Box<Offer>, state: Vec<u8>, at: Micros },
    /// The peer is a learner and is fed.
    Fed { donor: PeerId, at: Micros },
}

impl Stage {
    pub(super) fn donor(&self) -> Option<PeerId> {
        match self {
            Stage::Idle => None,
            Stage::Asked { donor, .. }
            | Stage::Receiving { donor, .. }
            | Stage::Complete { donor, .. }
            | Stage::Fed { donor, .. } => Some(*donor),
        }
    }
}

/// A peer that has a state, as far as is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) peer: PeerId,
    /// Time until which it said it has none.
    pub(crate) unable_until: Option<Micros>,
}

/// Result of looking for a donor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum JoinAction {
    /// A donor was asked, or none is to be asked yet.
    Nothing,
    /// No match was found for long: create one with the local state.
    CreateMatch,
}

/// Effect of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Declined {
    /// No effect: it was not asked, or was asked for something else at once.
    Nothing,
    /// It has nothing to give until this time.
    UntilLater(Micros),
    /// It serves this peer no more.
    Lost,
}
