//! State of the simulated network: connections, datagrams in flight, time.
//!
//! Used by `carrier.rs` for peers and `world.rs` for tests. Equal seeds and calls give equal logs.
//! Absent: real time.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gaggle_kit::{ByteSink, Micros, Prng, StateHasher};

use super::clock::Clock;
use super::shaper::{Fate, Loss, Shaper};
use super::{Conditions, NetChange, SimStats};
use crate::{DATAGRAM_BYTES_MAX, WouldBlock};

/// One network shared by a simulation and its carriers. A room on it may move to another thread.
#[derive(Debug, Clone)]
pub(crate) struct SharedNetwork(Arc<Mutex<Network>>);

impl SharedNetwork {
    pub(crate) fn new(network: Network) -> SharedNetwork {
        SharedNetwork(Arc::new(Mutex::new(network)))
    }

    /// A panicked test elsewhere must not hide its reason.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Network> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
pub(crate) struct Network {
    seed: u64,
    now: Micros,
    peers: Vec<Peer>,
    /// Conditions of a direction at its first use.
    conditions: Conditions,
    /// Scheduled events, the earliest first; equal times in order of scheduling.
    agenda: BinaryHeap<Reverse<Due>>,
    due_count: u64,
    flights: Vec<Flight>,
    free_flights: Vec<u32>,
    changes: Vec<Option<NetChange>>,
    /// Peers with new items in their inbox.
    ready: BTreeSet<usize>,
    log: StateHasher,
    totals: SimStats,
}

#[derive(Debug)]
struct Peer {
    clock: Clock,
    /// Peers of different groups cannot reach each other.
    group: u32,
    inbox: VecDeque<Arrival>,
    /// Directions from this peer, by receiver.
    routes: Vec<Route>,
}

#[derive(Debug)]
struct Route {
    to: u32,
    open: bool,
    /// Number of this pair's connection: datagrams of an earlier one are not delivered.
    connection: u32,
    shaper: Shaper,
}

#[derive(Debug, Clone, Copy)]
enum Arrival {
    Opened(u32),
    Closed(u32),
    Datagram(u32),
}

/// Result of [`Network::receive`].
#[derive(Debug, Clone, Copy)]
pub(crate) enum Received {
    Opened(usize),
    Closed(usize),
    Datagram(usize),
}

/// A datagram in flight or in an inbox. Its buffer is reused.
#[derive(Debug, Default)]
struct Flight {
    from: u32,
    to: u32,
    connection: u32,
    bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at: Micros,
    order: u64,
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Arrive(u32),
    Change(u32),
}

/// Kinds of log entries.
#[derive(Debug, Clone, Copy)]
enum Line {
    Sent = 1,
    Lost = 2,
    Arrived = 3,
    Opened = 4,
    Closed = 5,
    Changed = 6,
}

impl Network {
    pub(crate) fn new(seed: u64, peers: usize) -> Network {
        let peer = |_| Peer {
            clock: Clock::new(Micros::ZERO),
            group: 0,
            inbox: VecDeque::new(),
            routes: Vec::new(),
        };
        Network {
            seed,
            now: Micros::ZERO,
            peers: (0..peers).map(peer).collect(),
            conditions: Conditions::PERFECT,
            agenda: BinaryHeap::new(),
            due_count: 0,
            flights: Vec::new(),
            free_flights: Vec::new(),
            changes: Vec::new(),
            ready: BTreeSet::new(),
            log: StateHasher::new(),
            totals: SimStats::default(),
        }
    }

    pub(crate) fn peer_count(&self) -> usize {
        self.peers.len()
    }

    pub(crate) fn now(&self) -> Micros {
        self.now
    }

    pub(crate) fn clock(&self, peer: usize) -> &Clock {
        &self.peers[peer].clock
    }

    pub(crate) fn log_hash(&self) -> u64 {
        self.log.clone().finish()
    }

    /// Counters since the network began.
    pub(crate) fn totals(&self) -> SimStats {
        self.totals
    }

    /// Takes the first peer with new items in its inbox off the list of those.
    pub(crate) fn take_ready(&mut self) -> Option<usize> {
        self.ready.pop_first()
    }

    /// Puts a peer back on the list of those with new items: it has not looked.
    pub(crate) fn return_ready(&mut self, peer: usize) {
        self.ready.insert(peer);
    }

    /// Time of the next scheduled event.
    pub(crate) fn next_due(&self) -> Option<Micros> {
        self.agenda.peek().map(|Reverse(due)| due.at)
    }

    /// Advances time and performs everything that is due.
    pub(crate) fn advance_to(&mut self, until: Micros) {
        while let Some(Reverse(due)) = self.agenda.peek().copied().filter(|Reverse(due)| due.at <= until) {
            self.agenda.pop();
            self.now = self.now.max(due.at);
            match due.what {
                What::Arrive(flight) => self.arrive(flight),
                What::Change(change) => {
                    if let Some(change) = self.changes[change as usize].take() {
                        self.apply(&change);
                    }
                }
            }
        }
        self.now = self.now.max(until);
    }

    pub(crate) fn schedule(&mut self, at: Micros, change: NetChange) {
        self.changes.push(Some(change));
        self.due(at.max(self.now), What::Change(self.changes.len() as u32 - 1));
    }

    pub(crate) fn apply(&mut self, change: &NetChange) {
        self.line(Line::Changed, 0, 0, &[]);
        match change {
            NetChange::Direction { from, to, conditions } => {
                self.route(*from, *to).shaper.set_conditions(*conditions);
            }
            NetChange::Everywhere(conditions) => {
                self.conditions = *conditions;
                for route in self.peers.iter_mut().flat_map(|peer| &mut peer.routes) {
                    route.shaper.set_conditions(*conditions);
                }
            }
            NetChange::Partition(sides) => {
                self.peers.iter_mut().for_each(|peer| peer.group = 0);
                for (side, group) in sides.iter().zip(1..) {
                    side.iter().for_each(|&peer| self.peers[peer].group = group);
                }
            }
            NetChange::Isolate(peer) => self.peers[*peer].group = u32::MAX - *peer as u32,
            NetChange::Heal => self.peers.iter_mut().for_each(|peer| peer.group = 0),
            NetChange::Connect(a, b) => self.connect(*a, *b),
            NetChange::Disconnect(a, b) => self.disconnect(*a, *b),
            NetChange::Drift { peer, ppm } => self.peers[*peer].clock.set_drift(self.now, *ppm),
            NetChange::Clock { peer, shows } => {
                // Clocks given to links must not run backwards.
                if self.peers[*peer].clock.local(self.now) < *shows {
                    let drift = self.peers[*peer].clock.drift_ppm();
                    self.peers[*peer].clock = Clock::starting(self.now, *shows, drift);
                }
            }
        }
    }

    pub(crate) fn send(&mut self, from: usize, to: usize, bytes: &[u8]) -> Result<(), WouldBlock> {
        if to >= self.peers.len() || from == to {
            return Ok(());
        }
        let now = self.now;
        let apart = self.peers[from].group != self.peers[to].group;
        let route = self.route(from, to);
        if !route.open {
            return Ok(());
        }
        if route.shaper.is_blocked() {
            return Err(WouldBlock);
        }
        let connection = route.connection;
        let fate = if apart { Fate::Lost(Loss::Cut) } else { route.shaper.send(now, bytes.len()) };
        self.line(Line::Sent, from, to, bytes);
        self.totals.sent += 1;
        self.totals.bytes_sent += bytes.len() as u64;
        match fate {
            Fate::Arrives { at, again_at } => {
                self.launch(from, to, connection, at, bytes);
                if let Some(at) = again_at {
                    self.totals.duplicated += 1;
                    self.launch(from, to, connection, at, bytes);
                }
            }
            Fate::Lost(loss) => {
                *match loss {
                    Loss::Cut => &mut self.totals.lost_cut,
                    Loss::TooLarge => &mut self.totals.lost_too_large,
                    Loss::QueueFull => &mut self.totals.lost_queue,
                    Loss::Random => &mut self.totals.lost_random,
                    Loss::Burst => &mut self.totals.lost_burst,
                } += 1;
                self.line(Line::Lost, from, to, &[loss as u8]);
            }
        }
        Ok(())
    }

    pub(crate) fn receive(&mut self, peer: usize, datagram: &mut Vec<u8>) -> Option<Received> {
        let Some(arrival) = self.peers[peer].inbox.pop_front() else {
            self.ready.remove(&peer);
            return None;
        };
        Some(match arrival {
            Arrival::Opened(other) => Received::Opened(other as usize),
            Arrival::Closed(other) => Received::Closed(other as usize),
            Arrival::Datagram(index) => {
                let flight = &mut self.flights[index as usize];
                // Copied instead of swapped: every buffer keeps the size its own datagrams need.
                datagram.clear();
                datagram.extend_from_slice(&flight.bytes);
                self.free_flights.push(index);
                Received::Datagram(flight.from as usize)
            }
        })
    }

    /// Closes one side; the other is not notified, as with UDP.
    pub(crate) fn close(&mut self, peer: usize, other: usize) {
        if other >= self.peers.len() || peer == other || !self.route(peer, other).open {
            return;
        }
        self.line(Line::Closed, peer, other, &[]);
        self.route(peer, other).open = false;
        self.forget_inbox(peer, Some(other));
    }

    /// Restarts a peer: its connections exist, but it has not been told of any.
    pub(crate) fn restart(&mut self, peer: usize) {
        self.forget_inbox(peer, None);
        let open: Vec<u32> =
            self.peers[peer].routes.iter().filter(|route| route.open).map(|route| route.to).collect();
        for other in open {
            self.put(peer, Arrival::Opened(other));
        }
    }

    fn connect(&mut self, a: usize, b: usize) {
        assert!(
            a != b && a < self.peers.len() && b < self.peers.len(),
            "two different peers of this \
         network"
        );
        for (from, to) in [(a, b), (b, a)] {
            self.line(Line::Opened, from, to, &[]);
            let route = self.route(from, to);
            route.open = true;
            route.connection += 1;
            self.put(from, Arrival::Opened(to as u32));
        }
    }

    fn disconnect(&mut self, a: usize, b: usize) {
        for (from, to) in [(a, b), (b, a)] {
            if self.route(from, to).open {
                self.line(Line::Closed, from, to, &[]);
                self.route(from, to).open = false;
                self.put(from, Arrival::Closed(to as u32));
            }
        }
    }

    fn arrive(&mut self, index: u32) {
        let flight = &self.flights[index as usize];
        let (from, to, connection) = (flight.from as usize, flight.to as usize, flight.connection);
        // The receiver's side must be open, too, in the connection of the datagram.
        let route = self.route(to, from);
        if !route.open || route.connection != connection {
            self.totals.lost_closed += 1;
            self.free_flights.push(index);
            return;
        }
        self.totals.delivered += 1;
        let bytes = std::mem::take(&mut self.flights[index as usize].bytes);
        self.line(Line::Arrived, from, to, &bytes);
        self.flights[index as usize].bytes = bytes;
        self.put(to, Arrival::Datagram(index));
    }

    fn launch(&mut self, from: usize, to: usize, connection: u32, at: Micros, bytes: &[u8]) {
        let index = self.free_flights.pop().unwrap_or_else(|| {
            self.flights.push(Flight { bytes: Vec::with_capacity(DATAGRAM_BYTES_MAX), ..Flight::default() });
            // Capacity for all at once, so that freeing never allocates.
            self.free_flights.reserve(self.flights.len());
            self.flights.len() as u32 - 1
        });
        let flight = &mut self.flights[index as usize];
        (flight.from, flight.to, flight.connection) = (from as u32, to as u32, connection);
        flight.bytes.clear();
        flight.bytes.extend_from_slice(bytes);
        self.due(at, What::Arrive(index));
    }

    fn put(&mut self, peer: usize, arrival: Arrival) {
        self.peers[peer].inbox.push_back(arrival);
        self.ready.insert(peer);
    }

    fn forget_inbox(&mut self, peer: usize, only_from: Option<usize>) {
        let (flights, free) = (&self.flights, &mut self.free_flights);
        self.peers[peer].inbox.retain(|arrival| {
            let from = match arrival {
                Arrival::Opened(other) | Arrival::Closed(other) => *other as usize,
                Arrival::Datagram(index) => flights[*index as usize].from as usize,
            };
            let keep = only_from.is_some_and(|only| only != from);
            if let (false, Arrival::Datagram(index)) = (keep, arrival) {
                free.push(*index);
            }
            keep
        });
    }

    fn due(&mut self, at: Micros, what: What) {
        self.due_count += 1;
        self.agenda.push(Reverse(Due { at, order: self.due_count, what }));
    }

    fn route(&mut self, from: usize, to: usize) -> &mut Route {
        let (conditions, seed) = (self.conditions, self.seed);
        let routes = &mut self.peers[from].routes;
        let index = routes.binary_search_by_key(&(to as u32), |route| route.to).unwrap_or_else(|index| {
            let random = Prng::stream(seed, (from as u64) << 32 | to as u64);
            let shaper = Shaper::new(conditions, random);
            routes.insert(index, Route { to: to as u32, open: false, connection: 0, shaper });
            index
        });
        &mut routes[index]
    }

    fn line(&mut self, line: Line, from: usize, to: usize, bytes: &[u8]) {
        let mut head = [0; 24];
        head[..8].copy_from_slice(&self.now.get().to_le_bytes());
        head[8..12].copy_from_slice(&(from as u32).to_le_bytes());
        head[12..16].copy_from_slice(&(to as u32).to_le_bytes());
        head[16..20].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
        head[20] = line as u8;
        self.log.put(&head);
        self.log.put(bytes);
    }
}
