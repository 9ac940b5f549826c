//! Order of two records of an object: total and without wrapping, so merging means taking the
//! greater one, in whatever order records arrive. Resolution compares by it. Absent: which peer may
//! write.

use std::cmp::{Ordering, Reverse};

use gaggle_kit::Slot;

use crate::MemberId;

/// Age of an object's state: number of locks and claims, the last authority, and its tick.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Version {
    /// Locks and deletions so far; they beat claims.
    pub lock_seq: u32,
    /// Claims so far.
    pub claim_seq: u32,
    /// Member that claimed last. Of two equal claims that of the member earlier in join order wins.
    pub authority: MemberId,
    /// Tick of the authority.
    pub tick: u32,
}

impl Version {
    fn key(&self) -> (u32, u32, Reverse<MemberId>, u32) {
        (self.lock_seq, self.claim_seq, Reverse(self.authority), self.tick)
    }

    /// Whether both have the same claim.
    pub(crate) fn same_claim(&self, other: &Version) -> bool {
        (self.lock_seq, self.claim_seq, self.authority) == (other.lock_seq, other.claim_seq, other.authority)
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Version) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Version) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// A record of an object without its value: everything resolution decides by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Record {
    pub(crate) version: Version,
    /// Player of the authority.
    pub(crate) player: Slot,
    /// Whether it is locked and not released.
    pub(crate) held: bool,
    /// Player that may take it back as soon as it knows the object.
    pub(crate) owner_claim: Option<Slot>,
    /// Player it belongs to under [`OwnerOrLeader`](crate::AuthorityPolicy::OwnerOrLeader). Never
    /// changes.
    pub(crate) home: Option<Slot>,
    /// Deleted: a tombstone has no value.
    pub(crate) gone: bool,
    pub(crate) kind: u8,
}

impl Record {
    /// The player the object belongs to: its owner, or the one it is held for, else its authority.
    pub(crate) fn owner(&self) -> Slot {
        self.home.or(self.owner_claim).unwrap_or(self.player)
    }

    /// Whether both are equal but for the tick: a tombstone does not change.
    pub(crate) fn says_the_same(&self, other: &Record) -> bool {
        self.version == other.version || (self.gone && other.gone && self.version.same_claim(&other.version))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemberTag;
    use gaggle_kit::Prng;

    fn version(hold: u32, seq: u32, number: u32, tick: u32) -> Version {
        Version {
            lock_seq: hold,
            claim_seq: seq,
            authority: MemberId { join_order: number, tag: MemberTag(number) },
            tick,
        }
    }

    #[test]
    fn lock_beats_claim_and_earlier_peer_beats_later() {
        let ascending = [
            version(0, 9, 0, 9),
            version(1, 0, 5, 0),
            version(1, 0, 4, 0),
            version(1, 0, 4, 1),
            version(1, 1, 9, 0),
        ];
        assert!(ascending.is_sorted());
    }

    #[test]
    fn version_order_has_no_cycles() {
        let mut random = Prng::new(1);
        let mut draw = || version(random.below(3), random.below(3), random.below(3), random.below(3));
        let mut all: Vec<Version> = (0..200).map(|_| draw()).collect();
        all.sort();
        for (index, low) in all.iter().enumerate() {
            for high in &all[index..] {
                assert!(low <= high && (low == high) == (low.cmp(high) == Ordering::Equal));
            }
        }
    }
}
