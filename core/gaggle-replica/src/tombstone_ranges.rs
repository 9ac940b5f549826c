//! Ids of objects deleted so long ago that nothing else is kept. Counters of one creator are close
//! together, so intervals hold them. `Tombstones` owns it. Absent: records, times.

use std::collections::BTreeMap;

use crate::{MemberTag, ObjectId};

/// A set of ids.
#[derive(Debug, Clone, Default)]
pub(crate) struct Forgotten {
    /// By creator: first and last counter of every interval, ascending, never adjacent.
    intervals: BTreeMap<MemberTag, Vec<(u32, u32)>>,
}

impl Forgotten {
    pub(crate) fn contains(&self, id: ObjectId) -> bool {
        let Some(intervals) = self.intervals.get(&id.creator()) else { return false };
        let after = intervals.partition_point(|&(first, _)| first <= id.counter());
        after > 0 && id.counter() <= intervals[after - 1].1
    }

    pub(crate) fn insert(&mut self, id: ObjectId) {
        if self.contains(id) {
            return;
        }
        let counter = id.counter();
        let intervals = self.intervals.entry(id.creator()).or_default();
        let after = intervals.partition_point(|&(first, _)| first < counter);
        let joins_before = after > 0 && intervals[after - 1].1.checked_add(1) == Some(counter);
        let joins_after =
            intervals.get(after).is_some_and(|&(first, _)| counter.checked_add(1) == Some(first));
        match (joins_before, joins_after) {
            (true, true) => {
                intervals[after - 1].1 = intervals[after].1;
                intervals.remove(after);
            }
            (true, false) => intervals[after - 1].1 = counter,
            (false, true) => intervals[after].0 = counter,
            (false, false) => intervals.insert(after, (counter, counter)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gaggle_kit::Prng;
    use std::collections::BTreeSet;

    #[test]
    fn ranges_behave_like_set_and_join_neighbors() {
        let mut random = Prng::new(4);
        let mut forgotten = Forgotten::default();
        let mut set = BTreeSet::new();
        for _ in 0..3_000 {
            let id = ObjectId::new(MemberTag(random.below(3) + 1), random.below(400));
            assert_eq!(forgotten.contains(id), set.contains(&id));
            forgotten.insert(id);
            set.insert(id);
        }
        for id in [ObjectId::new(MemberTag(9), u32::MAX), ObjectId::new(MemberTag(9), 0)] {
            forgotten.insert(id);
            assert!(forgotten.contains(id));
        }
        for creator in 1..=3 {
            for counter in 0..400 {
                forgotten.insert(ObjectId::new(MemberTag(creator), counter));
            }
            assert_eq!(forgotten.intervals[&MemberTag(creator)], [(0, 399)]);
        }
    }
}
