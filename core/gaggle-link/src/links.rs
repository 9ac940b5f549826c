//! Links to everybody in a room, by whatever way there is: what a game that is online holds.
//!
//! This puts together what the other files have: [`Paths`] over a direct way and a relay, a bad
//! network on top if one is set, and [`Link`]. It passes signals between the direct way and
//! the lobby, and knows who is in the room; everything else is decided below. `gaggle-browser` and
//! `gaggle-native` make one with the ways they have.

use std::collections::VecDeque;
use std::fmt;

use gaggle_kit::{DecodeError, FewSet, IceServer, Micros, PeerId};

use crate::relay::Line;
use crate::sim::Conditions;
use crate::{
    Channel, Event, Goodbye, Impaired, LeftReason, Link, LinkConfig, LinkStats, Mesh, Path, PathChanged,
    PathConfig, Paths, PlatformCarriers, SendError, Signal, SignalBody, Transport, Way,
};

/// Signals kept from peers nobody has told us of yet.
const EARLY_SIGNALS_MAX: usize = 64;
/// A peer that was lost is reached for again after this time.
const RETRY_AFTER: Micros = Micros::from_secs(1);

/// A way from machine to machine that needs somebody to pass signals.
pub trait Direct: Way {
    /// Something a peer said through the service in between.
    ///
    /// # Errors
    /// If it is no signal.
    fn handle_signal(&mut self, now: Micros, from: PeerId, text: &str) -> Result<(), DecodeError>;

    /// The next signal to send, and to whom.
    fn next_signal(&mut self) -> Option<(PeerId, Signal)>;

    /// Descriptions and addresses of peers that could not be used.
    fn refused(&self) -> u64 {
        0
    }

    /// From now on these servers help: credentials count for a while only.
    fn set_servers(&mut self, servers: &[IceServer]) {
        let _ = servers;
    }
}

/// Settings of [`Links`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinksConfig {
    /// Which ways may be used, and when to change.
    pub paths: PathConfig,
    /// Heartbeat, patience and buffers.
    pub link: LinkConfig,
    /// What happens to what is sent, to feel like a bad network.
    pub conditions: Conditions,
}

impl Default for LinksConfig {
    fn default() -> LinksConfig {
        let (paths, link) = (PathConfig::default(), LinkConfig::default());
        LinksConfig { paths, link, conditions: Conditions::PERFECT }
    }
}

/// A [`Mesh`] over the best path to each member: direct, relayed, or through a socket.
pub struct Links<D, L> {
    link: Link<Impaired<Paths<PlatformCarriers<D, L>>>>,
    members: FewSet<PeerId>,
    /// From peers that are not members yet, as far as we know.
    early: VecDeque<(PeerId, String)>,
    /// Members that were lost, and when to reach for them again.
    lost: Vec<(Micros, PeerId)>,
    /// Texts of peers that were no signals.
    refused: u64,
}

impl<D: Direct, L: Line> fmt::Debug for Links<D, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Links").field("members", &self.members).field("paths", self.paths()).finish()
    }
}

impl<D: Direct, L: Line> Links<D, L> {
    /// Links for this machine over these carriers. The seed should be random.
    pub fn new(
        local: PeerId,
        config: LinksConfig,
        seed: u64,
        carriers: PlatformCarriers<D, L>,
    ) -> Links<D, L> {
        let paths = Paths::new(local, config.paths, carriers).with_guest_list();
        let impaired = Impaired::new(paths, config.conditions, seed);
        Links {
            link: Link::new(impaired, config.link, seed),
            members: FewSet::new(),
            early: VecDeque::new(),
            lost: Vec::new(),
            refused: 0,
        }
    }

    /// How often peers handed us what is no signal, or a description or address nothing can be done
    /// with.
    pub fn signals_refused(&self) -> u64 {
        self.refused + self.paths().carriers().direct.as_ref().map_or(0, Direct::refused)
    }

    /// Makes the network feel bad, or good again.
    pub fn set_conditions(&mut self, conditions: Conditions) {
        self.link.carrier_mut().set_conditions(conditions);
    }

    fn paths(&self) -> &Paths<PlatformCarriers<D, L>> {
        self.link.carrier().carrier()
    }

    fn paths_mut(&mut self) -> &mut Paths<PlatformCarriers<D, L>> {
        self.link.carrier_mut().carrier_mut()
    }

    fn carriers_mut(&mut self) -> &mut PlatformCarriers<D, L> {
        self.paths_mut().carriers_mut()
    }

    fn reach_again(&mut self, now: Micros) {
        while let Some(index) = self.lost.iter().position(|(at, _)| *at <= now) {
            let (_, peer) = self.lost.swap_remove(index);
            if self.members.contains(&peer) && !self.paths().knows(peer) {
                self.paths_mut().connect(now, peer);
            }
        }
    }
}

impl<D: Direct, L: Line> Transport for Links<D, L> {
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

    fn poll(&mut self, now: Micros) -> Option<Event<'_>> {
        self.reach_again(now);
        let event = self.link.poll(now)?;
        if let Event::Left { peer, reason: LeftReason::Closed | LeftReason::Silent | LeftReason::Theirs(_) } =
            event
        {
            // A peer that is still in the room may come back without telling anybody.
            self.lost.push((now + RETRY_AFTER, peer));
        }
        Some(event)
    }

    fn poll_timeout(&self) -> Micros {
        let lost = self.lost.iter().map(|(at, _)| *at).min().unwrap_or(Micros::MAX);
        self.link.poll_timeout().min(lost)
    }

    fn disconnect(&mut self, now: Micros, peer: PeerId, goodbye: Goodbye) {
        self.link.disconnect(now, peer, goodbye);
    }

    fn stats(&self, peer: PeerId) -> Option<LinkStats> {
        self.link.stats(peer)
    }

    fn packets_missed(&self, peer: PeerId) -> Option<u64> {
        self.link.packets_missed(peer)
    }
}

impl<D: Direct, L: Line> Mesh for Links<D, L> {
    fn add_peer(&mut self, now: Micros, peer: PeerId) {
        if peer == self.local_id() {
            return;
        }
        self.members.insert(peer);
        self.lost.retain(|(_, lost)| *lost != peer);
        self.paths_mut().admit(peer);
        self.paths_mut().connect(now, peer);
        let (mine, others) = self.early.drain(..).partition(|(from, _)| *from == peer);
        self.early = others;
        let mine: VecDeque<(PeerId, String)> = mine;
        for (from, text) in mine {
            // It was read once already.
            let _ = self.handle_signal(now, from, &text);
        }
    }

    fn remove_peer(&mut self, now: Micros, peer: PeerId) {
        self.members.remove(&peer);
        self.lost.retain(|(_, lost)| *lost != peer);
        self.early.retain(|(from, _)| *from != peer);
        self.paths_mut().bar(peer);
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
        if signal.body == SignalBody::Meet {
            self.paths_mut().meet(now, from);
            return Ok(());
        }
        self.carriers_mut().direct.as_mut().map_or(Ok(()), |direct| direct.handle_signal(now, from, text))
    }

    fn poll_signal(&mut self) -> Option<(PeerId, String)> {
        if let Some(peer) = self.paths_mut().next_invitation() {
            return Some((peer, Signal { attempt: 0, body: SignalBody::Meet }.to_string()));
        }
        let (to, signal) = self.carriers_mut().direct.as_mut()?.next_signal()?;
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
            direct.set_servers(servers);
        }
    }

    fn path(&self, peer: PeerId) -> Option<Path> {
        self.paths().path(peer)
    }

    fn poll_path_change(&mut self) -> Option<PathChanged> {
        self.paths_mut().next_change()
    }
}
