//! Carrier of a referee's links: datagrams pass between it and the relay in this process.
//!
//! `room.rs` owns one per room. Absent: links, the lobby, the relay's rules.

use std::collections::VecDeque;

use gaggle_kit::{Micros, PeerId};
use gaggle_link::relay::HOST_PEER;
use gaggle_link::{Carrier, CarrierEvent, WouldBlock, probe_answer};
use gaggle_relay::{ConnectionId, InsiderBatch, InsiderEvent};

/// One room's carrier.
#[derive(Debug)]
pub(super) struct InsiderCarrier {
    connection: ConnectionId,
    arrivals: VecDeque<InsiderEvent>,
    batch: InsiderBatch,
}

impl InsiderCarrier {
    pub(super) fn new(connection: ConnectionId) -> InsiderCarrier {
        InsiderCarrier { connection, arrivals: VecDeque::new(), batch: InsiderBatch::default() }
    }

    /// Queues an event of the relay.
    pub(super) fn arrive(&mut self, event: InsiderEvent) {
        self.arrivals.push_back(event);
    }

    /// Datagrams and closed pairs to hand to the relay.
    pub(super) fn batch_mut(&mut self) -> &mut InsiderBatch {
        &mut self.batch
    }
}

impl Carrier for InsiderCarrier {
    fn local_id(&self) -> PeerId {
        HOST_PEER
    }

    fn send(&mut self, _: Micros, to: PeerId, datagram: &[u8]) -> Result<(), WouldBlock> {
        self.batch.send(self.connection, to, datagram);
        Ok(())
    }

    fn poll(&mut self, _: Micros, datagram: &mut Vec<u8>) -> Option<CarrierEvent> {
        loop {
            return Some(match self.arrivals.pop_front()? {
                InsiderEvent::Opened(peer) => CarrierEvent::Opened { peer },
                InsiderEvent::Closed(peer) => CarrierEvent::Closed { peer },
                InsiderEvent::Datagram(peer, bytes) => {
                    if let Some(answer) = probe_answer(&bytes) {
                        self.batch.send(self.connection, peer, &answer);
                        continue;
                    }
                    *datagram = bytes;
                    CarrierEvent::Datagram { peer }
                }
                InsiderEvent::Stopped => continue,
            });
        }
    }

    fn poll_timeout(&self) -> Micros {
        if self.arrivals.is_empty() { Micros::MAX } else { Micros::ZERO }
    }

    fn close(&mut self, _: Micros, peer: PeerId) {
        self.batch.close(self.connection, peer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_are_answered_and_reach_no_link() {
        let mut carrier = InsiderCarrier::new(ConnectionId(1));
        let (peer, mut datagram) = (PeerId::from_u128(7), Vec::new());
        carrier.arrive(InsiderEvent::Opened(peer));
        carrier.arrive(InsiderEvent::Datagram(peer, vec![0xf0, 1, 2, 3, 4]));
        carrier.arrive(InsiderEvent::Datagram(peer, vec![1, 2, 3]));
        assert_eq!(carrier.poll(Micros::ZERO, &mut datagram), Some(CarrierEvent::Opened { peer }));
        assert_eq!(carrier.poll(Micros::ZERO, &mut datagram), Some(CarrierEvent::Datagram { peer }));
        assert_eq!(datagram, [1, 2, 3]);
        assert_eq!(carrier.poll(Micros::ZERO, &mut datagram), None);
        assert!(!carrier.batch_mut().is_empty(), "the answer");
    }
}
