//! Clock, settings, outbox, events and counters that every part of a session works with.
//! The session hands it to its parts as an argument. Absent: peers, objects, members.

use std::collections::VecDeque;

use gaggle_kit::{Micros, PeerId};

use super::SessionStats;
use crate::ablation::Ablation;
use crate::config::ReplicaConfig;
use crate::event::{Events, SessionEvent};
use crate::message::Message;

/// Context every part may read and write.
#[derive(Debug)]
pub(crate) struct Cx {
    pub(crate) config: ReplicaConfig,
    pub(crate) now: Micros,
    /// Last tick in which something could be sent.
    pub(crate) tick: u32,
    pub(crate) ticked_at: Micros,
    /// Time at which ticks of this session began.
    pub(crate) started: Option<Micros>,
    pub(crate) events: Events,
    pub(crate) stats: SessionStats,
    /// Acknowledgements that cannot wait for the next tick's packets.
    pub(crate) acks: VecDeque<(PeerId, Vec<u8>)>,
    /// Messages of the reliable stream.
    pub(crate) messages: VecDeque<(PeerId, Vec<u8>)>,
    /// Pieces of blobs, for a stream of their own.
    pub(crate) pieces: VecDeque<(PeerId, Vec<u8>)>,
    /// Peers whose links should end, at most one entry each.
    pub(crate) refused: Vec<PeerId>,
    pub(crate) ablation: Ablation,
}

impl Cx {
    pub(crate) fn new(config: ReplicaConfig) -> Cx {
        Cx {
            config,
            now: Micros::ZERO,
            tick: 0,
            ticked_at: Micros::ZERO,
            started: None,
            events: Events::default(),
            stats: SessionStats::default(),
            acks: VecDeque::new(),
            messages: VecDeque::new(),
            pieces: VecDeque::new(),
            refused: Vec::new(),
            ablation: Ablation::default(),
        }
    }

    /// Notes the time, which never goes back; ticks count from the first call.
    pub(crate) fn note_now(&mut self, now: Micros) {
        self.now = self.now.max(now);
        if self.started.is_none() {
            self.started = Some(self.now);
        }
    }

    /// Time for which ticks count, in µs.
    pub(crate) fn ticked_for(&self) -> i64 {
        self.started.map_or(0, |started| self.now.since(started).get() as i64)
    }

    /// Queues a message for the reliable stream.
    pub(crate) fn tell(&mut self, peer: PeerId, message: &Message<'_>) {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        self.messages.push_back((peer, bytes));
    }

    /// Queues an event for the game.
    pub(crate) fn emit(&mut self, event: SessionEvent) {
        self.events.push(event);
    }

    /// Queues the end of a peer's link.
    pub(crate) fn disconnect(&mut self, peer: PeerId) {
        if !self.refused.contains(&peer) {
            self.refused.push(peer);
        }
    }

    /// Drops what waits for a peer whose link ended.
    pub(crate) fn drop_outbox(&mut self, peer: PeerId) {
        self.messages.retain(|(to, _)| *to != peer);
        self.acks.retain(|(to, _)| *to != peer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cx() -> Cx {
        Cx::new(ReplicaConfig::default())
    }

    #[test]
    fn clock_given_earlier_time_never_goes_back() {
        let mut cx = cx();
        assert_eq!(cx.ticked_for(), 0);
        cx.note_now(Micros::from_millis(5));
        cx.note_now(Micros::from_millis(9));
        cx.note_now(Micros::from_millis(7));
        assert_eq!((cx.now, cx.ticked_for()), (Micros::from_millis(9), 4_000));
    }

    #[test]
    fn disconnect_twice_queues_peer_once() {
        let mut cx = cx();
        let (a, b) = (PeerId::from_u128(1), PeerId::from_u128(2));
        [a, b, a].into_iter().for_each(|peer| cx.disconnect(peer));
        assert_eq!(cx.refused, [a, b]);
    }

    #[test]
    fn outbox_of_ended_link_is_dropped() {
        let mut cx = cx();
        let (a, b) = (PeerId::from_u128(1), PeerId::from_u128(2));
        for peer in [a, b] {
            cx.tell(peer, &Message::Verdict { number: 1, granted: true });
            cx.acks.push_back((peer, Vec::new()));
        }
        cx.drop_outbox(a);
        assert!(cx.messages.iter().chain(&cx.acks).all(|(to, _)| *to == b));
        assert_eq!((cx.messages.len(), cx.acks.len()), (1, 1));
    }
}
