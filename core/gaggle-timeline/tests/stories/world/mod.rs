//! A whole match in virtual time: peers with their own clocks, a network that delays, drops and
//! reorders by seed, and a record of every input.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses its part of the world")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::collections::BTreeMap;

use gaggle_kit::{Frame, Micros, PeerId, Prng, Slot, state_hash};
pub use gaggle_testkit::NetConditions;
use gaggle_testkit::{Delivery, PacketScheduler};
use gaggle_timeline::{
    Game, Incarnation, PeerSlots, Session, SessionEvent, Tick, TickClock, Timeline, TimelineConfig,
};

gaggle_testkit::mix_game! { vis: pub, engine: gaggle_timeline, input: u8, slots: 8, stir: |_| {}, disturb: |_| {} }

pub struct Machine<G: Game> {
    pub timeline: Timeline<G>,
    pub pace: TickClock,
    /// Speed of its clock, in millionths of true time.
    pub clock_ppm: u64,
    pub starts_at: Micros,
    pub asleep_until: Micros,
    pub stalled: u64,
    pub events: Vec<SessionEvent>,
    pub speeds: Vec<u32>,
    ticks: u64,
    /// The reference game, which gets only confirmed inputs.
    straight: G,
    /// Its current frame, and its first frame.
    straight_at: Frame,
    straight_from: Frame,
    /// Its hash after each frame.
    straight_hashes: BTreeMap<Frame, u64>,
    /// Inputs of this peer's players, and those in its stream, without repetitions.
    pressed: Vec<u8>,
    told: Vec<u8>,
}

/// Input of a peer's player in a tick; 0 keeps the last one.
type Press = Box<dyn FnMut(&mut Prng, usize, u64) -> u8>;
/// Changes bytes on their way from one peer to another.
type Tamper = Box<dyn FnMut(usize, usize, &mut Vec<u8>)>;

/// Peers that play one match.
pub struct World<G: Game<Input = u8>> {
    pub machines: Vec<Machine<G>>,
    pub net: PacketScheduler<Vec<u8>>,
    pub now: Micros,
    pub rng: Prng,
    pub delivered: u64,
    /// Inputs of each peer's players.
    press: Press,
    held: Vec<u8>,
    /// Lets a test change a peer's packets. An emptied packet is lost.
    pub tamper: Tamper,
    /// Called before each peer's tick with its index and the number of the tick.
    pub before_tick: Box<dyn FnMut(usize, u64)>,
    /// False in worlds whose games are deliberately wrong.
    pub compare_with_straight: bool,
    step: Micros,
    /// Number of comparisons of a rolled-back state with the reference run.
    pub compared: u64,
}

pub fn peer(index: usize) -> PeerId {
    PeerId::from_u128(index as u128 + 1)
}

impl World<MixGame> {
    pub fn of(players: usize, seed: u64) -> World<MixGame> {
        World::with(players, seed, &TimelineConfig::default(), |_| MixGame::new(Vec::new()))
    }

    pub fn configured(players: usize, seed: u64, config: &TimelineConfig) -> World<MixGame> {
        World::with(players, seed, config, |_| MixGame::new(Vec::new()))
    }
}

impl<G: Game<Input = u8>> World<G> {
    pub fn with(players: usize, seed: u64, config: &TimelineConfig, game: impl Fn(usize) -> G) -> Self {
        let seats: Vec<PeerSlots> =
            (0..players).map(|index| PeerSlots::new(peer(index), Slot::at(index))).collect();
        let machines = (0..players)
            .map(|index| {
                let incarnation = Incarnation(index as u32 + 100);
                let session = Session::new(config.clone(), peer(index), &seats, incarnation).unwrap();
                Machine {
                    timeline: Timeline::new(session, game(index)),
                    pace: TickClock::new(config.tick_rate, Micros::ZERO),
                    clock_ppm: 1_000_000,
                    starts_at: Micros::ZERO,
                    asleep_until: Micros::ZERO,
                    stalled: 0,
                    events: vec![],
                    speeds: vec![],
                    ticks: 0,
                    straight: game(index),
                    straight_at: Frame::START,
                    straight_from: Frame::START,
                    straight_hashes: BTreeMap::new(),
                    pressed: vec![0],
                    told: vec![0],
                }
            })
            .collect();
        let mut world = World {
            machines,
            net: PacketScheduler::default(),
            now: Micros::ZERO,
            rng: Prng::new(seed),
            delivered: 0,
            // A player changes its input every tenth frame.
            press: Box::new(|rng, _, _| if rng.below(10) == 0 { 1 + rng.below(255) as u8 } else { 0 }),
            held: vec![0; players],
            tamper: Box::new(|_, _, _| {}),
            before_tick: Box::new(|_, _| {}),
            compare_with_straight: true,
            step: Micros::from_millis(1),
            compared: 0,
        };
        world.net.set_conditions(NetConditions::latency_ms(50));
        for a in 0..players {
            for b in 0..players {
                if a != b {
                    let session = world.machines[a].timeline.session_mut();
                    session.handle_connected(Micros::ZERO, peer(b)).unwrap();
                }
            }
        }
        world
    }

    pub fn players_press(&mut self, press: impl FnMut(&mut Prng, usize, u64) -> u8 + 'static) -> &mut Self {
        self.press = Box::new(press);
        self
    }

    pub fn conditions(&mut self, conditions: NetConditions) -> &mut Self {
        self.net.set_conditions(conditions);
        self
    }

    /// Cuts one direction, or opens it again.
    pub fn set_cut(&mut self, from: usize, to: usize, is_cut: bool) -> &mut Self {
        self.net.set_cut(self.now, from, to, is_cut);
        self
    }

    fn local_now(&self, index: usize) -> Micros {
        Micros::new(self.now.get() * self.machines[index].clock_ppm / 1_000_000)
    }

    /// Runs for a span of true time.
    pub fn run(&mut self, span: Micros) -> &mut Self {
        let end = self.now + span;
        while self.now < end {
            self.now += self.step;
            self.deliver();
            for index in 0..self.machines.len() {
                if self.now >= self.machines[index].starts_at && self.now >= self.machines[index].asleep_until
                {
                    self.run_machine(index);
                }
            }
        }
        self
    }

    pub fn run_seconds(&mut self, seconds: u64) -> &mut Self {
        self.run(Micros::from_secs(seconds))
    }

    /// Runs until all have simulated this frame.
    pub fn run_to_frame(&mut self, frame: u32) -> &mut Self {
        let give_up = self.now + Micros::from_secs(u64::from(frame) / 20 + 60);
        while self.machines.iter().any(|m| m.timeline.session().current_frame() < Frame::new(frame)) {
            assert!(self.now < give_up, "frame {frame} is never reached:\n{}", self.describe());
            self.run(self.step);
        }
        self
    }

    /// Ends all input and all faults, and lets all packets arrive.
    pub fn settle(&mut self) -> &mut Self {
        self.net.set_conditions(NetConditions::latency_ms(20));
        self.press = Box::new(|_, _, _| 0);
        self.held.fill(0);
        self.run_seconds(3)
    }

    fn deliver(&mut self) {
        while let Some(mut packet) = self.net.poll(self.now) {
            let now = self.local_now(packet.to);
            (self.tamper)(packet.from, packet.to, &mut packet.message);
            if packet.message.is_empty() {
                continue;
            }
            self.delivered += 1;
            let session = self.machines[packet.to].timeline.session_mut();
            match packet.delivery {
                Delivery::Ordered => session.handle_message(now, peer(packet.from), &packet.message),
                Delivery::Datagram => session.handle_packet(now, peer(packet.from), &packet.message),
            }
        }
    }

    fn run_machine(&mut self, index: usize) {
        let now = self.local_now(index);
        let machine = &mut self.machines[index];
        let session = machine.timeline.session_mut();
        let mut due = machine.pace.ticks_due(now, session.speed_ppm());
        if due > 0 {
            due += session.take_catch_up_ticks(4);
        }
        for _ in 0..due {
            let machine = &mut self.machines[index];
            machine.ticks += 1;
            (self.before_tick)(index, machine.ticks);
            let change = (self.press)(&mut self.rng, index, machine.ticks);
            if change != 0 {
                self.held[index] = change;
            }
            let session = machine.timeline.session_mut();
            if session.local_slots().contains(Slot::at(index)) {
                session.set_input(Slot::at(index), self.held[index]).unwrap();
            }
            if session.is_running() && machine.pressed.last() != Some(&self.held[index]) {
                machine.pressed.push(self.held[index]);
            }
            if machine.timeline.tick(now) == Tick::Stalled {
                machine.stalled += 1;
            }
            machine.speeds.push(machine.timeline.session().speed_ppm());
        }
        if due > 0 {
            self.run_straight(index);
            self.collect(index);
        }
    }

    /// Advances the reference game to the confirmed frame, and asserts that the peer's state equals
    /// it.
    fn run_straight(&mut self, index: usize) {
        if !self.compare_with_straight {
            return;
        }
        let machine = &mut self.machines[index];
        let session = machine.timeline.session();
        if machine.straight_from != session.start_frame() {
            // The peer took another peer's state: its earlier confirmed frames are void.
            let Some((frame, game)) = machine.timeline.confirmed_game() else { return };
            machine.straight.copy_from(game);
            machine.straight_from = session.start_frame();
            machine.straight_at = frame;
            machine.straight_hashes.clear();
            return;
        }
        while machine.straight_at < session.confirmed_frame() {
            let frame = machine.straight_at.next();
            let inputs = session.confirmed_inputs(frame).expect("just confirmed");
            let told = inputs.get(Slot::at(index));
            if machine.told.last() != Some(&told) {
                machine.told.push(told);
            }
            machine.straight.tick(&inputs);
            machine.straight_at = frame;
            machine.straight_hashes.insert(frame, state_hash(&machine.straight));
        }
        if let Some((frame, game)) = machine.timeline.confirmed_game()
            && let Some(straight) = machine.straight_hashes.get(&frame)
        {
            assert_eq!(
                state_hash(game),
                *straight,
                "peer {index} at {frame}: rollback and straight run differ"
            );
            self.compared += 1;
        }
    }

    fn collect(&mut self, index: usize) {
        while let Some(event) = self.machines[index].timeline.session_mut().poll_event() {
            self.machines[index].events.push(event);
        }
        loop {
            let session = self.machines[index].timeline.session_mut();
            let Some(packet) = session.poll_transmit() else { return };
            let (to, bytes) = (packet.to.to_u128() as usize - 1, packet.bytes.to_vec());
            let delivery = if packet.is_reliable() { Delivery::Ordered } else { Delivery::Datagram };
            let is_sent = self.net.send(&mut self.rng, self.now, index, to, delivery, bytes);
            if let Some(machine) = self.machines.get_mut(to).filter(|_| !is_sent) {
                let now = Micros::new(self.now.get() * machine.clock_ppm / 1_000_000);
                machine.timeline.session_mut().handle_packet_loss(now, peer(index));
            }
        }
    }

    pub fn session(&self, index: usize) -> &Session<u8> {
        self.machines[index].timeline.session()
    }

    pub fn describe(&self) -> String {
        let line = |(index, machine): (usize, &Machine<G>)| {
            let session = machine.timeline.session();
            let (current, confirmed) = (session.current_frame(), session.confirmed_frame());
            let last = &machine.events[machine.events.len().saturating_sub(3)..];
            format!("peer {index}: at {current}, confirmed {confirmed}, {last:?}\n  {:?}", session.stats())
        };
        self.machines.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Asserts that all peers hold the same inputs as far as both confirmed them, equal to what the
    /// players did, and that no peer reported a fault.
    pub fn expect_agreement(&mut self) -> &mut Self {
        let from = self.machines.iter().map(|m| m.straight_from).max().unwrap();
        let to = self.machines.iter().map(|m| m.straight_at).min().unwrap();
        assert!(to > from && self.compared > 0, "nothing was confirmed:\n{}", self.describe());
        for (index, machine) in self.machines.iter().enumerate() {
            for (frame, hash) in machine.straight_hashes.range(from.next()..=to) {
                if let Some(other) = self.machines[0].straight_hashes.get(frame) {
                    assert_eq!(hash, other, "peers 0 and {index} differ at {frame}");
                }
            }
            // A stalled tick or a shrinking delay may merge two samples; the sent inputs are then a
            // part of the pressed ones.
            let pressed = &mut machine.pressed.iter();
            assert!(
                machine.told.iter().all(|told| pressed.any(|press| press == told)),
                "peer {index} sent what was never pressed: {:?} of {:?}",
                machine.told,
                machine.pressed
            );
            let complaint = |event: &&SessionEvent| {
                matches!(
                    event,
                    SessionEvent::DesyncDetected { .. }
                        | SessionEvent::PeerFault { .. }
                        | SessionEvent::InputsDiverged { .. }
                )
            };
            assert_eq!(machine.events.iter().find(complaint), None);
        }
        self
    }

    /// Asserts that no input was lost, doubled or moved before another.
    pub fn expect_every_press_told(&mut self) -> &mut Self {
        for (index, machine) in self.machines.iter().enumerate() {
            assert_eq!(machine.told, machine.pressed, "machine {index}");
        }
        self
    }

    pub fn expect_rollbacks(&mut self, at_least: u64) -> &mut Self {
        for index in 0..self.machines.len() {
            let stats = self.session(index).stats();
            assert!(stats.rollbacks >= at_least, "peer {index} rolled back {} times only", stats.rollbacks);
        }
        self
    }

    pub fn count_events(&self, index: usize, matches: impl Fn(&SessionEvent) -> bool) -> usize {
        self.machines[index].events.iter().filter(|event| matches(event)).count()
    }
}
