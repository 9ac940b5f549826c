//! Transfers of game states in pieces: the half that is sent, and the half that arrives.
//!
//! Client and referee keep one per direction and link. Absent: what a state means, who asks for it.

use std::sync::Arc;

use gaggle_kit::DecodeError;

/// Bytes of one piece; the last one is shorter.
pub(crate) const PIECE_BYTES: usize = 8 << 10;
/// Pieces that may be sent beyond those confirmed.
const WINDOW: u32 = 32;

/// Number of pieces of so many bytes.
const fn pieces(length: usize) -> u32 {
    length.div_ceil(PIECE_BYTES) as u32
}

/// A state that is being received, piece by piece in order.
#[derive(Debug)]
pub(crate) struct Incoming {
    number: u32,
    length: usize,
    bytes: Vec<u8>,
    confirmed: u32,
}

impl Incoming {
    /// Memory is taken as pieces arrive, so that a false length claims none.
    pub(crate) const fn new(number: u32, length: usize) -> Incoming {
        Incoming { number, length, bytes: Vec::new(), confirmed: 0 }
    }

    pub(crate) const fn number(&self) -> u32 {
        self.number
    }

    /// Takes the next piece.
    pub(crate) fn take(&mut self, index: u32, piece: &[u8]) -> Result<(), DecodeError> {
        let left = self.length - self.bytes.len();
        if index != pieces(self.bytes.len()) || piece.is_empty() || piece.len() != left.min(PIECE_BYTES) {
            return Err(DecodeError::NotCanonical { what: "piece" });
        }
        self.bytes.extend_from_slice(piece);
        Ok(())
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.bytes.len() == self.length
    }

    /// Number of pieces to confirm now, if it is time for that.
    pub(crate) fn confirm(&mut self) -> Option<u32> {
        let held = pieces(self.bytes.len());
        let is_due = held > self.confirmed && (self.is_complete() || held - self.confirmed >= WINDOW / 4);
        if is_due {
            self.confirmed = held;
        }
        is_due.then_some(held)
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// A state that is being sent.
#[derive(Debug, Clone)]
pub(crate) struct Outgoing {
    number: u32,
    bytes: Arc<[u8]>,
    next: u32,
    allowed: u32,
}

impl Outgoing {
    /// A transfer that waits: nothing is sent before the receiver confirms 0 pieces.
    pub(crate) const fn offered(number: u32, bytes: Arc<[u8]>) -> Outgoing {
        Outgoing { number, bytes, next: 0, allowed: 0 }
    }

    /// A transfer whose first piece is in the message that announces it.
    pub(crate) fn begun(number: u32, bytes: Arc<[u8]>) -> Outgoing {
        let next = pieces(bytes.len()).min(1);
        Outgoing { number, bytes, next, allowed: next + WINDOW }
    }

    pub(crate) const fn number(&self) -> u32 {
        self.number
    }

    /// Notes how many pieces the receiver holds.
    pub(crate) fn confirm(&mut self, held: u32) -> Result<(), DecodeError> {
        if held > self.next {
            return Err(DecodeError::out_of_range("pieces held", held, 0u32, self.next));
        }
        self.allowed = self.allowed.max(held + WINDOW);
        Ok(())
    }

    /// The next piece that may be sent.
    pub(crate) fn peek(&self) -> Option<(u32, &[u8])> {
        let start = self.next as usize * PIECE_BYTES;
        if self.next >= self.allowed || start >= self.bytes.len() {
            return None;
        }
        let end = self.bytes.len().min(start + PIECE_BYTES);
        Some((self.next, &self.bytes[start..end]))
    }

    /// Notes that the peeked piece was sent.
    pub(crate) const fn advance(&mut self) {
        self.next += 1;
    }

    pub(crate) fn is_sent(&self) -> bool {
        self.next >= pieces(self.bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_of_every_size_arrives_whole_and_paced() {
        for length in [0, 1, PIECE_BYTES, PIECE_BYTES + 1, 100 * PIECE_BYTES + 7] {
            let state: Arc<[u8]> = (0..length).map(|at| (at / 3) as u8).collect();
            let mut outgoing = Outgoing::offered(4, state.clone());
            let mut incoming = Incoming::new(4, length);
            assert_eq!(outgoing.peek(), None, "before it is asked for");
            outgoing.confirm(0).unwrap();
            let mut rounds = 0;
            while !incoming.is_complete() {
                rounds += 1;
                let mut sent = 0;
                while let Some((index, piece)) = outgoing.peek() {
                    incoming.take(index, piece).unwrap();
                    outgoing.advance();
                    sent += 1;
                }
                assert!(sent <= WINDOW, "{sent} pieces at once");
                if let Some(held) = incoming.confirm() {
                    outgoing.confirm(held).unwrap();
                }
            }
            assert_eq!(rounds, pieces(length).div_ceil(WINDOW));
            assert!(outgoing.is_sent());
            assert_eq!(incoming.into_bytes(), *state);
        }
    }

    #[test]
    fn piece_out_of_order_or_of_other_size_is_rejected() {
        let mut incoming = Incoming::new(1, PIECE_BYTES + 5);
        assert!(incoming.take(1, &[0; PIECE_BYTES]).is_err());
        assert!(incoming.take(0, &[0; 5]).is_err());
        incoming.take(0, &[0; PIECE_BYTES]).unwrap();
        assert!(incoming.take(0, &[0; PIECE_BYTES]).is_err());
        assert!(incoming.take(1, &[0; 6]).is_err());
        incoming.take(1, &[0; 5]).unwrap();
        assert!(incoming.is_complete() && incoming.take(2, &[0; 1]).is_err());
        let mut outgoing = Outgoing::begun(1, Arc::from(&[0; 20_000][..]));
        assert!(outgoing.confirm(2).is_err(), "more than was sent");
    }
}
