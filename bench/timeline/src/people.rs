//! Peers that join, leave and crash over Gaggle's links on its simulated network, in virtual time.
//!
//! Called by `rows/people.rs` and `rows/spectators.rs`. Absent: other libraries, which have no
//! joins into a running match.

use std::time::Duration;

use bench_report::cpu_time;
use gaggle_kit::{Micros, Prng, Slot, SlotSet, State};
use gaggle_link::sim::{Conditions, NetChange, SimCarrier, SimNet};
use gaggle_link::{Endpoint, LinkConfig, Transport};
use gaggle_timeline::{
    Driver, Game, Incarnation, Inputs, MatchId, PeerSlots, Session, SessionStats, Tick, TickClock, Timeline,
    TimelineConfig,
};

use crate::weight::{Weighing, Weight};

/// Virtual time of a step.
const STEP: Micros = Micros::from_millis(1);
/// Peer that is measured.
const MEASURED: usize = 0;
/// Slots of a match.
pub const SLOTS: usize = 8;

/// A game with a state of any size, in which every input changes the rest.
#[derive(Debug, Clone, State)]
struct MixGame {
    mixed: u32,
    bulk: Vec<u32>,
}

impl Game for MixGame {
    type Input = u8;

    fn tick(&mut self, inputs: &Inputs<'_, u8>) {
        for slot in (0..SLOTS).map(Slot::at) {
            let here = u32::from(inputs.is_present(slot)) << 9;
            self.mixed = (self.mixed ^ u32::from(inputs.get(slot)) ^ here).wrapping_mul(0x0100_0193);
            self.mixed = self.mixed.rotate_left(7);
        }
        let places = self.bulk.len();
        if places > 0 {
            self.bulk[self.mixed as usize % places] ^= self.mixed;
        }
    }
}

/// Words without repetition: the hardest state to compress.
fn noise(nth: u32) -> u32 {
    nth.wrapping_mul(0x9e37_79b9)
}

/// Words of a usual state: positions, kinds, and fields that hardly any object uses.
pub(crate) fn geese(nth: u32) -> u32 {
    let chance = noise(nth) >> 8;
    match nth % 6 {
        0 | 1 => chance % (320 << 8),
        2 => chance % 8,
        3 => 100,
        _ => 0,
    }
}

#[derive(Debug)]
struct Machine {
    timeline: Timeline<MixGame>,
    exchange: Driver,
    link: Endpoint<SimCarrier>,
    pace: TickClock,
    on: bool,
    stalled: u64,
    held: u8,
    cpu: Duration,
    /// What it sends, while that is weighed.
    weight: Option<Weight>,
}

impl Machine {
    /// All work of a peer in a frame.
    fn ticks(&mut self, now: Micros, due: u32) {
        self.exchange.receive(now, &mut self.link, self.timeline.session_mut());
        for _ in 0..due {
            let session = self.timeline.session_mut();
            for slot in session.local_slots() {
                // A slot can be lost in this very tick; its input is then dropped.
                let _ = session.set_input(slot, self.held);
            }
            self.stalled += u64::from(self.timeline.tick(now) == Tick::Stalled);
            let (transport, session) = (&mut self.link, self.timeline.session_mut());
            match &mut self.weight {
                Some(weight) => self.exchange.send(now, &mut Weighing { transport, weight }, session),
                None => self.exchange.send(now, transport, session),
            }
        }
        while self.timeline.session_mut().poll_event().is_some() {}
    }

    /// The same under a name that valgrind can tell from other peers' work.
    #[inline(never)]
    fn counted_ticks(&mut self, now: Micros, due: u32) {
        self.ticks(now, due);
    }
}

/// All peers, and the network between them.
#[derive(Debug)]
pub struct People {
    net: SimNet,
    machines: Vec<Machine>,
    config: TimelineConfig,
    rng: Prng,
    state_bytes: usize,
    stuff: fn(u32) -> u32,
    /// Whether players change their input.
    pub pressing: bool,
    /// How the first peer is measured, if it is.
    pub measure: Option<Measure>,
}

/// Ways to measure a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// By CPU time of the thread.
    Time,
    /// By valgrind, under which the thread's clock is useless.
    Instructions,
}

/// Pattern of the functions whose instructions are counted.
pub(crate) const COUNTED: &str = "*Machine::counted_ticks*";

impl People {
    /// Peers at a latency, of which the first `players` start a match together.
    pub fn of(machines: usize, players: usize, latency_ms: u64, state_bytes: usize, seed: u64) -> People {
        People::stuffed(machines, players, latency_ms, (state_bytes, noise), seed)
    }

    /// The same with a state of other words.
    pub(crate) fn stuffed(
        machines: usize,
        players: usize,
        latency_ms: u64,
        (state_bytes, stuff): (usize, fn(u32) -> u32),
        seed: u64,
    ) -> People {
        let net = SimNet::unconnected(machines, seed);
        net.set_all(Conditions::latency_ms(latency_ms));
        let config = TimelineConfig { slot_count: SLOTS, ..TimelineConfig::default() };
        let rng = Prng::new(seed);
        let mut people = People {
            net,
            machines: Vec::new(),
            config,
            rng,
            state_bytes,
            stuff,
            pressing: true,
            measure: None,
        };
        let seats: Vec<PeerSlots> =
            (0..players).map(|index| PeerSlots::new(people.net.id(index), Slot::at(index))).collect();
        for index in 0..machines {
            let (config, id, name) = (people.config.clone(), people.net.id(index), people.name());
            let session = match index < players {
                true => Session::new(config, id, &seats, name),
                false => Session::join(config, id, 1, name),
            };
            let machine = people.machine(index, session.expect("valid settings"));
            people.machines.push(machine);
            people.machines[index].on = index < players;
        }
        for a in 0..players {
            (a + 1..players).for_each(|b| people.net.apply(&NetChange::Connect(a, b)));
        }
        people
    }

    fn name(&mut self) -> Incarnation {
        Incarnation(self.rng.next_u32())
    }

    fn machine(&mut self, index: usize, session: Session<u8>) -> Machine {
        let bulk = (0..self.state_bytes as u32 / 4).map(self.stuff).collect();
        let carrier = self.net.restarted_carrier(index);
        let now = self.net.local_now(index);
        Machine {
            timeline: Timeline::new(session, MixGame { mixed: 1, bulk }),
            exchange: Driver::default(),
            link: Endpoint::new(carrier, LinkConfig::default(), self.rng.next_u64()),
            pace: TickClock::new(self.config.tick_rate, now),
            on: true,
            stalled: 0,
            held: 0,
            cpu: Duration::ZERO,
            weight: None,
        }
    }

    fn switch_on(&mut self, index: usize, session: Session<u8>, via: &[usize]) {
        self.machines[index] = self.machine(index, session);
        via.iter().for_each(|other| self.net.apply(&NetChange::Connect(index, *other)));
    }

    /// A peer starts a match of its own.
    pub fn found(&mut self, index: usize) {
        let config = TimelineConfig { match_id: MatchId { started_at: 1, nonce: 1 }, ..self.config.clone() };
        let (id, name) = (self.net.id(index), self.name());
        let session = Session::create(config, id, 1, name).expect("valid settings");
        self.switch_on(index, session, &[]);
    }

    /// A peer joins, linked to the peers in `via`.
    pub fn join(&mut self, index: usize, via: &[usize]) {
        let (config, id, name) = (self.config.clone(), self.net.id(index), self.name());
        self.switch_on(index, Session::join(config, id, 1, name).expect("valid settings"), via);
    }

    /// A peer spectates, linked to the peers in `via`.
    pub fn watch(&mut self, index: usize, via: &[usize]) {
        let (config, id, name) = (self.config.clone(), self.net.id(index), self.name());
        self.switch_on(index, Session::spectate(config, id, name).expect("valid settings"), via);
    }

    /// A peer leaves the match.
    pub fn leave(&mut self, index: usize) {
        self.machines[index].timeline.session_mut().leave();
    }

    /// A peer stops without leaving.
    pub fn crash(&mut self, index: usize) {
        self.machines[index].on = false;
    }

    /// Advances all peers by some milliseconds.
    pub fn run_ms(&mut self, millis: u64) {
        for _ in 0..millis {
            self.net.advance(STEP);
            (0..self.machines.len()).for_each(|index| self.step(index));
        }
    }

    /// Advances until `so` is true, at most `limit_ms`. Returns the time it took.
    pub fn run_until(&mut self, limit_ms: u64, so: impl Fn(&People) -> bool) -> Micros {
        let began = self.net.now();
        while !so(self) && self.net.now().since(began) < Micros::from_millis(limit_ms) {
            self.run_ms(1);
        }
        self.net.now().since(began)
    }

    fn step(&mut self, index: usize) {
        let machine = &mut self.machines[index];
        let now = self.net.local_now(index);
        if !machine.on {
            return;
        }
        let due = machine.pace.ticks_due(now, machine.timeline.session().speed_ppm());
        if due == 0 {
            return;
        }
        if self.pressing && self.rng.below(10) == 0 {
            machine.held = self.rng.below(256) as u8;
        }
        match self.measure.filter(|_| index == MEASURED) {
            None => machine.ticks(now, due),
            Some(Measure::Instructions) => machine.counted_ticks(now, due),
            Some(Measure::Time) => {
                let began = cpu_time();
                machine.ticks(now, due);
                machine.cpu += cpu_time() - began;
            }
        }
    }

    /// Session of a peer.
    pub fn session(&self, index: usize) -> &Session<u8> {
        self.machines[index].timeline.session()
    }

    /// Most ticks that any of these peers stalled.
    pub fn stalled_most(&self, machines: impl Iterator<Item = usize>) -> u64 {
        machines.map(|index| self.machines[index].stalled).max().unwrap_or(0)
    }

    /// Resets the counts of stalls.
    pub fn forget_stalls(&mut self) {
        self.machines.iter_mut().for_each(|machine| machine.stalled = 0);
    }

    /// CPU time of the first peer while it was measured.
    pub fn cpu(&self) -> Duration {
        self.machines[MEASURED].cpu
    }

    /// Weighs what a peer sends in some milliseconds.
    pub fn weigh_ms(&mut self, index: usize, millis: u64) -> Weight {
        self.machines[index].weight = Some(Weight::default());
        self.run_ms(millis);
        self.machines[index].weight.take().unwrap_or_default()
    }

    /// Bytes that one peer has sent to another.
    pub(crate) fn bytes_sent(&self, from: usize, to: usize) -> u64 {
        self.machines[from].link.stats(self.net.id(to)).map_or(0, |stats| stats.bytes_out)
    }

    /// Statistics of a peer's session.
    pub fn stats(&self, index: usize) -> SessionStats {
        self.session(index).stats()
    }

    /// Slots present in the last frame that a peer confirmed.
    pub fn present(&self, index: usize) -> SlotSet {
        let session = self.session(index);
        session.slots_at(session.confirmed_frame())
    }
}
