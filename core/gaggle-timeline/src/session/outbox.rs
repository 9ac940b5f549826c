//! Queue of messages, and of packets outside the running game, that wait to be sent.
//!
//! Every part writes into it, `Session::poll_transmit` drains it. Absent: what messages say, the
//! packets of the running game.

use std::collections::VecDeque;

use gaggle_kit::PeerId;
use gaggle_link::Channel;

use crate::driver::MESSAGE_STREAM;

/// Most waiting messages. If a caller never fetches them, the newest are dropped; memory stays
/// bounded.
const MESSAGES_MAX: usize = 8_192;

#[derive(Debug)]
struct OutboundMessage {
    to: PeerId,
    channel: Channel,
    bytes: Vec<u8>,
}

/// Messages in the order in which they were written.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    queue: VecDeque<OutboundMessage>,
    /// Message the caller reads.
    current: Vec<u8>,
    /// Buffer for messages that are dropped.
    dropped: Vec<u8>,
}

impl Outbox {
    /// Adds a reliable message; the caller writes its bytes.
    pub(crate) fn message(&mut self, to: PeerId) -> &mut Vec<u8> {
        self.forward(to, MESSAGE_STREAM)
    }

    /// As [`message`](Outbox::message), on this reliable stream.
    pub(crate) fn forward(&mut self, to: PeerId, stream: u8) -> &mut Vec<u8> {
        self.post(to, Channel::Reliable(stream))
    }

    /// Adds a packet outside the running game; the caller writes its bytes.
    pub(crate) fn packet(&mut self, to: PeerId) -> &mut Vec<u8> {
        self.post(to, Channel::Unreliable)
    }

    fn post(&mut self, to: PeerId, channel: Channel) -> &mut Vec<u8> {
        if self.queue.len() >= MESSAGES_MAX {
            self.dropped.clear();
            return &mut self.dropped;
        }
        self.queue.push_back(OutboundMessage { to, channel, bytes: Vec::new() });
        let last = self.queue.len() - 1;
        &mut self.queue[last].bytes
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Whether the next message is the last one.
    pub(crate) fn is_last(&self) -> bool {
        self.queue.len() == 1
    }

    /// The next message: its receiver, its channel, its bytes.
    pub(crate) fn pop(&mut self) -> Option<(PeerId, Channel, &[u8])> {
        let OutboundMessage { to, channel, bytes } = self.queue.pop_front()?;
        self.current = bytes;
        Some((to, channel, &self.current))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: PeerId = PeerId::from_u128(3);

    #[test]
    fn messages_leave_in_order_of_writing() {
        let mut outbox = Outbox::default();
        outbox.message(PEER).push(1);
        outbox.packet(PEER).push(2);
        assert_eq!(outbox.pop(), Some((PEER, Channel::Reliable(MESSAGE_STREAM), &[1][..])));
        assert_eq!(outbox.pop(), Some((PEER, Channel::Unreliable, &[2][..])));
        assert_eq!(outbox.pop(), None);
    }

    #[test]
    fn full_outbox_drops_newest() {
        let mut outbox = Outbox::default();
        (0..=MESSAGES_MAX).for_each(|nth| outbox.message(PEER).push(nth as u8));
        assert_eq!(std::iter::from_fn(|| outbox.pop().map(|_| ())).count(), MESSAGES_MAX);
    }

    #[test]
    fn popped_message_leaves_outbox_empty() {
        let mut outbox = Outbox::default();
        outbox.forward(PEER, 9);
        assert!(!outbox.is_empty() && outbox.is_last());
        assert_eq!(outbox.pop(), Some((PEER, Channel::Reliable(9), &[][..])));
        assert!(outbox.is_empty());
    }
}
