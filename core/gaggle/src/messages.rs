//! What a game's players say to each other beside the match: bytes with a meaning only the game
//! knows.

use std::collections::VecDeque;

use gaggle_kit::{Micros, PeerId};
use gaggle_link::{Channel, SendError, Transport};

/// The reliable stream these messages travel in. Engines use the ones below 16.
const STREAM: u8 = 16;
/// Messages of one peer kept for a game that does not fetch them. Then the oldest of that peer
/// goes.
const KEPT_PER_PEER: usize = 32;

/// Bytes of the largest message: see [`Room::send_message`](crate::Room::send_message).
pub const MESSAGE_BYTES_MAX: usize = 4_096;

/// Messages that arrived, oldest first.
#[derive(Debug, Default)]
pub(crate) struct MessageQueue(VecDeque<(PeerId, Vec<u8>)>);

impl MessageQueue {
    /// Something arrived in a stream the engine does not know.
    pub(crate) fn receive(&mut self, from: PeerId, stream: u8, bytes: &[u8]) {
        if stream != STREAM || bytes.len() > MESSAGE_BYTES_MAX {
            return;
        }
        if self.0.iter().filter(|(peer, _)| *peer == from).count() == KEPT_PER_PEER
            && let Some(oldest) = self.0.iter().position(|(peer, _)| *peer == from)
        {
            self.0.remove(oldest);
        }
        self.0.push_back((from, bytes.to_vec()));
    }

    pub(crate) fn next(&mut self) -> Option<(PeerId, Vec<u8>)> {
        self.0.pop_front()
    }

    /// The others are not with us any more.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Sends to one, or to everybody there is a link to.
pub(crate) fn send(
    now: Micros,
    links: &mut impl Transport,
    to: Option<PeerId>,
    bytes: &[u8],
) -> Result<(), SendError> {
    if bytes.len() > MESSAGE_BYTES_MAX {
        return Err(SendError::TooLarge { bytes: bytes.len(), max: MESSAGE_BYTES_MAX });
    }
    match to {
        Some(peer) => links.send(now, peer, Channel::Reliable(STREAM), bytes),
        None => links.broadcast(now, Channel::Reliable(STREAM), bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_floods_pushes_out_nobody_elses_words() {
        let mut mailbox = MessageQueue::default();
        let (calm, loud) = (PeerId::from_u128(1), PeerId::from_u128(2));
        mailbox.receive(calm, STREAM, b"hello");
        for number in 0..200u8 {
            mailbox.receive(loud, STREAM, &[number]);
        }
        mailbox.receive(calm, STREAM + 1, b"of no stream of ours");
        mailbox.receive(calm, STREAM, &[0; MESSAGE_BYTES_MAX + 1]);
        assert_eq!(mailbox.next(), Some((calm, b"hello".to_vec())));
        assert_eq!(mailbox.next(), Some((loud, vec![200 - KEPT_PER_PEER as u8])), "the latest are kept");
        assert_eq!(std::iter::from_fn(|| mailbox.next()).count(), KEPT_PER_PEER - 1);
    }
}
