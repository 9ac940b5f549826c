//! Chooses, for every pair of peers, the best way there is: direct, through a relay, through a
//! socket.
//!
//! [`PathSelector`] is a carrier made of carriers. A link on it sees one connection and no
//! gap: streams, sequence numbers and liveness are the link's and survive every change.

mod pair;

use std::collections::VecDeque;

use gaggle_kit::{Micros, PeerId, VecSet};

use crate::{Carrier, CarrierEvent, Carriers, WouldBlock};
use pair::{Pair, Step};

/// How a link runs. Better ones first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Path {
    /// From machine to machine.
    Direct,
    /// Through a relay that forwards datagrams.
    Relay,
    /// Through a relay over a byte stream: the last resort, which always works and may be slow.
    WebSocket,
}

impl Path {
    /// All of them, best first.
    pub const ALL: [Path; 3] = [Path::Direct, Path::Relay, Path::WebSocket];

    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}

impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Path::Direct => "direct",
            Path::Relay => "relay",
            Path::WebSocket => "socket",
        })
    }
}

/// A carrier that connects to a peer when it is asked to.
pub trait ConnectCarrier: Carrier {
    /// Try to reach this peer; [`CarrierEvent::Opened`] tells when it worked. Said again after a
    /// failure it tries again. A way that needs a connection of its own first (to a relay) opens it
    /// now and not before.
    fn connect(&mut self, now: Micros, peer: PeerId);
}

impl<W: ConnectCarrier + ?Sized> ConnectCarrier for Box<W> {
    fn connect(&mut self, now: Micros, peer: PeerId) {
        (**self).connect(now, peer);
    }
}

/// When to change the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathConfig {
    /// Which ways may be used. Without [`Path::Direct`] no peer learns this machine's address.
    pub allowed_paths: Vec<Path>,
    /// A way that does not open within this time is joined by the next.
    pub fallback_after: Micros,
    /// A way on which nothing was heard for so long is joined by the next. Longer than the link's
    /// heartbeat, shorter than its patience.
    pub timeout: Micros,
    /// After a change, the old way is used beside the new for so long: the other side may not be
    /// ready yet. A way on which the other side was heard so much earlier than on another counts as
    /// silent, too: it has left it.
    pub overlap: Micros,
    /// A way that fell silent is tried out this often, to find out when it works again.
    pub probe_interval: Micros,
    /// A better way that failed is tried again after this time, then after twice as long, up to a
    /// minute.
    pub retry_after: Micros,
    /// Without any way for so long the connection is over.
    pub give_up_after: Micros,
}

impl Default for PathConfig {
    fn default() -> PathConfig {
        PathConfig {
            allowed_paths: Path::ALL.to_vec(),
            fallback_after: Micros::from_secs(3),
            timeout: Micros::from_millis(1_600),
            overlap: Micros::from_millis(500),
            probe_interval: Micros::from_millis(500),
            retry_after: Micros::from_secs(5),
            give_up_after: Micros::from_secs(15),
        }
    }
}

impl PathConfig {
    /// One way and no other: for tests, and for players who hide their address behind the relay.
    pub fn only(path: Path) -> PathConfig {
        PathConfig { allowed_paths: vec![path], ..PathConfig::default() }
    }
}

/// The way to a peer changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathChanged {
    /// To whom.
    pub peer: PeerId,
    /// The way from now on; none if there is none left.
    pub path: Option<Path>,
    /// Why.
    pub reason: PathReason,
}

/// Why a way was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathReason {
    /// It was the first that opened.
    Initial,
    /// It is better than the one before.
    Upgrade,
    /// The one before was closed.
    Closed,
    /// Nothing was heard on the one before.
    Timeout,
}

impl std::fmt::Display for PathReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            PathReason::Initial => "the first that opened",
            PathReason::Upgrade => "better than the one before",
            PathReason::Closed => "the one before was closed",
            PathReason::Timeout => "nothing was heard on the one before",
        })
    }
}

/// What one way is asked, whether it works again, and the answer: kinds no link has (PROTOCOL.md,
/// "Paths").
const QUESTION: u8 = 0xf0;
const ANSWER: u8 = 0xf1;

fn is_probe(datagram: &[u8]) -> bool {
    datagram.len() == 5 && matches!(datagram[0], QUESTION | ANSWER)
}

/// More changes than anybody should miss between two looks.
const CHANGES_MAX: usize = 256;

/// The best way to every peer, as one carrier.
pub struct PathSelector<C> {
    config: PathConfig,
    local_id: PeerId,
    carriers: C,
    /// Sorted by peer.
    pairs: Vec<Pair>,
    /// Who may connect; anybody if there is no list.
    guests: Option<VecSet<PeerId>>,
    /// Peers to be asked to come to the relay.
    invitations: VecDeque<PeerId>,
    changes: VecDeque<PathChanged>,
    /// What to tell the link next.
    told: VecDeque<CarrierEvent>,
    now: Micros,
}

impl<C> std::fmt::Debug for PathSelector<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Paths").field("pairs", &self.pairs).finish_non_exhaustive()
    }
}

impl<C: Carriers> PathSelector<C> {
    /// Over these carriers, as far as [`PathConfig::allowed_paths`] has their paths.
    pub fn new(local_id: PeerId, config: PathConfig, carriers: C) -> PathSelector<C> {
        PathSelector {
            config,
            local_id,
            carriers,
            pairs: Vec::new(),
            guests: None,
            invitations: VecDeque::new(),
            changes: VecDeque::new(),
            told: VecDeque::new(),
            now: Micros::ZERO,
        }
    }

    /// The carriers, for what only they know.
    pub fn carriers(&self) -> &C {
        &self.carriers
    }

    /// The carriers, for what only they can do.
    pub fn carriers_mut(&mut self) -> &mut C {
        &mut self.carriers
    }

    fn is_usable(&self, path: Path) -> bool {
        self.config.allowed_paths.contains(&path) && self.carriers.has(path)
    }

    /// This peer should be reached: begins with the best way. A peer that connects by itself needs
    /// no such call.
    pub fn connect(&mut self, now: Micros, peer: PeerId) {
        self.pair(now, peer).wanted = true;
        self.advance(now);
    }

    /// From now on only who is admitted may connect; others are turned away on every way.
    #[must_use]
    pub fn with_allow_list(mut self) -> PathSelector<C> {
        self.guests = Some(VecSet::new());
        self
    }

    /// This peer may connect.
    pub fn allow(&mut self, peer: PeerId) {
        self.guests.iter_mut().for_each(|guests| _ = guests.insert(peer));
    }

    /// This peer may no longer connect. A connection there is stays: see [`Carrier::close`].
    pub fn reject(&mut self, peer: PeerId) {
        self.guests.iter_mut().for_each(|guests| _ = guests.remove(&peer));
    }

    /// Whether something is known of this peer: a connection, or an attempt at one.
    pub fn contains(&self, peer: PeerId) -> bool {
        self.pairs.iter().any(|pair| pair.peer == peer)
    }

    /// The next peer that should be told, by whatever means there are, that it is waited for at the
    /// relay. It may not have noticed that another way is needed.
    pub fn poll_invitation(&mut self) -> Option<PeerId> {
        self.invitations.pop_front()
    }

    /// A peer waits at the relay: goes there, too.
    pub fn accept_invitation(&mut self, now: Micros, peer: PeerId) {
        if self.is_guest(peer) {
            self.pair(now, peer).meet();
            self.advance(now);
        }
    }

    fn is_guest(&self, peer: PeerId) -> bool {
        self.guests.as_ref().is_none_or(|guests| guests.contains(&peer))
    }

    /// How the link to a peer runs now.
    pub fn path(&self, peer: PeerId) -> Option<Path> {
        self.pairs.iter().find(|pair| pair.peer == peer).and_then(Pair::active)
    }

    /// The next change of a way.
    pub fn poll_path_change(&mut self) -> Option<PathChanged> {
        self.changes.pop_front()
    }

    fn known(&mut self, peer: PeerId) -> Option<&mut Pair> {
        let index = self.pairs.binary_search_by_key(&peer, |pair| pair.peer).ok()?;
        Some(&mut self.pairs[index])
    }

    fn pair(&mut self, now: Micros, peer: PeerId) -> &mut Pair {
        let index = match self.pairs.binary_search_by_key(&peer, |pair| pair.peer) {
            Ok(index) => index,
            Err(index) => {
                let usable = Path::ALL.map(|path| self.is_usable(path));
                self.pairs.insert(index, Pair::new(peer, usable, now));
                index
            }
        };
        &mut self.pairs[index]
    }

    /// Lets time pass for every pair.
    fn advance(&mut self, now: Micros) {
        self.now = now;
        let mut index = 0;
        while index < self.pairs.len() {
            let pair = &mut self.pairs[index];
            let peer = pair.peer;
            let step = pair.step(now, &self.config);
            match step {
                Step::Rest => index += 1,
                Step::Connect { path, invite } => {
                    self.carriers.connect(now, path, peer);
                    if invite && !self.invitations.contains(&peer) {
                        self.invitations.push_back(peer);
                    }
                }
                Step::Take { path, reason } => {
                    let event = match reason {
                        PathReason::Initial => CarrierEvent::Opened { peer },
                        _ => CarrierEvent::Rerouted { peer },
                    };
                    self.told.push_back(event);
                    self.note(PathChanged { peer, path: Some(path), reason });
                }
                Step::Lose => self.note(PathChanged { peer, path: None, reason: PathReason::Closed }),
                Step::Probe { path, token } => self.say(now, path, peer, QUESTION, token),
                Step::Leave(path) => self.carriers.close(now, path, peer),
                Step::GiveUp => {
                    self.told.push_back(CarrierEvent::Closed { peer });
                    self.pairs.remove(index);
                }
            }
        }
    }

    fn handle_probe(&mut self, now: Micros, path: Path, peer: PeerId, datagram: &[u8]) {
        let [kind, token @ ..] = datagram else { return };
        let Ok(token) = <[u8; 4]>::try_from(token).map(u32::from_le_bytes) else { return };
        if *kind == QUESTION {
            self.say(now, path, peer, ANSWER, token);
        } else if let Some(pair) = self.known(peer) {
            pair.answered(path, token, now);
        }
    }

    fn say(&mut self, now: Micros, path: Path, peer: PeerId, kind: u8, token: u32) {
        let [a, b, c, d] = token.to_le_bytes();
        // Lost questions are asked again.
        let _ = self.carriers.send(now, path, peer, &[kind, a, b, c, d]);
    }

    fn note(&mut self, change: PathChanged) {
        if self.changes.len() == CHANGES_MAX {
            self.changes.pop_front();
        }
        self.changes.push_back(change);
    }
}

impl<C: Carriers> Carrier for PathSelector<C> {
    fn local_id(&self) -> PeerId {
        self.local_id
    }

    fn send(&mut self, now: Micros, to: PeerId, datagram: &[u8]) -> Result<(), WouldBlock> {
        let Some(pair) = self.pairs.iter().find(|pair| pair.peer == to) else { return Ok(()) };
        let (active, beside) = (pair.active(), pair.beside(now));
        if let Some(path) = beside {
            // A copy: if that way is busy, the other one has it.
            let _ = self.carriers.send(now, path, to, datagram);
        }
        active.map_or(Ok(()), |path| self.carriers.send(now, path, to, datagram))
    }

    fn poll(&mut self, now: Micros, datagram: &mut Vec<u8>) -> Option<CarrierEvent> {
        loop {
            if let Some(event) = self.told.pop_front() {
                return Some(event);
            }
            let mut arrived = None;
            for path in Path::ALL {
                if !self.config.allowed_paths.contains(&path) {
                    continue;
                }
                if let Some(event) = self.carriers.poll(now, path, datagram) {
                    arrived = Some((path, event));
                    break;
                }
            }
            match arrived {
                Some((path, CarrierEvent::Opened { peer } | CarrierEvent::Rerouted { peer })) => {
                    if self.is_guest(peer) {
                        self.pair(now, peer).opened(path, now);
                    } else {
                        self.carriers.close(now, path, peer);
                    }
                }
                Some((path, CarrierEvent::Closed { peer })) => {
                    if let Some(pair) = self.known(peer) {
                        pair.closed(path, now);
                    }
                }
                Some((path, CarrierEvent::Datagram { peer })) if is_probe(datagram) => {
                    self.handle_probe(now, path, peer, datagram);
                }
                Some((path, CarrierEvent::Datagram { peer })) => {
                    if self.known(peer).is_some_and(|pair| pair.heard(path, now)) {
                        return Some(CarrierEvent::Datagram { peer });
                    }
                }
                None => {
                    self.advance(now);
                    if self.told.is_empty() {
                        return None;
                    }
                }
            }
            self.advance(now);
        }
    }

    fn poll_timeout(&self) -> Micros {
        let pairs = self.pairs.iter().map(|pair| pair.timeout(self.now, &self.config));
        pairs.fold(self.carriers.poll_timeout(), Micros::min)
    }

    fn dropped(&self) -> u64 {
        self.carriers.dropped()
    }

    fn close(&mut self, now: Micros, peer: PeerId) {
        Path::ALL.into_iter().for_each(|path| self.carriers.close(now, path, peer));
        self.pairs.retain(|pair| pair.peer != peer);
    }
}
