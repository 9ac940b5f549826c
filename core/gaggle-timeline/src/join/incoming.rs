//! A state being received: the pieces that arrived, and whether they arrive fast enough.
//!
//! `Joiner` owns it while a donor sends. Absent: which donor, what the state is for.

use gaggle_kit::{Micros, StateHasher};

use crate::event::PeerFault;
use crate::transfer::{Offer, PIECE_BYTES, WINDOW_BYTES};

/// Longest time a state may take. The feeds of about this time fill their queue.
const TRANSFER_TIMEOUT: Micros = Micros::from_secs(200);
/// Part of the reported progress that is the state transfer.
pub(super) const TRANSFER_PERCENT: u64 = 80;

/// The part of a state that has arrived.
#[derive(Debug)]
pub(super) struct IncomingState {
    offer: Box<Offer>,
    /// Grown as pieces arrive: an offer alone claims no memory.
    state: Vec<u8>,
    since: Micros,
    /// Bytes present when a full-size piece last came, and when that was.
    mark: (usize, Micros),
    /// Pieces received since the last acknowledgement was sent, which the donor does not know of.
    unacknowledged: usize,
}

impl IncomingState {
    pub(super) fn new(offer: Box<Offer>, now: Micros) -> IncomingState {
        IncomingState { offer, state: Vec::new(), since: now, mark: (0, now), unacknowledged: 0 }
    }

    /// Number of the transfer.
    pub(super) fn number(&self) -> u32 {
        self.offer.number
    }

    /// An acknowledgement of all bytes so far was sent.
    pub(super) fn note_acknowledged(&mut self) {
        self.unacknowledged = 0;
    }

    /// When a full-size piece last came, and whether the whole transfer takes too long.
    pub(super) fn progress(&self, now: Micros) -> (Micros, bool) {
        (self.mark.1, now.since(self.since) >= TRANSFER_TIMEOUT)
    }

    /// Progress of joining in percent.
    pub(super) fn percent(&self) -> u64 {
        self.state.len() as u64 * TRANSFER_PERCENT / self.offer.state_bytes.max(1)
    }

    /// Takes the next piece. Returns the bytes present.
    ///
    /// # Errors
    /// If there are more unacknowledged pieces than a donor may send. Nothing else bounds them, and
    /// compressed or empty ones cost their sender next to nothing.
    pub(super) fn push(&mut self, now: Micros, bytes: &[u8]) -> Result<u64, PeerFault> {
        self.unacknowledged += 1;
        if self.unacknowledged > WINDOW_BYTES / PIECE_BYTES + 1 {
            return Err(PeerFault::RateLimitExceeded);
        }
        self.state.extend_from_slice(bytes);
        if self.state.len() >= self.mark.0 + PIECE_BYTES {
            // All pieces but the last are of full size: smaller ones do not count as progress.
            self.mark = (self.state.len(), now);
        }
        Ok(self.state.len() as u64)
    }

    pub(super) fn is_complete(&self) -> bool {
        self.state.len() as u64 >= self.offer.state_bytes
    }

    /// The state and its offer.
    ///
    /// # Errors
    /// If it is not the state that was offered.
    pub(super) fn finish(self) -> Result<(Box<Offer>, Vec<u8>), PeerFault> {
        let is_right = self.state.len() as u64 == self.offer.state_bytes
            && StateHasher::of(&self.state) == self.offer.state_hash;
        if is_right { Ok((self.offer, self.state)) } else { Err(PeerFault::SnapshotMismatch) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::tests::hex;
    use crate::transfer::Message;

    /// An offer of this state, received from the start of time.
    fn incoming(state: &[u8]) -> IncomingState {
        let bytes = hex(include_str!("../../vectors/offer.hex"));
        let Ok(Message::Offer(mut offer)) = Message::decode(&bytes) else { panic!("an offer") };
        (offer.state_bytes, offer.state_hash) = (state.len() as u64, StateHasher::of(state));
        IncomingState::new(offer, Micros::ZERO)
    }

    #[test]
    fn state_is_complete_with_its_last_piece() {
        let mut incoming = incoming(&[1, 2, 3]);
        assert_eq!(incoming.push(Micros::ZERO, &[1, 2]), Ok(2));
        assert!(!incoming.is_complete());
        assert_eq!(incoming.percent(), 2 * TRANSFER_PERCENT / 3);
        assert_eq!(incoming.push(Micros::ZERO, &[3]), Ok(3));
        assert!(incoming.is_complete());
        assert_eq!(incoming.finish().map(|(_, state)| state), Ok(vec![1, 2, 3]));
    }

    #[test]
    fn state_with_another_hash_is_fault() {
        let mut incoming = incoming(&[1, 2, 3]);
        assert_eq!(incoming.push(Micros::ZERO, &[1, 2, 4]), Ok(3));
        assert_eq!(incoming.finish().err(), Some(PeerFault::SnapshotMismatch));
    }

    #[test]
    fn pieces_beyond_window_are_fault_until_acknowledged() {
        let mut incoming = incoming(&[0; 100]);
        let window = WINDOW_BYTES / PIECE_BYTES + 1;
        (0..window).for_each(|_| assert!(incoming.push(Micros::ZERO, &[]).is_ok()));
        incoming.note_acknowledged();
        (0..window).for_each(|_| assert!(incoming.push(Micros::ZERO, &[]).is_ok()));
        assert_eq!(incoming.push(Micros::ZERO, &[]), Err(PeerFault::RateLimitExceeded));
    }

    #[test]
    fn crumbs_are_no_progress() {
        let mut incoming = incoming(&[0; 100]);
        let now = Micros::from_secs(9);
        assert!(incoming.push(now, &[0; 50]).is_ok());
        assert_eq!(incoming.progress(now), (Micros::ZERO, false));
        assert!(incoming.progress(TRANSFER_TIMEOUT).1);
    }
}
