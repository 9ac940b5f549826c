//! One outgoing stream: holds messages until they are acknowledged as a whole, and selects what to
//! send.
//!
//! Owned by `streams_out.rs`. A stream is a sequence of bytes: each message with its length in
//! front. Absent: packets.

use std::collections::VecDeque;
use std::ops::Range;

use gaggle_kit::Varint;

use super::ranges::Ranges;
use super::shrink::Shrink;

#[derive(Debug, Default)]
pub(crate) struct StreamOut {
    /// Bytes from offset `base` on.
    buffer: VecDeque<u8>,
    /// Start of each message that is not acknowledged as a whole.
    base: u64,
    ends: VecDeque<u64>,
    /// Everything below this offset was sent at least once.
    sent: u64,
    acked: Ranges,
    /// Sent, lost, and not acknowledged.
    lost: Ranges,
    shrink: Shrink,
}

impl StreamOut {
    /// Bytes of a message in a stream.
    pub(crate) fn bytes_of(message: &[u8]) -> usize {
        Varint::size_of(message.len() as u64) + message.len()
    }

    /// Largest message that fits into this many bytes of a stream.
    pub(crate) fn message_bytes_max(bytes_max: usize) -> usize {
        // The length takes 1 to 5 bytes for all valid settings.
        (1..=5)
            .map(|length| bytes_max.saturating_sub(length))
            .find(|&bytes| Varint::size_of(bytes as u64) + bytes <= bytes_max)
            .unwrap_or(0)
    }

    pub(crate) fn push(&mut self, message: &[u8]) {
        self.buffer.extend(Varint::new(message.len() as u64).iter());
        self.buffer.extend(message);
        self.ends.push_back(self.end());
        self.shrink.filled(self.buffer.len());
    }

    /// Bytes of messages not acknowledged as a whole.
    pub(crate) fn held_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Bytes to send, for the first time or again.
    pub(crate) fn pending_bytes(&self) -> u64 {
        self.end() - self.sent + self.lost.len()
    }

    /// What to send next, at most `bytes_max`. Nothing changes until [`StreamOut::sent`].
    pub(crate) fn next_piece(&self, bytes_max: usize) -> Option<Range<u64>> {
        let next = self.lost.first().unwrap_or(self.sent..self.end());
        let end = next.end.min(next.start + bytes_max as u64);
        (next.start < end).then_some(next.start..end)
    }

    /// Bytes of a piece, in two parts if the buffer wraps there.
    pub(crate) fn bytes(&self, piece: &Range<u64>) -> (&[u8], &[u8]) {
        let (start, end) = ((piece.start - self.base) as usize, (piece.end - self.base) as usize);
        let (head, tail) = self.buffer.as_slices();
        if end <= head.len() {
            (&head[start..end], &[])
        } else if start >= head.len() {
            (&tail[start - head.len()..end - head.len()], &[])
        } else {
            (&head[start..], &tail[..end - head.len()])
        }
    }

    pub(crate) fn sent(&mut self, piece: Range<u64>) {
        self.sent = self.sent.max(piece.end);
        self.lost.remove(piece);
    }

    pub(crate) fn acked(&mut self, piece: Range<u64>) {
        let piece = piece.start.max(self.base)..piece.end;
        if piece.is_empty() {
            return;
        }
        self.lost.remove(piece.clone());
        self.acked.insert(piece);
        let Some(done) = self.acked.first().filter(|first| first.start == self.base) else { return };
        let mut whole = self.base;
        while let Some(end) = self.ends.front().copied().filter(|&end| end <= done.end) {
            self.ends.pop_front();
            whole = end;
        }
        self.buffer.drain(..(whole - self.base) as usize);
        self.base = whole;
        self.acked.remove(0..whole);
        if whole > 0
            && self.buffer.is_empty()
            && let Some(capacity) = self.shrink.emptied(self.buffer.capacity())
        {
            self.buffer.shrink_to(capacity);
        }
    }

    pub(crate) fn lost(&mut self, piece: Range<u64>) {
        let piece = piece.start.max(self.base)..piece.end;
        if !piece.is_empty() {
            for gap in self.acked.gaps_in(piece) {
                self.lost.insert(gap);
            }
        }
    }

    fn end(&self) -> u64 {
        self.base + self.buffer.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(stream: &StreamOut, piece: Range<u64>) -> String {
        let (head, tail) = stream.bytes(&piece);
        String::from_utf8([head, tail].concat()).unwrap()
    }

    #[test]
    fn lost_and_unacknowledged_data_is_sent_first() {
        let mut stream = StreamOut::default();
        stream.push(b"abcdefgh");
        for piece in [0..3, 3..6] {
            assert_eq!(stream.next_piece(3), Some(piece.clone()));
            stream.sent(piece);
        }
        stream.lost(0..6);
        stream.acked(2..4);
        assert_eq!(stream.pending_bytes(), 2 + 2 + 3);
        let mut order = Vec::new();
        while let Some(piece) = stream.next_piece(100) {
            order.push(text(&stream, piece.clone()));
            stream.sent(piece);
        }
        assert_eq!(order, ["\u{8}a", "de", "fgh"]);
    }

    #[test]
    fn messages_are_held_until_acknowledged_as_whole() {
        let mut stream = StreamOut::default();
        stream.push(b"one");
        stream.push(b"");
        stream.push(b"three");
        stream.sent(0..11);
        assert_eq!(stream.held_bytes(), 4 + 1 + 6);
        stream.acked(5..11);
        assert_eq!(stream.held_bytes(), 11, "the first is still missing");
        stream.acked(0..2);
        assert_eq!(stream.held_bytes(), 11, "half of the first is still missing");
        stream.acked(2..4);
        assert_eq!(stream.held_bytes(), 7, "the empty one is not acknowledged");
        stream.acked(4..5);
        assert_eq!((stream.held_bytes(), stream.pending_bytes()), (0, 0));
        stream.lost(0..11);
        assert_eq!(stream.next_piece(10), None);
    }
}
