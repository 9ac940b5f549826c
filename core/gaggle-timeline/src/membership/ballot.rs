//! Ballots: numbers that order attempts to change the view.
//!
//! View changes and promises compare them. Absent: who may use one.

use gaggle_kit::PeerId;

use crate::roster::{Incarnation, StreamId};

/// Identity of one attempt: higher beats lower, and no two coordinators ever use the same one.
///
/// The coordinator's stay is part of it: a peer that crashed and returned may start again from a
/// lower number, and must not take answers to its former stay for answers to the new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Ballot {
    pub(crate) number: u32,
    pub(crate) by: StreamId,
}

/// Largest step above all known numbers. A larger one is a provable violation, because it would use
/// up all numbers; with steps of this size a leader needs two hours for that.
pub(crate) const BALLOT_LEAP_MAX: u32 = 1 << 16;

impl Ballot {
    /// Ballot of the view a match begins with, on which no peer voted.
    pub(crate) const FOUNDING: Ballot =
        Ballot { number: 0, by: StreamId { peer: PeerId::from_u128(0), incarnation: Incarnation(0) } };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returning_peer_never_repeats_ballot() {
        let by = |incarnation| StreamId { peer: PeerId::from_u128(7), incarnation: Incarnation(incarnation) };
        let (before, after) = (Ballot { number: 3, by: by(1) }, Ballot { number: 3, by: by(2) });
        assert_ne!(before, after);
        assert!(Ballot::FOUNDING < before);
        assert!(after < Ballot { number: 4, by: by(0) });
    }
}
