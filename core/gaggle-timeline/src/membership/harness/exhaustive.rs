//! Every possible step, in every order, within small bounds.
//!
//! Bounds: frames a peer emits, ballots, messages under way, and how often a peer crashes, is
//! wrongly suspected, is trusted again, says goodbye or takes a snapshot. Packets, snapshots and
//! feeds arrive at once or never; messages arrive in any order. Only safety is checked here.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use gaggle_testkit::seeds::is_long;

use super::{Membership, Message, Mode, Parcel, Plan, Rules, World, peer, rows};

/// How often each fault may still be injected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
struct Luck {
    crashes: u8,
    /// Peers that may crash, one bit each.
    mortal: u8,
    suspicions: u8,
    trusts: u8,
    goodbyes: u8,
    boots: u8,
}

impl Luck {
    fn one_crash() -> Luck {
        Luck { crashes: 1, mortal: u8::MAX, ..Luck::default() }
    }
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Tick(usize),
    /// A packet from one to the other.
    Packet(usize, usize),
    /// A message under way.
    Deliver(usize),
    Crash(usize),
    Suspect(usize, usize),
    Trust(usize, usize),
    /// One takes the other's snapshot.
    Boot(usize, usize),
    /// An observer is told what the other has confirmed.
    Feed(usize, usize),
    Goodbye(usize),
}

/// Limits of messages under way and of ballots.
const MESSAGES_MAX: usize = 6;
const BALLOT_MAX: u32 = 3;
/// Most states of an exploration; more means that its bounds do not work.
const STATES_MAX: usize = 5_000_000;

/// Result of an exploration.
#[derive(Default)]
struct Explored {
    states: usize,
    complete: bool,
    failure: Option<(String, Vec<Step>)>,
    shown: Shown,
}

/// Number of states in which each fact about a joiner was seen.
#[derive(Debug, Clone, Copy, Default)]
struct Shown {
    /// The joiner has found itself in the roster.
    joined: usize,
    /// A peer counts the joiner, and the joiner does not know yet.
    unaware: usize,
    /// A peer has confirmed a frame with the joiner's entry.
    played: usize,
    /// A view cut the joiner's stream after it had joined.
    cut: usize,
    /// The joiner counts itself, and no live peer is in a branch that contains it.
    alone: usize,
    /// A view was made in which the joiner plays on.
    kept: usize,
}

impl Shown {
    /// `joiner` is the peer that was not a member when the match began.
    fn note(&mut self, world: &World, joiner: usize) {
        let me = world.nodes[joiner].machine.me();
        let joined = world.member(joiner);
        let others =
            || (0..joiner).filter(|index| world.member(*index)).map(|index| &world.nodes[index].machine);
        let counts = |machine: &Membership| rows::is_open(machine.known(), me);
        let played = |machine: &Membership| {
            let row = rows::row_of(machine.rows(), me);
            row.is_some_and(|row| row.is_present_at(machine.confirmed()))
        };
        let made = |machine: &&Membership| machine.lineage().depth() > 0;
        let ended =
            |machine: &Membership| rows::row_of(&machine.view.rows, me).is_some_and(|row| !row.is_active());
        self.joined += usize::from(joined);
        self.unaware += usize::from(world.nodes[joiner].alive && !joined && others().any(counts));
        self.played += usize::from(others().any(played));
        self.cut += usize::from(others().filter(made).any(ended));
        self.alone += usize::from(joined && !others().any(counts));
        self.kept += usize::from(others().filter(made).any(|machine| machine.view.is_open(me)));
    }
}

#[derive(Clone)]
struct State {
    world: World,
    luck: Luck,
    path: Rc<Path>,
}

/// Steps that led to a state.
enum Path {
    Start,
    Then(Rc<Path>, Step),
}

impl Path {
    fn steps(&self) -> Vec<Step> {
        let (mut steps, mut path) = (Vec::new(), self);
        while let Path::Then(before, step) = path {
            steps.push(*step);
            path = before;
        }
        steps.reverse();
        steps
    }
}

impl State {
    fn steps(&self) -> Vec<Step> {
        let world = &self.world;
        let all = 0..world.nodes.len();
        let mut steps: Vec<Step> = (0..world.net.len()).map(Step::Deliver).collect();
        let alive = |index: &usize| world.nodes[*index].alive;
        let mode = |index: usize| world.nodes[index].machine.mode();
        for index in all.clone().filter(alive) {
            let machine = &world.nodes[index].machine;
            let trusts = |other: usize| machine.peers.get(peer(other)).is_some_and(|peer| peer.reachable);
            let others = || all.clone().filter(|other| *other != index);
            let donors = || others().filter(alive).filter(|other| mode(*other) == Mode::Member);
            if mode(index) == Mode::Observer {
                steps.extend(donors().map(|donor| Step::Feed(index, donor)));
            }
            if mode(index) == Mode::Out {
                let donors = donors().filter(|_| self.luck.boots > 0);
                steps.extend(donors.map(|donor| Step::Boot(index, donor)));
            } else {
                let newest = machine.held(machine.me()).map_or(0, |held| held.through().number());
                let restless = newest < world.plan.frames
                    || mode(index) == Mode::Observer
                    || machine.fence.is_up()
                    || others().any(|other| !trusts(other));
                if restless {
                    steps.push(Step::Tick(index));
                }
                let listeners = others().filter(alive).filter(|other| mode(*other) != Mode::Out);
                steps.extend(listeners.map(|other| Step::Packet(index, other)));
            }
            if self.luck.crashes > 0
                && self.luck.mortal >> index & 1 == 1
                && all.clone().filter(alive).count() > 1
            {
                steps.push(Step::Crash(index));
            }
            if mode(index) == Mode::Member {
                for other in others().filter(|other| mode(*other) != Mode::Out) {
                    let dead = !alive(&other);
                    if trusts(other) && (dead || self.luck.suspicions > 0) {
                        steps.push(Step::Suspect(index, other));
                    }
                    if !trusts(other) && !dead && self.luck.trusts > 0 {
                        steps.push(Step::Trust(index, other));
                    }
                }
                if self.luck.goodbyes > 0 && !machine.own_stream.is_leaving() {
                    steps.push(Step::Goodbye(index));
                }
            }
        }
        steps
    }

    fn take(&mut self, step: Step) {
        let (world, luck) = (&mut self.world, &mut self.luck);
        match step {
            Step::Tick(index) => world.tick(index),
            Step::Packet(from, to) => {
                let packet = world.packet(from, false);
                world.deliver(from, to, packet);
            }
            Step::Deliver(nth) => {
                let (from, to, parcel) = world.net.take(nth);
                world.deliver(from, to, parcel);
            }
            Step::Crash(index) => {
                luck.crashes -= 1;
                world.node_mut(index).alive = false;
                world.net.retain(|(_, to, _)| *to != index);
            }
            Step::Suspect(index, other) => {
                luck.suspicions -= u8::from(world.nodes[other].alive);
                world.node_mut(index).machine.set_reachable(peer(other), false);
            }
            Step::Trust(index, other) => {
                luck.trusts -= 1;
                world.node_mut(index).machine.set_reachable(peer(other), true);
            }
            Step::Boot(index, donor) => {
                luck.boots -= 1;
                answer_at_once(world, index, donor, Parcel::Said(Message::AskSnapshot));
            }
            Step::Feed(index, donor) => {
                let machine = &world.nodes[index].machine;
                let (from, known) = (machine.confirmed().next(), machine.lineage().history());
                let depth = machine.lineage().depth();
                answer_at_once(world, index, donor, Parcel::AskFeed { from, known, depth });
            }
            Step::Goodbye(index) => {
                luck.goodbyes -= 1;
                world.node_mut(index).machine.leave();
            }
        }
        // Equal messages count once; the random runs cover members whose branch yields.
        let mut seen = BTreeSet::new();
        world.net.retain(|parcel| {
            !matches!(parcel.2, Parcel::Said(Message::AskSnapshot)) && seen.insert(hash_of(parcel))
        });
        self.path = Rc::new(Path::Then(self.path.clone(), step));
    }

    fn within_bounds(&self) -> bool {
        let numbers = self.world.nodes.iter().map(|node| node.machine.number_seen());
        self.world.net.len() <= MESSAGES_MAX && numbers.max() <= Some(BALLOT_MAX)
    }

    fn fingerprint(&self) -> u64 {
        let mut parcels: Vec<u64> = self.world.net.iter().map(hash_of).collect();
        parcels.sort_unstable();
        let nodes: Vec<u64> = (0..self.world.nodes.len()).map(|index| self.node_hash(index)).collect();
        hash_of(&(nodes, parcels, self.luck))
    }
}

impl State {
    fn node_hash(&self, index: usize) -> u64 {
        let hash = &self.world.hashes[index];
        if hash.get() == 0 {
            let node = &self.world.nodes[index];
            hash.set(hash_of(&(node.alive, &node.machine, &node.log, &node.heard)).max(1));
        }
        hash.get()
    }
}

/// One peer asks the other for a snapshot or a feed, and gets it at once.
fn answer_at_once(world: &mut World, index: usize, donor: usize, question: Parcel) {
    world.deliver(index, donor, question);
    let given = |parcel: &Parcel| matches!(parcel, Parcel::Snapshot { .. } | Parcel::Feed(_));
    while let Some(nth) = world.net.position(|_, to, parcel| to == index && given(parcel)) {
        let (from, to, parcel) = world.net.take(nth);
        world.deliver(from, to, parcel);
    }
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Takes every step from the start on, depth first.
fn explore(plan: Plan, together: usize, luck: Luck, states_max: usize) -> Explored {
    explore_after(plan, together, &[], luck, states_max)
}

/// As `explore`, after these steps.
fn explore_after(plan: Plan, together: usize, before: &[Step], luck: Luck, states_max: usize) -> Explored {
    let mut world = World::new(plan, 1);
    world.start(together);
    let mut start = State { world, luck, path: Rc::new(Path::Start) };
    before.iter().for_each(|step| start.take(*step));
    let mut seen = BTreeSet::from([start.fingerprint()]);
    let mut open = vec![start];
    let mut explored = Explored::default();
    while let Some(state) = open.pop() {
        explored.states = seen.len();
        for step in state.steps() {
            let mut next = state.clone();
            next.take(step);
            if let Some(failure) = next.world.failure {
                explored.failure = Some((failure, next.path.steps()));
                return explored;
            }
            if next.within_bounds() && seen.insert(next.fingerprint()) {
                if together < plan.peers {
                    explored.shown.note(&next.world, together);
                }
                if seen.len() >= states_max {
                    return explored;
                }
                open.push(next);
            }
        }
    }
    explored.complete = true;
    explored
}

fn plan(peers: usize, frames: u32) -> Plan {
    Plan { scripted: true, timeless: true, frames, ..Plan::new(peers, 1, 0) }
}

/// Asserts that no step within the bounds breaks an invariant.
fn holds(plan: Plan, together: usize, luck: Luck, states_min: usize) {
    let explored = explore(plan, together, luck, STATES_MAX);
    explored.holds(states_min);
}

impl Explored {
    fn holds(&self, states_min: usize) {
        println!("{} states, complete {}, {:?}", self.states, self.complete, self.shown);
        if let Some((failure, path)) = &self.failure {
            panic!("{failure}\n{path:?}");
        }
        assert!(self.complete);
        assert!(self.states >= states_min, "{} states are too few to show anything", self.states);
    }
}

#[test]
fn two_peers_survive_crash_suspicions_and_goodbye() {
    let luck = Luck { suspicions: 2, trusts: 1, goodbyes: 1, ..Luck::one_crash() };
    holds(plan(2, 2), 2, luck, 20_000);
}

#[test]
fn three_peers_survive_leader_crash() {
    let mortal = if is_long() { u8::MAX } else { 0b001 };
    holds(plan(3, 1), 3, Luck { mortal, ..Luck::one_crash() }, 20_000);
}

#[test]
fn three_peers_with_majority_survive_crash_of_last() {
    let mortal = if is_long() { u8::MAX } else { 0b100 };
    holds(Plan { majority: true, ..plan(3, 1) }, 3, Luck { mortal, ..Luck::one_crash() }, 20_000);
}

#[test]
fn crash_of_three_contradicts_peer_without_longest_copy() {
    let plan = Plan { rules: Rules { cut_at_longest_copy: false, ..Rules::ALL }, ..plan(3, 1) };
    let explored = explore(plan, 3, Luck::one_crash(), 1_000_000);
    let (failure, path) = explored.failure.expect("a peer held one frame more");
    assert!(failure.starts_with("FINAL"), "{failure}: {path:?}");
}

/// A third peer takes a snapshot of two, begins its stream, and is admitted in the second frame,
/// which the leader has just written.
const ADMITTED: [Step; 10] = [
    Step::Boot(2, 0),
    Step::Tick(0),
    Step::Tick(1),
    Step::Packet(0, 2),
    Step::Tick(2),
    Step::Packet(2, 0),
    Step::Packet(2, 1),
    Step::Packet(0, 1),
    Step::Packet(1, 0),
    Step::Tick(0),
];

/// Steps until the joiner knows, and the others have sent all their messages.
const PLAYING: [Step; 8] = [
    Step::Tick(1),
    Step::Packet(0, 1),
    Step::Packet(1, 0),
    Step::Packet(0, 2),
    Step::Tick(2),
    Step::Packet(1, 2),
    Step::Tick(0),
    Step::Tick(1),
];

#[test]
fn leader_crash_known_only_to_its_joiner_is_survived() {
    let mut before = ADMITTED.to_vec();
    before.push(Step::Packet(0, 2));
    let mut luck = Luck { mortal: 0b001, boots: 1, ..Luck::one_crash() };
    if is_long() {
        // From a state before the admission, with any peer crashing.
        before.truncate(9);
        luck.mortal = u8::MAX;
    }
    let explored = explore_after(plan(3, 2), 2, &before, luck, STATES_MAX);
    explored.holds(20_000);
    let Shown { joined, kept, alone, .. } = explored.shown;
    assert!(joined > 1_000 && kept > 1_000 && alone > 100, "{:?}", explored.shown);
}

#[test]
fn joiner_crash_around_first_frame_is_survived() {
    let mortal = if is_long() { u8::MAX } else { 0b100 };
    let luck = Luck { mortal, boots: 1, ..Luck::one_crash() };
    let before = [&ADMITTED[..], &PLAYING[..]].concat();
    let explored = explore_after(plan(3, 3), 2, &before, luck, STATES_MAX);
    explored.holds(20_000);
    let Shown { joined, played, cut, .. } = explored.shown;
    assert!(joined > 500 && played > 1_000 && cut > 1_000, "{:?}", explored.shown);
}

#[test]
fn joiner_crash_contradicts_peer_without_longest_copy() {
    let plan = Plan { rules: Rules { cut_at_longest_copy: false, ..Rules::ALL }, ..plan(3, 3) };
    let luck = Luck { mortal: 0b100, boots: 1, ..Luck::one_crash() };
    let before = [&ADMITTED[..], &PLAYING[..]].concat();
    let explored = explore_after(plan, 2, &before, luck, STATES_MAX);
    let (failure, path) = explored.failure.expect("a peer held an entry of it the coordinator did not");
    assert!(failure.starts_with("FINAL"), "{failure}: {path:?}");
}
