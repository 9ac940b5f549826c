//! The mesh of a simulated peer, over the simulated network.
//! [`SimPlatform`](super::SimPlatform) opens it. Absent: the lobby's messages.

use std::collections::VecDeque;
use std::sync::Arc;

use gaggle_kit::{DecodeError, IceServer, Micros, PeerId};
use gaggle_link::sim::{NetChange, SimCarrier, SimNet};
use gaggle_link::{
    Carrier, CarrierEvent, Channel, CloseCode, Endpoint, LinkConfig, LinkStats, Mesh, Path, SendError,
    Transport, TransportEvent, WouldBlock,
};

use super::Held;
use super::lobby::{Shared, UNDER_WAY};
use crate::platform::MeshSetup;

/// A carrier whose peers have the ids of the lobby.
#[derive(Debug)]
pub(super) struct LobbyNamed {
    pub(super) local: PeerId,
    pub(super) inner: SimCarrier,
    pub(super) shared: Held<Shared>,
    pub(super) ids: Arc<Vec<PeerId>>,
}

impl LobbyNamed {
    fn inner_id(&self, peer: PeerId) -> Option<PeerId> {
        self.shared.lock().peers.get(&peer).map(|index| self.ids[*index])
    }

    fn lobby_id(&self, inner: PeerId) -> Option<PeerId> {
        let index = self.ids.iter().position(|id| *id == inner)?;
        let shared = self.shared.lock();
        shared.peers.iter().find(|(_, known)| **known == index).map(|(peer, _)| *peer)
    }
}

impl Carrier for LobbyNamed {
    fn local_id(&self) -> PeerId {
        self.local
    }

    fn send(&mut self, now: Micros, to: PeerId, datagram: &[u8]) -> Result<(), WouldBlock> {
        let Some(to) = self.inner_id(to) else { return Ok(()) };
        self.inner.send(now, to, datagram)
    }

    fn poll(&mut self, now: Micros, datagram: &mut Vec<u8>) -> Option<CarrierEvent> {
        let event = self.inner.poll(now, datagram)?;
        let name = |peer| self.lobby_id(peer).expect("only members have links");
        Some(match event {
            CarrierEvent::Opened { peer } => CarrierEvent::Opened { peer: name(peer) },
            CarrierEvent::Closed { peer } => CarrierEvent::Closed { peer: name(peer) },
            CarrierEvent::Rerouted { peer } => CarrierEvent::Rerouted { peer: name(peer) },
            CarrierEvent::Datagram { peer } => CarrierEvent::Datagram { peer: name(peer) },
        })
    }

    fn poll_timeout(&self) -> Micros {
        self.inner.poll_timeout()
    }

    fn close(&mut self, now: Micros, peer: PeerId) {
        if let Some(peer) = self.inner_id(peer) {
            self.inner.close(now, peer);
        }
    }
}

/// The links of a peer. A link opens once both sides have learned of each other through the lobby,
/// as with WebRTC.
#[derive(Debug)]
pub struct SimMesh {
    index: usize,
    shared: Held<Shared>,
    net: Held<SimNet>,
    link: Endpoint<LobbyNamed>,
    signals: VecDeque<(PeerId, String)>,
}

impl SimMesh {
    pub(super) fn new(
        index: usize,
        shared: Held<Shared>,
        net: Held<SimNet>,
        inner: SimCarrier,
        ids: Arc<Vec<PeerId>>,
        setup: &MeshSetup<'_>,
    ) -> SimMesh {
        let carrier = LobbyNamed { local: setup.local_id, inner, shared: shared.clone(), ids };
        let link = Endpoint::new(carrier, LinkConfig::default(), setup.seed);
        let mut mesh = SimMesh { index, shared, net, link, signals: VecDeque::new() };
        mesh.set_ice_servers(setup.ice_servers);
        mesh
    }
}

impl Drop for SimMesh {
    fn drop(&mut self) {
        let shared = &mut *self.shared.lock();
        if shared.crashing {
            return;
        }
        let mine = |pair: &(usize, usize)| pair.0 == self.index || pair.1 == self.index;
        let at = shared.now + UNDER_WAY;
        shared.closing.extend(shared.connected.iter().copied().filter(mine).map(|pair| (at, pair)));
        shared.connected.retain(|pair| !mine(pair));
    }
}

impl Transport for SimMesh {
    fn local_id(&self) -> PeerId {
        self.link.local_id()
    }

    fn peers(&self) -> &[PeerId] {
        self.link.peers()
    }

    fn send(&mut self, now: Micros, to: PeerId, channel: Channel, bytes: &[u8]) -> Result<(), SendError> {
        self.link.send(now, to, channel, bytes)
    }

    fn broadcast(&mut self, now: Micros, channel: Channel, bytes: &[u8]) -> Result<(), SendError> {
        self.link.broadcast(now, channel, bytes)
    }

    fn poll(&mut self, now: Micros) -> Option<TransportEvent<'_>> {
        self.link.poll(now)
    }

    fn poll_timeout(&self) -> Micros {
        self.link.poll_timeout()
    }

    fn disconnect(&mut self, now: Micros, peer: PeerId, goodbye: CloseCode) {
        self.link.disconnect(now, peer, goodbye);
    }

    fn stats(&self, peer: PeerId) -> Option<LinkStats> {
        self.link.stats(peer)
    }
}

impl Mesh for SimMesh {
    fn add_peer(&mut self, _now: Micros, peer: PeerId) {
        self.signals.push_back((peer, "call".to_string()));
    }

    fn add_server(&mut self, _now: Micros, server: PeerId) {
        let shared = &mut *self.shared.lock();
        // Without a referee in this simulation the link never opens.
        let Some(&other) = shared.peers.get(&server) else { return };
        let pair = (self.index.min(other), self.index.max(other));
        if shared.connected.insert(pair) {
            shared.opening.push((shared.now + shared.link_delay, pair));
        }
    }

    fn remove_peer(&mut self, _now: Micros, peer: PeerId) {
        let shared = &mut *self.shared.lock();
        let Some(&other) = shared.peers.get(&peer) else { return };
        let pair = (self.index.min(other), self.index.max(other));
        if shared.connected.remove(&pair) {
            self.net.lock().apply(&NetChange::Disconnect(pair.0, pair.1));
        }
    }

    fn handle_signal(&mut self, _now: Micros, from: PeerId, text: &str) -> Result<(), DecodeError> {
        debug_assert_eq!(text, "call", "a mesh of another kind signals to this one");
        let shared = &mut *self.shared.lock();
        let Some(&other) = shared.peers.get(&from) else { return Ok(()) };
        let pair = (self.index.min(other), self.index.max(other));
        let deaf = shared.deaf.contains(&pair.0) || shared.deaf.contains(&pair.1);
        if deaf {
            shared.in_vain.insert(pair);
        } else if shared.connected.insert(pair) {
            shared.opening.push((shared.now + shared.link_delay, pair));
        }
        Ok(())
    }

    fn poll_signal(&mut self) -> Option<(PeerId, String)> {
        self.signals.pop_front()
    }

    fn set_ticket(&mut self, _now: Micros, _ticket: &str) {
        *self.shared.lock().observed.renewed.entry(self.index).or_default() += 1;
    }

    fn wants_ticket(&mut self, _now: Micros) -> bool {
        self.shared.lock().observed.robbed.remove(&self.index)
    }

    fn set_ice_servers(&mut self, servers: &[IceServer]) {
        let made = servers.iter().find_map(|server| server.username.as_ref()?.parse().ok());
        if let Some(made) = made {
            self.shared.lock().observed.ice_made.insert(self.index, Micros::new(made));
        }
    }

    fn path(&self, _peer: PeerId) -> Option<Path> {
        Some(Path::Direct)
    }
}
