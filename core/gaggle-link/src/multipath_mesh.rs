//! Links to all members of a room, each over the best available path.
//!
//! `gaggle-browser` and `gaggle-native` build it, `gaggle::Room` calls it. It combines
//! [`PathSelector`], optional impairment and [`Endpoint`], and passes signals between the direct
//! carrier and the lobby. Absent: choice of paths (`paths.rs`), negotiation.

use std::collections::VecDeque;
use std::fmt;

use gaggle_kit::{DecodeError, IceServer, Micros, PeerId, VecSet};

use crate::relay::RelaySocket;
use crate::sim::Conditions;
use crate::{
    Channel, CloseCode, ConnectCarrier, DisconnectReason, Endpoint, LinkConditioner, LinkConfig, LinkStats,
    Mesh, Path, PathChanged, PathConfig, PathSelector, PlatformCarriers, SendError, Signal, SignalBody,
    Transport, TransportEvent,
};

/// Signals kept from peers that are not members yet.
const EARLY_SIGNALS_MAX: usize = 64;
/// Delay before a lost peer is connected again.
const RETRY_AFTER: Micros = Micros::from_secs(1);

/// A direct carrier that needs signals.
pub trait SignaledCarrier: ConnectCarrier {
    /// Handles a signal of a peer.
    ///
    /// # Errors
    /// If it is not a signal.
    fn handle_signal(&mut self, now: Micros, from: PeerId, text: &str) -> Result<(), DecodeError>;

    /// Next signal to send, with its receiver.
    fn poll_signal(&mut self) -> Option<(PeerId, Signal)>;

    /// Descriptions and addresses of peers that could not be used.
    fn malformed_signals(&self) -> u64 {
        0
    }

    /// Replaces the ICE servers, whose credentials expire.
    fn set_ice_servers(&mut self, servers: &[IceServer]) {
        let _ = servers;
    }
}

/// Settings of a [`MultipathMesh`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeshConfig {
    /// Permitted paths, and when to change.
    pub paths: PathConfig,
    /// Heartbeat, timeout and buffers.
    pub link: LinkConfig,
    /// Impairment of what is sent.
    pub conditions: Conditions,
}

impl Default for MeshConfig {
    fn default() -> MeshConfig {
        let (paths, link) = (PathConfig::default(), LinkConfig::default());
        MeshConfig { paths, link, conditions: Conditions::PERFECT }
    }
}

/// A [`Mesh`] over the best path to each member: direct, relayed, or through a WebSocket.
pub struct MultipathMesh<D, L> {
    link: Endpoint<LinkConditioner<PathSelector<PlatformCarriers<D, L>>>>,
    members: VecSet<PeerId>,
    /// Signals of peers that are not members yet.
    early: VecDeque<(PeerId, String)>,
    /// Members that were lost, and when to connect to them again.
    lost: Vec<(Micros, PeerId)>,
    /// Received texts that were no signals.
    refused: u64,
}

impl<D: SignaledCarrier, L: RelaySocket> fmt::Debug for MultipathMesh<D, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Links").field("members", &self.members).field("paths", self.paths()).finish()
    }
}

impl<D: SignaledCarrier, L: RelaySocket> MultipathMesh<D, L> {
    /// A mesh for the local peer over these carriers. The seed should be random.
    pub fn new(
        local: PeerId,
        config: MeshConfig,
        seed: u64,
        carriers: PlatformCarriers<D, L>,
    ) -> MultipathMesh<D, L> {
        let paths = PathSelector::new(local, config.paths, carriers).with_allow_list();
        let impaired = LinkConditioner::new(paths, config.conditions, seed);
        MultipathMesh {
            link: Endpoint::new(impaired, config.link, seed),
            members: VecSet::new(),
            early: VecDeque::new(),
            lost: Vec::new(),
            refused: 0,
        }
    }

    /// Received signals that were malformed, or contained an unusable description or address.
    pub fn malformed_signals(&self) -> u64 {
        self.refused + self.paths().carriers().direct.as_ref().map_or(0, SignaledCarrier::malformed_signals)
    }

    /// Sets the impairment of what is sent.
    pub fn set_conditions(&mut self, conditions: Conditions) {
        self.link.carrier_mut().set_conditions(conditions);
    }

    fn paths(&self) -> &PathSelector<PlatformCarriers<D, L>> {
        self.link.carrier().carrier()
    }

    fn paths_mut(&mut self) -> &mut PathSelector<PlatformCarriers<D, L>> {
        self.link.carrier_mut().carrier_mut()
    }

    fn carriers_mut(&mut self) -> &mut PlatformCarriers<D, L> {
        self.paths_mut().carriers_mut()
    }

    fn reach_again(&mut self, now: Micros) {
        while let Some(index) = self.lost.iter().position(|(at, _)| *at <= now) {
            let (_, peer) = self.lost.swap_remove(index);
            if self.members.contains(&peer) && !self.paths().contains(peer) {
                self.paths_mut().connect(now, peer);
            }
        }
    }
}

impl<D: SignaledCarrier, L: RelaySocket> Transport for MultipathMesh<D, L> {
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
        self.reach_again(now);
        let event = self.link.poll(now)?;
        if let TransportEvent::Disconnected {
            peer,
            reason: DisconnectReason::CarrierClosed | DisconnectReason::Timeout | DisconnectReason::Remote(_),
        } = event
        {
            // A peer that is still in the room may return without notice.
            self.lost.push((now + RETRY_AFTER, peer));
        }
        Some(event)
    }

    fn poll_timeout(&self) -> Micros {
        let lost = self.lost.iter().map(|(at, _)| *at).min().unwrap_or(Micros::MAX);
        self.link.poll_timeout().min(lost)
    }

    fn disconnect(&mut self, now: Micros, peer: PeerId, goodbye: CloseCode) {
        self.link.disconnect(now, peer, goodbye);
    }

    fn stats(&self, peer: PeerId) -> Option<LinkStats> {
        self.link.stats(peer)
    }

    fn packets_lost(&self, peer: PeerId) -> Option<u64> {
        self.link.packets_lost(peer)
    }
}

impl<D: SignaledCarrier, L: RelaySocket> Mesh for MultipathMesh<D, L> {
    fn add_peer(&mut self, now: Micros, peer: PeerId) {
        if peer == self.local_id() {
            return;
        }
        self.members.insert(peer);
        self.lost.retain(|(_, lost)| *lost != peer);
        self.paths_mut().allow(peer);
        self.paths_mut().connect(now, peer);
        let (mine, others) = self.early.drain(..).partition(|(from, _)| *from == peer);
        self.early = others;
        let mine: VecDeque<(PeerId, String)> = mine;
        for (from, text) in mine {
            // It was decoded once already.
            let _ = self.handle_signal(now, from, &text);
        }
    }

    fn add_server(&mut self, now: Micros, server: PeerId) {
        self.paths_mut().mark_server(server);
        self.add_peer(now, server);
    }

    fn remove_peer(&mut self, now: Micros, peer: PeerId) {
        self.members.remove(&peer);
        self.lost.retain(|(_, lost)| *lost != peer);
        self.early.retain(|(from, _)| *from != peer);
        self.paths_mut().reject(peer);
        self.link.drop_peer(now, peer);
    }

    fn handle_signal(&mut self, now: Micros, from: PeerId, text: &str) -> Result<(), DecodeError> {
        let signal = Signal::parse(text).inspect_err(|_| self.refused += 1)?;
        if !self.members.contains(&from) {
            if self.early.len() < EARLY_SIGNALS_MAX {
                self.early.push_back((from, text.to_string()));
            }
            return Ok(());
        }
        if signal.body == SignalBody::Invite {
            self.paths_mut().accept_invitation(now, from);
            return Ok(());
        }
        self.carriers_mut().direct.as_mut().map_or(Ok(()), |direct| direct.handle_signal(now, from, text))
    }

    fn poll_signal(&mut self) -> Option<(PeerId, String)> {
        if let Some(peer) = self.paths_mut().poll_invitation() {
            return Some((peer, Signal { attempt: 0, body: SignalBody::Invite }.to_string()));
        }
        let (to, signal) = self.carriers_mut().direct.as_mut()?.poll_signal()?;
        Some((to, signal.to_string()))
    }

    fn set_ticket(&mut self, now: Micros, ticket: &str) {
        if let Some(relay) = &mut self.carriers_mut().relay {
            relay.set_ticket(now, ticket);
        }
    }

    fn wants_ticket(&mut self, now: Micros) -> bool {
        self.carriers_mut().relay.as_mut().is_some_and(|relay| relay.wants_ticket(now))
    }

    fn set_ice_servers(&mut self, servers: &[IceServer]) {
        if let Some(direct) = &mut self.carriers_mut().direct {
            direct.set_ice_servers(servers);
        }
    }

    fn path(&self, peer: PeerId) -> Option<Path> {
        self.paths().path(peer)
    }

    fn poll_path_change(&mut self) -> Option<PathChanged> {
        self.paths_mut().poll_path_change()
    }
}
