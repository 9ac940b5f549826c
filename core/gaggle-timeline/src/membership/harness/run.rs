//! One random run: every network fault, then a healed network in which all peers must reunite.

use std::rc::Rc;

use gaggle_kit::{Frame, Micros};
use gaggle_testkit::seeds;

use super::{Mode, Node, Parcel, Plan, Rules, World, peer};
use crate::membership::history::{History, Relation};
use crate::membership::majority::is_quorum;

/// How wrong suspicions can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detector {
    /// Only crashed peers are ever suspected.
    Accurate,
    /// Any peer may be suspected at any time.
    Arbitrary,
}

/// Parameters of one run, drawn from its seed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draw {
    pub(super) plan: Plan,
    pub(super) detector: Detector,
    pub(super) steps: u32,
    /// Peers in no match may create one.
    pub(super) founders: bool,
    /// Peers that crashed may be started again.
    pub(super) restarts: bool,
}

impl Draw {
    pub(super) fn of(seed: u64, majority: bool, rules: Rules) -> Draw {
        let mut plan = Plan::new(2 + (seed % 4) as usize, 1 + (seed / 16 % 4) as u32, (seed / 64 % 3) as u32);
        let detector = if (seed / 4).is_multiple_of(4) { Detector::Accurate } else { Detector::Arbitrary };
        plan.majority = majority;
        plan.rules = rules;
        plan.short_tips = seed % 7 == 3;
        plan.encoded = seed % 5 == 2;
        plan.quorum_min = [1, 1, 1, 2, 1, 1, 1, 1, 2, 1, 3][(seed % 11) as usize];
        Draw {
            plan,
            detector,
            steps: [120, 250, 500][(seed / 192 % 3) as usize],
            founders: !majority && seed.is_multiple_of(5) && detector == Detector::Arbitrary,
            restarts: seed % 3 == 1,
        }
    }

    /// Runs it, and shows the state of every tenth step to a watcher.
    pub(super) fn run_watched(self, seed: u64, mut watch: impl FnMut(&World, usize, usize, &Parcel)) {
        let mut world = World::new(self.plan, seed);
        world.start(self.plan.peers.min(3));
        for nth in 0..self.steps {
            self.step(&mut world, 1);
            if nth % 10 == 0 {
                world.net.iter().for_each(|(from, to, parcel)| watch(&world, *from, *to, parcel));
            }
            world.net.truncate(40);
        }
    }

    /// Runs to the end and checks that all peers reunite.
    pub(super) fn run(self, seed: u64, traced: bool) -> World {
        let mut world = World::new(self.plan, seed);
        if traced {
            world.trace = Some(Vec::new());
        }
        let together = 1 + world.below(self.plan.peers);
        world.start(together);
        // 0: nothing is lost, 1: losses and duplicates, 2: broken links as well.
        let weather = world.below(3);
        for _ in 0..self.steps {
            self.step(&mut world, weather);
            if world.failure.is_some() {
                return world;
            }
            while world.net.len() > 40 {
                let nth = world.below(world.net.len());
                world.net.take(nth);
            }
        }
        self.heal(&mut world);
        if self.detector == Detector::Accurate && world.failure.is_none() && world.counts.yields > 0 {
            world.fail("YIELD: no peer was wrongly suspected, and still one had to yield".into());
        }
        world
    }

    fn step(&self, world: &mut World, weather: usize) {
        let arbitrary = self.detector == Detector::Arbitrary;
        let index = world.below(self.plan.peers);
        match world.below(1_000) {
            0..560 => world.deliver_any(weather > 0),
            560..600 if weather > 0 && !world.net.is_empty() => {
                let nth = world.below(world.net.len());
                world.net.take(nth);
            }
            600..900 => world.tick(index),
            900..960 => self.detect(world, index),
            960..968 => world.crash(index),
            968..980 if arbitrary => world.sleep_or_wake(index),
            980..990 if arbitrary && weather == 2 => world.break_links(),
            990..995 if world.nodes[index].machine.mode() == Mode::Member => {
                world.node_mut(index).machine.leave();
            }
            995..998 if self.founders && world.may_found(index) => world.found(index),
            998..1_000 if self.restarts && !world.nodes[index].alive => world.restart(index),
            _ => {}
        }
    }

    fn detect(&self, world: &mut World, index: usize) {
        let other = world.below(self.plan.peers);
        if index == other {
            return;
        }
        let dead = !world.nodes[other].alive;
        let reachable = match self.detector {
            Detector::Accurate if dead => false,
            Detector::Accurate if world.nodes[other].machine.mode() != Mode::Out => true,
            Detector::Accurate => return,
            Detector::Arbitrary => world.chance(70) && !dead,
        };
        world.node_mut(index).machine.set_reachable(peer(other), reachable);
    }

    /// From here on links are whole and suspicions correct: all live peers must end in one branch
    /// and go on.
    fn heal(&self, world: &mut World) {
        world.note(|| "---- all is well from here on".into());
        world.net.heal();
        for index in 0..self.plan.peers {
            if world.nodes[index].asleep {
                world.wake(index);
            }
        }
        let mut base: Option<(History, Frame)> = None;
        for round in 0..400 {
            self.heal_round(world, round);
            if world.failure.is_some() {
                return;
            }
            let alive: Vec<usize> = (0..self.plan.peers).filter(|index| world.nodes[*index].alive).collect();
            let Some(first) = alive.first() else { return };
            let history = world.nodes[*first].machine.lineage().history();
            let together = alive.iter().all(|index| {
                world.member(*index) && world.nodes[*index].machine.lineage().history() == history
            });
            let confirmed = || alive.iter().map(|index| world.nodes[*index].machine.confirmed());
            match base {
                _ if !together => base = None,
                Some((at, frame)) if at == history => {
                    if confirmed().min() >= Some(frame + 4) {
                        return;
                    }
                }
                _ => base = confirmed().max().map(|frame| (history, frame)),
            }
            let too_few = alive.len() < self.plan.quorum_min;
            if round > 250 && (too_few || self.plan.majority && !world.majority_lives()) {
                // Too few peers are left to decide: stalling is correct.
                world.counts.waits += u64::from(too_few);
                return;
            }
        }
        let state: Vec<String> = world.nodes.iter().enumerate().map(describe).collect();
        world.fail(format!("STALL: they never meet again\n{}", state.join("\n")));
    }

    fn heal_round(&self, world: &mut World, round: u32) {
        let alive: Vec<bool> = world.nodes.iter().map(|node| node.alive).collect();
        for index in 0..self.plan.peers {
            for (other, alive) in alive.iter().enumerate() {
                world.node_mut(index).machine.set_reachable(peer(other), *alive);
            }
            world.let_leave(index, round);
        }
        let others = |world: &World| (0..self.plan.peers).any(|index| world.member(index));
        if !others(world)
            && let Some(index) = (0..self.plan.peers).find(|index| world.nodes[*index].alive)
        {
            world.found(index);
        }
        let mut queue = world.net.take_all();
        while world.failure.is_none()
            && let Some((from, to, parcel)) = queue.take_any(&mut world.rng)
        {
            world.deliver(from, to, parcel);
        }
        for index in 0..self.plan.peers {
            if world.failure.is_none() {
                world.tick(index);
            }
        }
    }
}

impl World {
    pub(super) fn below(&mut self, end: usize) -> usize {
        self.rng.below(end as u32) as usize
    }

    fn deliver_any(&mut self, repeats: bool) {
        if self.net.is_empty() {
            return;
        }
        let newest = self.net.len() - 1;
        let nth = if self.below(4) == 0 { newest } else { self.below(self.net.len()) };
        let again = repeats && self.below(12) == 0;
        let (from, to, parcel) = if again { self.net.copy(nth) } else { self.net.take(nth) };
        if !self.net.is_cut(from, to) {
            self.deliver(from, to, parcel);
        }
    }

    fn may_found(&self, index: usize) -> bool {
        self.nodes[index].alive && self.nodes[index].machine.mode() == Mode::Out
    }

    fn crash(&mut self, index: usize) {
        let alive = self.nodes.iter().filter(|node| node.alive).count();
        if alive > 1 && self.nodes[index].alive && self.below(3) > 0 {
            self.node_mut(index).alive = false;
            self.counts.crashes += 1;
            self.note(|| format!("{index} crashes"));
        }
    }

    fn sleep_or_wake(&mut self, index: usize) {
        if self.nodes[index].alive && self.nodes[index].asleep {
            self.wake(index);
        } else if self.nodes[index].alive {
            self.node_mut(index).asleep = true;
            self.note(|| format!("{index} falls asleep"));
        }
    }

    fn wake(&mut self, index: usize) {
        let node = self.node_mut(index);
        node.asleep = false;
        node.clock += Micros::from_secs(2);
        self.counts.wakes += 1;
        self.note(|| format!("{index} wakes"));
    }

    fn break_links(&mut self) {
        let peers = self.plan.peers;
        match self.below(3) {
            0 => self.net.heal(),
            1 => {
                let side = self.below(1 << peers);
                self.net.split(peers, |peer| side >> peer & 1 == 1);
            }
            _ => {
                let (from, to, broken) = (self.below(peers), self.below(peers), self.below(2) == 0);
                self.net.set_cut(from, to, broken);
                if self.below(2) == 0 {
                    self.net.set_cut(to, from, broken);
                }
            }
        }
    }

    /// Peers that said goodbye and see it confirmed are gone.
    fn let_leave(&mut self, index: usize, round: u32) {
        if !self.member(index) {
            return;
        }
        let machine = &self.nodes[index].machine;
        let ended = machine.own_end().is_some_and(|end| end <= machine.confirmed());
        if ended || machine.own_stream.is_leaving() && round > 100 {
            if self.nodes.iter().filter(|node| node.alive).count() > 1 {
                self.node_mut(index).alive = false;
            } else {
                self.node_mut(index).machine.quit();
            }
        }
    }

    /// Whether enough members of some peer's view are alive to decide.
    fn majority_lives(&self) -> bool {
        (0..self.nodes.len()).filter(|index| self.member(*index)).any(|index| {
            let machine = &self.nodes[index].machine;
            is_quorum(&machine.electorate(&machine.view, machine.rows()), |stream| {
                self.nodes.iter().any(|node| {
                    let related = || machine.lineage().relate(&node.machine.lineage().whole());
                    node.alive
                        && node.machine.mode() == Mode::Member
                        && node.machine.me() == stream
                        && !matches!(related(), Relation::Apart { .. })
                })
            })
        })
    }
}

fn describe((index, node): (usize, &Rc<Node>)) -> String {
    let machine = &node.machine;
    format!(
        "  {index} alive {} {:?} in {:?} confirmed {} promised {:?} fence {} collects {:?} rows {:?}",
        node.alive,
        machine.mode(),
        machine.lineage().history(),
        machine.confirmed(),
        machine.fence.promised(),
        machine.fence.is_up(),
        machine.collection.as_ref().map(|c| (c.ballot, c.circle.clone())),
        machine.rows(),
    )
}

/// Runs a range of seeds and shows the trace of the first failure.
fn run_all(seeds: std::ops::Range<u64>, majority: bool) -> super::Counts {
    let mut all = super::Counts::default();
    for seed in seeds {
        let draw = Draw::of(seed, majority, Rules::ALL);
        let world = draw.run(seed, false);
        if let Some(failure) = &world.failure {
            let again = draw.run(seed, true);
            let trace = again.trace.unwrap_or_default();
            let from = trace.len().saturating_sub(120);
            panic!("seed {seed} majority {majority}: {failure}\n{draw:?}\n{}", trace[from..].join("\n"));
        }
        let counts = world.counts;
        all.installs += counts.installs;
        all.joins += counts.joins;
        all.ends += counts.ends;
        all.boots += counts.boots;
        all.yields += counts.yields;
        all.joins_lost += counts.joins_lost;
        all.crashes += counts.crashes;
        all.restarts += counts.restarts;
        all.wakes += counts.wakes;
        all.paths_asked += counts.paths_asked;
        all.waits += counts.waits;
        all.held_most = all.held_most.max(counts.held_most);
        all.spread_most = all.spread_most.max(counts.spread_most);
    }
    all
}

#[test]
fn live_peers_agree_and_reunite_under_any_faults() {
    let counts = run_all(seeds::range(2_000, 2_000), false);
    println!("{counts:?}");
    assert!(counts.joins > 500 && counts.yields > 50 && counts.ends > 300, "{counts:?}");
    assert!(counts.crashes > 500 && counts.restarts > 50 && counts.paths_asked > 0, "{counts:?}");
    assert!(counts.waits > 10, "{counts:?}");
}

#[test]
fn majority_rule_keeps_one_history() {
    let counts = run_all(seeds::range(1_500, 1_500), true);
    println!("{counts:?}");
    assert!(counts.joins > 300 && counts.installs > 500, "{counts:?}");
}
