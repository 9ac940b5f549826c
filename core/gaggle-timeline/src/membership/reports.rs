//! What membership has for its session: messages to send, violations, the end of a stay.
//!
//! `Membership` fills it, the session takes each once. Absent: what follows.

use std::collections::VecDeque;

use gaggle_kit::{Frame, PeerId};

use super::StayEnd;
use super::messages::Message;
use crate::roster::StreamId;

/// Most messages that wait to be sent; further ones are dropped and sent again later.
const OUTBOX_MAX: usize = 512;

/// Reports that were not taken yet.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Reports {
    lost: Option<StayEnd>,
    /// An entry of which other peers hold another value.
    contested: Option<(StreamId, Frame)>,
    /// A stream that admitted a joiner without being the leader, and the frame in which it did.
    false_leader: Option<(StreamId, Frame)>,
    outbox: VecDeque<(PeerId, Message)>,
}

impl Reports {
    /// The stay ended against the peer's will.
    pub(super) fn lose(&mut self, why: StayEnd) {
        self.lost = Some(why);
    }

    pub(super) fn take_lost(&mut self) -> Option<StayEnd> {
        self.lost.take()
    }

    /// Others hold another value of an entry; only the first one is reported.
    pub(super) fn contest(&mut self, stream: StreamId, frame: Frame) {
        self.contested.get_or_insert((stream, frame));
    }

    pub(super) fn take_contested(&mut self) -> Option<(StreamId, Frame)> {
        self.contested.take()
    }

    /// A stream admitted a joiner without leading; only the first one is reported.
    pub(super) fn note_false_leader(&mut self, stream: StreamId, frame: Frame) {
        self.false_leader.get_or_insert((stream, frame));
    }

    pub(super) fn take_false_leader(&mut self) -> Option<(StreamId, Frame)> {
        self.false_leader.take()
    }

    /// Another stay begins: what was found in the one before does not matter any more.
    pub(super) fn begin_stay(&mut self) {
        self.false_leader = None;
        self.lost = None;
    }

    pub(super) fn send(&mut self, to: PeerId, message: Message) {
        if self.outbox.len() < OUTBOX_MAX {
            self.outbox.push_back((to, message));
        }
    }

    pub(super) fn next_message(&mut self) -> Option<(PeerId, Message)> {
        self.outbox.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roster::Incarnation;

    fn stream(peer: u128) -> StreamId {
        StreamId { peer: PeerId::from_u128(peer), incarnation: Incarnation(1) }
    }

    #[test]
    fn first_contested_entry_is_reported_once() {
        let mut reports = Reports::default();
        reports.contest(stream(1), Frame::new(4));
        reports.contest(stream(2), Frame::new(5));
        assert_eq!(reports.take_contested(), Some((stream(1), Frame::new(4))));
        assert_eq!(reports.take_contested(), None);
    }

    #[test]
    fn another_stay_keeps_messages_and_drops_violations() {
        let mut reports = Reports::default();
        reports.lose(StayEnd::Starved);
        reports.note_false_leader(stream(1), Frame::new(4));
        reports.send(stream(2).peer, Message::AskPath);
        reports.begin_stay();
        assert_eq!((reports.take_lost(), reports.take_false_leader()), (None, None));
        assert_eq!(reports.next_message(), Some((stream(2).peer, Message::AskPath)));
    }

    #[test]
    fn full_outbox_drops_newest() {
        let mut reports = Reports::default();
        (0..=OUTBOX_MAX).for_each(|_| reports.send(stream(1).peer, Message::AskPath));
        assert_eq!(std::iter::from_fn(|| reports.next_message()).count(), OUTBOX_MAX);
    }
}
