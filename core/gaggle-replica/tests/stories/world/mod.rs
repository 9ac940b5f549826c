//! A group of peers in virtual time, for the tests of this folder.

#![allow(dead_code, unreachable_pub, reason = "every test program uses a part of it")]

use gaggle_kit::{Micros, PeerId, Prng, Slot};
use gaggle_replica::{JoinMode, Kinds, ObjectId, ReplicaConfig, Session, SessionEvent};
pub use gaggle_testkit::NetConditions;
use gaggle_testkit::{Delivery, PacketScheduler};

/// A network with 20 ms latency and no faults.
pub const CALM: NetConditions = NetConditions::latency_ms(20);

/// Round trips of this many milliseconds, 10 ms of jitter, a few duplicates and late packets.
pub fn rough(rtt_ms: u64, loss: u32) -> NetConditions {
    let jitter = Micros::from_millis(10);
    NetConditions { jitter, loss, duplicate: 10, late: 20, ..NetConditions::latency_ms(rtt_ms / 2) }
}

/// A packet under way: its bytes, and the start of the link they belong to at either end.
#[derive(Debug, Clone)]
pub struct Sent {
    starts: (u64, u64),
    bytes: Vec<u8>,
}

pub struct Machine {
    pub session: Option<Session>,
    pub events: Vec<SessionEvent>,
    /// Starts of the links to others; 0 while there is no link.
    starts: Vec<u64>,
    pub bytes_sent: u64,
    pub packets_sent: u64,
}

impl Machine {
    pub fn new(count: usize) -> Machine {
        Machine { session: None, events: Vec::new(), starts: vec![0; count], bytes_sent: 0, packets_sent: 0 }
    }
}

/// Changes bytes under way from one peer to another.
pub type Tamper = Box<dyn FnMut(usize, usize, &mut Vec<u8>)>;

pub struct World {
    pub now: Micros,
    pub machines: Vec<Machine>,
    pub conditions: NetConditions,
    pub random: Prng,
    pub net: PacketScheduler<Sent>,
    pub tamper: Tamper,
    pub frame: Micros,
    /// Number of link starts so far.
    starts: u64,
    config: ReplicaConfig,
    kinds: Kinds,
    seed: u64,
}

pub fn peer(index: usize) -> PeerId {
    PeerId::from_u128(index as u128 + 1)
}

pub fn player(index: usize) -> Slot {
    Slot::at(index)
}

impl World {
    /// Makes this many peers, all linked: the first creates the session, the others join.
    pub fn of(count: usize, seed: u64, config: ReplicaConfig, kinds: Kinds) -> World {
        let mut world = World {
            now: Micros::from_millis(1),
            machines: (0..count).map(|_| Machine::new(count)).collect(),
            conditions: CALM,
            random: Prng::new(seed),
            net: PacketScheduler::default(),
            tamper: Box::new(|_, _, _| {}),
            frame: Micros::from_millis(10),
            starts: 0,
            config,
            kinds,
            seed,
        };
        for index in 0..count {
            world.start(index, if index == 0 { JoinMode::Create } else { JoinMode::Join });
            for other in 0..index {
                world.link(index, other);
            }
            if index > 0 {
                // Each peer joins before the next starts, so that join order is index order.
                world.run(Micros::from_millis(200));
            }
        }
        world
    }

    /// Makes room for peers that were added.
    pub fn grow(&mut self) {
        let count = self.machines.len();
        self.machines.iter_mut().for_each(|machine| machine.starts.resize(count, 0));
    }

    pub fn start(&mut self, index: usize, entry: JoinMode) {
        self.seed += 1;
        let seed = self.seed * 1_000 + index as u64;
        let session = Session::new(self.config.clone(), self.kinds.clone(), player(index), entry, seed);
        self.machines[index].session = Some(session.expect("valid settings"));
    }

    /// Ends a peer without notice; the others see the closed links at once.
    pub fn kill(&mut self, index: usize) {
        for other in 0..self.machines.len() {
            self.unlink(index, other);
        }
        self.machines[index].session = None;
    }

    pub fn link(&mut self, a: usize, b: usize) {
        self.starts += 1;
        (self.machines[a].starts[b], self.machines[b].starts[a]) = (self.starts, self.starts);
        for (from, to) in [(a, b), (b, a)] {
            let now = self.now;
            if let Some(session) = &mut self.machines[from].session {
                session.handle_connected(now, peer(to));
            }
        }
    }

    pub fn unlink(&mut self, a: usize, b: usize) {
        for (from, to) in [(a, b), (b, a)] {
            if std::mem::take(&mut self.machines[from].starts[to]) != 0
                && let Some(session) = &mut self.machines[from].session
            {
                session.handle_disconnected(self.now, peer(to));
            }
        }
    }

    /// A peer tells all others that it leaves, and leaves.
    pub fn part(&mut self, index: usize) {
        for other in 0..self.machines.len() {
            if std::mem::take(&mut self.machines[other].starts[index]) != 0
                && let Some(session) = &mut self.machines[other].session
            {
                session.handle_leaving(self.now, peer(index));
            }
            self.machines[index].starts[other] = 0;
        }
        self.machines[index].session = None;
    }

    pub fn is_linked(&self, a: usize, b: usize) -> bool {
        self.machines[a].starts[b] != 0
    }

    /// Links all peers within a group to each other, and none across groups.
    pub fn split(&mut self, groups: &[&[usize]]) {
        let group_of = |index: usize| groups.iter().position(|group| group.contains(&index));
        for a in 0..self.machines.len() {
            for b in 0..a {
                let together = group_of(a).is_some() && group_of(a) == group_of(b);
                let alive = self.machines[a].session.is_some() && self.machines[b].session.is_some();
                match (together && alive, self.is_linked(a, b)) {
                    (true, false) => self.link(a, b),
                    (false, true) => self.unlink(a, b),
                    _ => {}
                }
            }
        }
    }

    pub fn heal(&mut self) {
        let all: Vec<usize> = (0..self.machines.len()).collect();
        self.split(&[&all]);
    }

    pub fn session(&mut self, index: usize) -> &mut Session {
        self.machines[index].session.as_mut().expect("alive")
    }

    /// Runs for a while; `play` moves the objects of a peer once per frame.
    pub fn play(&mut self, time: Micros, mut play: impl FnMut(&mut Session, usize, Micros)) {
        let end = self.now + time;
        while self.now < end {
            self.now += self.frame;
            self.deliver();
            for index in 0..self.machines.len() {
                let Some(session) = &mut self.machines[index].session else { continue };
                play(session, index, self.now);
                session.tick(self.now);
                self.collect(index);
            }
        }
    }

    pub fn run(&mut self, time: Micros) {
        self.play(time, |_, _, _| {});
    }

    pub fn run_ms(&mut self, millis: u64) {
        self.run(Micros::from_millis(millis));
    }

    /// Cuts one direction although the link stays up, or opens it again.
    pub fn set_cut(&mut self, from: usize, to: usize, is_cut: bool) {
        self.net.set_cut(self.now, from, to, is_cut);
    }

    pub fn deliver(&mut self) {
        while let Some(packet) = self.net.poll(self.now) {
            let (from, to, mut sent) = (packet.from, packet.to, packet.message);
            if sent.starts != (self.machines[from].starts[to], self.machines[to].starts[from]) {
                continue;
            }
            (self.tamper)(from, to, &mut sent.bytes);
            let Some(session) = &mut self.machines[to].session else { continue };
            match packet.delivery {
                Delivery::Ordered => session.handle_message(packet.at, peer(from), &sent.bytes),
                Delivery::Datagram => session.handle_packet(packet.at, peer(from), &sent.bytes),
            }
            self.collect(to);
        }
    }

    pub fn collect(&mut self, from: usize) {
        let Machine { session: Some(session), events, starts, .. } = &mut self.machines[from] else { return };
        let mut out = Vec::new();
        while let Some(packet) = session.poll_transmit() {
            out.push((packet.to.to_u128() as usize - 1, packet.reliable, packet.bytes.to_vec()));
        }
        while let Some(event) = session.poll_event() {
            events.push(event);
        }
        let mut refused = Vec::new();
        while let Some(peer) = session.poll_disconnect() {
            refused.push(peer.to_u128() as usize - 1);
        }
        let starts = starts.clone();
        self.net.set_conditions(self.conditions);
        for (to, reliable, bytes) in out {
            // The start of the link at the other end it belongs to.
            let starts = (starts[to], self.machines[to].starts[from]);
            let counted = &mut self.machines[from];
            if !reliable {
                counted.bytes_sent += bytes.len() as u64;
                counted.packets_sent += 1;
            }
            let delivery = if reliable { Delivery::Ordered } else { Delivery::Datagram };
            self.net.send(&mut self.random, self.now, from, to, delivery, Sent { starts, bytes });
        }
        for to in refused {
            self.unlink(from, to);
        }
    }

    pub fn count_events(&self, index: usize, matches: impl Fn(&SessionEvent) -> bool) -> usize {
        self.machines[index].events.iter().filter(|event| matches(event)).count()
    }

    /// Fails if any peer reported a fault or a rejection.
    pub fn expect_peace(&self) {
        for (index, machine) in self.machines.iter().enumerate() {
            let accused = machine.events.iter().find(|event| {
                matches!(event, SessionEvent::PeerFault { .. } | SessionEvent::Rejected { .. })
            });
            assert_eq!(accused, None, "by peer {index}");
        }
    }

    /// The authority of an object, as each running peer sees it.
    pub fn holders(&self, id: ObjectId) -> Vec<Option<Slot>> {
        self.machines.iter().filter_map(|machine| machine.session.as_ref()).map(|s| s.authority(id)).collect()
    }
}
