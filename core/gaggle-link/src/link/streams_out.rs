//! All outgoing streams of a link: which is sent next, and their total size.
//!
//! Owned by `session.rs`. Absent: content of one stream (`stream_out.rs`).

use gaggle_kit::ByteWriter;

use super::packet::PIECE_HEADER_BYTES_MAX;
use super::sent::Pieces;
use super::stream_out::StreamOut;

/// Less space than this at the end of a packet is left unused.
const ROOM_MIN: usize = PIECE_HEADER_BYTES_MAX + 16;

#[derive(Debug, Default)]
pub(crate) struct StreamsOut {
    streams: Vec<(u8, StreamOut)>,
    held_bytes: usize,
}

impl StreamsOut {
    pub(crate) fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    pub(crate) fn push(&mut self, stream: u8, message: &[u8]) {
        self.change(stream, |stream| stream.push(message));
    }

    /// Least number of bytes that any stream has to send; `None` if all are sent.
    pub(crate) fn shortest(&self) -> Option<u64> {
        self.streams.iter().map(|(_, stream)| stream.pending_bytes()).filter(|&bytes| bytes > 0).min()
    }

    /// Fills a packet from streams with at most `pending_max` bytes to send, and marks it as sent.
    /// The shortest goes first: a short message never waits for a long one.
    pub(crate) fn fill(&mut self, pending_max: u64, w: &mut ByteWriter<'_>) -> Pieces {
        let mut pieces = Pieces::default();
        while !pieces.is_full() && w.remaining() >= ROOM_MIN {
            let shortest = self
                .streams
                .iter_mut()
                .filter(|(_, stream)| (1..=pending_max).contains(&stream.pending_bytes()))
                .min_by_key(|(_, stream)| stream.pending_bytes());
            let Some((number, stream)) = shortest else { break };
            let Some(piece) = stream.next_piece(w.remaining() - PIECE_HEADER_BYTES_MAX) else { break };
            let (head, tail) = stream.bytes(&piece);
            let written = w
                .u8(*number)
                .and_then(|()| w.varint(piece.start))
                .and_then(|()| w.varint(piece.end - piece.start))
                .and_then(|()| w.bytes(head))
                .and_then(|()| w.bytes(tail));
            written.expect("a piece and its header fit into the remaining space");
            pieces.push(*number, &piece);
            stream.sent(piece);
        }
        pieces
    }

    pub(crate) fn acked(&mut self, pieces: &Pieces) {
        for (stream, piece) in pieces.iter() {
            self.change(stream, |stream| stream.acked(piece));
        }
    }

    pub(crate) fn lost(&mut self, pieces: &Pieces) {
        for (stream, piece) in pieces.iter() {
            self.change(stream, |stream| stream.lost(piece));
        }
    }

    fn change(&mut self, number: u8, change: impl FnOnce(&mut StreamOut)) {
        let index = self.streams.iter().position(|(held, _)| *held == number).unwrap_or_else(|| {
            self.streams.push((number, StreamOut::default()));
            self.streams.len() - 1
        });
        let stream = &mut self.streams[index].1;
        self.held_bytes -= stream.held_bytes();
        change(stream);
        self.held_bytes += stream.held_bytes();
    }
}
