//! [`Transport`] of an [`Endpoint`].
//!
//! Absent: everything behind its methods (`link.rs`).

use gaggle_kit::{Micros, PeerId};

use super::{Endpoint, Found, News, Peer};
use crate::{Carrier, Channel, CloseCode, DisconnectReason, LinkStats, SendError, Transport, TransportEvent};

impl<C: Carrier> Transport for Endpoint<C> {
    fn local_id(&self) -> PeerId {
        self.carrier.local_id()
    }

    fn peers(&self) -> &[PeerId] {
        &self.joined
    }

    fn send(&mut self, now: Micros, to: PeerId, channel: Channel, bytes: &[u8]) -> Result<(), SendError> {
        let now = now.max(self.now);
        let index = self.find_next(to).map_err(|_| SendError::NotConnected { peer: to })?;
        match channel {
            Channel::Unreliable => self.send_unreliable(now, index, bytes),
            Channel::Reliable(stream) => self.send_reliable(now, index, stream, bytes),
        }
    }

    fn poll(&mut self, now: Micros) -> Option<TransportEvent<'_>> {
        let now = now.max(self.now);
        Some(match self.next(now)? {
            Found::News(News::Joined(peer)) => TransportEvent::Connected { peer },
            Found::News(News::Left(peer, reason)) => TransportEvent::Disconnected { peer, reason },
            Found::Unreliable(peer, range) => {
                let (peer, bytes) = (self.peers[peer].id, &self.datagram[range]);
                TransportEvent::Message { peer, channel: Channel::Unreliable, bytes }
            }
            Found::Reliable { peer, stream, index, range } => {
                let Peer { id, session, .. } = &self.peers[peer];
                let bytes = session.as_ref()?.message(index, range);
                TransportEvent::Message { peer: *id, channel: Channel::Reliable(stream), bytes }
            }
        })
    }

    fn poll_timeout(&self) -> Micros {
        if self.datagrams_left == 0 || !self.news.is_empty() {
            return self.now;
        }
        self.peers.iter().map(|peer| peer.wake_at).fold(self.carrier.poll_timeout(), Micros::min)
    }

    fn disconnect(&mut self, now: Micros, peer: PeerId, goodbye: CloseCode) {
        let now = now.max(self.now);
        if let Ok(index) = self.find(peer)
            && self.peers[index].session.is_some()
        {
            self.say_goodbye(now, index, goodbye);
            self.part(now, index, DisconnectReason::Local(goodbye));
        }
    }

    fn stats(&self, peer: PeerId) -> Option<LinkStats> {
        let index = self.find(peer).ok()?;
        let stats = self.peers[index].session.as_ref().map(|session| session.stats())?;
        Some(LinkStats { carrier_dropped: self.carrier.dropped(), ..stats })
    }

    fn packets_lost(&self, peer: PeerId) -> Option<u64> {
        let index = self.find(peer).ok()?;
        self.peers[index].session.as_ref().map(|session| session.packets_missed())
    }
}
