//! Gaggle's links over the network of the bench.
//!
//! Called by `gaggle.rs`, `clockwork.rs` and `maze.rs`. Absent: choice of paths.

use gaggle_kit::{Micros, PeerId};
use gaggle_link::{Carrier, CarrierEvent, Endpoint, LinkConfig, WouldBlock};

use crate::network::Socket;

/// Datagrams on their way at once: enough that none is allocated while a row is measured.
const DATAGRAMS_PER_DIRECTION: usize = 16;
const DATAGRAM_BYTES: usize = 256;

/// Id of a player's peer.
pub fn peer_id(player: usize) -> PeerId {
    PeerId::from_u128(player as u128 + 1)
}

fn player_of(peer: PeerId) -> usize {
    peer.to_u128() as usize - 1
}

/// Links of peer `me` to all others.
pub fn link(socket: Socket<Vec<u8>>, me: usize, players: usize) -> Endpoint<Wire> {
    // Longer than any blackout: a silent peer returns in these matches.
    let config = LinkConfig { timeout: Micros::from_secs(60), ..LinkConfig::default() };
    Endpoint::new(Wire::new(socket, me, players), config, me as u64 + 1)
}

/// The socket as a carrier, over which all peers are reachable from the start.
#[derive(Debug)]
pub struct Wire {
    socket: Socket<Vec<u8>>,
    me: usize,
    to_open: std::ops::Range<usize>,
}

impl Wire {
    fn new(socket: Socket<Vec<u8>>, me: usize, players: usize) -> Wire {
        for _ in 0..players * DATAGRAMS_PER_DIRECTION {
            socket.recycle(Vec::with_capacity(DATAGRAM_BYTES));
        }
        Wire { socket, me, to_open: 0..players }
    }

    /// Time of the network in microseconds.
    pub fn now_us(&self) -> u64 {
        self.socket.now_us()
    }
}

impl Carrier for Wire {
    fn local_id(&self) -> PeerId {
        peer_id(self.me)
    }

    fn send(&mut self, _now: Micros, to: PeerId, datagram: &[u8]) -> Result<(), WouldBlock> {
        self.socket.send_bytes(player_of(to), datagram);
        Ok(())
    }

    fn poll(&mut self, _now: Micros, datagram: &mut Vec<u8>) -> Option<CarrierEvent> {
        let me = self.me;
        if !self.to_open.is_empty()
            && let Some(player) = self.to_open.by_ref().find(|&player| player != me)
        {
            return Some(CarrierEvent::Opened { peer: peer_id(player) });
        }
        let from = self.socket.receive_into(datagram)?;
        Some(CarrierEvent::Datagram { peer: peer_id(from) })
    }

    fn poll_timeout(&self) -> Micros {
        Micros::MAX
    }

    fn close(&mut self, _now: Micros, peer: PeerId) {
        panic!("{peer:?} was disconnected, but no peer times out here");
    }
}
