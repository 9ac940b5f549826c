//! Handles: short names for objects on one link, in one direction. `Outbound` takes the lowest free
//! one, so that neighbors in a packet have near numbers. Absent: objects.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Ticks after the acknowledged close of a handle until it is used again: packets with its old
/// meaning have expired by then.
const QUARANTINE_TICKS: u32 = 64;

/// Free handles of one direction.
#[derive(Debug, Default)]
pub(crate) struct Handles {
    /// Handles from here on were never used.
    fresh: u32,
    free: BinaryHeap<Reverse<u16>>,
    /// Handles not free yet, and the tick they were closed in.
    closed: VecDeque<(u16, u32)>,
}

impl Handles {
    /// A free handle, or `None` if all 65,536 are in use.
    pub(crate) fn take(&mut self, tick: u32) -> Option<u16> {
        while let Some(&(handle, since)) = self.closed.front() {
            if tick.saturating_sub(since) < QUARANTINE_TICKS {
                break;
            }
            self.closed.pop_front();
            self.free.push(Reverse(handle));
        }
        if let Some(Reverse(handle)) = self.free.pop() {
            return Some(handle);
        }
        let handle = u16::try_from(self.fresh).ok()?;
        self.fresh += 1;
        Some(handle)
    }

    /// A handle is not used any more from this tick on.
    pub(crate) fn give(&mut self, handle: u16, tick: u32) {
        self.closed.push_back((handle, tick));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handle_given_back_is_reused_lowest_first_after_delay() {
        let mut handles = Handles::default();
        assert_eq!([0; 4].map(|_| handles.take(0)), [Some(0), Some(1), Some(2), Some(3)]);
        handles.give(2, 10);
        handles.give(1, 11);
        assert_eq!(handles.take(73), Some(4));
        assert_eq!(handles.take(75), Some(1));
        assert_eq!(handles.take(75), Some(2));
        for _ in 5..=65_535 {
            assert!(handles.take(75).is_some());
        }
        assert_eq!(handles.take(75), None);
    }
}
