//! Peers that join and leave over real links on a simulated network: a whole match in virtual time
//! with every event of membership.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses its part of the company")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::cell::Cell;
use std::collections::BTreeMap;

use gaggle_kit::{Frame, Micros, PeerId, Prng, Slot, SlotSet, State, state_hash};
use gaggle_link::sim::{Conditions, NetChange, SimCarrier, SimNet};
use gaggle_link::{Endpoint, LinkConfig, Transport};
use gaggle_timeline::{
    Driver, Incarnation, MatchId, PeerSlots, Session, SessionEvent, Tick, TickClock, Timeline, TimelineConfig,
};

gaggle_testkit::mix_game! {
    vis: pub,
    engine: gaggle_timeline,
    input: u8,
    slots: 8,
    stir: |game| gaggle_testkit::stir(&mut game.bulk, game.frame, game.mixed),
    disturb: |game| {
        if FLIP.take() {
            game.mixed ^= 1 << 9;
        }
        if ODD_FRAME.get() == Some(game.frame) {
            game.mixed ^= 1 << 11;
        }
    },
}

/// A game with a state of about this many bytes that cannot be compressed.
fn game_of(bulk_bytes: usize) -> MixGame {
    MixGame::new((0..bulk_bytes as u32 / 4).map(|n| n.wrapping_mul(0x9e37_79b9)).collect())
}

thread_local! {
    /// Set if the next tick of a live game corrupts its state, as a faulty memory cell would.
    static FLIP: Cell<bool> = const { Cell::new(false) };
    /// Frame for which the peer that computes now gets another result, whenever it simulates it.
    static ODD_FRAME: Cell<Option<u32>> = const { Cell::new(None) };
}

/// One peer: on or off, in a match or joining one.
pub struct Machine {
    pub timeline: Timeline<MixGame>,
    exchange: Driver,
    link: Endpoint<SimCarrier>,
    pace: TickClock,
    pub on: bool,
    pub asleep_until: Micros,
    /// Time that one frame takes it; 0 for none.
    pub busy_ms: u64,
    pub events: Vec<SessionEvent>,
    pub stalled: u64,
    /// When it first was a member.
    pub member_at: Option<Micros>,
    held: u8,
    straight: MixGame,
    /// By slot, the number of consecutive confirmed frames in which it was present.
    pub present_frames: [u32; 8],
    pub straight_at: Frame,
    /// First frame of the stay that `straight` follows, and the number of snapshots taken by then.
    straight_from: Option<(Frame, u64)>,
    /// Whether its state was corrupted: it may differ from the reference run.
    pub damaged: bool,
    flip_next: bool,
    /// Frame for which it computes another result than the others.
    pub odd_frame: Option<u32>,
    /// Hash of what it confirmed, by branch and frame.
    pub confirmed: BTreeMap<(u64, Frame), u64>,
    pub compared: u64,
}

/// All peers, and the network between them.
pub struct Cluster {
    pub net: SimNet,
    pub machines: Vec<Machine>,
    pub config: TimelineConfig,
    /// Whether players change their input.
    pub pressing: bool,
    rng: Prng,
    seed: u64,
    stays: u32,
    bulk_bytes: usize,
}

pub fn ms(millis: u64) -> Micros {
    Micros::from_millis(millis)
}

pub fn config(slots: usize) -> TimelineConfig {
    TimelineConfig { slot_count: slots, ..TimelineConfig::default() }
}

impl Cluster {
    /// A network of `machines` peers, of which the first `players` start a match together.
    pub fn of(machines: usize, players: usize, seed: u64) -> Cluster {
        Cluster::configured(machines, players, seed, config(machines.max(4)), 0)
    }

    /// A network of peers that are all off.
    pub fn empty(machines: usize, seed: u64) -> Cluster {
        Cluster::of(machines, 0, seed)
    }

    pub fn configured(
        machines: usize,
        players: usize,
        seed: u64,
        config: TimelineConfig,
        bulk_bytes: usize,
    ) -> Cluster {
        let net = SimNet::unconnected(machines, seed);
        net.set_all(Conditions::latency_ms(50));
        let rng = Prng::new(seed);
        let mut cluster =
            Cluster { net, machines: Vec::new(), config, pressing: true, rng, seed, stays: 100, bulk_bytes };
        let seats: Vec<PeerSlots> =
            (0..players).map(|index| PeerSlots::new(cluster.id(index), Slot::at(index))).collect();
        for index in 0..machines {
            let carrier = cluster.net.carrier(index);
            let session = if index < players {
                let name = cluster.name();
                Session::new(cluster.config.clone(), cluster.id(index), &seats, name).unwrap()
            } else {
                cluster.joiner(index)
            };
            let machine = cluster.machine(index, session, carrier);
            cluster.machines.push(machine);
            cluster.machines[index].on = index < players;
        }
        for a in 0..players {
            for b in a + 1..players {
                cluster.net.apply(&NetChange::Connect(a, b));
            }
        }
        cluster
    }

    fn machine(&mut self, index: usize, session: Session<u8>, carrier: SimCarrier) -> Machine {
        let now = self.net.local_now(index);
        let seed = self.seed ^ (u64::from(self.stays) << 32) ^ index as u64;
        Machine {
            timeline: Timeline::new(session, game_of(self.bulk_bytes)),
            exchange: Driver::default(),
            link: Endpoint::new(carrier, LinkConfig::default(), seed),
            pace: TickClock::new(self.config.tick_rate, now),
            on: true,
            asleep_until: Micros::ZERO,
            busy_ms: 0,
            events: Vec::new(),
            stalled: 0,
            member_at: None,
            held: 0,
            straight: game_of(self.bulk_bytes),
            present_frames: [0; 8],
            straight_at: Frame::START,
            straight_from: None,
            damaged: false,
            flip_next: false,
            odd_frame: None,
            confirmed: BTreeMap::new(),
            compared: 0,
        }
    }

    fn name(&mut self) -> Incarnation {
        self.stays += 1;
        Incarnation(self.rng.next_u32())
    }

    fn joiner(&mut self, index: usize) -> Session<u8> {
        let name = self.name();
        Session::join(self.config.clone(), self.id(index), 1, name).unwrap()
    }

    pub fn id(&self, index: usize) -> PeerId {
        self.net.id(index)
    }

    pub fn now(&self) -> Micros {
        self.net.now()
    }

    pub fn weather(&mut self, conditions: Conditions) -> &mut Self {
        self.net.set_all(conditions);
        self
    }

    /// Starts a peer, possibly again, that joins.
    pub fn join(&mut self, index: usize) -> &mut Self {
        let session = self.joiner(index);
        let carrier = self.net.restarted_carrier(index);
        self.machines[index] = self.machine(index, session, carrier);
        self.connect(index)
    }

    /// Starts a peer again that claims its old slots.
    pub fn rejoin(&mut self, index: usize, slots: SlotSet) -> &mut Self {
        let (name, id) = (self.name(), self.id(index));
        let session = Session::rejoin(self.config.clone(), id, slots, name).unwrap();
        let carrier = self.net.restarted_carrier(index);
        self.machines[index] = self.machine(index, session, carrier);
        self.connect(index)
    }

    /// Starts a peer that creates a match.
    pub fn found(&mut self, index: usize, born: u64) -> &mut Self {
        let name = self.name();
        let id = self.id(index);
        let config =
            TimelineConfig { match_id: MatchId { started_at: born, nonce: born }, ..self.config.clone() };
        let session = Session::create(config, id, 1, name).unwrap();
        let carrier = self.net.restarted_carrier(index);
        self.machines[index] = self.machine(index, session, carrier);
        self
    }

    /// Starts a peer that spectates.
    pub fn watch(&mut self, index: usize) -> &mut Self {
        self.watch_via(index, &[]).connect(index)
    }

    /// Starts a peer that spectates, linked to these only.
    pub fn watch_via(&mut self, index: usize, via: &[usize]) -> &mut Self {
        let (name, id) = (self.name(), self.id(index));
        let session = Session::spectate(self.config.clone(), id, name).unwrap();
        let carrier = self.net.restarted_carrier(index);
        self.machines[index] = self.machine(index, session, carrier);
        via.iter().for_each(|other| self.net.apply(&NetChange::Connect(index, *other)));
        self
    }

    /// Links a peer to all peers that are on.
    pub fn connect(&mut self, index: usize) -> &mut Self {
        for other in (0..self.machines.len()).filter(|other| *other != index) {
            if self.machines[other].on {
                self.net.apply(&NetChange::Connect(index, other));
            }
        }
        self
    }

    /// Starts a peer that joins, linked to these only.
    pub fn join_via(&mut self, index: usize, via: &[usize]) -> &mut Self {
        let session = self.joiner(index);
        let carrier = self.net.restarted_carrier(index);
        self.machines[index] = self.machine(index, session, carrier);
        via.iter().for_each(|other| self.net.apply(&NetChange::Connect(index, *other)));
        self
    }

    /// Links all peers that are on and have no link yet.
    pub fn connect_all(&mut self) -> &mut Self {
        for a in 0..self.machines.len() {
            for b in a + 1..self.machines.len() {
                let linked = self.machines[a].link.peers().contains(&self.id(b));
                if self.machines[a].on && self.machines[b].on && !linked {
                    self.net.apply(&NetChange::Connect(a, b));
                }
            }
        }
        self
    }

    /// Stops a peer without a goodbye.
    pub fn crash(&mut self, index: usize) -> &mut Self {
        self.machines[index].on = false;
        self
    }

    pub fn leave(&mut self, index: usize) -> &mut Self {
        self.machines[index].timeline.session_mut().leave();
        self
    }

    /// Flips a bit of a peer's state.
    pub fn flip_a_bit(&mut self, index: usize) -> &mut Self {
        self.machines[index].damaged = true;
        self.machines[index].flip_next = true;
        self
    }

    /// Makes a peer compute another result for this frame, whenever it simulates it.
    pub fn compute_oddly(&mut self, index: usize, frame: u32) -> &mut Self {
        self.machines[index].damaged = true;
        self.machines[index].odd_frame = Some(frame);
        self
    }

    pub fn session(&self, index: usize) -> &Session<u8> {
        self.machines[index].timeline.session()
    }

    pub fn run(&mut self, span: Micros) -> &mut Self {
        let end = self.now() + span;
        while self.now() < end {
            self.net.advance(ms(1));
            for index in 0..self.machines.len() {
                self.step(index);
            }
        }
        self
    }

    pub fn run_ms(&mut self, millis: u64) -> &mut Self {
        self.run(ms(millis))
    }

    /// Runs until the condition holds; fails after the limit.
    pub fn run_until(&mut self, what: &str, limit_ms: u64, so: impl Fn(&Cluster) -> bool) -> &mut Self {
        let end = self.now() + ms(limit_ms);
        while !so(self) {
            assert!(self.now() < end, "{what} does not happen within {limit_ms} ms:\n{}", self.describe());
            self.run_ms(1);
        }
        self
    }

    fn step(&mut self, index: usize) {
        let now = self.net.local_now(index);
        let asleep = self.net.now() < self.machines[index].asleep_until;
        if !self.machines[index].on || asleep {
            return;
        }
        let speed = self.session(index).speed_ppm();
        let due = self.machines[index].pace.ticks_due(now, speed);
        if due == 0 {
            return;
        }
        let pressed = self.rng.below(10) == 0 && self.pressing;
        let press = 1 + self.rng.below(255) as u8;
        let machine = &mut self.machines[index];
        if pressed {
            machine.held = press;
        }
        let session = machine.timeline.session_mut();
        machine.exchange.receive(now, &mut machine.link, session);
        let due = match machine.busy_ms {
            0 => due + session.take_catch_up_ticks(4),
            busy_ms => {
                machine.asleep_until = self.net.now() + ms(busy_ms);
                1
            }
        };
        for _ in 0..due {
            let session = machine.timeline.session_mut();
            for slot in session.local_slots() {
                session.set_input(slot, machine.held).unwrap();
            }
            FLIP.set(std::mem::take(&mut machine.flip_next));
            ODD_FRAME.set(machine.odd_frame);
            if machine.timeline.tick(now) == Tick::Stalled {
                machine.stalled += 1;
            }
            machine.exchange.send(now, &mut machine.link, machine.timeline.session_mut());
        }
        while let Some(event) = machine.timeline.session_mut().poll_event() {
            machine.events.push(event);
        }
        if machine.timeline.session().is_member() && machine.member_at.is_none() {
            machine.member_at = Some(self.net.now());
        }
        machine.follow_straight(index);
    }

    pub fn describe(&self) -> String {
        let line = |(index, machine): (usize, &Machine)| {
            let session = machine.timeline.session();
            let tail = &machine.events[machine.events.len().saturating_sub(6)..];
            format!(
                "machine {index} {} running {} member {} at {} confirmed {} history {:x} roster {:?}\n   {tail:?}\n   {:?}",
                if machine.on { "on" } else { "off" },
                session.is_running(),
                session.is_member(),
                session.current_frame(),
                session.confirmed_frame(),
                session.branch_id(),
                session.roster(),
                session.stats(),
            )
        };
        self.machines.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Asserts that these peers are members of one match, in one branch, with the same confirmed
    /// past.
    pub fn expect_together(&mut self, who: &[usize]) -> &mut Self {
        let history = self.session(who[0]).branch_id();
        for index in who {
            let session = self.session(*index);
            assert!(session.is_member(), "machine {index} is no member:\n{}", self.describe());
            assert_eq!(session.branch_id(), history, "{}", self.describe());
        }
        self.expect_agreement();
        let compared: u64 = who.iter().map(|index| self.machines[*index].compared).sum();
        assert!(compared > 0, "nothing was compared");
        self
    }

    /// Asserts that all peers that confirmed a frame of a branch confirmed the same inputs.
    pub fn expect_agreement(&mut self) -> &mut Self {
        let mut all: BTreeMap<(u64, Frame), (usize, u64)> = BTreeMap::new();
        for (index, machine) in self.machines.iter().enumerate() {
            for (key, hash) in &machine.confirmed {
                let (other, known) = all.entry(*key).or_insert((index, *hash));
                assert_eq!(
                    known,
                    hash,
                    "machines {other} and {index} differ in {key:?}:\n{}",
                    self.describe()
                );
            }
            let complaint = |event: &&SessionEvent| {
                matches!(
                    event,
                    SessionEvent::DesyncDetected { .. }
                        | SessionEvent::PeerFault { .. }
                        | SessionEvent::InputsDiverged { .. }
                )
            };
            assert_eq!(machine.events.iter().find(complaint), None, "machine {index}:\n{}", self.describe());
        }
        self
    }

    pub fn count(&self, index: usize, matches: impl Fn(&SessionEvent) -> bool) -> usize {
        self.machines[index].events.iter().filter(|event| matches(event)).count()
    }

    pub fn clear_events(&mut self) -> &mut Self {
        self.machines.iter_mut().for_each(|machine| machine.events.clear());
        self
    }

    pub fn stalls(&self) -> Vec<u64> {
        self.machines.iter().map(|machine| machine.stalled).collect()
    }
}

impl Machine {
    /// Advances the reference game to the confirmed frame, and asserts that the peer's state equals
    /// it.
    fn follow_straight(&mut self, index: usize) {
        let session = self.timeline.session();
        if !session.is_running() {
            return;
        }
        let stay = (session.start_frame(), session.stats().snapshots_received);
        if self.straight_from != Some(stay) {
            let Some((frame, game)) = self.timeline.confirmed_game() else { return };
            if self.straight_from.is_some() || frame > Frame::START {
                self.straight.copy_from(game);
                self.straight_at = frame;
            }
            self.straight_from = Some(stay);
        }
        let history = session.branch_id();
        while self.straight_at < session.confirmed_frame() {
            let frame = self.straight_at.next();
            let inputs = session.confirmed_inputs(frame).expect("just confirmed");
            for (nth, frames) in self.present_frames.iter_mut().enumerate() {
                *frames = if inputs.is_present(Slot::at(nth)) { *frames + 1 } else { 0 };
            }
            self.straight.tick_undisturbed(&inputs);
            self.straight_at = frame;
            self.confirmed.insert((history, frame), state_hash(&self.straight));
        }
        if self.damaged {
            return;
        }
        if let Some((frame, game)) = self.timeline.confirmed_game()
            && frame == self.straight_at
        {
            assert_eq!(
                state_hash(game),
                state_hash(&self.straight),
                "machine {index} at {frame}: rollback and straight run differ"
            );
            self.compared += 1;
        } else if let Some((frame, game)) = self.timeline.confirmed_game()
            && let Some(straight) = self.confirmed.get(&(history, frame))
        {
            assert_eq!(
                state_hash(game),
                *straight,
                "machine {index} at {frame}: rollback and straight run differ"
            );
            self.compared += 1;
        }
    }
}
