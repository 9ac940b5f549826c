//! Changes of rooms without a copy here, kept while a reply that brings the copy is pending.
//!
//! A change right after a join may arrive before the reply to it. Replies come in log order, and a
//! later one contains all of it, so each change is kept until the entry that was last when it
//! arrived is answered. Absent: content of changes.

use std::collections::BTreeMap;

use gaggle_kit::PeerId;

use crate::id::RoomId;
use crate::room::Attachment;
use crate::view::RoomUpdate;

/// Events and connection changes of one step of a room.
pub(super) type Step = (Vec<RoomUpdate>, Vec<(PeerId, Option<Attachment>)>);

/// Changes and copies that wait for a reply.
#[derive(Debug, Default)]
pub(super) struct PendingChanges {
    /// Entries appended so far that may bring a copy.
    expected: u64,
    /// How many of them are answered.
    answered: u64,
    /// Copies without members here, possibly newer than the expected one, and the last entry they
    /// are kept for.
    unused: BTreeMap<RoomId, u64>,
    steps: BTreeMap<RoomId, (u64, BTreeMap<u64, Step>)>,
}

impl PendingChanges {
    /// An entry that may bring a copy was appended.
    pub(super) fn expect(&mut self) {
        self.expected += 1;
    }

    /// The oldest pending entry was applied. Returns copies that are no longer needed.
    #[must_use]
    pub(super) fn answered(&mut self) -> Vec<RoomId> {
        self.answered += 1;
        self.drop_over()
    }

    /// A pending entry will not be applied.
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

    /// Returns the changes kept for a room whose copy arrived.
    pub(super) fn take(&mut self, room: RoomId) -> BTreeMap<u64, Step> {
        self.steps.remove(&room).map_or(BTreeMap::new(), |(_, steps)| steps)
    }

    /// Keeps a copy without members here. False if no pending reply can need it.
    #[must_use]
    pub(super) fn keep_copy(&mut self, room: RoomId) -> bool {
        let is_expected = self.expected > self.answered;
        if is_expected {
            self.unused.insert(room, self.expected);
        }
        is_expected
    }

    /// The copy has members here again.
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
    fn change_without_pending_reply_is_dropped() {
        let mut pending_changes = PendingChanges::default();
        pending_changes.keep(ROOM, 2, step());
        assert!(pending_changes.take(ROOM).is_empty() && !pending_changes.keep_copy(ROOM));
    }

    #[test]
    fn change_is_kept_until_last_reply_before_it() {
        let mut pending_changes = PendingChanges::default();
        (0..2).for_each(|_| pending_changes.expect());
        pending_changes.keep(ROOM, 2, step());
        assert!(pending_changes.keep_copy(ROOM));
        pending_changes.expect();
        assert!(pending_changes.answered().is_empty());
        assert!(pending_changes.steps.contains_key(&ROOM));
        assert_eq!(pending_changes.answered(), [ROOM]);
        assert!(pending_changes.steps.is_empty());
    }

    #[test]
    fn retracted_entry_ends_no_wait_for_others() {
        let mut pending_changes = PendingChanges::default();
        (0..2).for_each(|_| pending_changes.expect());
        assert!(pending_changes.keep_copy(ROOM));
        assert!(pending_changes.retracted().is_empty());
        assert_eq!(pending_changes.answered(), [ROOM]);
    }

    #[test]
    fn copy_in_use_again_is_not_dropped() {
        let mut pending_changes = PendingChanges::default();
        pending_changes.expect();
        assert!(pending_changes.keep_copy(ROOM));
        pending_changes.use_copy(ROOM);
        assert!(pending_changes.answered().is_empty());
    }
}
