//! A group of machines that share objects: players, faults, and the comparison in the end.
//!
//! Called by `replica_chaos.rs`. Absent: drawn settings (`plan.rs`).

use std::collections::BTreeMap;

use gaggle_kit::{ByteSink, Micros, Prng, Slot, State, StateHasher};
use gaggle_link::sim::{Chance, Conditions, NetChange, SimCarrier, SimNet};
use gaggle_link::{Endpoint, LinkConfig};
use gaggle_replica::{
    AuthorityPolicy, Driver, JoinMode, Kind, Kinds, ObjectId, ReplicaConfig, Session, SessionEvent,
    ValueWriter,
};

use crate::digest::digest_of;

use super::plan::Plan;

/// A replicated object of all supported fields.
#[derive(Debug, Clone, PartialEq, Kind)]
struct Thing {
    #[kind(range = 0.0..=256.0, precision = 1.0 / 64.0, moved_by = velocity)]
    place: [f32; 2],
    #[kind(range = -16.0..=16.0, precision = 1.0 / 32.0)]
    velocity: [f32; 2],
    #[kind(range = 0..=1_000)]
    count: u32,
    #[kind(constant)]
    paint: u8,
}

/// A value that each player writes.
#[derive(Debug, Clone, PartialEq, State)]
struct Name(u32);

/// A value that the leader writes.
#[derive(Debug, Clone, PartialEq, State)]
struct Score(u32);

/// Time between two frames of a machine.
const FRAME: Micros = Micros::from_millis(25);
/// Time after healing within which all machines must be equal.
const PATIENCE: Micros = Micros::from_secs(60);

/// Events and figures of a run.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tally {
    pub(super) claims: u64,
    pub(super) deletions: u64,
    pub(super) deaths: u64,
    pub(super) host_deaths: u64,
    pub(super) returns: u64,
    pub(super) partitions: u64,
    pub(super) inherited: u64,
    pub(super) trusted: u64,
    pub(super) refused: u64,
    pub(super) updates: u64,
    pub(super) bytes: u64,
    pub(super) compared: u64,
    pub(super) slowest: Micros,
    /// Hash over packets sent and the objects known in the end; of one run alone.
    pub(super) digest: u64,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Tally) {
        self.claims += other.claims;
        self.deletions += other.deletions;
        self.deaths += other.deaths;
        self.host_deaths += other.host_deaths;
        self.returns += other.returns;
        self.partitions += other.partitions;
        self.inherited += other.inherited;
        self.trusted += other.trusted;
        self.refused += other.refused;
        self.updates += other.updates;
        self.bytes += other.bytes;
        self.compared += other.compared;
        self.slowest = self.slowest.max(other.slowest);
    }
}

struct Machine {
    session: Session,
    link: Endpoint<SimCarrier>,
    exchange: Driver,
}

pub(super) struct Group {
    plan: Plan,
    world: SimNet,
    machines: Vec<Option<Machine>>,
    /// How often each machine was started.
    lives: Vec<u64>,
    random: Prng,
    split: bool,
    tally: Tally,
    accused: Option<String>,
}

/// Knowledge of an object: authority, place, velocity, count, paint.
type Known = BTreeMap<ObjectId, (Option<Slot>, Thing)>;

/// Values of all players.
type Values = Vec<(Option<Name>, Option<Score>)>;

impl Group {
    pub(super) fn new(plan: Plan) -> Group {
        let world = SimNet::new(plan.peers, plan.seed);
        world.set_all(plan.conditions);
        let mut group = Group {
            machines: (0..plan.peers).map(|_| None).collect(),
            lives: vec![0; plan.peers],
            random: Prng::new(plan.seed),
            world,
            plan,
            split: false,
            tally: Tally::default(),
            accused: None,
        };
        for index in 0..group.plan.peers {
            group.start(index);
        }
        group
    }

    fn start(&mut self, index: usize) {
        self.lives[index] += 1;
        let config = ReplicaConfig {
            authority: self.plan.policy.clone(),
            bytes_per_second: self.plan.bytes_per_second,
            tombstone_ttl: Micros::from_secs(120),
            smoothing: false,
            ..ReplicaConfig::default()
        };
        let kinds = Kinds::new()
            .with::<Thing>()
            .with_value::<Name>("name", ValueWriter::Player)
            .with_value::<Score>("score", ValueWriter::Leader);
        let seed = self.plan.seed * 1_000_003 + index as u64 * 1_009 + self.lives[index];
        let entry = if index == 0 && self.lives[0] == 1 { JoinMode::Create } else { JoinMode::Join };
        let player = Slot::at(index);
        let session = Session::new(config, kinds, player, entry, seed).expect("valid settings");
        let carrier = if self.lives[index] == 1 {
            self.world.carrier(index)
        } else {
            self.world.restarted_carrier(index)
        };
        let link = Endpoint::new(carrier, LinkConfig::default(), seed);
        self.machines[index] = Some(Machine { session, link, exchange: Driver });
        if self.lives[index] > 1 {
            for other in (0..self.plan.peers).filter(|other| *other != index) {
                self.world.apply(&NetChange::Connect(index, other));
            }
        }
    }

    pub(super) fn run(mut self) -> Result<Tally, String> {
        let seconds = self.plan.minutes * 60;
        for _ in 0..seconds {
            self.befall();
            self.live(Micros::from_secs(1), true);
            if let Some(accused) = self.accused {
                return Err(accused);
            }
        }
        self.world.apply(&NetChange::Heal);
        // Links that fail at random would keep changing the roster.
        let fair = Conditions { loss: Chance::percent(5), burst: None, ..self.plan.conditions };
        self.world.set_all(fair);
        for index in 0..self.plan.peers {
            if self.machines[index].is_none() {
                self.start(index);
            }
        }
        let healed_at = self.world.now();
        let mut difference = String::new();
        while self.world.now().since(healed_at) < PATIENCE {
            self.live(Micros::from_millis(500), false);
            if let Some(accused) = self.accused {
                return Err(accused);
            }
            match self.compare() {
                Ok(compared) => {
                    // The equality must last.
                    self.live(Micros::from_secs(5), false);
                    self.compare().map_err(|why| format!("equal, and then not: {why}"))?;
                    self.tally.compared += compared;
                    self.tally.slowest = self.world.now().since(healed_at).since(Micros::from_secs(5));
                    (0..self.plan.peers).for_each(|index| self.count(index));
                    self.tally.digest = digest_of(&[self.world.log_hash(), self.known_hash()]);
                    return Ok(self.tally);
                }
                Err(why) => difference = why,
            }
        }
        Err(format!("not equal {} s after healing: {difference}", PATIENCE.get() / 1_000_000))
    }

    /// Applies a fault now and then.
    fn befall(&mut self) {
        let peers = self.plan.peers as u32;
        let alive = self.machines.iter().flatten().count();
        let index = self.random.below(peers) as usize;
        match self.random.below(40) {
            0 | 1 if alive > 1 => self.kill(index),
            // Half of all deaths are those of hosts.
            2 if alive > 1 => {
                let host = (0..self.plan.peers).find(|&index| {
                    self.machines[index].as_ref().is_some_and(|machine| machine.session.is_leader())
                });
                if let Some(host) = host {
                    self.kill(host);
                }
            }
            3..=8 if self.machines[index].is_none() => {
                self.start(index);
                self.tally.returns += 1;
            }
            9 if !self.split => {
                let (mut left, mut right) = (Vec::new(), Vec::new());
                for index in 0..self.plan.peers {
                    if self.random.chance(1, 2) { left.push(index) } else { right.push(index) }
                }
                if !left.is_empty() && !right.is_empty() {
                    self.world.apply(&NetChange::Partition(vec![left, right]));
                    self.split = true;
                    self.tally.partitions += 1;
                }
            }
            10..=14 if self.split => {
                self.world.apply(&NetChange::Heal);
                self.split = false;
            }
            _ => {}
        }
    }

    fn kill(&mut self, index: usize) {
        if let Some(machine) = &self.machines[index] {
            self.tally.deaths += 1;
            self.tally.host_deaths += u64::from(machine.session.is_leader());
            self.count(index);
            self.machines[index] = None;
            for other in (0..self.plan.peers).filter(|other| *other != index) {
                self.world.apply(&NetChange::Disconnect(index, other));
            }
        }
    }

    fn count(&mut self, index: usize) {
        let Some(machine) = &self.machines[index] else { return };
        let stats = machine.session.stats();
        self.tally.claims += stats.claims;
        self.tally.inherited += stats.inherited;
        self.tally.trusted += stats.reclaimed;
        self.tally.refused += stats.records_rejected;
        self.tally.updates += stats.updates_sent;
        self.tally.bytes += stats.bytes_sent;
    }

    fn live(&mut self, span: Micros, playing: bool) {
        let Group { world, machines, random, tally, plan, accused, .. } = self;
        world.run_for(span, |index, now| {
            if let Some(machine) = &mut machines[index] {
                machine.exchange.receive(now, &mut machine.link, &mut machine.session);
                if playing {
                    play(&mut machine.session, random, plan, tally);
                }
                machine.session.tick(now);
                machine.exchange.send(now, &mut machine.link, &mut machine.session);
                while let Some(event) = machine.session.poll_event() {
                    if matches!(event, SessionEvent::PeerFault { .. } | SessionEvent::Rejected { .. }) {
                        accused.get_or_insert_with(|| format!("machine {index} accuses: {event:?}"));
                    }
                }
            }
            now + FRAME
        });
    }

    /// Hash over the objects that every machine knows.
    fn known_hash(&self) -> u64 {
        let mut hasher = StateHasher::new();
        for machine in self.machines.iter().flatten() {
            for (_, thing) in machine.session.iter::<Thing>() {
                for axis in thing.place.iter().chain(&thing.velocity) {
                    hasher.put(&axis.to_bits().to_le_bytes());
                }
                hasher.put(&thing.count.to_le_bytes());
                hasher.put(&[thing.paint]);
            }
        }
        hasher.finish()
    }

    /// Compares objects and values of all machines. Returns the number of objects.
    fn compare(&self) -> Result<u64, String> {
        let players: Vec<Slot> = (0..self.plan.peers).map(Slot::at).collect();
        let known = |machine: &Machine| -> (Known, Values) {
            let session = &machine.session;
            let objects =
                session.iter::<Thing>().map(|(id, thing)| (id, (session.authority(id), thing))).collect();
            let values =
                players.iter().map(|player| (session.value(*player), session.value(*player))).collect();
            (objects, values)
        };
        let mut machines = self.machines.iter().flatten().enumerate();
        let Some((_, first)) = machines.next() else { return Err("no peer is left".into()) };
        if first.session.roster().len() != self.plan.peers {
            return Err(format!("machine 0 sees {} of {}", first.session.roster().len(), self.plan.peers));
        }
        let expected = known(first);
        for (index, machine) in machines {
            let found = known(machine);
            if machine.session.roster().len() != self.plan.peers {
                return Err(format!("machine {index} sees {}", machine.session.roster().len()));
            }
            if found.0 != expected.0 {
                let differs = expected.0.iter().find(|(id, known)| found.0.get(id) != Some(known));
                let more = found.0.keys().find(|id| !expected.0.contains_key(id));
                let there = differs.and_then(|(id, _)| found.0.get(id));
                return Err(format!(
                    "machine 0 has {differs:?}, machine {index} {there:?} and besides {more:?}"
                ));
            }
            if found.1 != expected.1 {
                return Err(format!("values {:?} at machine 0, {:?} at {index}", expected.1, found.1));
            }
        }
        Ok(expected.0.len() as u64)
    }
}

/// Actions of a player in a frame.
fn play(session: &mut Session, random: &mut Prng, plan: &Plan, tally: &mut Tally) {
    if !session.is_member() {
        return;
    }
    // Some of the objects it has authority over drift.
    let mine: Vec<ObjectId> = session.iter_authoritative::<Thing>().collect();
    for id in &mine {
        if random.chance(1, 8) {
            let moved = session.modify(*id, |thing: &mut Thing| {
                for axis in 0..2 {
                    let push = random.range(-4..=4) as f32 / 8.0;
                    thing.velocity[axis] = (thing.velocity[axis] + push).clamp(-8.0, 8.0);
                    thing.place[axis] = (thing.place[axis] + thing.velocity[axis] * 0.2).clamp(0.0, 256.0);
                }
                thing.count = (thing.count + 1) % 1_000;
            });
            debug_assert!(moved.is_ok());
        }
    }
    let known = session.iter::<Thing>().count();
    if known < plan.objects && random.chance(1, 2) {
        for _ in 0..10 {
            let thing = Thing {
                place: [random.range(0..=256) as f32, random.range(0..=256) as f32],
                velocity: [0.0; 2],
                count: 0,
                paint: random.next_u32() as u8,
            };
            let player = session.local_slot();
            let made = match plan.policy {
                AuthorityPolicy::OwnerOrLeader if !session.is_leader() => session.spawn_owned(player, &thing),
                AuthorityPolicy::Leader if !session.is_leader() => return,
                _ => session.spawn(&thing),
            };
            if made.is_err() {
                break;
            }
        }
    }
    if !random.chance(1, 20) || known == 0 {
        return;
    }
    let nth = random.below(known as u32) as usize;
    let Some((id, _)) = session.iter::<Thing>().nth(nth) else { return };
    match random.below(12) {
        0 => tally.deletions += u64::from(session.despawn(id).is_ok()),
        1..=2 => _ = session.lock(id),
        3 => _ = session.release(id),
        4 => _ = session.set_value(session.local_slot(), &Name(random.next_u32())),
        5 => {
            let player = Slot::at(random.below(plan.peers as u32) as usize);
            _ = session.set_value(player, &Score(random.next_u32()));
        }
        _ => _ = session.claim(id),
    }
}
