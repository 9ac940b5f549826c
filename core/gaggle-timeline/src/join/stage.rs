//! Stages of coming in by one donor, and what is decided between them.
//!
//! `Joiner` moves from one to the next. Absent: when.

use gaggle_kit::{Micros, PeerId};

use super::incoming::IncomingState;
use crate::transfer::Offer;

/// How far a donor has brought this peer.
#[derive(Debug, Default)]
pub(super) enum Stage {
    /// Nothing to do: in a match, or not asked to be in one yet.
    #[default]
    Idle,
    /// Asked for a state.
    Asked { donor: PeerId, at: Micros },
    /// It is coming.
    Receiving { donor: PeerId, incoming: Box<IncomingState> },
    /// It is there: the game must take it next, or once we are as far.
    Complete { donor: PeerId, offer: Box<Offer>, state: Vec<u8>, at: Micros },
    /// A learner that is fed.
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

/// A peer that has a state, for all we know.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) peer: PeerId,
    /// Until when it said that it has none.
    pub(crate) unable_until: Option<Micros>,
}

/// What comes of looking for a donor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum JoinAction {
    /// A donor was asked, or none is to be asked yet.
    Nothing,
    /// There has been no match to come to for long: begin one with the state we have.
    CreateMatch,
}

/// What comes of a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Declined {
    /// It was not asked, or was asked for something else at once.
    Nothing,
    /// It has nothing to give until then.
    UntilLater(Micros),
    /// It helps no more.
    Lost,
}
