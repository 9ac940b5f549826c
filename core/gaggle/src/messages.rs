//! Messages that players send each other beside the match: bytes that only the game understands.
//! The lobby side of a room keeps them. Absent: the match, values of members.

use std::collections::VecDeque;

use gaggle_kit::{Micros, PeerId};
use gaggle_link::relay::HOST_PEER;
use gaggle_link::{Channel, SendError, Transport};

/// Reliable stream of these messages. Engines use the streams below 16.
const STREAM: u8 = 16;
/// Most messages of one peer kept for a caller that does not fetch them. Then its oldest is
/// dropped.
const KEPT_PER_PEER: usize = 32;

/// Most bytes of a message: see [`Room::send_message`](crate::Room::send_message).
pub const MESSAGE_BYTES_MAX: usize = 4_096;

/// Messages that arrived, oldest first.
#[derive(Debug, Default)]
pub(crate) struct MessageQueue(VecDeque<(PeerId, Vec<u8>)>);

impl MessageQueue {
    /// Takes a message of a stream that the engine does not use.
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

    /// Drops all messages, because this peer left the others.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Sends to one peer, or to all connected ones.
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

/// Sends through a referee: the recipient's name goes before the content, zeros for all.
pub(crate) fn send_through(
    now: Micros,
    links: &mut impl Transport,
    to: Option<PeerId>,
    bytes: &[u8],
) -> Result<(), SendError> {
    if bytes.len() > MESSAGE_BYTES_MAX {
        return Err(SendError::TooLarge { bytes: bytes.len(), max: MESSAGE_BYTES_MAX });
    }
    let recipient = to.map_or([0; 16], |peer| *peer.as_bytes());
    links.send(now, HOST_PEER, Channel::Reliable(STREAM), &[&recipient[..], bytes].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flooding_peer_evicts_only_its_own_messages() {
        let mut mailbox = MessageQueue::default();
        let (calm, loud) = (PeerId::from_u128(1), PeerId::from_u128(2));
        mailbox.receive(calm, STREAM, b"hello");
        for number in 0..200u8 {
            mailbox.receive(loud, STREAM, &[number]);
        }
        mailbox.receive(calm, STREAM + 1, b"of another stream");
        mailbox.receive(calm, STREAM, &[0; MESSAGE_BYTES_MAX + 1]);
        assert_eq!(mailbox.next(), Some((calm, b"hello".to_vec())));
        assert_eq!(mailbox.next(), Some((loud, vec![200 - KEPT_PER_PEER as u8])), "the latest are kept");
        assert_eq!(std::iter::from_fn(|| mailbox.next()).count(), KEPT_PER_PEER - 1);
    }
}
