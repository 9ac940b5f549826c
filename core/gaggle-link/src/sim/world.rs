//! Simulated peers, network and time, as a test controls them.
//!
//! Used by tests and tools. Absent: mechanics of the network (`network.rs`).

use std::collections::BTreeSet;

use gaggle_kit::{Micros, PeerId};

use super::carrier::{id_of, index_of};
use super::network::{Network, SharedNetwork};
use super::{Conditions, SimCarrier};

/// A simulated network of peers 0 to n − 1 in virtual time. Everything random in it comes from one
/// seed.
///
/// ```
/// use gaggle_kit::Micros;
/// use gaggle_link::sim::{Conditions, SimNet};
/// use gaggle_link::{Carrier, CarrierEvent};
///
/// let mut world = SimNet::new(2, 7);
/// world.set_all(Conditions::latency_ms(50));
/// let mut carriers = [world.carrier(0), world.carrier(1)];
/// let mut datagram = Vec::new();
/// let mut arrived_at = None;
/// world.run_for(Micros::from_secs(1), |peer, now| {
///     while let Some(event) = carriers[peer].poll(now, &mut datagram) {
///         match event {
///             CarrierEvent::Opened { peer: other } => {
///                 carriers[peer].send(now, other, b"hello").unwrap();
///             }
///             CarrierEvent::Datagram { .. } => arrived_at = Some(now),
///             _ => {}
///         }
///     }
///     carriers[peer].poll_timeout()
/// });
/// assert_eq!(arrived_at, Some(Micros::from_millis(50)));
/// ```
#[derive(Debug)]
pub struct SimNet {
    network: SharedNetwork,
    /// Requested wake times of peers, in simulation time.
    wakes: BTreeSet<(Micros, usize)>,
    wake_of: Vec<Option<Micros>>,
    arrivals_wake: bool,
}

/// A change of the network at a given time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NetChange {
    /// Conditions of one direction between two peers.
    Direction {
        /// Index of the sending peer.
        from: usize,
        /// Index of the receiving peer.
        to: usize,
        /// Conditions from here on.
        conditions: Conditions,
    },
    /// Conditions of every direction.
    Everywhere(Conditions),
    /// Only peers of the same side reach each other; peers not named form one more side.
    Partition(Vec<Vec<usize>>),
    /// This peer reaches no other.
    Isolate(usize),
    /// Ends every [`NetChange::Partition`] and [`NetChange::Isolate`].
    Heal,
    /// Opens a connection, and notifies both carriers. Replaces an existing one.
    Connect(usize, usize),
    /// Closes the connection, and notifies both carriers.
    Disconnect(usize, usize),
    /// A peer's clock runs faster (or, if negative, slower) than the simulation.
    Drift {
        /// Peer of the clock.
        peer: usize,
        /// Drift in parts per million.
        ppm: i32,
    },
    /// A peer's clock jumps forward.
    Clock {
        /// Peer of the clock.
        peer: usize,
        /// New local time; ignored if that would be backwards.
        shows: Micros,
    },
}

/// Counters of a network, to prove that a test exercised what it claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SimStats {
    /// Datagrams sent into the network.
    pub sent: u64,
    /// Bytes sent into the network.
    pub bytes_sent: u64,
    /// Datagrams that reached an inbox, second copies included.
    pub delivered: u64,
    /// Datagrams that were copied.
    pub duplicated: u64,
    /// Independent losses of datagrams.
    pub lost_random: u64,
    /// Losses in bursts.
    pub lost_burst: u64,
    /// Losses because the queue was full.
    pub lost_queue: u64,
    /// Losses because the datagram was too large for the path.
    pub lost_too_large: u64,
    /// Losses on cut paths and in partitions.
    pub lost_cut: u64,
    /// Losses because the connection had ended.
    pub lost_closed: u64,
}

impl SimNet {
    /// Peers on a perfect network, each connected to every other.
    pub fn new(peers: usize, seed: u64) -> SimNet {
        let world = SimNet::unconnected(peers, seed);
        for a in 0..peers {
            for b in a + 1..peers {
                world.apply(&NetChange::Connect(a, b));
            }
        }
        world
    }

    /// Peers without connections: see [`NetChange::Connect`].
    pub fn unconnected(peers: usize, seed: u64) -> SimNet {
        SimNet {
            network: SharedNetwork::new(Network::new(seed, peers)),
            wakes: BTreeSet::new(),
            wake_of: vec![None; peers],
            arrivals_wake: true,
        }
    }

    /// Carrier of a peer.
    pub fn carrier(&self, peer: usize) -> SimCarrier {
        assert!(peer < self.wake_of.len(), "there are peers 0 to {}", self.wake_of.len() - 1);
        SimCarrier::new(self.network.clone(), peer)
    }

    /// Carrier of a peer after its restart: its connections exist, but are announced anew. Drop the
    /// old carrier first.
    pub fn restarted_carrier(&self, peer: usize) -> SimCarrier {
        self.network.lock().restart(peer);
        self.carrier(peer)
    }

    /// Id of a peer.
    pub fn id(&self, peer: usize) -> PeerId {
        id_of(peer)
    }

    /// Index of the peer with this id.
    pub fn index(&self, id: PeerId) -> Option<usize> {
        Some(index_of(id)).filter(|&index| index < self.wake_of.len())
    }

    /// Simulation time. No peer sees it.
    pub fn now(&self) -> Micros {
        self.network.lock().now()
    }

    /// Local time of a peer's clock.
    pub fn local_now(&self, peer: usize) -> Micros {
        let network = self.network.lock();
        network.clock(peer).local(network.now())
    }

    /// Applies a change now.
    pub fn apply(&self, change: &NetChange) {
        self.network.lock().apply(change);
    }

    /// Schedules a change for later.
    pub fn schedule(&self, at: Micros, change: NetChange) {
        self.network.lock().schedule(at, change);
    }

    /// Sets every direction, including those not used yet.
    pub fn set_all(&self, conditions: Conditions) {
        self.apply(&NetChange::Everywhere(conditions));
    }

    /// Sets the conditions of one direction.
    pub fn set_direction(&self, from: usize, to: usize, conditions: Conditions) {
        self.apply(&NetChange::Direction { from, to, conditions });
    }

    /// Sets both directions between two peers.
    pub fn set_both(&self, a: usize, b: usize, conditions: Conditions) {
        self.set_direction(a, b, conditions);
        self.set_direction(b, a, conditions);
    }

    /// Whether [`SimNet::run_until`] calls a peer when something arrives for it (the default), or
    /// only at the times it requested, like a game that polls once per frame.
    pub fn set_wake_on_arrival(&mut self, arrivals_wake: bool) {
        self.arrivals_wake = arrivals_wake;
    }

    /// Advances time without calling any peer.
    pub fn advance(&self, span: Micros) {
        let until = self.now() + span;
        self.network.lock().advance_to(until);
    }

    /// Runs for a span of time: see [`SimNet::run_until`].
    pub fn run_for(&mut self, span: Micros, wake: impl FnMut(usize, Micros) -> Micros) {
        let until = self.now() + span;
        self.run_until(until, wake);
    }

    /// Advances time and calls `wake(peer, now)` with the peer's local time: each peer once at the
    /// start, whenever something arrived for it, and at the time its last call returned.
    /// [`Micros::MAX`] requests no call.
    pub fn run_until(&mut self, until: Micros, mut wake: impl FnMut(usize, Micros) -> Micros) {
        for peer in 0..self.wake_of.len() {
            self.wake_at(peer, self.now());
        }
        while let Some(peer) = self.next_wake(until) {
            let asked = wake(peer, self.local_now(peer));
            let network = self.network.lock();
            // A request in the past is served a moment later, or this would never end.
            let at = network.clock(peer).global(asked).max(network.now() + Micros::new(1));
            drop(network);
            if at != Micros::MAX {
                self.wake_at(peer, at);
            }
        }
    }

    /// The next peer to call until this time, with time advanced to it. The lowest index first.
    fn next_wake(&mut self, until: Micros) -> Option<usize> {
        loop {
            let mut network = self.network.lock();
            let now = network.now();
            let ready = if self.arrivals_wake { network.take_ready() } else { None };
            let asked = self.wakes.first().filter(|wake| wake.0 <= now).map(|wake| wake.1);
            if let Some(peer) = [ready, asked].into_iter().flatten().min() {
                if let Some(other) = ready.filter(|&other| other != peer) {
                    network.return_ready(other);
                }
                drop(network);
                self.forget_wake(peer);
                return Some(peer);
            }
            let next = self.wakes.first().map(|wake| wake.0).into_iter().chain(network.next_due()).min();
            match next.filter(|&at| at <= until) {
                Some(at) => network.advance_to(at),
                None => {
                    network.advance_to(until);
                    return None;
                }
            }
        }
    }

    fn wake_at(&mut self, peer: usize, at: Micros) {
        self.forget_wake(peer);
        self.wakes.insert((at, peer));
        self.wake_of[peer] = Some(at);
    }

    fn forget_wake(&mut self, peer: usize) {
        if let Some(at) = self.wake_of[peer].take() {
            self.wakes.remove(&(at, peer));
        }
    }

    /// Counters since the start.
    pub fn totals(&self) -> SimStats {
        self.network.lock().totals()
    }

    /// Hash of every event so far: datagrams sent, lost and delivered, with times and bytes, and
    /// changes.
    pub fn log_hash(&self) -> u64 {
        self.network.lock().log_hash()
    }

    /// Number of peers.
    pub fn peer_count(&self) -> usize {
        self.network.lock().peer_count()
    }
}

#[cfg(test)]
mod tests {
    use gaggle_kit::Prng;

    use super::*;
    use crate::sim::{Burst, Chance};
    use crate::{Carrier, CarrierEvent, WouldBlock};

    /// All pending events of a carrier, datagrams as text.
    fn heard(carrier: &mut SimCarrier) -> Vec<String> {
        let mut datagram = Vec::new();
        let mut heard = Vec::new();
        while let Some(event) = carrier.poll(Micros::ZERO, &mut datagram) {
            heard.push(match event {
                CarrierEvent::Datagram { peer } => format!("{peer:?} {}", String::from_utf8_lossy(&datagram)),
                other => format!("{other:?}"),
            });
        }
        heard
    }

    #[test]
    fn partition_separates_sides_and_healing_joins_them() {
        let world = SimNet::new(3, 1);
        let mut carriers: Vec<_> = (0..3).map(|i| world.carrier(i)).collect();
        carriers.iter_mut().for_each(|carrier| assert_eq!(heard(carrier).len(), 2));
        world.apply(&NetChange::Partition(vec![vec![0, 1]]));
        carriers[0].send(Micros::ZERO, world.id(1), b"near").unwrap();
        carriers[0].send(Micros::ZERO, world.id(2), b"far").unwrap();
        world.advance(Micros::new(1));
        assert_eq!(heard(&mut carriers[1]), ["peer:1 near"]);
        assert!(heard(&mut carriers[2]).is_empty());
        world.apply(&NetChange::Heal);
        carriers[0].send(Micros::ZERO, world.id(2), b"again").unwrap();
        world.advance(Micros::new(1));
        assert_eq!(heard(&mut carriers[2]), ["peer:1 again"]);
        assert_eq!(world.totals().lost_cut, 1);
    }

    #[test]
    fn datagram_of_earlier_connection_is_not_delivered() {
        let world = SimNet::new(2, 1);
        world.set_all(Conditions::latency_ms(100));
        let (mut a, mut b) = (world.carrier(0), world.carrier(1));
        heard(&mut b);
        a.send(Micros::ZERO, world.id(1), b"old").unwrap();
        world.apply(&NetChange::Disconnect(0, 1));
        a.send(Micros::ZERO, world.id(1), b"to no peer").unwrap();
        world.apply(&NetChange::Connect(0, 1));
        a.send(Micros::ZERO, world.id(1), b"new").unwrap();
        world.advance(Micros::from_millis(100));
        assert_eq!(heard(&mut b), ["Closed { peer: peer:1 }", "Opened { peer: peer:1 }", "peer:1 new"]);
        assert_eq!(world.totals().lost_closed, 1);
    }

    #[test]
    fn closing_side_receives_nothing_and_other_is_not_notified() {
        let world = SimNet::new(2, 1);
        let (mut a, mut b) = (world.carrier(0), world.carrier(1));
        heard(&mut a);
        b.send(Micros::ZERO, world.id(0), b"x").unwrap();
        world.advance(Micros::new(1));
        a.close(Micros::ZERO, world.id(1));
        assert!(heard(&mut a).is_empty());
        assert_eq!(heard(&mut b), ["Opened { peer: peer:1 }"]);
    }

    #[test]
    fn changes_happen_at_their_time() {
        let mut world = SimNet::new(2, 1);
        world.schedule(Micros::from_millis(10), NetChange::Everywhere(Conditions::latency_ms(5)));
        let busy = Conditions { is_blocked: true, ..Conditions::PERFECT };
        world.schedule(Micros::from_millis(20), NetChange::Direction { from: 0, to: 1, conditions: busy });
        let (mut a, mut b) = (world.carrier(0), world.carrier(1));
        let mut arrivals = Vec::new();
        let mut refused = 0;
        world.run_for(Micros::from_millis(30), |peer, now| {
            if peer == 1 {
                let datagrams = heard(&mut b).into_iter().filter(|text| text.ends_with(" x"));
                arrivals.extend(datagrams.map(|_| now.as_millis()));
                return Micros::MAX;
            }
            refused += u32::from(a.send(now, id_of(1), b"x") == Err(WouldBlock));
            now + Micros::from_millis(4)
        });
        assert_eq!(arrivals, [0, 4, 8, 17, 21]);
        assert_eq!(refused, 3);
    }

    #[test]
    fn peer_runs_by_its_own_clock() {
        let mut world = SimNet::new(2, 1);
        world.apply(&NetChange::Drift { peer: 1, ppm: 250_000 });
        let mut calls = [0, 0];
        world.run_for(Micros::from_secs(10), |peer, now| {
            calls[peer] += 1;
            now + Micros::from_millis(100)
        });
        assert_eq!(calls, [101, 126]);
        assert_eq!(world.local_now(1), Micros::from_millis(12_500));
        world.apply(&NetChange::Clock { peer: 1, shows: Micros::from_secs(60) });
        world.advance(Micros::from_secs(10));
        assert_eq!(world.local_now(1), Micros::from_millis(72_500));
    }

    /// Every impairment at once, over thousands of peers and with scheduled changes: logs differ by
    /// seed only.
    #[test]
    fn equal_seeds_give_equal_logs() {
        let (first, totals) = chaos(5);
        assert_eq!((first, totals), chaos(5));
        assert_ne!(first, chaos(6).0);
        for (what, count) in [
            ("duplicated", totals.duplicated),
            ("random", totals.lost_random),
            ("burst", totals.lost_burst),
            ("queue", totals.lost_queue),
            ("too large", totals.lost_too_large),
            ("cut", totals.lost_cut),
            ("closed", totals.lost_closed),
        ] {
            assert!(count > 20, "{what} happened {count} times");
        }
        assert!(totals.delivered > totals.sent / 3);
    }

    fn chaos(seed: u64) -> (u64, SimStats) {
        const PEERS: usize = 2_000;
        let mut world = SimNet::unconnected(PEERS, seed);
        world.set_all(Conditions {
            latency: Micros::from_millis(30),
            jitter: Micros::from_millis(20),
            loss: Chance::percent(5),
            burst: Some(Burst::of(Chance::percent(5), 4)),
            duplicate: Chance::percent(3),
            reorder: Chance::percent(10),
            bytes_per_second: Some(40_000),
            queue_bytes: 1_500,
            datagram_bytes_max: 900,
            ..Conditions::default()
        });
        // A ring, in which each peer is connected to both neighbors.
        (0..PEERS).for_each(|peer| world.apply(&NetChange::Connect(peer, (peer + 1) % PEERS)));
        let mut random = Prng::new(seed);
        for n in 0..200 {
            let peer = random.below(PEERS as u32) as usize;
            let at = Micros::from_millis(n * 10);
            world.schedule(at, NetChange::Isolate(peer));
            world.schedule(at, NetChange::Disconnect((peer + 7) % PEERS, (peer + 8) % PEERS));
            world.schedule(at + Micros::from_millis(100), NetChange::Heal);
            world.schedule(at, NetChange::Drift { peer, ppm: random.range(-20_000..=20_000) });
        }
        let mut carriers: Vec<_> = (0..PEERS).map(|peer| world.carrier(peer)).collect();
        let mut datagram = Vec::new();
        let payload = [7; 1_000];
        world.run_for(Micros::from_secs(2), |peer, now| {
            while carriers[peer].poll(now, &mut datagram).is_some() {}
            let other = id_of((peer + 1) % PEERS);
            let size = random.below(1_000) as usize;
            carriers[peer].send(now, other, &payload[..size]).unwrap();
            now + Micros::from_millis(u64::from(random.below(100)))
        });
        (world.log_hash(), world.totals())
    }
}
