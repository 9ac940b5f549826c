//! A whole group of machines in virtual time, on which the stories are told.

#![allow(dead_code, unreachable_pub, reason = "every test program uses its own part of this")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use gaggle_kit::{Micros, PeerId, Prng, Slot};
use gaggle_replica::{JoinMode, Kinds, ObjectId, ReplicaConfig, Session, SessionEvent};

/// How the network is.
#[derive(Debug, Clone, Copy)]
pub struct NetConditions {
    pub latency: Micros,
    pub jitter: Micros,
    /// Per mille.
    pub loss: u32,
    pub doubled: u32,
    /// Per mille of packets that come 60 ms late.
    pub late: u32,
}

impl NetConditions {
    pub const CALM: NetConditions = NetConditions {
        latency: Micros::from_millis(20),
        jitter: Micros::ZERO,
        loss: 0,
        doubled: 0,
        late: 0,
    };

    /// Round trips of so many milliseconds, 10 ms of jitter, a few doubles and stragglers.
    pub fn rough(rtt_ms: u64, loss: u32) -> NetConditions {
        NetConditions {
            latency: Micros::from_millis(rtt_ms / 2),
            jitter: Micros::from_millis(10),
            loss,
            doubled: 10,
            late: 20,
        }
    }
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct InFlight {
    at: Micros,
    order: u64,
    from: usize,
    to: usize,
    /// Which starts of the link it belongs to, at either end.
    starts: (u64, u64),
    reliable: bool,
    bytes: Vec<u8>,
}

pub struct Machine {
    pub session: Option<Session>,
    pub events: Vec<SessionEvent>,
    /// Starts of the links to others; 0 while there is none.
    starts: Vec<u64>,
    pub bytes_sent: u64,
    pub packets_sent: u64,
}

impl Machine {
    pub fn new(count: usize) -> Machine {
        Machine { session: None, events: Vec::new(), starts: vec![0; count], bytes_sent: 0, packets_sent: 0 }
    }
}

/// Changes what flies from one machine to another.
pub type Tamper = Box<dyn FnMut(usize, usize, &mut Vec<u8>)>;

pub struct World {
    pub now: Micros,
    pub machines: Vec<Machine>,
    pub weather: NetConditions,
    pub random: Prng,
    /// Between which machines nothing passes, although the links stay up.
    pub blocked: Vec<Vec<bool>>,
    pub tamper: Tamper,
    pub frame: Micros,
    /// Messages from one machine to another take so much longer.
    pub hold_messages: Vec<(usize, usize, Micros)>,
    flying: BinaryHeap<Reverse<InFlight>>,
    order: u64,
    config: ReplicaConfig,
    kinds: Kinds,
    seed: u64,
    /// Reliable messages of one direction never overtake each other.
    last_message: Vec<Vec<Micros>>,
}

pub fn peer(index: usize) -> PeerId {
    PeerId::from_u128(index as u128 + 1)
}

pub fn player(index: usize) -> Slot {
    Slot::at(index)
}

impl World {
    /// So many machines, all linked: the first founds, the others join.
    pub fn of(count: usize, seed: u64, config: ReplicaConfig, kinds: Kinds) -> World {
        let mut world = World {
            now: Micros::from_millis(1),
            machines: (0..count).map(|_| Machine::new(count)).collect(),
            weather: NetConditions::CALM,
            random: Prng::new(seed),
            blocked: vec![vec![false; count]; count],
            tamper: Box::new(|_, _, _| {}),
            frame: Micros::from_millis(10),
            hold_messages: Vec::new(),
            flying: BinaryHeap::new(),
            order: 0,
            config,
            kinds,
            seed,
            last_message: vec![vec![Micros::ZERO; count]; count],
        };
        for index in 0..count {
            world.start(index, if index == 0 { JoinMode::Create } else { JoinMode::Join });
            for other in 0..index {
                world.link(index, other);
            }
            if index > 0 {
                // Joined before the next comes, so that seniority is the order of numbers.
                let weather = std::mem::replace(&mut world.weather, NetConditions::CALM);
                world.run(Micros::from_millis(200));
                world.weather = weather;
            }
        }
        world
    }

    /// Room for machines that were added.
    pub fn grow(&mut self) {
        let count = self.machines.len();
        self.machines.iter_mut().for_each(|machine| machine.starts.resize(count, 0));
        self.blocked.resize(count, Vec::new());
        self.blocked.iter_mut().for_each(|row| row.resize(count, false));
        self.last_message.resize(count, Vec::new());
        self.last_message.iter_mut().for_each(|row| row.resize(count, Micros::ZERO));
    }

    pub fn start(&mut self, index: usize, entry: JoinMode) {
        self.seed += 1;
        let seed = self.seed * 1_000 + index as u64;
        let session = Session::new(self.config.clone(), self.kinds.clone(), player(index), entry, seed);
        self.machines[index].session = Some(session.expect("settings that make sense"));
    }

    /// A machine dies; the others notice at once.
    pub fn kill(&mut self, index: usize) {
        for other in 0..self.machines.len() {
            self.unlink(index, other);
        }
        self.machines[index].session = None;
    }

    pub fn link(&mut self, a: usize, b: usize) {
        self.order += 1;
        (self.machines[a].starts[b], self.machines[b].starts[a]) = (self.order, self.order);
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

    /// A machine says goodbye to everybody and goes.
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

    /// Everybody in one group is linked with everybody else in it, and nobody across.
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

    /// Runs for a while; `play` moves a machine's objects once a frame.
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

    pub fn deliver(&mut self) {
        while let Some(Reverse(next)) = self.flying.peek() {
            if next.at > self.now {
                return;
            }
            let Some(Reverse(mut flying)) = self.flying.pop() else { return };
            let starts =
                (self.machines[flying.from].starts[flying.to], self.machines[flying.to].starts[flying.from]);
            if flying.starts != starts || self.blocked[flying.from][flying.to] {
                continue;
            }
            (self.tamper)(flying.from, flying.to, &mut flying.bytes);
            let Some(session) = &mut self.machines[flying.to].session else { continue };
            if flying.reliable {
                session.handle_message(flying.at, peer(flying.from), &flying.bytes);
            } else {
                session.handle_packet(flying.at, peer(flying.from), &flying.bytes);
            }
            self.collect(flying.to);
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
        for (to, reliable, bytes) in out {
            // Which start of the link at the other end it goes to.
            let start_there = self.machines[to].starts[from];
            let sent = &mut self.machines[from];
            if !reliable {
                sent.bytes_sent += bytes.len() as u64;
                sent.packets_sent += 1;
            }
            let copies = if self.random.chance(self.weather.doubled, 1_000) && !reliable { 2 } else { 1 };
            for _ in 0..copies {
                if !reliable && self.random.chance(self.weather.loss, 1_000) {
                    continue;
                }
                let jitter = self.random.below(self.weather.jitter.get() as u32 + 1);
                let late = if self.random.chance(self.weather.late, 1_000) { 60_000 } else { 0 };
                let mut at = self.now + self.weather.latency + Micros::new(u64::from(jitter) + late);
                let held = self.hold_messages.iter().find(|held| reliable && (held.0, held.1) == (from, to));
                if let Some((_, _, longer)) = held {
                    at += *longer;
                }
                if reliable {
                    at = at.max(self.last_message[from][to]);
                    self.last_message[from][to] = at;
                }
                self.order += 1;
                self.flying.push(Reverse(InFlight {
                    at,
                    order: self.order,
                    from,
                    to,
                    starts: (starts[to], start_there),
                    reliable,
                    bytes: bytes.clone(),
                }));
            }
        }
        for to in refused {
            self.unlink(from, to);
        }
    }

    pub fn count_events(&self, index: usize, matches: impl Fn(&SessionEvent) -> bool) -> usize {
        self.machines[index].events.iter().filter(|event| matches(event)).count()
    }

    /// Nobody was accused of anything.
    pub fn expect_peace(&self) {
        for (index, machine) in self.machines.iter().enumerate() {
            let accused = machine.events.iter().find(|event| {
                matches!(event, SessionEvent::PeerFault { .. } | SessionEvent::Rejected { .. })
            });
            assert_eq!(accused, None, "by machine {index}");
        }
    }

    /// The holder of an object, as each machine that is alive sees it.
    pub fn holders(&self, id: ObjectId) -> Vec<Option<Slot>> {
        self.machines.iter().filter_map(|machine| machine.session.as_ref()).map(|s| s.authority(id)).collect()
    }
}
