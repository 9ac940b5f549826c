//! Carrier of one peer on the simulated network.
//!
//! Created by [`SimNet`](super::SimNet). Absent: delays and losses (`network.rs`).

use gaggle_kit::{Micros, PeerId};

use super::network::{Received, SharedNetwork};
use crate::{Carrier, CarrierEvent, WouldBlock};

/// Carrier of one peer of a [`SimNet`](super::SimNet). Its `now` arguments are ignored: datagrams
/// arrive as the simulation's time advances.
#[derive(Debug)]
pub struct SimCarrier {
    network: SharedNetwork,
    peer: usize,
}

impl SimCarrier {
    pub(crate) fn new(network: SharedNetwork, peer: usize) -> SimCarrier {
        SimCarrier { network, peer }
    }
}

impl Carrier for SimCarrier {
    fn local_id(&self) -> PeerId {
        id_of(self.peer)
    }

    fn send(&mut self, _now: Micros, to: PeerId, datagram: &[u8]) -> Result<(), WouldBlock> {
        self.network.lock().send(self.peer, index_of(to), datagram)
    }

    fn poll(&mut self, _now: Micros, datagram: &mut Vec<u8>) -> Option<CarrierEvent> {
        Some(match self.network.lock().receive(self.peer, datagram)? {
            Received::Opened(peer) => CarrierEvent::Opened { peer: id_of(peer) },
            Received::Closed(peer) => CarrierEvent::Closed { peer: id_of(peer) },
            Received::Datagram(peer) => CarrierEvent::Datagram { peer: id_of(peer) },
        })
    }

    fn poll_timeout(&self) -> Micros {
        Micros::MAX
    }

    fn close(&mut self, _now: Micros, peer: PeerId) {
        self.network.lock().close(self.peer, index_of(peer));
    }
}

/// Peers are numbered from 1, so that logs show `peer:1` for the first.
pub(crate) fn id_of(index: usize) -> PeerId {
    PeerId::from_u128(index as u128 + 1)
}

/// An index beyond the last stands for an unknown peer.
pub(crate) fn index_of(peer: PeerId) -> usize {
    usize::try_from(peer.to_u128().wrapping_sub(1)).unwrap_or(usize::MAX)
}
