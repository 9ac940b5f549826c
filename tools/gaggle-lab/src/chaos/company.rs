//! A chaos match: peers join and leave, faults strike, all heals, and all peers must agree.
//!
//! Called by `chaos.rs`. Absent: which faults (`plan.rs`), checks of a single peer (`machine.rs`).

use std::collections::BTreeMap;

use gaggle_kit::{Frame, Micros, Prng, SlotSet, state_hash};
use gaggle_link::sim::{Conditions, NetChange, SimNet};
use gaggle_timeline::{Incarnation, MatchId, Session, StreamId, TimelineConfig};

use crate::digest::digest_of;

use super::broth::{self, MixGame, Press};
use super::chronicle::Place;
use super::machine::{Books, Machine, Tally};
use super::plan::{Fault, MACHINES_TO_RECOVER, Plan};
use super::stranger::Stranger;

/// Virtual time of a step.
const STEP: Micros = Micros::from_millis(2);
/// Timeout after healing for all to be in one match.
const HEAL_LIMIT: Micros = Micros::from_secs(40);
/// Timeout for recovering a damaged state.
const DAMAGE_LIMIT: Micros = Micros::from_secs(20);
/// Longest time a damaged state that was sent can take to arrive.
const UNDER_WAY: Micros = Micros::from_secs(5);
/// Frames that all peers must have held in the end, to compare whole states.
const COMMON_FRAMES_MIN: usize = 5;
/// Time between two joins or leaves of spectators.
const WATCH_INTERVAL: Micros = Micros::from_secs(9);
/// Time after which a pair without a connection gets one, as from a lobby.
const MEND_INTERVAL: Micros = Micros::from_millis(700);

/// Events and figures of a match.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shown {
    pub(super) tally: Tally,
    pub(super) joins: u64,
    pub(super) leaves: u64,
    /// Joins of peers with two players, and of spectators.
    pub(super) joins_of_two: u64,
    pub(super) watchers_came: u64,
    pub(super) inputs_checked: u64,
    /// Time from healing until all were in one match.
    pub(super) healed_after: Micros,
    pub(super) peer_seconds: u64,
    pub(super) entries_held_most: u32,
    /// Most bytes that a machine held, of all that were switched off at some time.
    pub(super) bytes_held_most: u64,
    /// Whether enough peers play to outvote a damaged state.
    pub(super) can_recover: bool,
    /// Whether the match goes on without any one peer. Of two peers that need a majority neither
    /// goes on without the other, or only one does.
    pub(super) goes_on: bool,
    /// Whether a majority was lost for good, so that the match stalled.
    pub(super) stood_still: bool,
    /// A peer with another build tried to join; `strangers_refused` counts its rejections.
    pub(super) with_stranger: bool,
    pub(super) strangers_refused: u64,
    /// The state takes thousands of packets to send.
    pub(super) with_large_state: bool,
    /// No frame was simulated on predicted input.
    pub(super) is_lockstep: bool,
    /// Hash over packets sent and confirmed states.
    pub(super) digest: u64,
}

pub(super) struct Cluster {
    plan: Plan,
    net: SimNet,
    rng: Prng,
    machines: Vec<Machine>,
    slots: Vec<SlotSet>,
    /// By pair: whether it has a connection.
    connected: Vec<Vec<bool>>,
    /// By pair: time until which it gets no connection.
    apart_until: Vec<Vec<Micros>>,
    healed_at: Option<Micros>,
    mended_at: Micros,
    books: Books,
    past: Tally,
    peer_steps: u64,
    entries_held_most: u32,
    entries_watched_most: u32,
    bytes_held_most: u64,
    watchers_came: u64,
    /// Whether all faults are healed, so that peers record the states they hold.
    ending: bool,
    damaged_until: Micros,
    /// Time until which a joiner may receive a damaged state.
    wrong_until: Micros,
    stranger: Option<Stranger>,
}

impl Cluster {
    pub(super) fn new(plan: Plan) -> Cluster {
        let net = SimNet::unconnected(plan.places(), plan.seed);
        let mut rng = Prng::stream(plan.seed, 2);
        net.set_all(plan.weather(&mut rng, false));
        let mut company = Cluster {
            net,
            rng,
            machines: Vec::new(),
            slots: vec![SlotSet::EMPTY; plan.all()],
            connected: vec![vec![false; plan.all()]; plan.all()],
            apart_until: vec![vec![Micros::ZERO; plan.all()]; plan.all()],
            healed_at: None,
            mended_at: Micros::ZERO,
            books: Books::default(),
            past: Tally::default(),
            peer_steps: 0,
            entries_held_most: 0,
            entries_watched_most: 0,
            bytes_held_most: 0,
            watchers_came: 0,
            ending: false,
            damaged_until: Micros::ZERO,
            wrong_until: Micros::ZERO,
            stranger: plan.stranger.then(|| Stranger::new(plan.all(), plan.seed)),
            plan,
        };
        company.books.stranger = company.stranger.as_ref().map(|stranger| stranger.id(&company.net));
        for index in 0..company.plan.all() {
            let ppm = company.plan.drift_ppm * (index as i32 % 3 - 1);
            company.net.apply(&NetChange::Drift { peer: index, ppm });
            let session = if index == 0 { company.founder(index) } else { company.joiner(index) };
            let machine = company.machine(index, session);
            company.machines.push(machine);
            company.machines[index].on = index < 2;
        }
        company
    }

    fn machine(&mut self, index: usize, session: Session<Press>) -> Machine {
        let carrier = self.net.restarted_carrier(index);
        let seed = self.rng.next_u64();
        let broth = MixGame::of(self.plan.state_bytes);
        let mut machine = Machine::new(session, broth, carrier, self.net.local_now(index), seed);
        machine.lately = self.ending.then(BTreeMap::new);
        machine
    }

    fn name(&mut self) -> Incarnation {
        Incarnation(self.rng.next_u32())
    }

    fn founder(&mut self, index: usize) -> Session<Press> {
        let match_id = MatchId { started_at: self.net.now().get(), nonce: self.rng.next_u64() };
        let config = TimelineConfig { match_id, ..self.plan.config() };
        let name = self.name();
        Session::create(config, self.net.id(index), self.plan.players[index], name).expect("valid settings")
    }

    /// Session of a peer that joins as a player or spectator.
    fn joiner(&mut self, index: usize) -> Session<Press> {
        let (name, id, slots) = (self.name(), self.net.id(index), self.slots[index]);
        let config = self.plan.config();
        let session = match self.plan.players.get(index) {
            None => Session::spectate(config, id, name),
            Some(players) if slots.is_empty() => Session::join(config, id, *players, name),
            Some(_) => Session::rejoin(config, id, slots, name),
        };
        session.expect("valid settings")
    }

    /// Plays the match and checks its end.
    pub(super) fn play(mut self) -> Result<Shown, String> {
        let end = Micros::from_secs(60 * self.plan.minutes);
        let mut next_fault = self.plan.calm;
        let mut next_watch = self.plan.calm;
        while self.net.now() < end {
            if self.net.now() >= next_watch && !self.is_damaged() {
                next_watch = self.net.now() + WATCH_INTERVAL;
                self.change_watchers();
            }
            // A joiner would take the damaged state for the right one, and so would the harness.
            if self.net.now() >= next_fault && !self.is_damaged() {
                let fault = self.plan.next_fault(&mut self.rng);
                self.strike(fault);
                let calm = self.plan.calm.get();
                next_fault = self.net.now() + Micros::new(calm / 2 + u64::from(self.rng.below(calm as u32)));
            }
            self.pass(STEP)?;
        }
        self.heal();
        let healed_at = self.net.now();
        self.ending = true;
        self.machines.iter_mut().for_each(|machine| machine.lately = Some(BTreeMap::new()));
        let mut healed_after = None;
        let mut stood_still = false;
        // All peers are in one match that goes on: there are frames that all confirmed. No peer
        // misses another, also spectators without a link to the players.
        let misses = |machine: &Machine| machine.on && machine.misses_peer();
        while !self.is_together()
            || self.held_by_all()?.len() < COMMON_FRAMES_MIN
            || self.machines.iter().any(misses)
        {
            if self.net.now() >= healed_at + HEAL_LIMIT {
                // Without a majority no peer may go on, which is the configured policy.
                stood_still = self.plan.majority && !self.majority_lives();
                if stood_still {
                    break;
                }
                return Err(format!(
                    "everything healed, and yet not all play together, or a peer is still missed:\n{}",
                    self.describe()
                ));
            }
            if self.is_together() {
                healed_after.get_or_insert(self.net.now().since(healed_at));
            } else {
                healed_after = None;
            }
            self.pass(Micros::from_millis(100))?;
        }
        if !stood_still {
            self.expect_agreement()?;
        }
        let mut tally = self.past;
        self.machines.iter().for_each(|machine| tally.add(&machine.tally));
        for machine in std::mem::take(&mut self.machines) {
            self.weigh(machine);
        }
        self.expect_bounded()?;
        Ok(Shown {
            tally,
            joins: self.books.joins.len() as u64,
            leaves: self.books.leaves.len() as u64,
            joins_of_two: self.books.joins_of_two.len() as u64,
            watchers_came: self.watchers_came,
            inputs_checked: self.books.presses.checked,
            peer_seconds: self.peer_steps * STEP.get() / 1_000_000,
            entries_held_most: self.entries_held_most,
            bytes_held_most: self.bytes_held_most,
            healed_after: healed_after.unwrap_or_else(|| self.net.now().since(healed_at)),
            can_recover: self.plan.machines >= MACHINES_TO_RECOVER,
            goes_on: !self.plan.majority || self.plan.machines > 2,
            stood_still,
            with_stranger: self.plan.stranger,
            with_large_state: self.plan.has_large_state(),
            is_lockstep: self.plan.is_lockstep(),
            strangers_refused: self.stranger.as_ref().map_or(0, |stranger| stranger.refused),
            digest: digest_of(&[self.net.log_hash(), self.books.chronicle.hash()]),
        })
    }

    fn pass(&mut self, span: Micros) -> Result<(), String> {
        let end = self.net.now() + span;
        while self.net.now() < end {
            self.net.advance(STEP);
            if self.healed_at.is_some_and(|at| self.net.now() >= at) {
                self.healed_at = None;
                self.net.apply(&NetChange::Heal);
            }
            if self.net.now() >= self.mended_at + MEND_INTERVAL {
                self.mend();
            }
            self.retire_lonely_damage();
            if self.machines.iter().any(Machine::is_wrong) {
                self.wrong_until = self.net.now() + UNDER_WAY;
            }
            self.books.damaged = self.net.now() < self.wrong_until;
            for index in 0..self.machines.len() {
                self.step(index)?;
            }
            if let Some(stranger) = &mut self.stranger {
                let on: Vec<usize> =
                    (0..self.machines.len()).filter(|index| self.machines[*index].on).collect();
                stranger.step(&self.net, &self.plan.config(), &on)?;
            }
        }
        Ok(())
    }

    /// Crashes a damaged peer whose state too few others are left to outvote: it would pass
    /// undetected as the right one.
    fn retire_lonely_damage(&mut self) {
        for index in 0..self.machines.len() {
            let machine = &self.machines[index];
            if machine.is_wrong() && machine.on {
                let history = machine.session().branch_id();
                let together = |other: &&Machine| other.plays() && other.session().branch_id() == history;
                if self.machines.iter().filter(together).count() < MACHINES_TO_RECOVER {
                    self.switch_off(index);
                }
            }
        }
    }

    fn step(&mut self, index: usize) -> Result<(), String> {
        let machine = &mut self.machines[index];
        if !machine.on || self.net.now() < machine.asleep_until {
            return Ok(());
        }
        self.peer_steps += u64::from(index < self.plan.machines);
        let now = self.net.local_now(index);
        if let Err(why) = machine.step(index, now, &mut self.rng, &mut self.books) {
            return Err(format!("after {}: {why}\n{}", self.net.now(), self.describe()));
        }
        broth::heal_the_bit();
        let held = machine.session().stats().entries_buffered_max;
        let most = match machine.session().is_spectating() {
            true => &mut self.entries_watched_most,
            false => &mut self.entries_held_most,
        };
        *most = held.max(*most);
        if machine.session().is_member() {
            self.slots[index] = machine.session().local_slots();
        }
        if machine.leaving && machine.session().is_closed() {
            self.switch_off(index);
        }
        Ok(())
    }

    /// Keeps players in the match and connects all peers, as a lobby would.
    fn mend(&mut self) {
        self.mended_at = self.net.now();
        let mut players = self.machines[..self.plan.machines].iter();
        if !players.clone().any(|machine| machine.on && machine.session().is_running()) {
            let index = players.position(|machine| machine.on).unwrap_or(0);
            let session = self.founder(index);
            self.switch_on(index, session);
        }
        for a in 0..self.machines.len() {
            for b in a + 1..self.machines.len() {
                let both = self.machines[a].on && self.machines[b].on;
                if both
                    && self.may_meet(a, b)
                    && !self.connected[a][b]
                    && self.net.now() >= self.apart_until[a][b]
                {
                    self.connected[a][b] = true;
                    self.net.apply(&NetChange::Connect(a, b));
                }
            }
        }
    }

    /// The second spectator is linked only to the first one.
    fn may_meet(&self, a: usize, b: usize) -> bool {
        let first = self.plan.machines;
        let second = first + 1;
        a != second && b != second || a == first || b == first
    }

    /// Makes a spectator join or leave.
    fn change_watchers(&mut self) {
        let watchers: Vec<usize> = (self.plan.machines..self.machines.len()).collect();
        let Some(index) = self.rng.pick(&watchers).copied() else { return };
        if self.machines[index].on {
            self.switch_off(index);
        } else {
            let session = self.joiner(index);
            self.switch_on(index, session);
            self.watchers_came += 1;
        }
    }

    fn switch_on(&mut self, index: usize, session: Session<Press>) {
        self.past.add(&self.machines[index].tally);
        let machine = self.machine(index, session);
        let former = std::mem::replace(&mut self.machines[index], machine);
        self.weigh(former);
        for other in 0..self.machines.len() {
            let (a, b) = (index.min(other), index.max(other));
            self.connected[a][b] = false;
        }
    }

    fn switch_off(&mut self, index: usize) {
        self.machines[index].on = false;
        self.machines[index].leaving = false;
    }

    fn pick(&mut self, of: impl Fn(&Machine) -> bool) -> Option<usize> {
        let able: Vec<usize> = (0..self.machines.len()).filter(|index| of(&self.machines[*index])).collect();
        self.rng.pick(&able).copied()
    }

    fn pair(&mut self) -> (usize, usize) {
        let a = self.rng.below(self.machines.len() as u32) as usize;
        let b = (a + 1 + self.rng.below(self.machines.len() as u32 - 1) as usize) % self.machines.len();
        (a.min(b), a.max(b))
    }

    fn strike(&mut self, fault: Fault) {
        let now = self.net.now();
        match fault {
            Fault::Join => {
                if let Some(index) = self.pick(|machine| !machine.on && !machine.session().is_spectating()) {
                    let session = self.joiner(index);
                    self.switch_on(index, session);
                }
            }
            Fault::Leave => {
                if let Some(index) = self.pick(Machine::plays) {
                    self.machines[index].leaving = true;
                    self.machines[index].timeline.session_mut().leave();
                }
            }
            Fault::Crash => self.crash_one(),
            Fault::CrashLead => self.crash_lead(),
            Fault::CrashTwo => {
                self.crash_lead();
                self.crash_one();
            }
            Fault::Reload => {
                if let Some(index) = self.pick(Machine::plays) {
                    let session = self.joiner(index);
                    self.switch_on(index, session);
                }
            }
            Fault::Partition => {
                let mut sides = vec![Vec::new(), Vec::new()];
                for index in 0..self.machines.len() {
                    sides[self.rng.below(2) as usize].push(index);
                }
                self.net.apply(&NetChange::Partition(sides));
                self.healed_at = Some(now + Micros::from_millis(500 + u64::from(self.rng.below(9_000))));
            }
            Fault::Isolate => {
                let (index, _) = self.pair();
                self.net.apply(&NetChange::Isolate(index));
                self.healed_at = Some(now + Micros::from_millis(300 + u64::from(self.rng.below(6_000))));
            }
            Fault::DeadLink => {
                let (a, b) = self.pair();
                let cut = Conditions { is_cut: true, ..Conditions::PERFECT };
                self.net.set_both(a, b, cut);
            }
            Fault::Disconnect => {
                let (a, b) = self.pair();
                self.connected[a][b] = false;
                self.apart_until[a][b] = now + Micros::from_millis(u64::from(self.rng.below(8_000)));
                self.net.apply(&NetChange::Disconnect(a, b));
            }
            Fault::Nap => self.nap(100, 1_500),
            Fault::Sleep => self.nap(2_000, 8_000),
            Fault::Weather | Fault::Storm => {
                let weather = self.plan.weather(&mut self.rng, fault == Fault::Storm);
                self.net.set_all(weather);
            }
            Fault::BitFlip => {
                let playing = self.machines.iter().filter(|machine| machine.plays()).count();
                if self.is_together() && playing >= MACHINES_TO_RECOVER {
                    let victim = self.pick(|machine| machine.plays() || machine.shows());
                    victim.into_iter().for_each(|index| self.machines[index].flip_a_bit());
                    self.damaged_until = now + DAMAGE_LIMIT;
                }
            }
        }
    }

    fn is_damaged(&self) -> bool {
        self.net.now() < self.damaged_until && self.machines.iter().any(Machine::is_wrong)
    }

    fn crash_one(&mut self) {
        if let Some(index) = self.pick(|machine| machine.on) {
            self.switch_off(index);
        }
    }

    fn crash_lead(&mut self) {
        let Some(any) = self.pick(Machine::plays) else { return };
        let session = self.machines[any].session();
        let lead = session.leader_at(session.confirmed_frame()).and_then(|peer| self.net.index(peer));
        if let Some(lead) = lead {
            self.switch_off(lead);
        }
    }

    fn nap(&mut self, min_ms: u64, max_ms: u64) {
        if let Some(index) = self.pick(|machine| machine.on) {
            let span = min_ms + u64::from(self.rng.below((max_ms - min_ms) as u32));
            self.machines[index].asleep_until = self.net.now() + Micros::from_millis(span);
        }
    }

    /// Ends all faults.
    fn heal(&mut self) {
        self.net.apply(&NetChange::Heal);
        self.healed_at = None;
        self.net.set_all(Conditions::latency_ms(self.plan.latency_ms.min(60)));
        for machine in &mut self.machines {
            machine.asleep_until = Micros::ZERO;
        }
        self.apart_until.iter_mut().flatten().for_each(|until| *until = Micros::ZERO);
        let (first, second) = (self.plan.machines, self.plan.machines + 1);
        if self.machines.get(second).is_some_and(|machine| machine.on) && !self.machines[first].on {
            let session = self.joiner(first);
            self.switch_on(first, session);
            self.watchers_came += 1;
        }
    }

    /// Whether all players are in one match, and all spectators see it.
    fn is_together(&self) -> bool {
        // Players come first; spectators alone are no match.
        let mut on = self.machines.iter().filter(|machine| machine.on);
        let Some(first) = on.next().filter(|machine| machine.plays()) else { return false };
        let history = first.session().branch_id();
        let here = |machine: &Machine| {
            (machine.plays() || machine.shows())
                && machine.session().branch_id() == history
                && !machine.is_wrong()
        };
        here(first) && on.all(here)
    }

    /// Whether the peers that are on have a majority, by what any of them knows: then they must go
    /// on.
    fn majority_lives(&self) -> bool {
        let here: Vec<StreamId> =
            self.machines.iter().filter(|m| m.on).filter_map(|m| m.own_row()).map(|row| row.stream).collect();
        self.machines.iter().filter(|machine| machine.plays()).any(|machine| {
            let voters = machine.session().quorum_members();
            let present = voters.iter().filter(|stream| here.contains(stream)).count();
            let first = voters.first().is_some_and(|stream| here.contains(stream));
            present * 2 > voters.len() || present * 2 == voters.len() && first
        })
    }

    /// Hash of the state at every frame that all peers held lately. An error if two differ.
    fn held_by_all(&self) -> Result<BTreeMap<Frame, u64>, String> {
        let mut on = self.machines.iter().filter(|machine| machine.plays() || machine.shows());
        let Some(mut common) = on.next().and_then(|machine| machine.lately.clone()) else {
            return Ok(BTreeMap::new());
        };
        for theirs in on.filter_map(|machine| machine.lately.as_ref()) {
            common.retain(|frame, _| theirs.contains_key(frame));
            if let Some((frame, _)) = common.iter().find(|(frame, hash)| theirs[frame] != **hash) {
                return Err(format!("states differ at {frame}:\n{}", self.describe()));
            }
        }
        Ok(common)
    }

    /// Checks that all peers hold the state of a straight run of the recorded inputs from the first
    /// frame.
    fn expect_agreement(&mut self) -> Result<(), String> {
        let common = self.held_by_all()?;
        let mut on = self.machines.iter().filter(|machine| machine.plays());
        let newest = on.next().map_or(Place::START, Machine::place);
        let Books { presses, chronicle, .. } = &mut self.books;
        let Some((frame, hash)) = common.last_key_value() else {
            return Err("no frame was held by all peers".to_owned());
        };
        let Some(place) = chronicle.before(newest, *frame) else {
            return Err(format!("{frame} was held by all peers and confirmed by none"));
        };
        let played = chronicle.play(place, MixGame::of(self.plan.state_bytes), presses);
        if state_hash(&played) != *hash {
            return Err(format!(
                "a straight run from the beginning differs at {frame}:\n{}",
                self.describe()
            ));
        }
        Ok(())
    }

    fn weigh(&mut self, machine: Machine) {
        self.bytes_held_most = self.bytes_held_most.max(machine.dispose());
    }

    /// Checks that memory stays bounded, however long the match was.
    fn expect_bounded(&self) -> Result<(), String> {
        let reach = self.plan.lookahead_frames();
        // Inputs not simulated yet, inputs kept behind them, and one feed; a feed to a spectator
        // may bring twice as many at once.
        let (most, watched) = (self.entries_held_most, self.entries_watched_most);
        if most > 4 * reach + 3 || watched > 6 * reach {
            return Err(format!("{most} entries of one stream were held, {watched} by those who watch"));
        }
        let bytes_max = self.plan.bytes_max();
        if self.bytes_held_most > bytes_max {
            return Err(format!("a machine held {} bytes, more than {bytes_max}", self.bytes_held_most));
        }
        Ok(())
    }

    pub(super) fn describe(&self) -> String {
        let line = |(index, machine): (usize, &Machine)| {
            let session = machine.session();
            let rows: Vec<String> = session.roster().iter().map(|row| format!("{row:?}")).collect();
            format!(
                "  machine {index} {}, running {}, member {}, at {}, confirmed {}, history {:x}\n    {}\n    {:?}",
                if machine.on { "on" } else { "off" },
                session.is_running(),
                session.is_member(),
                session.current_frame(),
                session.confirmed_frame(),
                session.branch_id(),
                rows.join(" "),
                machine.events,
            )
        };
        self.machines.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
    }
}
