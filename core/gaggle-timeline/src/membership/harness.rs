//! Membership on a simulated network, with every invariant checked after every step.
//!
//! `run.rs` injects faults by seed, then requires all live peers to reunite; `exhaustive.rs` takes
//! every step within small bounds; `mutants.rs` shows that both fail when a rule is missing;
//! `stories.rs` and `partings.rs` have single cases; `hostile.rs` corrupts messages.

mod checks;
mod exhaustive;
mod hostile;
mod mutants;
mod partings;
mod run;
mod stories;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use gaggle_kit::{ByteReader, DecodeError, Frame, Micros, PeerId, Prng, Slot, SlotSet};
use gaggle_testkit::PacketPool;

use super::bootstrap::{Feed, Followed, JoinContext};
use super::entry_range::EntryRange;
use super::held::EntryControl;
use super::history::{History, MatchId, Relation};
use super::merge::{Acceptance, SenderStatus};
use super::messages::{Message, PeerStatus};
use super::rows::{self, RosterEntry};
use super::rules::Rules;
use super::{Ballot, Membership, Mode, Settings, StayEnd};
use crate::entries::Entries;
use crate::roster::{Incarnation, StreamId};

use checks::Checks;

/// Values of entries, by stream and frame.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
struct Store(BTreeMap<(StreamId, Frame), u32>);

impl Entries for Store {
    fn write(&self, stream: StreamId, frame: Frame, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0[&(stream, frame)].to_le_bytes());
    }

    fn equals(&self, stream: StreamId, frame: Frame, value: &[u8]) -> bool {
        self.0[&(stream, frame)].to_le_bytes() == value
    }

    fn store(&mut self, stream: StreamId, frame: Frame, value: &[u8]) -> Result<(), DecodeError> {
        let value = ByteReader::exactly("value", value, 4)?.u32("value")?;
        self.0.insert((stream, frame), value);
        Ok(())
    }

    fn cut(&mut self, stream: StreamId, last: Frame) {
        self.0.retain(|(held, frame), _| *held != stream || *frame <= last);
    }

    fn forget(&mut self, stream: StreamId) {
        self.0.retain(|(held, _), _| *held != stream);
    }
}

/// Values of all streams in a confirmed frame.
type Record = Rc<Vec<(u64, StreamId, u32)>>;

/// Parameters of one run.
#[derive(Debug, Clone, Copy)]
struct Plan {
    peers: usize,
    window: u32,
    delay: u32,
    majority: bool,
    /// Least number of peers that go on without the others.
    quorum_min: usize,
    rules: Rules,
    /// Paths are sent whole only, so relations are found with whole paths only.
    short_tips: bool,
    /// A peer that takes a snapshot keeps its incarnation: this breaks a rule the session must
    /// follow.
    same_names: bool,
    /// Messages are encoded and decoded on their way.
    encoded: bool,
    /// Packets are sent only on request, and nothing is random.
    scripted: bool,
    /// Clocks stand still.
    timeless: bool,
    /// Newest frame any peer emits.
    frames: u32,
}

impl Plan {
    fn new(peers: usize, window: u32, delay: u32) -> Plan {
        Plan {
            peers,
            window,
            delay,
            majority: false,
            quorum_min: 1,
            rules: Rules::ALL,
            short_tips: false,
            same_names: false,
            encoded: false,
            scripted: false,
            timeless: false,
            frames: u32::MAX,
        }
    }

    fn lookahead(&self) -> u32 {
        self.window + self.delay
    }

    fn settings(&self) -> Settings {
        Settings {
            lookahead_frames: self.lookahead(),
            slot_count: 12,
            majority: self.majority,
            quorum_min: self.quorum_min,
            tip_links: if self.short_tips { 1 } else { 16 },
            repeat_after: Micros::from_millis(1),
            gather: Micros::ZERO,
            patience: Micros::from_millis(3),
            feed_timeout: Micros::from_millis(50),
            // So rare that no rule goes untested because of it; dishonest peers show what it is
            // for.
            stall_timeout: Micros::from_secs(3_600),
            sleep_after: Micros::from_millis(1_000),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Node {
    alive: bool,
    asleep: bool,
    machine: Membership,
    store: Store,
    /// Records the peer confirmed, by frame.
    log: Vec<Record>,
    clock: Micros,
    /// Statuses the peer has sent; its tag is computed from their number.
    statuses: Vec<PeerStatus>,
    /// For each other peer, how many of its statuses arrived here.
    heard: Vec<usize>,
    /// Number of incarnations used.
    names: u32,
}

/// A message on its way. Statuses are kept in order by the link, so packets bring them along.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Parcel {
    Packet {
        statuses: usize,
        observer: bool,
        promised: Option<Ballot>,
        confirmed: Frame,
        tails: Vec<EntryRange>,
    },
    Said(Message),
    AskFeed {
        from: Frame,
        known: History,
        depth: u32,
    },
    Feed(Feed),
    Snapshot {
        join_context: JoinContext,
        log: Vec<Record>,
    },
}

/// What happened in a run.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    installs: u64,
    joins: u64,
    ends: u64,
    boots: u64,
    yields: u64,
    joins_lost: u64,
    crashes: u64,
    restarts: u64,
    wakes: u64,
    paths_asked: u64,
    /// Runs that ended with too few peers to go on.
    waits: u64,
    held_most: u32,
    spread_most: u32,
}

#[derive(Clone)]
struct World {
    plan: Plan,
    /// Shared between worlds in which this peer is in the same state.
    nodes: Vec<Rc<Node>>,
    /// Hash of each node, 0 if unknown.
    hashes: Vec<Cell<u64>>,
    net: PacketPool<Parcel>,
    rng: Prng,
    values: u32,
    births: u64,
    checks: Rc<Checks>,
    counts: Counts,
    failure: Option<String>,
    trace: Option<Vec<String>>,
}

fn peer(index: usize) -> PeerId {
    PeerId::from_u128(((index as u128 + 1) << 64) | 1)
}

fn index_of(peer: PeerId) -> usize {
    (peer.to_u128() >> 64) as usize - 1
}

impl World {
    fn new(plan: Plan, seed: u64) -> World {
        let node = |index: usize| {
            let me = StreamId { peer: peer(index), incarnation: Incarnation(0) };
            Rc::new(Node::new(&plan, me, Micros::ZERO, 0))
        };
        World {
            plan,
            nodes: (0..plan.peers).map(node).collect(),
            hashes: vec![Cell::new(0); plan.peers],
            net: PacketPool::default(),
            rng: Prng::new(seed),
            values: 0,
            births: 0,
            checks: Rc::default(),
            counts: Counts::default(),
            failure: None,
            trace: None,
        }
    }

    fn node_mut(&mut self, index: usize) -> &mut Node {
        self.hashes[index].set(0);
        Rc::make_mut(&mut self.nodes[index])
    }

    fn chance(&mut self, percent: u32) -> bool {
        !self.plan.scripted && self.rng.below(100) < percent
    }

    fn fail(&mut self, what: String) {
        self.failure.get_or_insert(what);
    }

    fn note(&mut self, what: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            trace.push(what());
        }
    }

    fn send(&mut self, from: usize, to: usize, parcel: Parcel) {
        if from != to {
            self.net.send(from, to, parcel);
        }
    }

    /// The first `count` peers start together.
    fn start(&mut self, count: usize) {
        let mut next = 0;
        let rows: Vec<RosterEntry> = (0..count)
            .map(|index| {
                let slots = (next..next + players(index)).map(Slot::at).collect();
                next += players(index);
                let stream = self.nodes[index].machine.me();
                RosterEntry { stream, slots, first_frame: Frame::new(1), last_frame: Frame::NEVER }
            })
            .collect();
        for index in 0..count {
            let plan = self.plan;
            let node = self.node_mut(index);
            let (game, me) = (MatchId { started_at: 0, nonce: 0 }, node.machine.me());
            node.machine = Membership::start(plan.settings(), game, me, rows.clone(), Frame::START);
            node.machine.rules = plan.rules;
            for other in 0..plan.peers {
                node.machine.set_reachable(peer(other), true);
            }
        }
        self.births = 1;
    }

    /// A peer in no match creates one.
    fn found(&mut self, index: usize) {
        let game = MatchId { started_at: self.births, nonce: self.births };
        self.births += 1;
        let name = self.node_mut(index).name();
        let node = self.node_mut(index);
        node.machine.found(node.clock, game, name, &mut node.store);
        self.note(|| format!("{index} creates match {}", game.started_at));
        self.follow_up(index);
    }

    /// A crashed peer starts again without any state.
    fn restart(&mut self, index: usize) {
        let name = self.node_mut(index).name();
        let (clock, names) = (self.nodes[index].clock, self.nodes[index].names);
        let me = StreamId { peer: peer(index), incarnation: name };
        let statuses = std::mem::take(&mut self.node_mut(index).statuses);
        self.nodes[index] = Rc::new(Node { statuses, ..Node::new(&self.plan, me, clock, names) });
        self.counts.restarts += 1;
        self.note(|| format!("{index} is started again"));
    }

    fn member(&self, index: usize) -> bool {
        self.nodes[index].alive && self.nodes[index].machine.mode() == Mode::Member
    }

    fn tick(&mut self, index: usize) {
        if !self.nodes[index].alive || self.nodes[index].asleep {
            return;
        }
        let timeless = self.plan.timeless;
        let node = self.node_mut(index);
        if !timeless {
            node.clock += Micros::from_millis(1);
        }
        let before = node.machine.mode();
        node.machine.tick(node.clock, &mut node.store);
        if before == Mode::Observer && node.machine.mode() == Mode::Member {
            self.counts.joins += 1;
            self.note(|| format!("{index} finds itself in the roster"));
        }
        self.follow_up(index);
        if self.nodes[index].machine.mode() == Mode::Out {
            self.ask_for_snapshot(index);
        } else {
            self.emit(index);
            self.follow_up(index);
            if !self.plan.scripted {
                self.send_packets(index);
            }
            if self.nodes[index].machine.mode() == Mode::Observer && !self.plan.scripted {
                let donor = self.rng.below(self.plan.peers as u32) as usize;
                let machine = &self.nodes[index].machine;
                let (from, known) = (machine.confirmed().next(), machine.lineage().history());
                let depth = machine.lineage().depth();
                self.send(index, donor, Parcel::AskFeed { from, known, depth });
            }
        }
        self.drain(index);
    }

    fn ask_for_snapshot(&mut self, index: usize) {
        if self.plan.scripted {
            return;
        }
        let donor = self.rng.below(self.plan.peers as u32) as usize;
        let machine = &mut self.node_mut(index).machine;
        if donor != index && machine.peers.get(peer(donor)).is_some_and(|peer| peer.reachable) {
            machine.send(peer(donor), Message::AskSnapshot);
        }
    }

    /// Writes the next entry, or, while warming up, all entries that are due.
    fn emit(&mut self, index: usize) {
        let plan = self.plan;
        self.hashes[index].set(0);
        let node = Rc::make_mut(&mut self.nodes[index]);
        let (machine, me) = (&node.machine, node.machine.me());
        if machine.mode() == Mode::Observer {
            let own = machine.held(me).map_or(machine.confirmed(), |held| held.through());
            let seen = machine
                .known()
                .iter()
                .filter(|row| row.is_active())
                .filter_map(|row| machine.held(row.stream).map(|held| held.through()));
            let to = seen.max().unwrap_or(Frame::START).max(machine.confirmed().saturating_add(plan.delay));
            let to = to.min(Frame::new(plan.frames));
            for number in own.number() + 1..=to.number() {
                self.values += 1;
                let value = value_of(&plan, me, number, self.values);
                node.store.0.insert((me, Frame::new(number)), value);
                node.machine.push_own(Frame::new(number), EntryControl::NONE);
            }
            return;
        }
        let first =
            rows::row_of(machine.known(), me).map_or(machine.confirmed().next(), |row| row.first_frame);
        let own = machine.held(me).map_or(first.previous(), |held| held.through()).next();
        if machine.own_end().is_some() || own > machine.emit_until() || own.number() > plan.frames {
            return;
        }
        let extras = machine.extras_due(node.clock, own);
        self.values += 1;
        node.store.0.insert((me, own), value_of(&plan, me, own.number(), self.values));
        node.machine.push_own(own, extras);
        self.counts.ends += u64::from(extras.end);
        if let Some(join) = extras.join {
            self.note(|| format!("{index} writes the join of {:?} at {own}", join.stream));
        }
    }

    fn packet(&mut self, index: usize, relay: bool) -> Parcel {
        self.announce(index);
        let node = &self.nodes[index];
        let machine = &node.machine;
        let me = machine.me();
        let from = machine.confirmed().saturating_sub(self.plan.lookahead());
        Parcel::Packet {
            statuses: node.statuses.len(),
            observer: machine.mode() == Mode::Observer,
            promised: machine.promise_told(),
            confirmed: machine.confirmed(),
            tails: machine.streams.tails(&node.store, from, |stream| stream == me || relay),
        }
    }

    fn send_packets(&mut self, index: usize) {
        let relay = self.chance(30);
        let packet = self.packet(index, relay);
        for other in 0..self.plan.peers {
            self.send(index, other, packet.clone());
        }
    }

    fn announce(&mut self, index: usize) {
        let node = self.node_mut(index);
        let status = node.machine.status();
        if let Some(status) = status
            && node.statuses.last() != Some(&status)
        {
            node.statuses.push(status);
        }
    }

    /// Puts the machine's messages on their way.
    fn drain(&mut self, index: usize) {
        while let Some((to, message)) = self.node_mut(index).machine.next_message() {
            self.counts.paths_asked += u64::from(message == Message::AskPath);
            self.send(index, index_of(to), Parcel::Said(message));
        }
    }

    /// Checks a peer after frames may have been confirmed and views installed.
    fn follow_up(&mut self, index: usize) {
        self.check_history(index);
        while self.failure.is_none() {
            let Some(frame) = self.node_mut(index).machine.confirm_next() else { break };
            self.check_confirmed(index, frame);
        }
        let node = self.node_mut(index);
        node.machine.tidy(&mut node.store);
        let Node { machine, store, .. } = node;
        store.0.retain(|(stream, frame), _| machine.held(*stream).is_some_and(|held| held.holds(*frame)));
        self.check_settled(index);
        if let Some((stream, frame)) = self.node_mut(index).machine.take_false_leader() {
            self.fail(format!("LEAD: {stream:?} admitted a joiner at {frame} without leading"));
        }
        if self.node_mut(index).machine.take_lost() == Some(StayEnd::Contradicted) {
            self.fail(format!("FINAL: a view contradicts what {index} has confirmed"));
        }
        self.check_bounds(index);
    }

    fn deliver(&mut self, from: usize, to: usize, parcel: Parcel) {
        if !self.nodes[to].alive || self.nodes[to].asleep {
            return;
        }
        let parcel = if self.plan.encoded { through_the_wire(parcel) } else { parcel };
        self.note(|| format!("{from} to {to}: {}", summary(&parcel)));
        let full_before = self.nodes[to].machine.may_donate();
        let result = match parcel {
            Parcel::Packet { statuses, observer, promised, confirmed, tails } => {
                self.hear_statuses(from, to, statuses);
                let tag = tag_of(statuses);
                self.deliver_packet(from, to, SenderStatus { tag, observer, promised, confirmed }, &tails)
            }
            Parcel::Said(Message::AskSnapshot) => {
                let node = &self.nodes[to];
                if let Some(join_context) = node.machine.join_context(node.machine.confirmed(), &node.store) {
                    let log = node.log.clone();
                    self.send(to, from, Parcel::Snapshot { join_context, log });
                }
                Ok(())
            }
            Parcel::Said(message) => {
                let node = self.node_mut(to);
                node.machine.handle_message(node.clock, peer(from), message, &mut node.store)
            }
            Parcel::AskFeed { from: first, known, depth } => {
                let node = &self.nodes[to];
                let confirmed = node.machine.confirmed();
                let parcel = match node.machine.feed(first, known, depth, &node.store) {
                    Some(feed) => Some(Parcel::Feed(feed)),
                    None => node.machine.join_context(confirmed, &node.store).map(|join_context| {
                        let log = node.log.clone();
                        Parcel::Snapshot { join_context, log }
                    }),
                };
                if let Some(parcel) = parcel {
                    self.send(to, from, parcel);
                }
                Ok(())
            }
            Parcel::Feed(feed) => {
                let node = self.node_mut(to);
                let followed = node.machine.follow(node.clock, &feed, &mut node.store);
                if followed == Ok(Followed::Impossible) {
                    node.machine.send(peer(from), Message::AskSnapshot);
                }
                followed.map(|_| ())
            }
            Parcel::Snapshot { join_context, log } => self.deliver_snapshot(to, &join_context, log),
        };
        if let Err(fault) = result {
            self.fail(format!("FAULT: {to} finds that {from} broke the rules: {fault:?}"));
        }
        self.follow_up(to);
        self.drain(to);
        if full_before && self.nodes[to].machine.mode() == Mode::Out {
            self.fail(format!("MATCHLESS: {to} left its match before it had another"));
        }
    }

    fn hear_statuses(&mut self, from: usize, to: usize, count: usize) {
        for nth in self.nodes[to].heard[from]..count {
            let status = self.nodes[from].statuses[nth].clone();
            let message = Message::PeerStatus { tag: tag_of(nth + 1), status };
            let node = self.node_mut(to);
            let taken = node.machine.handle_message(node.clock, peer(from), message, &mut node.store);
            assert_eq!(taken, Ok(()), "a status is never at fault");
        }
        let heard = &mut self.node_mut(to).heard[from];
        *heard = count.max(*heard);
    }

    fn deliver_packet(
        &mut self,
        from: usize,
        to: usize,
        sign: SenderStatus,
        tails: &[EntryRange],
    ) -> Result<(), super::Fault> {
        let node = self.node_mut(to);
        let hearing = node.machine.hear(node.clock, peer(from), sign, &node.store)?;
        for tail in tails {
            let counts = match hearing {
                Acceptance::Nothing => false,
                Acceptance::Own(stream) => tail.stream == stream,
                Acceptance::All(_) => true,
            };
            if counts {
                node.machine.take_tail(tail, &mut node.store)?;
            }
        }
        Ok(())
    }

    fn deliver_snapshot(
        &mut self,
        to: usize,
        join_context: &JoinContext,
        log: Vec<Record>,
    ) -> Result<(), super::Fault> {
        let node = &self.nodes[to];
        if !node.machine.wants(join_context) {
            return Ok(());
        }
        let (me, mode) = (node.machine.me(), node.machine.mode());
        let same_match = node.machine.lineage().game() == join_context.told.tip.game;
        if mode == Mode::Member && same_match {
            let known = log.iter().any(|record| record.iter().any(|(_, stream, _)| *stream == me));
            *if known { &mut self.counts.yields } else { &mut self.counts.joins_lost } += 1;
        }
        self.counts.boots += 1;
        let name = if self.plan.same_names { me.incarnation } else { self.node_mut(to).name() };
        let node = self.node_mut(to);
        node.log = log;
        node.machine.adopt(node.clock, join_context, name, &mut node.store)?;
        self.note(|| format!("{to} begins anew at {} as {name:?}", join_context.confirmed));
        Ok(())
    }
}

impl Node {
    fn new(plan: &Plan, me: StreamId, clock: Micros, names: u32) -> Node {
        let index = index_of(me.peer);
        let mut machine = Membership::out(plan.settings(), me, players(index) as u8, SlotSet::EMPTY);
        machine.rules = plan.rules;
        for other in 0..plan.peers {
            machine.set_reachable(peer(other), true);
        }
        Node {
            alive: true,
            asleep: false,
            machine,
            store: Store::default(),
            log: vec![Rc::default()],
            clock,
            statuses: Vec::new(),
            heard: vec![0; plan.peers],
            names,
        }
    }

    fn name(&mut self) -> Incarnation {
        self.names += 1;
        Incarnation(self.names)
    }
}

/// Every third peer has two players.
fn players(index: usize) -> usize {
    1 + usize::from(index % 3 == 2)
}

fn tag_of(statuses: usize) -> u8 {
    (statuses % 63) as u8
}

/// With exhaustive steps, equal branches must give equal values.
fn value_of(plan: &Plan, me: StreamId, frame: u32, counter: u32) -> u32 {
    if plan.scripted && !plan.same_names {
        (index_of(me.peer) as u32) << 16 | me.incarnation.0 << 12 | frame
    } else {
        counter
    }
}

/// One line for a trace.
fn summary(parcel: &Parcel) -> String {
    let short = |stream: StreamId| format!("{}#{}", index_of(stream.peer), stream.incarnation.0);
    let names = |streams: &[StreamId]| streams.iter().map(|s| short(*s)).collect::<Vec<_>>().join(" ");
    let tails = |tails: &[EntryRange]| {
        let one = |t: &EntryRange| format!("{} {}..{}", short(t.stream), t.from, t.through());
        tails.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    let rows = |rows: &[RosterEntry]| {
        let one = |r: &RosterEntry| format!("{} {}..{}", short(r.stream), r.first_frame, r.last_frame);
        rows.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    match parcel {
        Parcel::Packet { statuses, confirmed, tails: t, promised, .. } => {
            format!("packet {statuses}, confirmed {confirmed}, promised {promised:?}, {}", tails(t))
        }
        Parcel::Said(Message::Collect { ballot, circle, .. }) => {
            format!("collect {} {} from {}", ballot.number, short(ballot.by), names(circle))
        }
        Parcel::Said(Message::Report(r)) => format!(
            "report {} in {:?} confirmed {} rows {} tails {}",
            r.ballot.number,
            r.told.view.history,
            r.confirmed,
            rows(&r.rows),
            tails(&r.tails)
        ),
        Parcel::Said(Message::View { told, tails: t, .. }) => {
            format!("view {:?}: {} tails {}", told.view.history, rows(&told.view.rows), tails(t))
        }
        Parcel::Said(Message::Accept { told, tails: t, .. }) => {
            format!("accept? {:?}: {} tails {}", told.view.history, rows(&told.view.rows), tails(t))
        }
        Parcel::Said(message) => format!("{message:?}"),
        Parcel::AskFeed { from, .. } => format!("feed me from {from}"),
        Parcel::Feed(feed) => format!("feed to {}: {}", feed.confirmed, tails(&feed.tails)),
        Parcel::Snapshot { join_context, .. } => format!("snapshot of {}", join_context.confirmed),
    }
}

/// Encodes and decodes a message.
fn through_the_wire(parcel: Parcel) -> Parcel {
    let mut bytes = Vec::new();
    match parcel {
        Parcel::Said(message) => {
            message.encode(&mut bytes);
            let read = Message::decode(&bytes).expect("what was written can be read");
            assert_eq!(read, message);
            Parcel::Said(read)
        }
        Parcel::Feed(feed) => {
            feed.encode(&mut bytes);
            let read = Feed::decode(&mut ByteReader::new(&bytes)).expect("what was written can be read");
            assert_eq!(read, feed);
            Parcel::Feed(read)
        }
        Parcel::Snapshot { join_context, log } => {
            join_context.encode(&mut bytes);
            let read =
                JoinContext::decode(&mut ByteReader::new(&bytes)).expect("what was written can be read");
            assert_eq!(read, join_context);
            Parcel::Snapshot { join_context: read, log }
        }
        other => other,
    }
}
