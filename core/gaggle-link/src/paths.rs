//! Choice of the best path to every peer: direct, relay, or WebSocket.
//!
//! [`PathSelector`] is a carrier made of carriers, used by [`MultipathMesh`](crate::MultipathMesh).
//! A link on it sees one connection without gaps: streams, numbers and liveness survive every
//! change of path. Absent: streams, signals.

mod pair;

use std::collections::VecDeque;

use gaggle_kit::{Micros, PeerId, VecSet};

use crate::{Carrier, CarrierEvent, Carriers, WouldBlock};
use pair::{Pair, Step};

/// Kind of path, better ones first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Path {
    /// From peer to peer.
    Direct,
    /// Through a relay that forwards datagrams.
    Relay,
    /// Through a relay over a byte stream: the fallback, which works on every network and may be
    /// slow.
    WebSocket,
}

impl Path {
    /// All paths, best first.
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

/// A carrier that connects to a peer on request.
pub trait ConnectCarrier: Carrier {
    /// Connects to this peer; [`CarrierEvent::Opened`] reports success. Call it again after a
    /// failure. A connection the carrier itself needs (to a relay) is opened now and not earlier.
    fn connect(&mut self, now: Micros, peer: PeerId);
}

impl<W: ConnectCarrier + ?Sized> ConnectCarrier for Box<W> {
    fn connect(&mut self, now: Micros, peer: PeerId) {
        (**self).connect(now, peer);
    }
}

/// Permitted paths and timeouts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathConfig {
    /// Permitted paths. Without [`Path::Direct`] no peer learns the local address.
    pub allowed_paths: Vec<Path>,
    /// If a path does not open within this time, the next one is tried, too.
    pub fallback_after: Micros,
    /// If nothing is heard on a path for this long, the next one is tried, too. Longer than the
    /// link's heartbeat, shorter than its timeout.
    pub timeout: Micros,
    /// After a change both paths are used for this long, because the other side may not be ready. A
    /// path on which the other side was heard this much earlier than on another counts as silent:
    /// the other side has left it.
    pub overlap: Micros,
    /// Interval of probes on a silent path.
    pub probe_interval: Micros,
    /// Delay before a failed better path is tried again; doubles up to a minute.
    pub retry_after: Micros,
    /// Without any path for this long, the connection is closed.
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
    /// A single permitted path: for tests, and for players who hide their address behind the relay.
    pub fn only(path: Path) -> PathConfig {
        PathConfig { allowed_paths: vec![path], ..PathConfig::default() }
    }
}

/// Change of the path to a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathChanged {
    /// Peer of the path.
    pub peer: PeerId,
    /// Path from now on; none if all are lost.
    pub path: Option<Path>,
    /// Reason of the change.
    pub reason: PathReason,
}

/// Why a path was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathReason {
    /// The first one that opened.
    Initial,
    /// Better than the previous one.
    Upgrade,
    /// The previous one was closed.
    Closed,
    /// Nothing was heard on the previous one.
    Timeout,
}

impl std::fmt::Display for PathReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            PathReason::Initial => "the first that opened",
            PathReason::Upgrade => "better than the previous one",
            PathReason::Closed => "the previous one was closed",
            PathReason::Timeout => "nothing was heard on the previous one",
        })
    }
}

/// Packet kinds of path probes and their answers, which links do not use
/// (docs/protocol/7-paths-and-relay.md).
const QUESTION: u8 = 0xf0;
const ANSWER: u8 = 0xf1;

fn probe(kind: u8, token: u32) -> [u8; 5] {
    let [a, b, c, d] = token.to_le_bytes();
    [kind, a, b, c, d]
}

/// The answer to a datagram that probes a path. A server that is a carrier of its own links sends
/// it, and passes probes and answers to no link.
pub fn probe_answer(datagram: &[u8]) -> Option<[u8; 5]> {
    let [QUESTION, token @ ..] = datagram else { return None };
    <[u8; 4]>::try_from(token).ok().map(|token| probe(ANSWER, u32::from_le_bytes(token)))
}

fn is_probe(datagram: &[u8]) -> bool {
    datagram.len() == 5 && matches!(datagram[0], QUESTION | ANSWER)
}

/// Changes queued for polling; more than occur between two polls.
const CHANGES_MAX: usize = 256;

/// The best path to every peer, as one carrier.
pub struct PathSelector<C> {
    config: PathConfig,
    local_id: PeerId,
    carriers: C,
    /// Sorted by peer.
    pairs: Vec<Pair>,
    /// Peers that may connect; all if there is no list.
    guests: Option<VecSet<PeerId>>,
    /// Peers that have no direct path, and no signals.
    servers: VecSet<PeerId>,
    /// Peers to be invited to the relay.
    invitations: VecDeque<PeerId>,
    changes: VecDeque<PathChanged>,
    /// Events not polled yet.
    told: VecDeque<CarrierEvent>,
    now: Micros,
}

impl<C> std::fmt::Debug for PathSelector<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Paths").field("pairs", &self.pairs).finish_non_exhaustive()
    }
}

impl<C: Carriers> PathSelector<C> {
    /// Over these carriers, as far as [`PathConfig::allowed_paths`] permits.
    pub fn new(local_id: PeerId, config: PathConfig, carriers: C) -> PathSelector<C> {
        PathSelector {
            config,
            local_id,
            carriers,
            pairs: Vec::new(),
            guests: None,
            servers: VecSet::new(),
            invitations: VecDeque::new(),
            changes: VecDeque::new(),
            told: VecDeque::new(),
            now: Micros::ZERO,
        }
    }

    /// The carriers, for their own state.
    pub fn carriers(&self) -> &C {
        &self.carriers
    }

    /// The carriers, for their own methods.
    pub fn carriers_mut(&mut self) -> &mut C {
        &mut self.carriers
    }

    fn is_usable(&self, path: Path) -> bool {
        self.config.allowed_paths.contains(&path) && self.carriers.has(path)
    }

    /// Connects to this peer, best path first. Not needed for peers that connect by themselves.
    pub fn connect(&mut self, now: Micros, peer: PeerId) {
        self.pair(now, peer).want();
        self.advance(now);
    }

    /// Marks a peer as a server at the relay: it has no direct path and is not invited. Takes
    /// effect with the next connection.
    pub fn mark_server(&mut self, peer: PeerId) {
        self.servers.insert(peer);
    }

    /// From now on only allowed peers may connect; others are rejected on every path.
    #[must_use]
    pub fn with_allow_list(mut self) -> PathSelector<C> {
        self.guests = Some(VecSet::new());
        self
    }

    /// Allows this peer to connect.
    pub fn allow(&mut self, peer: PeerId) {
        self.guests.iter_mut().for_each(|guests| _ = guests.insert(peer));
    }

    /// Forbids this peer to connect. An existing connection stays: see [`Carrier::close`].
    pub fn reject(&mut self, peer: PeerId) {
        self.guests.iter_mut().for_each(|guests| _ = guests.remove(&peer));
    }

    /// Whether there is a connection to this peer, or an attempt.
    pub fn contains(&self, peer: PeerId) -> bool {
        self.pairs.iter().any(|pair| pair.peer() == peer)
    }

    /// Next peer to be told by a signal that the relay is in use: it may not have noticed that
    /// another path is needed.
    pub fn poll_invitation(&mut self) -> Option<PeerId> {
        self.invitations.pop_front()
    }

    /// Handles such a signal: connects to the peer through the relay, too.
    pub fn accept_invitation(&mut self, now: Micros, peer: PeerId) {
        if self.is_guest(peer) {
            self.pair(now, peer).meet();
            self.advance(now);
        }
    }

    fn is_guest(&self, peer: PeerId) -> bool {
        self.guests.as_ref().is_none_or(|guests| guests.contains(&peer))
    }

    /// Current path to a peer.
    pub fn path(&self, peer: PeerId) -> Option<Path> {
        self.pairs.iter().find(|pair| pair.peer() == peer).and_then(Pair::active)
    }

    /// Next change of a path.
    pub fn poll_path_change(&mut self) -> Option<PathChanged> {
        self.changes.pop_front()
    }

    fn known(&mut self, peer: PeerId) -> Option<&mut Pair> {
        let index = self.pairs.binary_search_by_key(&peer, |pair| pair.peer()).ok()?;
        Some(&mut self.pairs[index])
    }

    fn pair(&mut self, now: Micros, peer: PeerId) -> &mut Pair {
        let index = match self.pairs.binary_search_by_key(&peer, |pair| pair.peer()) {
            Ok(index) => index,
            Err(index) => {
                let is_server = self.servers.contains(&peer);
                let is_usable = |path| self.is_usable(path) && !(is_server && path == Path::Direct);
                let usable = Path::ALL.map(is_usable);
                self.pairs.insert(index, Pair::new(peer, usable, now));
                index
            }
        };
        &mut self.pairs[index]
    }

    /// Runs the timers of every pair.
    fn advance(&mut self, now: Micros) {
        self.now = now;
        let mut index = 0;
        while index < self.pairs.len() {
            let pair = &mut self.pairs[index];
            let peer = pair.peer();
            let step = pair.step(now, &self.config);
            match step {
                Step::Rest => index += 1,
                Step::Connect { path, invite } => {
                    self.carriers.connect(now, path, peer);
                    if invite && !self.servers.contains(&peer) && !self.invitations.contains(&peer) {
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
        // Lost probes are repeated.
        let _ = self.carriers.send(now, path, peer, &probe(kind, token));
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
        let Some(pair) = self.pairs.iter().find(|pair| pair.peer() == to) else { return Ok(()) };
        let (active, beside) = (pair.active(), pair.beside(now));
        if let Some(path) = beside {
            // A copy: if that path is busy, the other one has it.
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
        self.pairs.retain(|pair| pair.peer() != peer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_match_their_vectors() {
        let vectors = [
            (QUESTION, include_str!("../vectors/path-question.hex")),
            (ANSWER, include_str!("../vectors/path-answer.hex")),
        ];
        for (kind, vector) in vectors {
            let bytes = probe(kind, 0x0a0b_0c0d);
            let found: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            let lines = vector.lines().map(|line| line.split('#').next().unwrap().replace(' ', ""));
            assert_eq!(lines.collect::<String>(), found);
            assert!(is_probe(&bytes));
        }
    }
}
