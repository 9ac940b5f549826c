//! Changes of rooms without a copy here, while a reply that brings the copy is on its way.
//!
//! The news of what happened right after a peer joined may be here before the reply that it did.
//! Replies come in the order of the log: a later one has all of it. So everything is kept with the
//! last entry under way, and no longer than that. Absent: what the changes are.

use std::collections::BTreeMap;

use gaggle_kit::PeerId;

use crate::id::RoomId;
use crate::room::Attachment;
use crate::view::RoomUpdate;

/// What happened in one step of a room.
pub(super) type Step = (Vec<RoomUpdate>, Vec<(PeerId, Option<Attachment>)>);

/// Changes and copies that wait for a reply.
#[derive(Debug, Default)]
pub(super) struct Strays {
    /// Entries appended that may bring a copy, ever.
    expected: u64,
    /// Those of them that are applied.
    answered: u64,
    /// Copies without members here, which may be newer than the one to come, and the last entry
    /// they are kept for.
    unused: BTreeMap<RoomId, u64>,
    steps: BTreeMap<RoomId, (u64, BTreeMap<u64, Step>)>,
}

impl Strays {
    /// An entry was appended that may bring a copy.
    pub(super) fn expect(&mut self) {
        self.expected += 1;
    }

    /// The oldest of those entries was applied. Gives back which copies nothing can need any more.
    #[must_use]
    pub(super) fn answered(&mut self) -> Vec<RoomId> {
        self.answered += 1;
        self.drop_over()
    }

    /// One of those entries will not be applied.
    #[must_use]
    pub(super) fn retracted(&mut self) -> Vec<RoomId> {
        self.expected = self.expected.saturating_sub(1);
        let kept = self.steps.values_mut().map(|(last, _)| last).chain(self.unused.values_mut());
        kept.for_each(|last| *last = (*last).min(self.expected));
        self.drop_over()
    }

    fn drop_over(&mut self) -> Vec<RoomId> {
        let answered = self.answered;
        self.steps.retain(|_, (last, _)| *last > answered);
        let over = self.unused.iter().filter(|(_, last)| **last <= answered);
        let over: Vec<RoomId> = over.map(|(room, _)| *room).collect();
        self.unused.retain(|_, last| *last > answered);
        over
    }

    /// Keeps a change of a room without a copy, if one may come.
    pub(super) fn keep(&mut self, room: RoomId, version: u64, step: Step) {
        if self.expected > self.answered {
            let (last, steps) = self.steps.entry(room).or_default();
            *last = self.expected;
            steps.insert(version, step);
        }
    }

    /// The changes kept for a room whose copy has come.
    pub(super) fn take(&mut self, room: RoomId) -> BTreeMap<u64, Step> {
        self.steps.remove(&room).map_or(BTreeMap::new(), |(_, steps)| steps)
    }

    /// Keeps a copy without members here, if a reply may need it. False if none can.
    #[must_use]
    pub(super) fn keep_copy(&mut self, room: RoomId) -> bool {
        let is_expected = self.expected > self.answered;
        if is_expected {
            self.unused.insert(room, self.expected);
        }
        is_expected
    }

    /// A copy has members here again.
    pub(super) fn use_copy(&mut self, room: RoomId) {
        self.unused.remove(&room);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: RoomId = RoomId::from_bytes([1; 16]);

    fn step() -> Step {
        (Vec::new(), Vec::new())
    }

    #[test]
    fn change_without_reply_under_way_is_dropped() {
        let mut strays = Strays::default();
        strays.keep(ROOM, 2, step());
        assert!(strays.take(ROOM).is_empty() && !strays.keep_copy(ROOM));
    }

    #[test]
    fn change_is_kept_until_last_reply_before_it() {
        let mut strays = Strays::default();
        (0..2).for_each(|_| strays.expect());
        strays.keep(ROOM, 2, step());
        assert!(strays.keep_copy(ROOM));
        strays.expect();
        assert!(strays.answered().is_empty());
        assert!(strays.steps.contains_key(&ROOM));
        assert_eq!(strays.answered(), [ROOM]);
        assert!(strays.steps.is_empty());
    }

    #[test]
    fn retracted_entry_ends_no_wait_for_others() {
        let mut strays = Strays::default();
        (0..2).for_each(|_| strays.expect());
        assert!(strays.keep_copy(ROOM));
        assert!(strays.retracted().is_empty());
        assert_eq!(strays.answered(), [ROOM]);
    }

    #[test]
    fn copy_in_use_again_is_not_dropped() {
        let mut strays = Strays::default();
        strays.expect();
        assert!(strays.keep_copy(ROOM));
        strays.use_copy(ROOM);
        assert!(strays.answered().is_empty());
    }
}
