//! The recent past of one figure: the largest value of every few frames, as many columns as fit.
//! `NetPanel` owns one per graph. Absent: drawing.

use std::collections::VecDeque;

/// Number of columns kept.
pub(super) const COLUMNS: usize = 208;

#[derive(Debug, Clone)]
pub(super) struct History {
    columns: VecDeque<u32>,
    /// Frames per column.
    every: u32,
    /// Largest value of the incomplete column, and its number of frames.
    open: (u32, u32),
}

impl History {
    /// A past with a column per this many frames.
    pub(super) fn every(frames: u32) -> History {
        History { columns: VecDeque::with_capacity(COLUMNS), every: frames.max(1), open: (0, 0) }
    }

    /// Adds one frame's value.
    pub(super) fn push(&mut self, value: u32) {
        let (largest, frames) = (self.open.0.max(value), self.open.1 + 1);
        if frames < self.every {
            self.open = (largest, frames);
            return;
        }
        self.open = (0, 0);
        if self.columns.len() >= COLUMNS {
            self.columns.pop_front();
        }
        self.columns.push_back(largest);
    }

    /// The last `count` columns, oldest first.
    pub(super) fn recent(&self, count: usize) -> impl Iterator<Item = u32> {
        self.columns.iter().skip(self.columns.len().saturating_sub(count)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_is_largest_of_its_frames_and_old_ones_go() {
        let mut history = History::every(3);
        [1, 7, 2, 0, 0, 4, 9].into_iter().for_each(|value| history.push(value));
        assert_eq!(history.recent(10).collect::<Vec<_>>(), [7, 4]);
        (0..10_000).for_each(|_| history.push(5));
        assert_eq!((history.columns.len(), history.recent(usize::MAX).sum::<u32>()), (COLUMNS, 5 * 208));
    }
}
