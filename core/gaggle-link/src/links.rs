//! Links to everybody in a room, by whatever way there is: what a game that is online holds.
//!
//! This puts together what the other files have: [`Paths`] over a direct way and a relay, a bad network on top if somebody wants
//! one, and [`Link`]. It passes signals between the direct way and the lobby, and knows who is in the room; everything else is
//! decided below. `gaggle-browser` and `gaggle-native` make one with the ways they have.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::rc::Rc;

use gaggle_kit::{DecodeError, FewSet, Micros, PeerId};

use crate::relay::{Leg, Line, RelayHandle};
use crate::sim::Conditions;
use crate::{
    Busy, Carrier, CarrierEvent, Channel, Event, Goodbye, Impaired, LeftReason, Link, LinkConfig, LinkStats,
    Path, PathChanged, PathConfig, Paths, SendError, Signal, SignalBody, Transport, Way,
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

/// A server that helps to find a way: STUN, or TURN with a name and a password.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IceServer {
    /// For example `stun:example.org:3478`.
    pub urls: Vec<String>,
    /// Only for TURN.
    pub username: Option<String>,
    /// Only for TURN.
    pub credential: Option<String>,
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

/// Links to everybody in a room. A [`Transport`], and besides:
///
/// - Say who is in the room with [`peer_up`](Links::peer_up) and [`peer_down`](Links::peer_down).
/// - Pass signals: what the lobby brings from a peer goes into [`handle_signal`](Links::handle_signal), what
///   [`next_signal`](Links::next_signal) gives goes to the lobby. Drain it after polling.
/// - Show a newer ticket with [`set_ticket`](Links::set_ticket).
/// - [`path`](Links::path) and [`next_change`](Links::next_change) tell how links run.
///
/// Losing the lobby ends no link; signals simply wait.
pub struct Links {
    link: Link<Impaired<Paths>>,
    direct: Option<SharedDirect>,
    relay: Option<Box<dyn Renew>>,
    members: FewSet<PeerId>,
    /// From peers that are not members yet, as far as we know.
    early: VecDeque<(PeerId, String)>,
    /// Members that were lost, and when to reach for them again.
    lost: Vec<(Micros, PeerId)>,
    /// Texts of peers that were no signals.
    refused: u64,
}

impl fmt::Debug for Links {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Links").field("members", &self.members).field("paths", self.paths()).finish()
    }
}

impl Links {
    /// Links for this machine over these ways. The seed should be random.
    pub fn new<L: Line + 'static>(
        local: PeerId,
        config: LinksConfig,
        seed: u64,
        direct: Option<Box<dyn Direct>>,
        relay: Option<&RelayHandle<L>>,
    ) -> Links {
        let mut paths = Paths::new(local, config.paths).with_guest_list();
        let direct = direct.map(|direct| SharedDirect(Rc::new(RefCell::new(direct))));
        if let Some(direct) = &direct {
            paths = paths.add(Path::Direct, direct.clone());
        }
        if let Some(relay) = relay {
            paths = paths.add(Path::Relay, relay.way(Leg::Channel)).add(Path::Socket, relay.way(Leg::Socket));
        }
        let impaired = Impaired::new(paths, config.conditions, seed);
        Links {
            link: Link::new(impaired, config.link, seed),
            direct,
            relay: relay.map(|relay| Box::new(relay.clone()) as Box<dyn Renew>),
            members: FewSet::new(),
            early: VecDeque::new(),
            lost: Vec::new(),
            refused: 0,
        }
    }

    /// This peer is in the room, or is there again: reaches for it. Of no effect on a link that stands.
    pub fn peer_up(&mut self, now: Micros, peer: PeerId) {
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

    /// This peer is no longer in the room: its link ends, and it is not let in again.
    pub fn peer_down(&mut self, now: Micros, peer: PeerId) {
        self.members.remove(&peer);
        self.lost.retain(|(_, lost)| *lost != peer);
        self.early.retain(|(from, _)| *from != peer);
        self.paths_mut().bar(peer);
        self.link.drop_peer(now, peer);
    }

    /// A peer said something through the lobby.
    ///
    /// # Errors
    /// If it is no signal: whoever sent it runs something else.
    pub fn handle_signal(&mut self, now: Micros, from: PeerId, text: &str) -> Result<(), DecodeError> {
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
        self.direct.as_mut().map_or(Ok(()), |direct| direct.0.borrow_mut().handle_signal(now, from, text))
    }

    /// The next signal for the lobby to pass on, and to whom.
    pub fn next_signal(&mut self) -> Option<(PeerId, String)> {
        if let Some(peer) = self.paths_mut().next_invitation() {
            return Some((peer, Signal { attempt: 0, body: SignalBody::Meet }.to_string()));
        }
        let (to, signal) = self.direct.as_mut()?.0.borrow_mut().next_signal()?;
        Some((to, signal.to_string()))
    }

    /// How often peers handed us what is no signal, or a description or address nothing can be done with.
    pub fn signals_refused(&self) -> u64 {
        self.refused + self.direct.as_ref().map_or(0, |direct| direct.0.borrow().refused())
    }

    /// From now on the relay is shown this ticket.
    pub fn set_ticket(&mut self, now: Micros, ticket: &str) {
        if let Some(relay) = &self.relay {
            relay.renew(now, ticket);
        }
    }

    /// From now on these servers help to find the direct way. What is connected stays so.
    pub fn set_ice(&mut self, servers: &[IceServer]) {
        if let Some(direct) = &self.direct {
            direct.0.borrow_mut().set_servers(servers);
        }
    }

    /// How the link to a peer runs now.
    pub fn path(&self, peer: PeerId) -> Option<Path> {
        self.paths().path(peer)
    }

    /// The next change of a way, and why.
    pub fn next_change(&mut self) -> Option<PathChanged> {
        self.paths_mut().next_change()
    }

    /// Makes the network feel bad, or good again.
    pub fn set_conditions(&mut self, conditions: Conditions) {
        self.link.carrier_mut().set_conditions(conditions);
    }

    fn paths(&self) -> &Paths {
        self.link.carrier().carrier()
    }

    fn paths_mut(&mut self) -> &mut Paths {
        self.link.carrier_mut().carrier_mut()
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

impl Transport for Links {
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

/// Shows tickets, whatever the line is made of.
trait Renew {
    fn renew(&self, now: Micros, ticket: &str);
}

impl<L: Line> Renew for RelayHandle<L> {
    fn renew(&self, now: Micros, ticket: &str) {
        self.set_ticket(now, ticket);
    }
}

/// The direct way, which both the paths and whoever passes signals need.
#[derive(Clone)]
struct SharedDirect(Rc<RefCell<Box<dyn Direct>>>);

impl Way for SharedDirect {
    fn connect(&mut self, now: Micros, peer: PeerId) {
        self.0.borrow_mut().connect(now, peer);
    }
}

impl Carrier for SharedDirect {
    fn local_id(&self) -> PeerId {
        self.0.borrow().local_id()
    }

    fn send(&mut self, now: Micros, to: PeerId, datagram: &[u8]) -> Result<(), Busy> {
        self.0.borrow_mut().send(now, to, datagram)
    }

    fn poll(&mut self, now: Micros, datagram: &mut Vec<u8>) -> Option<CarrierEvent> {
        self.0.borrow_mut().poll(now, datagram)
    }

    fn poll_timeout(&self) -> Micros {
        self.0.borrow().poll_timeout()
    }

    fn close(&mut self, now: Micros, peer: PeerId) {
        self.0.borrow_mut().close(now, peer);
    }

    fn dropped(&self) -> u64 {
        self.0.borrow().dropped()
    }
}
