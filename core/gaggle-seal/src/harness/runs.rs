//! Schedules of the random runs, the runs, and tests that they fail without each rule.

use gaggle_kit::{Frame, Micros};

use super::checks::Stats;
use super::{FRAME, Run, World};
use crate::ablation::Rule;
use crate::client::ClientPhase;
use crate::lineage::Lineage;
use crate::referee::RefereePhase;

/// Steps after which all packets, machines and clocks have moved by about a frame.
const STEPS_PER_FRAME: u64 = 12;
const NET_MAX: usize = 60;

impl World {
    fn step(&mut self, mild: u32) {
        let machines = self.run.machines as u32;
        self.now += Micros::new(FRAME.get() / STEPS_PER_FRAME);
        match self.random.below(1_000) {
            0..560 => self.step_deliver(mild),
            560..600 if mild > 0 && !self.net.is_empty() => {
                let at = self.random.below(self.net.len() as u32) as usize;
                self.net.take(at);
            }
            600..950 => {
                let machine = self.random.below(machines) as usize;
                self.tick(machine);
            }
            950..960 => self.step_crash(),
            960..975 => self.step_freeze(),
            975..985 if mild == 2 => self.step_cut(),
            985..991 => {
                let machine = self.random.below(machines) as usize;
                let playing = self.peers.iter().filter(|peer| peer.is_alive && peer.client.is_playing());
                if machine > 0 && !self.is_safe(machine) && playing.count() > 1 {
                    self.peers[machine - 1].is_leaving = true;
                }
            }
            991..1_000 => {
                let machine = self.random.below(machines) as usize;
                if machine > 0 {
                    self.peers[machine - 1].wants_passive ^= true;
                }
            }
            _ => {}
        }
        while self.net.len() > NET_MAX {
            let at = self.random.below(self.net.len() as u32) as usize;
            let (from, to, _) = self.net.copy(at);
            let is_witness = self.run.steady && from.max(to) + 1 == self.run.machines;
            if !is_witness || self.random.chance(1, 3) {
                self.net.take(at);
            }
        }
    }

    /// In steady runs neither the referee nor the last client is disturbed.
    fn is_safe(&self, machine: usize) -> bool {
        self.run.steady && (machine == 0 || machine + 1 == self.run.machines)
    }

    fn step_deliver(&mut self, mild: u32) {
        if self.net.is_empty() {
            return;
        }
        let count = self.net.len() as u32;
        let at = if self.random.chance(1, 4) { count - 1 } else { self.random.below(count) } as usize;
        let is_doubled = mild > 0 && self.random.chance(1, 12);
        let packet = if is_doubled { self.net.copy(at) } else { self.net.take(at) };
        if !self.net.is_cut(packet.0, packet.1) {
            self.deliver(packet);
        }
    }

    fn step_crash(&mut self) {
        let machine = self.random.below(self.run.machines as u32) as usize;
        if self.is_safe(machine) {
            return;
        }
        if self.is_alive(machine) {
            let living = (0..self.run.machines).filter(|machine| self.is_alive(*machine)).count();
            if living > 1 && self.random.chance(2, 3) {
                self.crash(machine);
            }
        } else {
            self.restart(machine);
        }
    }

    fn step_freeze(&mut self) {
        let machine = self.random.below(self.run.machines as u32) as usize;
        if self.is_safe(machine) {
        } else if machine == 0 {
            self.referee_frozen = !self.referee_frozen && self.referee.is_some();
        } else {
            let peer = &mut self.peers[machine - 1];
            peer.is_frozen = !peer.is_frozen && peer.is_alive;
        }
    }

    fn step_cut(&mut self) {
        let machines = self.run.machines;
        match self.random.below(3) {
            0 => self.net.heal(),
            1 => {
                let side = self.random.below(1 << machines);
                self.net.split(machines, |machine| side >> machine & 1 == 1);
            }
            _ => {
                let from = self.random.below(machines as u32) as usize;
                let to = self.random.below(machines as u32) as usize;
                let on = self.random.chance(1, 2);
                self.net.set_cut(from, to, on);
                if self.random.chance(1, 2) {
                    self.net.set_cut(to, from, on);
                }
            }
        }
        if self.run.steady {
            self.net.set_cut(0, machines - 1, false);
            self.net.set_cut(machines - 1, 0, false);
        }
    }

    /// Repairs links and machines: all running machines must play in one term, and frames must go
    /// on.
    fn heal(&mut self) {
        self.net.heal();
        self.referee_frozen = false;
        self.peers.iter_mut().for_each(|peer| peer.is_frozen = false);
        if self.referee.is_none() {
            self.restart(0);
        }
        let mut base: Option<(Lineage, Frame)> = None;
        let mut idle = vec![0; self.run.machines];
        for round in 0..500 {
            if round == 100 {
                self.peers.iter_mut().for_each(|peer| peer.is_alive &= !peer.is_leaving);
            }
            self.now += FRAME;
            let mut packets = self.net.take_all();
            while let Some(packet) = packets.take_any(&mut self.random) {
                self.deliver(packet);
            }
            (0..self.run.machines).for_each(|machine| self.tick(machine));
            if self.checks.failure.is_some() {
                return;
            }
            for (idle, peer) in idle.iter_mut().zip(&self.peers) {
                *idle += u32::from(!peer.client.is_playing());
            }
            let lineage = self.referee.as_ref().map(|referee| referee.lineage().clone());
            let Some(lineage) = lineage.filter(|lineage| self.is_well(lineage)) else {
                base = None;
                continue;
            };
            let living = || self.peers.iter().filter(|peer| peer.is_alive);
            let sealed = || living().map(|peer| peer.client.log().sealed());
            let own = self.referee.as_ref().map_or(Frame::START, |referee| referee.log().sealed());
            match &base {
                Some((before, frame)) if *before == lineage => {
                    if sealed().min().unwrap_or(own) >= *frame + 6 {
                        return;
                    }
                }
                _ => base = Some((lineage, sealed().max().unwrap_or(own))),
            }
        }
        let standing: Vec<String> = self.peers.iter().map(|peer| self.describe(peer)).collect();
        let referee = self.referee.as_ref().map(|referee| (referee.phase(), referee.log().sealed()));
        self.checks
            .fail(format!("STALL {referee:?} {standing:?} idle {idle:?} {:?} {:?}", self.run, self.config));
    }

    fn is_well(&self, lineage: &Lineage) -> bool {
        let is_running = self.referee.as_ref().is_some_and(|r| r.phase() == RefereePhase::Running);
        is_running
            && self.peers.iter().filter(|peer| peer.is_alive).all(|peer| {
                peer.client.lineage().is_some_and(|own| own.epoch() == lineage.epoch())
                    && peer.client.is_playing()
            })
    }

    fn describe(&self, peer: &super::Peer) -> String {
        let client = &peer.client;
        let epoch = client.lineage().map(Lineage::epoch);
        let (phase, sealed, playing) = (client.phase(), client.log().sealed(), client.is_playing());
        debug_assert!(phase != ClientPhase::Entering || !playing);
        format!("alive {} {phase:?} {epoch:?} {sealed} plays {playing}", peer.is_alive)
    }
}

/// The run of a seed, without this rule.
fn plan(seed: u64, rule: Option<Rule>) -> Run {
    let dice = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
    Run {
        machines: (3 + dice % 4).min(5) as usize,
        window: 3 + (dice >> 4 & 3) as u32,
        delay: (dice >> 7 & 1) as u32,
        steady: seed % 4 == 3,
        journal: dice >> 13 & 1 == 0,
        steps: 250 + (dice >> 14 & 1_023) as u32,
        rule,
    }
}

fn play(seed: u64, rule: Option<Rule>) -> (Option<String>, Stats) {
    let run = plan(seed, rule);
    let mut world = World::new(run, seed);
    let mild = world.random.below(3);
    for _ in 0..run.steps {
        world.step(mild);
        if world.checks.failure.is_some() {
            break;
        }
    }
    if world.checks.failure.is_none() {
        world.heal();
    }
    (world.checks.failure, world.checks.stats)
}

/// Runs of these seeds: how many failed, and the first failure of each kind.
fn play_all(seeds: std::ops::Range<u64>, rule: Option<Rule>, enough: u64) -> (u64, Vec<String>, Stats) {
    let (mut failed, mut first, mut total) = (0, Vec::new(), Stats::default());
    for seed in seeds {
        let (failure, stats) = play(seed, rule);
        total.add(&stats);
        if let Some(failure) = failure {
            failed += 1;
            let kind = failure.split(' ').next().unwrap_or_default().to_string();
            if first.iter().all(|known: &String| !known.starts_with(&kind)) {
                let failure: String = failure.chars().take(600).collect();
                first.push(format!("{kind} seed {seed}: {failure}"));
            }
            if failed >= enough {
                break;
            }
        }
    }
    (failed, first, total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_runs_agree_and_heal() {
        let (failed, first, stats) = play_all(0..2_000, None, 10);
        assert_eq!(failed, 0, "{first:#?}");
        // The runs prove something only if every case occurs in them.
        assert!(stats.frames > 50_000 && stats.missed > 20_000 && stats.passive > 5_000, "{stats:?}");
        assert!(stats.refused > 5_000 && stats.joins > 5_000 && stats.outs > 3_000, "{stats:?}");
        assert!(stats.boots > 4_000 && stats.terms > 500 && stats.restarts > 2_500, "{stats:?}");
    }

    #[test]
    #[ignore = "long: SEAL_RUNS=1000000 SEAL_FROM=1000000 for a million others"]
    fn many_random_runs_agree_and_heal() {
        let from = std::env::var("SEAL_FROM").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
        let count = std::env::var("SEAL_RUNS").ok().and_then(|text| text.parse().ok()).unwrap_or(20_000);
        let (failed, first, stats) = play_all(from..from + count, None, 10);
        println!("{count} runs from {from}: {stats:?}");
        assert_eq!(failed, 0, "{first:#?}");
    }

    #[test]
    fn runs_without_rule_fail_soon() {
        for (rule, runs) in [
            (Rule::ChangesAreRepeated, 200),
            (Rule::OwnEntriesAreLearned, 50),
            (Rule::DeadlinesSeal, 200),
            (Rule::JournalComesFirst, 400),
        ] {
            let (failed, _, _) = play_all(0..runs, Some(rule), 1);
            assert!(failed > 0, "without {rule:?} nothing fails in {runs} runs");
        }
    }

    #[test]
    #[ignore = "long: counts failing runs of every rule taken out"]
    fn runs_without_each_rule_are_counted() {
        let count = std::env::var("SEAL_RUNS").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000);
        for rule in Rule::ALL {
            let (failed, first, _) = play_all(700_000..700_000 + count, Some(rule), u64::MAX);
            let first: Vec<String> = first.iter().map(|line| line.chars().take(120).collect()).collect();
            println!("{rule:?}: {failed} of {count} runs fail {first:#?}");
        }
    }
}
