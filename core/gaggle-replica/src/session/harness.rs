//! Randomized runs of the real session: loss, duplicates and reordering, wrong timeouts,
//! partitions, crashes and returns, claims and deletions by every peer. Then the network heals, and
//! all replicas must become equal and silent.
//!
//! Each rule of convergence is removed in turn, and at least one run must fail.

mod runs;
mod settle;

use std::collections::BTreeMap;
use std::sync::Arc;

use gaggle_kit::{Micros, PeerId, Prng, Slot};
use gaggle_testkit::PacketPool;

use super::{PeerIdentity, Session};
use crate::ablation::Rule;
use crate::config::{JoinMode, ReplicaConfig};
use crate::event::SessionEvent;
use crate::{AuthorityPolicy, AuthorityRules, Kind, Kinds, ObjectId, ObjectInfo, Roster, RosterMember};

#[derive(Debug, Clone, PartialEq, Kind)]
#[kind(claim_cooldown_ms = 0)]
pub(super) struct Thing {
    #[kind(range = 0.0..=1_000_000.0, precision = 1.0)]
    pub(super) place: f32,
    pub(super) value: u32,
    #[kind(constant)]
    pub(super) made: u16,
}

/// An owned object belongs to its player; any other object to the last player that claimed it.
#[derive(Debug)]
pub(super) struct Skippers {
    /// Whether only the successor of an object may have authority over it.
    pub(super) alone: bool,
}

impl Skippers {
    fn skipper(object: &ObjectInfo, roster: &Roster) -> Option<RosterMember> {
        object.owner.and_then(|home| roster.by_slot(home)).or_else(|| roster.leader())
    }
}

impl AuthorityRules for Skippers {
    fn fingerprint(&self) -> u32 {
        1
    }

    fn may_hold(&self, member: RosterMember, object: &ObjectInfo, roster: &Roster) -> bool {
        object.owner.is_none() || Skippers::skipper(object, roster) == Some(member)
    }

    fn successor(&self, object: &ObjectInfo, roster: &Roster) -> Option<RosterMember> {
        match object.owner {
            Some(_) => Skippers::skipper(object, roster),
            None => roster.by_slot(object.authority).or_else(|| roster.leader()),
        }
    }

    fn is_exclusive(&self) -> bool {
        self.alone
    }
}

/// Number of peers in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Crowd {
    /// Two to five peers.
    Few,
    /// Seven peers: they disagree about the leader more often, and one can be away longer before
    /// the others notice.
    Seven,
}

#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    claims: u64,
    deletes: u64,
    creates: u64,
    returns: u64,
    splits: u64,
    inherited: u64,
    despawned: u64,
    trusted: u64,
    answers: u64,
    refused: u64,
    renumbered: u64,
    dropped: u64,
    differences: u64,
}

struct World {
    random: Prng,
    policy: AuthorityPolicy,
    bytes_per_second: u32,
    despawns: bool,
    without: Option<Rule>,
    /// The session of each peer, and its own clock.
    machines: Vec<Option<Session>>,
    clocks: Vec<Micros>,
    /// Number of starts of each peer.
    lives: Vec<u64>,
    /// Order in which the present lives began, which a lobby reports in some runs.
    born: Vec<u64>,
    births: u64,
    in_lobby: bool,
    /// The life of the other peer that each link belongs to.
    linked: Vec<BTreeMap<usize, u64>>,
    group: Vec<u32>,
    /// Packets under way, and reliable messages as streams.
    net: PacketPool<Vec<u8>>,
    seed: u64,
    /// The first reported fault: no peer is dishonest in these runs.
    accused: Option<SessionEvent>,
    tally: Tally,
}

fn peer(index: usize) -> PeerId {
    PeerId::from_u128(index as u128 + 1)
}

impl World {
    fn new(seed: u64, without: Option<Rule>, crowd: Crowd) -> World {
        let mut random = Prng::new(seed);
        let count = match crowd {
            Crowd::Few => 2 + random.below(4) as usize,
            Crowd::Seven => number("MACHINES").unwrap_or(7) as usize,
        };
        let policy = match random.below(5) {
            0 | 1 => AuthorityPolicy::Anyone,
            2 => AuthorityPolicy::Leader,
            3 => AuthorityPolicy::OwnerOrLeader,
            _ => AuthorityPolicy::Custom(Arc::new(Skippers { alone: random.chance(1, 2) })),
        };
        let bytes_per_second = [1_000, 3_000, 64_000][random.below(3) as usize];
        let mut world = World {
            policy,
            bytes_per_second,
            despawns: !seed.is_multiple_of(3),
            without,
            machines: (0..count).map(|_| None).collect(),
            clocks: (0..count).map(|index| Micros::from_millis(index as u64 * 7)).collect(),
            lives: vec![0; count],
            born: vec![0; count],
            births: 0,
            in_lobby: random.chance(1, 2),
            linked: vec![BTreeMap::new(); count],
            group: vec![0; count],
            net: PacketPool::default(),
            seed,
            accused: None,
            tally: Tally::default(),
            random,
        };
        for index in 0..1 + world.random.below(count as u32) as usize {
            world.start(index);
        }
        world
    }

    fn start(&mut self, index: usize) {
        let returns_as_before = self.without == Some(Rule::ReturnersAreNew) && self.lives[index] > 0;
        self.lives[index] += u64::from(!returns_as_before);
        let others = (0..self.machines.len()).filter(|&other| self.group[other] == self.group[index]);
        let highest = others
            .filter_map(|other| self.machines[other].as_ref().map(|session| session.members.highest()))
            .max();
        let number = highest.map_or(0, |highest| highest + 1);
        // A member admitted in another partition may have a number given twice.
        let number = if self.random.chance(1, 3) { self.random.below(number + 1) } else { number };
        let config = ReplicaConfig {
            authority: self.policy.clone(),
            bytes_per_second: self.bytes_per_second,
            succession_delay: Micros::from_millis(170),
            despawn_unauthorized: self.despawns,
            ..ReplicaConfig::default()
        };
        let seed = self.seed.wrapping_mul(1_000_003) + index as u64 * 1_000 + self.lives[index];
        let kinds = Kinds::new().with::<Thing>();
        let player = Slot::at(index);
        let mut session = Session::new(config, kinds, player, JoinMode::Start(number), seed).unwrap();
        session.cx.ablation.rule = self.without;
        session.cx.note_now(self.clocks[index]);
        self.births += 1;
        self.born[index] = self.births;
        self.machines[index] = Some(session);
        self.linked[index].clear();
        self.net.retain_streams(|from, _| from != index);
    }

    fn link(&mut self, from: usize, to: usize) {
        self.linked[from].insert(to, self.lives[to]);
        self.net.retain_streams(|a, b| (a, b) != (from, to));
        let now = self.clocks[from];
        let session = self.machines[from].as_mut().unwrap();
        if self.in_lobby && self.born[to] > self.born[from] {
            session.set_identities(&[PeerIdentity::later_joiner(peer(to))]);
        }
        session.handle_connected(now, peer(to));
        self.drain(from);
    }

    fn unlink(&mut self, from: usize, to: usize) {
        if self.linked[from].remove(&to).is_some() {
            self.net.retain_streams(|a, b| (a, b) != (from, to));
            let now = self.clocks[from];
            self.machines[from].as_mut().unwrap().handle_disconnected(now, peer(to));
            self.drain(from);
        }
    }

    /// Collects the packets and messages of a peer.
    fn drain(&mut self, from: usize) {
        let Some(session) = &mut self.machines[from] else { return };
        while let Some(out) = session.poll_transmit() {
            let to = out.to.to_u128() as usize - 1;
            let bytes = out.bytes.to_vec();
            if out.reliable {
                self.net.send_ordered(from, to, bytes);
            } else {
                self.net.send(from, to, bytes);
            }
        }
        while let Some(event) = session.poll_event() {
            if matches!(event, SessionEvent::PeerFault { .. } | SessionEvent::Rejected { .. }) {
                self.accused.get_or_insert(event);
            }
        }
    }

    fn tick(&mut self, index: usize, millis: u64) {
        self.clocks[index] += Micros::from_millis(millis);
        if let Some(session) = &mut self.machines[index] {
            session.tick(self.clocks[index]);
        }
        self.drain(index);
    }

    fn deliver(&mut self, from: usize, to: usize, bytes: &[u8]) {
        let Some(session) = &mut self.machines[to] else { return };
        if self.group[from] == self.group[to] && self.linked[to].contains_key(&from) {
            session.handle_packet(self.clocks[to], peer(from), bytes);
            self.drain(to);
        }
    }

    fn deliver_message(&mut self, from: usize, to: usize) -> bool {
        if self.group[from] != self.group[to] || !self.linked[to].contains_key(&from) {
            return false;
        }
        let Some(session) = &mut self.machines[to] else { return false };
        let Some(bytes) = self.net.take_ordered(from, to) else { return false };
        session.handle_message(self.clocks[to], peer(from), &bytes);
        self.drain(to);
        true
    }

    fn step(&mut self, loss: u32) {
        let count = self.machines.len() as u32;
        let index = self.random.below(count) as usize;
        let other = self.random.below(count) as usize;
        if self.random.chance(1, 3) {
            // Messages are rare and arrive soon.
            let ways: Vec<(usize, usize)> = self.net.streams().map(|(direction, _)| direction).collect();
            if let Some(&(from, to)) = self.random.pick(&ways) {
                self.deliver_message(from, to);
            }
        }
        match self.random.below(100) {
            0..6 => self.detect(index, other),
            6 => {
                if self.random.chance(1, 2) {
                    let random = &mut self.random;
                    self.group.iter_mut().for_each(|group| *group = random.below(2));
                    self.tally.splits += 1;
                } else {
                    self.group.fill(0);
                }
            }
            7..9 => self.crash_or_return(index),
            9..11 => self.calm(loss),
            11..45 => self.tick(index, 50),
            45..78 => {
                let Some((from, to, bytes)) = self.net.take_any(&mut self.random) else { return };
                let twice = self.random.chance(1, 10);
                if !self.random.chance(loss, 1_000) {
                    self.deliver(from, to, &bytes);
                }
                if twice {
                    self.net.send(from, to, bytes);
                }
            }
            choice => self.act(index, choice),
        }
    }

    /// One step in which most packets arrive soon and authorities move their objects.
    fn calm(&mut self, loss: u32) {
        for _ in 0..6 {
            for index in 0..self.machines.len() {
                self.act(index, 90);
                self.tick(index, 50);
            }
            let mut packets = self.net.take_all();
            while let Some((from, to, bytes)) = packets.take_any(&mut self.random) {
                if !self.random.chance(loss, 1_000) {
                    self.deliver(from, to, &bytes);
                }
            }
        }
    }

    /// Reports timeouts with a delay, sometimes wrongly.
    fn detect(&mut self, index: usize, other: usize) {
        if index == other || self.machines[index].is_none() {
            return;
        }
        let reachable = self.machines[other].is_some() && self.group[index] == self.group[other];
        let seen = if self.random.chance(1, 10) { !reachable } else { reachable };
        if seen && reachable {
            if self.linked[index].get(&other) != Some(&self.lives[other]) {
                self.unlink(index, other);
                self.link(index, other);
            }
        } else if !seen {
            self.unlink(index, other);
        }
    }

    fn crash_or_return(&mut self, index: usize) {
        let alive = self.machines.iter().filter(|machine| machine.is_some()).count();
        if self.machines[index].is_none() {
            self.start(index);
            self.tally.returns += 1;
        } else if alive > 1 && self.random.chance(2, 5) {
            self.count(index);
            self.machines[index] = None;
            self.linked[index].clear();
            self.net.retain_streams(|from, to| from != index && to != index);
        }
    }

    fn count(&mut self, index: usize) {
        let Some(session) = &self.machines[index] else { return };
        let stats = session.stats();
        self.tally.inherited += stats.inherited;
        self.tally.despawned += stats.unauthorized_despawned;
        self.tally.trusted += stats.reclaimed;
        self.tally.answers += stats.corrections_sent;
        self.tally.refused += stats.records_rejected;
        self.tally.renumbered += stats.rejoins;
        self.tally.dropped += stats.packets_dropped;
        self.tally.differences += stats.updates_sent - stats.updates_full;
    }

    /// One random action of a player.
    fn act(&mut self, index: usize, choice: u32) {
        let count = self.machines.len() as u32;
        let random = &mut self.random;
        let Some(session) = &mut self.machines[index] else { return };
        let ids: Vec<ObjectId> = session.iter::<Thing>().map(|(id, _)| id).collect();
        let value = random.next_u32();
        let thing = Thing { place: (value % 1_000_000) as f32, value, made: value as u16 };
        if choice < 81 || ids.is_empty() {
            let made = if random.chance(1, 2) {
                session.spawn_owned(Slot::at(random.below(count) as usize), &thing)
            } else {
                session.spawn(&thing)
            };
            self.tally.creates += u64::from(made.is_ok());
            return;
        }
        let id = ids[random.below(ids.len() as u32) as usize];
        let place = session.objects.live(id).unwrap();
        let record = session.objects[place].record.unwrap();
        if !session.view().may_hold(id, &record) {
            return;
        }
        let mine = session.has_authority(id);
        if mine && choice < 93 {
            let old: Thing = session.get(id).unwrap();
            let next = Thing {
                place: (old.value % 1_000_000 + random.below(50)) as f32,
                value: old.value.wrapping_add(random.below(3)),
                ..old
            };
            session.set(id, &next).unwrap();
            if random.chance(3, 10) {
                session.release(id).unwrap();
            }
        } else if choice < 97 {
            let held = record.held && session.members.roster().contains(record.version.authority);
            if !held || random.chance(1, 5) {
                assert!(session.authority.raise_claim(
                    &mut super::work::work!(session),
                    place,
                    random.chance(3, 10),
                    None
                ));
                session.set(id, &thing).unwrap();
                self.tally.claims += 1;
            }
        } else {
            assert!(session.despawn(id).is_ok());
            self.tally.deletes += 1;
        }
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}
