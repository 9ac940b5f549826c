//! Unreliable messages queued while the carrier is busy; a full queue drops the oldest.
//!
//! Owned by `session.rs`. Absent: packets.

use std::collections::VecDeque;

/// Queue of whole messages; buffers are reused.
#[derive(Debug, Default)]
pub(crate) struct UnreliableQueue {
    waiting: VecDeque<Vec<u8>>,
    spare: Vec<Vec<u8>>,
    dropped: u64,
}

impl UnreliableQueue {
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(crate) fn push(&mut self, message: &[u8], messages_max: usize) {
        if messages_max == 0 {
            self.dropped += 1;
            return;
        }
        while self.waiting.len() >= messages_max {
            self.pop();
            self.dropped += 1;
        }
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(message);
        self.waiting.push_back(buffer);
    }

    pub(crate) fn front(&self) -> Option<&[u8]> {
        self.waiting.front().map(Vec::as_slice)
    }

    pub(crate) fn pop(&mut self) {
        self.spare.extend(self.waiting.pop_front());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_queue_drops_oldest_and_counts_it() {
        let mut queue = UnreliableQueue::default();
        (0..5).for_each(|n| queue.push(&[n], 3));
        assert_eq!((queue.len(), queue.dropped()), (3, 2));
        assert_eq!(queue.front(), Some(&[2][..]));
        queue.pop();
        assert_eq!(queue.front(), Some(&[3][..]));
        queue.push(&[9], 0);
        assert_eq!((queue.len(), queue.dropped()), (2, 3));
    }
}
