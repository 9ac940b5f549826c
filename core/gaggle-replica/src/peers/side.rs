//! Streams between two peers beside objects: inputs, remote events, values, blobs. Each is written
//! by the part of the same name. Absent: meaning of their content.

use std::collections::VecDeque;
use std::ops::Range;

use gaggle_kit::rate_limit::{RateLimit, RateLimiter};

use crate::blob::{Blob, PIECE_BYTES};
use crate::input_queue::InputIn;
use crate::remote_event::Inbox;
use crate::value::Values;

/// Most values written by others that one peer may send in a second: a few tables at once.
pub(crate) const RELAYED_VALUES: RateLimit = RateLimit::per_second(1_000, 2_000);

/// Blobs one peer may request at a time.
const ASKED_MAX: usize = 16;

/// Side streams of one peer.
#[derive(Debug, Default)]
pub(crate) struct SideStreams {
    /// Inputs of the players at the other end, if this peer simulates: one queue per player.
    pub(crate) inputs: Vec<InputIn>,
    pub(crate) inbox: Inbox,
    pub(crate) relayed_values_limit: RateLimiter,
    /// Values that cannot be accepted with the present roster.
    pub(crate) values: Values,
    pub(crate) blobs: PieceQueue,
}

/// Blobs a peer requested, how much of each was sent, and the bytes that may be sent.
#[derive(Debug, Default)]
pub(crate) struct PieceQueue {
    asked: VecDeque<(Blob, usize)>,
    budget: i64,
}

impl PieceQueue {
    pub(crate) fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// Whether a blob is requested.
    pub(crate) fn contains(&self, blob: Blob) -> bool {
        self.asked.iter().any(|(other, _)| *other == blob)
    }

    /// The peer requests a blob. One that is being sent begins again: the peer had stopped fetching
    /// and dropped its pieces. Returns false if too many are requested.
    #[must_use]
    pub(crate) fn ask(&mut self, blob: Blob) -> bool {
        let count = self.asked.len();
        match self.asked.iter_mut().find(|(other, _)| *other == blob) {
            Some((_, sent)) => *sent = 0,
            None if count >= ASKED_MAX => return false,
            None => self.asked.push_back((blob, 0)),
        }
        true
    }

    /// A blob is not sent any more. Returns whether it was requested.
    pub(crate) fn remove(&mut self, blob: Blob) -> bool {
        let before = self.asked.len();
        self.asked.retain(|(other, _)| *other != blob);
        self.asked.len() < before
    }

    /// Time brought this many bytes; `most` can be saved up.
    pub(crate) fn earn(&mut self, earned: i64, most: i64) {
        self.budget = (self.budget + earned).min(most);
    }

    /// Next piece the budget allows, of the blob requested first, and where it is in the blob.
    /// `size_of` is 0 for blobs this peer does not have any more.
    pub(crate) fn next(&mut self, size_of: impl Fn(Blob) -> usize) -> Option<(Blob, Range<usize>)> {
        while let Some(&(blob, start)) = self.asked.front() {
            let end = size_of(blob).min(start + PIECE_BYTES);
            if start < end {
                return (self.budget >= (end - start) as i64).then_some((blob, start..end));
            }
            self.asked.pop_front();
        }
        None
    }

    /// The next piece was sent in this many bytes; it ended here in its blob.
    pub(crate) fn note_sent(&mut self, end: usize, bytes: usize) {
        self.budget -= bytes as i64;
        if let Some((_, sent)) = self.asked.front_mut() {
            *sent = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: usize = PIECE_BYTES + 10;

    fn queue(count: u8) -> PieceQueue {
        let mut queue = PieceQueue::default();
        (0..count).for_each(|number| assert!(queue.ask(blob(number))));
        queue
    }

    fn blob(number: u8) -> Blob {
        Blob::of(&[number])
    }

    #[test]
    fn blob_is_sent_in_pieces_within_budget() {
        let mut queue = queue(2);
        assert_eq!(queue.next(|_| SIZE), None, "there is no budget");
        queue.earn(SIZE as i64 * 2, SIZE as i64 + 20);
        assert_eq!(queue.next(|_| SIZE), Some((blob(0), 0..PIECE_BYTES)));
        queue.note_sent(PIECE_BYTES, PIECE_BYTES + 5);
        assert_eq!(queue.next(|_| SIZE), Some((blob(0), PIECE_BYTES..SIZE)));
        queue.note_sent(SIZE, 15);
        assert_eq!(queue.next(|_| SIZE), None, "the budget is used up");
        queue.earn(SIZE as i64, SIZE as i64);
        assert_eq!(queue.next(|_| SIZE), Some((blob(1), 0..PIECE_BYTES)));
    }

    #[test]
    fn blob_asked_for_again_begins_again() {
        let mut queue = queue(1);
        queue.earn(9_999, 9_999);
        queue.note_sent(PIECE_BYTES, PIECE_BYTES);
        assert!(queue.ask(blob(0)) && queue.contains(blob(0)));
        assert_eq!(queue.next(|_| SIZE), Some((blob(0), 0..PIECE_BYTES)));
        assert!(queue.remove(blob(0)) && !queue.remove(blob(0)) && queue.is_empty());
    }

    #[test]
    fn request_beyond_limit_is_rejected() {
        let mut queue = queue(ASKED_MAX as u8);
        assert!(!queue.ask(blob(200)) && queue.ask(blob(3)));
        queue.earn(9_999, 9_999);
        assert_eq!(queue.next(|_| 0), None, "this peer has none of them any more");
        assert!(queue.is_empty() && queue.ask(blob(200)));
    }
}
