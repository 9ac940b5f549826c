//! Deleted objects: those remembered in full, and ids of older ones. Claims and intake add to it, a
//! tick visits a few. Absent: peers, which peer may delete.

use crate::ObjectId;
use crate::store::ObjectIndex;
use crate::tombstone_ranges::Forgotten;

/// Deletions this peer remembers.
#[derive(Debug, Default)]
pub(crate) struct Tombstones {
    /// Indexes of deleted objects that are remembered in full.
    remembered: Vec<ObjectIndex>,
    cursor: usize,
    /// Ids of older deleted objects, of which nothing else is kept.
    forgotten: Forgotten,
}

/// Result for a visited tombstone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visit {
    /// It stays until it is old and acknowledged.
    Keep,
    /// The object exists again.
    Revived,
    /// Only its id is kept from now on.
    Forget(ObjectId),
}

impl Tombstones {
    /// Adds a deleted object.
    pub(crate) fn push(&mut self, place: ObjectIndex) {
        self.remembered.push(place);
    }

    /// Whether an object was deleted so long ago that only its id is kept.
    pub(crate) fn contains(&self, id: ObjectId) -> bool {
        self.forgotten.contains(id)
    }

    /// Keeps no more of an object than its id.
    pub(crate) fn forget(&mut self, id: ObjectId) {
        self.forgotten.insert(id);
    }

    /// Tombstones visited in a tick: a few, since nothing waits for it.
    pub(crate) fn visits(&self) -> usize {
        self.remembered.len().min(16)
    }

    /// Next tombstone to visit.
    pub(crate) fn next(&mut self) -> Option<ObjectIndex> {
        self.cursor = (self.cursor + 1) % self.remembered.len().max(1);
        self.remembered.get(self.cursor).copied()
    }

    /// Result for the one that [`next`](Tombstones::next) returned.
    pub(crate) fn settle(&mut self, visit: Visit) {
        if visit != Visit::Keep {
            self.remembered.swap_remove(self.cursor);
        }
        if let Visit::Forget(id) = visit {
            self.forget(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemberTag;

    fn id(counter: u32) -> ObjectId {
        ObjectId::new(MemberTag(1), counter)
    }

    fn of(count: u32) -> Tombstones {
        let mut tombstones = Tombstones::default();
        (0..count).for_each(|place| tombstones.push(place));
        tombstones
    }

    #[test]
    fn empty_list_has_nothing_to_visit() {
        let mut tombstones = of(0);
        assert_eq!((tombstones.visits(), tombstones.next()), (0, None));
    }

    #[test]
    fn every_tombstone_is_visited_in_turn() {
        let mut tombstones = of(40);
        let mut seen: Vec<ObjectIndex> = (0..40).filter_map(|_| tombstones.next()).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..40).collect::<Vec<_>>());
        assert_eq!(tombstones.visits(), 16);
    }

    #[test]
    fn forgotten_tombstone_leaves_its_id() {
        let mut tombstones = of(2);
        assert!(tombstones.next().is_some() && !tombstones.contains(id(1)));
        tombstones.settle(Visit::Forget(id(1)));
        assert!(tombstones.contains(id(1)) && tombstones.visits() == 1);
    }

    #[test]
    fn revived_object_leaves_no_id() {
        let mut tombstones = of(2);
        tombstones.next();
        tombstones.settle(Visit::Keep);
        assert_eq!(tombstones.visits(), 2);
        tombstones.settle(Visit::Revived);
        assert!(tombstones.visits() == 1 && !tombstones.contains(id(0)));
    }
}
