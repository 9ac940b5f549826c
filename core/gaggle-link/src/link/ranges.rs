//! Sets of stream offsets as a few ranges.
//!
//! Used by incoming and outgoing streams. Absent: bytes.

use std::ops::Range;

/// Ranges that neither overlap nor touch, in ascending order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Ranges(Vec<Range<u64>>);

impl Ranges {
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn first(&self) -> Option<Range<u64>> {
        self.0.first().cloned()
    }

    /// Number of offsets in the set.
    pub(crate) fn len(&self) -> u64 {
        self.0.iter().map(|range| range.end - range.start).sum()
    }

    pub(crate) fn insert(&mut self, mut added: Range<u64>) {
        if added.is_empty() {
            return;
        }
        // The usual case: the newest range grows.
        if let Some(last) =
            self.0.last_mut().filter(|last| last.start <= added.start && added.start <= last.end)
        {
            last.end = last.end.max(added.end);
            return;
        }
        let from = self.0.partition_point(|range| range.end < added.start);
        let to = from + self.0[from..].partition_point(|range| range.start <= added.end);
        if from == to {
            self.0.insert(from, added);
            return;
        }
        added.start = added.start.min(self.0[from].start);
        added.end = added.end.max(self.0[to - 1].end);
        self.0[from] = added;
        self.0.drain(from + 1..to);
    }

    pub(crate) fn remove(&mut self, removed: Range<u64>) {
        let from = self.0.partition_point(|range| range.end <= removed.start);
        let to = from + self.0[from..].partition_point(|range| range.start < removed.end);
        if removed.is_empty() || from == to {
            return;
        }
        let left = self.0[from].start..removed.start;
        let right = removed.end..self.0[to - 1].end;
        match (left.is_empty(), right.is_empty()) {
            (true, true) => _ = self.0.drain(from..to),
            (false, true) => {
                self.0[from] = left;
                self.0.drain(from + 1..to);
            }
            (true, false) => {
                self.0[from] = right;
                self.0.drain(from + 1..to);
            }
            (false, false) => {
                self.0[from] = left;
                if from + 1 == to {
                    self.0.insert(to, right);
                } else {
                    self.0[from + 1] = right;
                    self.0.drain(from + 2..to);
                }
            }
        }
    }

    /// Parts of `range` outside the set.
    pub(crate) fn gaps_in(&self, range: Range<u64>) -> impl Iterator<Item = Range<u64>> + '_ {
        let from = self.0.partition_point(|held| held.end <= range.start);
        let mut start = range.start;
        let mut held = self.0[from..].iter();
        std::iter::from_fn(move || {
            while start < range.end {
                let next = held.next().map_or(range.end..range.end, Clone::clone);
                let gap = start..next.start.clamp(start, range.end);
                start = next.end.max(start);
                if !gap.is_empty() {
                    return Some(gap);
                }
            }
            None
        })
    }
}

#[cfg(test)]
mod tests {
    use gaggle_kit::Prng;

    use super::*;

    /// Against a plain set of offsets, with random insertions and removals.
    #[test]
    fn ranges_with_random_changes_behave_like_set() {
        let mut random = Prng::new(1);
        for _ in 0..300 {
            let mut ranges = Ranges::default();
            let mut model = [false; 64];
            for _ in 0..40 {
                let start = random.below(64) as usize;
                let end = (start + random.below(12) as usize).min(64);
                let insert = random.chance(3, 5);
                model[start..end].fill(insert);
                let range = start as u64..end as u64;
                if insert {
                    ranges.insert(range);
                } else {
                    ranges.remove(range);
                }

                let mut found = [false; 64];
                ranges.0.iter().for_each(|range| found[range.start as usize..range.end as usize].fill(true));
                assert_eq!(found, model);
                assert!(ranges.0.windows(2).all(|pair| pair[0].end < pair[1].start), "{ranges:?}");
                assert_eq!(ranges.len(), model.iter().filter(|held| **held).count() as u64);

                let ask = random.below(64) as usize;
                let until = (ask + random.below(30) as usize).min(64);
                let mut gaps = [false; 64];
                for gap in ranges.gaps_in(ask as u64..until as u64) {
                    assert!(!gap.is_empty());
                    gaps[gap.start as usize..gap.end as usize].fill(true);
                }
                let expected: [bool; 64] = std::array::from_fn(|n| (ask..until).contains(&n) && !model[n]);
                assert_eq!(gaps, expected);
            }
        }
    }
}
