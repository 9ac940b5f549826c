//! Ballots: numbers that order attempts to change the view.

use gaggle_kit::PeerId;

use crate::roster::{Incarnation, StreamId};

/// Identity of one attempt: higher beats lower, and no two coordinators ever use the same one.
///
/// The stay is part of it: a peer that crashed and returned may count from a lower number again,
/// and answers meant for its former self must not be taken for answers to the new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Ballot {
    pub(crate) number: u32,
    pub(crate) by: StreamId,
}

/// Numbers farther than this above all ever seen are a lie: they would use up all numbers. A leader
/// that leaps as far and as often as it may needs two hours for that.
pub(crate) const BALLOT_LEAP_MAX: u32 = 1 << 16;

impl Ballot {
    /// Ballot of the view a match begins with, which was not voted on.
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
