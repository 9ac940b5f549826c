//! All incoming streams of a link, within the memory granted to the peer.
//!
//! Owned by `session.rs`. Absent: reassembly (`stream_in.rs`).

use std::ops::Range;

use super::packet::Streams;
use super::stream_in::{Fit, StreamIn};
use crate::PeerFault;

#[derive(Debug, Default)]
pub(crate) struct StreamsIn {
    streams: Vec<(u8, StreamIn)>,
    /// One bit per stream that may have a message to return.
    readable: [u64; 4],
}

impl StreamsIn {
    /// Whether all pieces can be taken. If not, the packet must not be acknowledged.
    pub(crate) fn fits(&mut self, packet: &Streams<'_>, granted: usize) -> Result<bool, PeerFault> {
        let mut held: usize = self.streams.iter().map(|(_, stream)| stream.held_bytes()).sum();
        for piece in packet.pieces() {
            let index = self.index(piece.stream);
            match self.streams[index].1.fit(&(piece.offset..piece.offset + piece.bytes.len() as u64)) {
                Fit::Grows(bytes) => held = held.saturating_add(bytes),
                Fit::TooManyGaps => return Ok(false),
            }
            if held > granted {
                return Err(PeerFault::Overflow);
            }
        }
        Ok(true)
    }

    /// Takes the pieces of a packet that fits.
    pub(crate) fn insert(&mut self, packet: &Streams<'_>) {
        for piece in packet.pieces() {
            let index = self.index(piece.stream);
            self.streams[index].1.insert(piece.offset, piece.bytes);
            self.readable[index / 64] |= 1 << (index % 64);
        }
    }

    /// Next whole message: its stream, and its position for [`StreamsIn::message`].
    pub(crate) fn next_message(
        &mut self,
        bytes_max: usize,
    ) -> Result<Option<(u8, usize, Range<usize>)>, PeerFault> {
        for word in 0..self.readable.len() {
            while self.readable[word] != 0 {
                let bit = self.readable[word].trailing_zeros() as usize;
                let index = word * 64 + bit;
                let (number, stream) = &mut self.streams[index];
                if let Some(range) = stream.next_message(bytes_max)? {
                    return Ok(Some((*number, index, range)));
                }
                self.readable[word] &= !(1 << bit);
            }
        }
        Ok(None)
    }

    pub(crate) fn message(&self, index: usize, range: Range<usize>) -> &[u8] {
        &self.streams[index].1.buffer()[range]
    }

    fn index(&mut self, number: u8) -> usize {
        self.streams.iter().position(|(held, _)| *held == number).unwrap_or_else(|| {
            self.streams.push((number, StreamIn::default()));
            self.streams.len() - 1
        })
    }
}
