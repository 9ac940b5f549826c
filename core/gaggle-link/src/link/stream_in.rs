//! One incoming stream: reassembles pieces and returns messages in order.
//!
//! Owned by `streams_in.rs`. Absent: memory limits across streams.

use std::ops::Range;

use gaggle_kit::{ByteReader, DecodeError};

use super::ranges::Ranges;
use super::shrink::Shrink;
use crate::PeerFault;

/// Gaps per stream. A packet that would add more is rejected, and sent again later.
const GAPS_MAX: usize = 1_024;

#[derive(Debug, Default)]
pub(crate) struct StreamIn {
    /// Bytes from offset `base` on, as far as pieces arrived.
    buffer: Vec<u8>,
    base: u64,
    arrived: Ranges,
    /// Bytes of the buffer already returned as messages.
    given: usize,
    shrink: Shrink,
}

/// Whether a piece can be taken.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// The buffer grows by this many bytes.
    Grows(usize),
    /// It leaves too many gaps at the moment.
    TooManyGaps,
}

impl StreamIn {
    /// Buffered bytes not returned yet.
    pub(crate) fn held_bytes(&self) -> usize {
        self.buffer.len() - self.given
    }

    pub(crate) fn fit(&self, piece: &Range<u64>) -> Fit {
        // At the limit, only what fills the first gap is taken, which always makes progress.
        if self.arrived.count() >= GAPS_MAX && piece.start > self.contiguous_end() {
            return Fit::TooManyGaps;
        }
        let end = self.base + self.buffer.len() as u64;
        Fit::Grows(usize::try_from(piece.end.saturating_sub(end)).unwrap_or(usize::MAX))
    }

    /// Takes a piece that fits.
    pub(crate) fn insert(&mut self, offset: u64, bytes: &[u8]) {
        self.forget_given();
        let skip = usize::try_from(self.base.saturating_sub(offset)).unwrap_or(usize::MAX);
        let Some(bytes) = bytes.get(skip..).filter(|bytes| !bytes.is_empty()) else { return };
        let start = (offset.max(self.base) - self.base) as usize;
        let end = start + bytes.len();
        if self.buffer.len() < end {
            self.buffer.resize(end, 0);
            self.shrink.filled(end);
        }
        self.buffer[start..end].copy_from_slice(bytes);
        self.arrived.insert(self.base + start as u64..self.base + end as u64);
    }

    /// Position of the next whole message in [`StreamIn::buffer`]; none if incomplete.
    pub(crate) fn next_message(&mut self, bytes_max: usize) -> Result<Option<Range<usize>>, PeerFault> {
        let whole = (self.contiguous_end() - self.base) as usize;
        let mut r = ByteReader::new(&self.buffer[self.given..whole]);
        let before = r.remaining();
        let length = match r.varint("message length") {
            Ok(length) => length,
            Err(DecodeError::Truncated { .. }) => return Ok(None),
            Err(_) => return Err(PeerFault::Malformed),
        };
        if length > bytes_max as u64 {
            return Err(PeerFault::MessageTooLarge);
        }
        let start = self.given + before - r.remaining();
        let end = start + length as usize;
        if end > whole {
            return Ok(None);
        }
        self.given = end;
        Ok(Some(start..end))
    }

    pub(crate) fn buffer(&self) -> &[u8] {
        &self.buffer
    }

    /// Everything below this offset has arrived.
    fn contiguous_end(&self) -> u64 {
        self.arrived.first().filter(|first| first.start <= self.base).map_or(self.base, |first| first.end)
    }

    /// Removes returned bytes once they are as many as the rest. Otherwise a peer that leaves a
    /// distant gap and sends small messages could make every one of them move the whole buffer.
    fn forget_given(&mut self) {
        if self.given == 0 || self.given * 2 < self.buffer.len() {
            return;
        }
        self.buffer.drain(..self.given);
        self.base += self.given as u64;
        self.given = 0;
        self.arrived.remove(0..self.base);
        if self.buffer.is_empty()
            && let Some(capacity) = self.shrink.emptied(self.buffer.capacity())
        {
            self.buffer.shrink_to(capacity);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(stream: &mut StreamIn) -> Vec<String> {
        let mut messages = Vec::new();
        while let Some(range) = stream.next_message(1_000).unwrap() {
            messages.push(String::from_utf8(stream.buffer()[range].to_vec()).unwrap());
        }
        messages
    }

    #[test]
    fn reordered_repeated_pieces_give_each_message_once() {
        let bytes = b"\x03one\x00\x05three\x02no";
        for order in [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 2, 4, 1]] {
            let mut stream = StreamIn::default();
            let mut seen = Vec::new();
            for part in order.into_iter().chain(order).chain(0..5) {
                let start = part * 3;
                stream.insert(start as u64, &bytes[start..(start + 4).min(bytes.len())]);
                seen.extend(messages(&mut stream));
            }
            assert_eq!(seen, ["one", "", "three", "no"], "{order:?}");
            assert_eq!(stream.held_bytes(), 0);
        }
    }

    #[test]
    fn impossible_lengths_are_faults() {
        let mut stream = StreamIn::default();
        stream.insert(0, &[0xff; 9]);
        assert_eq!(stream.next_message(1_000), Ok(None));
        stream.insert(9, &[0xff; 2]);
        assert_eq!(stream.next_message(1_000), Err(PeerFault::Malformed));
        let mut stream = StreamIn::default();
        stream.insert(0, &[0xe9, 0x07]);
        assert_eq!(stream.next_message(1_000), Err(PeerFault::MessageTooLarge));
    }

    #[test]
    fn small_messages_before_distant_gap_move_buffer_rarely() {
        let mut stream = StreamIn::default();
        stream.insert(100_000, b"far");
        let mut moves = 0;
        for number in 0..40_000u64 {
            let before = stream.base;
            stream.insert(number * 2, b"\x01m");
            moves += u32::from(stream.base != before);
            assert_eq!(messages(&mut stream), ["m"]);
        }
        assert!(moves < 20, "moved {moves} times");
        assert!(stream.buffer.len() < 100_100, "{} bytes", stream.buffer.len());
    }

    #[test]
    fn memory_follows_arrivals_and_gaps_are_limited() {
        let mut stream = StreamIn::default();
        assert_eq!(stream.fit(&(0..10)), Fit::Grows(10));
        assert_eq!(stream.fit(&(u64::MAX - 1..u64::MAX)), Fit::Grows(usize::MAX));
        (0..GAPS_MAX as u64).for_each(|n| stream.insert(n * 2 + 1, &[0]));
        assert_eq!(stream.fit(&(9_000..9_001)), Fit::TooManyGaps);
        assert_eq!(stream.fit(&(0..1)), Fit::Grows(0));
    }
}
