//! Sealed sessions and one referee's room, over a network in virtual time.
//!
//! Stories of this folder use it. Every confirmed state is compared with a straight run of the
//! referee's log. Absent: what a story demands.

use std::collections::BTreeMap;

use gaggle_kit::{Frame, Micros, PeerId, Prng, Slot, SlotSet, State, state_hash};
use gaggle_link::Channel;
use gaggle_seal::{
    Admission, Cell, CloseReason, Epoch, Log, Origin, OutReason, RefereeRoom, RoomEvent, RoomSetup,
    StreamSlots,
};
use gaggle_testkit::{Delivery, NetConditions, PacketScheduler};
use gaggle_timeline::{
    Game, Incarnation, Inputs, SealConfig, Sealed, SessionEvent, Tick, TickClock, Timeline, TimelineConfig,
};

pub const SLOTS: usize = 8;
const REPEAT_FRAMES: u16 = 30;
/// Time between two ticks of the referee's server.
const SERVER_MS: u64 = 4;

/// A game in which every input of every frame counts.
#[derive(Clone, Default, State)]
pub struct Mix {
    pub hash: u64,
    /// Something that does not come from inputs, for tests of wrong states.
    pub spill: u32,
}

impl Game for Mix {
    type Input = u8;

    fn tick(&mut self, inputs: &Inputs<'_, u8>) {
        for slot in (0..SLOTS).map(Slot::at) {
            let read = u64::from(inputs.get(slot)) << 1 | u64::from(inputs.is_present(slot));
            self.hash = (self.hash ^ read).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
        }
    }
}

thread_local! {
    /// Index of the player whose game runs.
    pub static SIMULATES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// How a player behaves from now on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    Awake,
    /// Its process stands still; packets wait for it.
    Frozen,
    /// Its process is gone.
    Dead,
}

pub struct Player<G: Game> {
    pub timeline: Timeline<G, Sealed<G::Input>>,
    pub condition: Condition,
    pub events: Vec<SessionEvent>,
    pub change_percent: u32,
    pub depth_sum: u64,
    pub depth_ticks: u64,
    pub inbox: Vec<(Option<u8>, Vec<u8>)>,
    slots: SlotSet,
    clock: TickClock,
    random: Prng,
    value: u8,
}

impl<G: Game> Player<G> {
    pub fn session(&self) -> &Sealed<G::Input> {
        self.timeline.session()
    }

    /// Mean frames simulated beyond the sealed one, in hundredths.
    pub fn depth_percent(&self) -> u64 {
        self.depth_sum * 100 / self.depth_ticks.max(1)
    }

    pub fn told(&self, is_it: impl Fn(&SessionEvent) -> bool) -> usize {
        self.events.iter().filter(|event| is_it(event)).count()
    }
}

type Message = (Option<u8>, Vec<u8>);

pub struct World<G: Game> {
    pub net: PacketScheduler<Message>,
    pub room: RefereeRoom,
    pub players: Vec<Player<G>>,
    pub config: TimelineConfig,
    pub now: Micros,
    pub journal: Vec<u8>,
    pub closed: Vec<(PeerId, CloseReason)>,
    pub room_events: Vec<RoomEvent>,
    pub is_server_up: bool,
    random: Prng,
    epoch: u32,
    /// State of every sealed frame, computed from the log alone.
    straight: BTreeMap<Frame, u64>,
    straight_game: (Frame, G),
    /// Confirmed states that were compared.
    pub compared: u64,
    compares: bool,
}

pub fn peer(index: usize) -> PeerId {
    PeerId::from_u128(index as u128 + 1)
}

pub const REFEREE: PeerId = PeerId::from_bytes([0xff; 16]);

pub fn config() -> TimelineConfig {
    let seal = SealConfig { repeat_frames: REPEAT_FRAMES, ..SealConfig::default() };
    TimelineConfig { slot_count: SLOTS, ..TimelineConfig::sealed(seal) }
}

fn setup(epoch: u32, origin: Origin) -> RoomSetup {
    RoomSetup { match_id: 7, epoch: Epoch(epoch), origin, ..RoomSetup::default() }
}

/// Input of a slot in a sealed frame, as the protocol defines it.
fn effective(log: &Log, frame: Frame, slot: Slot) -> (bool, u8) {
    match log.cell(frame, slot) {
        Cell::Absent => (false, 0),
        Cell::Passive => (true, 0),
        Cell::Made { value, .. } => (true, value[0]),
        Cell::Missed { run, last } => {
            (true, last.filter(|_| run <= REPEAT_FRAMES).map_or(0, |value| value[0]))
        }
    }
}

impl<G: Game<Input = u8> + Clone + Default> World<G> {
    /// So many players with a slot each, and latencies of 15 to 50 ms each way.
    pub fn new(seed: u64, players: usize, conditions: NetConditions) -> World<G> {
        let mut world = World::empty(seed, conditions);
        (0..players).for_each(|slot| world.join(SlotSet::of(Slot::at(slot))));
        world
    }

    pub fn empty(seed: u64, conditions: NetConditions) -> World<G> {
        World::with(seed, conditions, config())
    }

    pub fn with(seed: u64, conditions: NetConditions, config: TimelineConfig) -> World<G> {
        let mut net = PacketScheduler::default();
        net.set_conditions(conditions);
        World {
            net,
            room: RefereeRoom::new(Micros::ZERO, setup(1, Origin::Found)),
            players: Vec::new(),
            config,
            now: Micros::ZERO,
            journal: Vec::new(),
            closed: Vec::new(),
            room_events: Vec::new(),
            is_server_up: true,
            random: Prng::new(seed),
            epoch: 1,
            straight: BTreeMap::new(),
            straight_game: (Frame::START, G::default()),
            compared: 0,
            compares: true,
        }
    }

    /// States are not compared with a straight run: the game asks what a plain log does not say.
    pub fn without_straight_run(mut self) -> World<G> {
        self.compares = false;
        self
    }

    /// A peer comes in: as players of these slots, or without any as a spectator.
    pub fn join(&mut self, slots: SlotSet) {
        let index = self.players.len();
        let id = peer(index);
        let incarnation = Incarnation(1);
        let session = match slots.is_empty() {
            true => Sealed::spectate(self.config.clone(), id, REFEREE, incarnation),
            false => Sealed::join(self.config.clone(), id, REFEREE, slots, incarnation),
        };
        let latency = Micros::from_millis(15 + u64::from(self.random.below(36)));
        self.net.set_latency(0, index + 1, Some(latency));
        self.net.set_latency(index + 1, 0, Some(latency));
        let rate = self.config.tick_rate;
        self.players.push(Player {
            timeline: Timeline::new(session.expect("sensible"), G::default()),
            condition: Condition::Awake,
            events: Vec::new(),
            change_percent: 10,
            depth_sum: 0,
            depth_ticks: 0,
            inbox: Vec::new(),
            slots,
            clock: TickClock::new(rate, self.now + Micros::new(u64::from(self.random.below(16_000)))),
            random: Prng::new(index as u64 + 100),
            value: index as u8,
        });
        self.connect(index, slots);
    }

    pub fn connect(&mut self, index: usize, slots: SlotSet) {
        let list: Vec<Slot> = slots.iter().collect();
        self.room.handle_connected(self.now, peer(index), Admission { slots: StreamSlots::new(&list) });
        self.players[index].timeline.session_mut().handle_connected(self.now, REFEREE);
    }

    /// The process of a player is gone; its link is found out to be.
    pub fn crash(&mut self, index: usize, is_noticed: bool) {
        self.players[index].condition = Condition::Dead;
        if is_noticed {
            self.room.handle_disconnected(self.now, peer(index), OutReason::Silent);
        }
    }

    /// Starts the referee again. Links of all players are new ones.
    pub fn restart_referee(&mut self, origin: Origin, slots: impl Fn(usize) -> SlotSet) {
        self.epoch += 1;
        self.is_server_up = true;
        self.room = RefereeRoom::new(self.now, setup(self.epoch, origin));
        self.journal.clear();
        let alive: Vec<usize> = (0..self.players.len())
            .filter(|index| self.players[*index].condition != Condition::Dead)
            .collect();
        for index in alive {
            self.players[index].inbox.clear();
            self.players[index].timeline.session_mut().handle_disconnected(self.now, REFEREE);
            self.connect(index, slots(index));
        }
    }

    pub fn run_ms(&mut self, millis: u64) {
        (0..millis).for_each(|_| self.step());
    }

    pub fn run_until(&mut self, millis: u64, mut done: impl FnMut(&World<G>) -> bool) -> bool {
        (0..millis).any(|_| {
            self.step();
            done(self)
        })
    }

    fn step(&mut self) {
        self.now += Micros::from_millis(1);
        while let Some(packet) = self.net.poll(self.now) {
            let (stream, bytes) = packet.message;
            match packet.to {
                0 if !self.is_server_up => {}
                0 => match stream {
                    Some(stream) => self.room.handle_message(self.now, peer(packet.from - 1), stream, &bytes),
                    None => self.room.handle_packet(self.now, peer(packet.from - 1), &bytes),
                },
                to => self.players[to - 1].inbox.push((stream, bytes)),
            }
        }
        if self.is_server_up && self.now.as_millis().is_multiple_of(SERVER_MS) {
            self.serve();
        }
        for index in 0..self.players.len() {
            self.step_player(index);
        }
    }

    fn serve(&mut self) {
        self.room.tick(self.now);
        if self.room.is_journal_new() {
            self.journal.clear();
        }
        self.journal.extend_from_slice(self.room.records());
        self.room.mark_records_written();
        while let Some(sent) = self.room.poll_transmit() {
            let index = (sent.peer.to_u128() - 1) as usize;
            let delivery = if sent.stream.is_some() { Delivery::Ordered } else { Delivery::Datagram };
            let message = (sent.stream, sent.bytes.to_vec());
            self.net.send(&mut self.random, self.now, 0, index + 1, delivery, message);
        }
        while let Some((peer, reason)) = self.room.poll_close() {
            let index = (peer.to_u128() - 1) as usize;
            self.players[index].timeline.session_mut().handle_disconnected(self.now, REFEREE);
            self.closed.push((peer, reason));
        }
        while let Some(event) = self.room.poll_event() {
            self.room_events.push(event);
        }
        self.run_straight();
    }

    fn run_straight(&mut self) {
        let Some(log) = self.room.referee().map(|referee| referee.log()) else { return };
        let (frame, game) = &mut self.straight_game;
        while self.compares && *frame < log.sealed() && log.keeps(frame.next()) {
            *frame = frame.next();
            let cells: Vec<(bool, u8)> =
                (0..SLOTS).map(|slot| effective(log, *frame, Slot::at(slot))).collect();
            let row: Vec<u8> = cells.iter().map(|(_, input)| *input).collect();
            let present = (0..SLOTS).filter(|slot| cells[*slot].0).map(Slot::at).collect();
            game.tick(&Inputs::confirmed(*frame, &row, present));
            self.straight.insert(*frame, state_hash(game));
        }
    }

    /// The log is another one from this frame on: the straight run begins with this player's state.
    pub fn follow_state_of(&mut self, index: usize) {
        let (frame, game) = self.players[index].timeline.confirmed_game().expect("it plays");
        self.straight_game = (frame, game.clone());
        self.straight.clear();
    }

    fn step_player(&mut self, index: usize) {
        SIMULATES.with(|simulates| simulates.set(index));
        let now = self.now;
        let player = &mut self.players[index];
        if player.condition != Condition::Awake {
            return;
        }
        for (stream, bytes) in player.inbox.drain(..) {
            let session = player.timeline.session_mut();
            match stream {
                Some(_) => session.handle_message(now, REFEREE, &bytes),
                None => session.handle_packet(now, REFEREE, &bytes),
            }
        }
        for _ in 0..player.clock.ticks_due(now, player.timeline.session().speed_ppm()) {
            if player.random.chance(player.change_percent, 100) {
                player.value = player.random.below(256) as u8;
            }
            for slot in player.timeline.session().local_slots() {
                let input = player.value ^ slot.index() as u8;
                player.timeline.session_mut().set_input(slot, input).expect("a local slot");
            }
            let tick = player.timeline.tick(now);
            let session = player.timeline.session();
            if tick == Tick::Advanced && session.is_member() {
                player.depth_sum += u64::from(session.current_frame().since(session.confirmed_frame()));
                player.depth_ticks += 1;
            }
        }
        if let Some((frame, game)) = player.timeline.confirmed_game()
            && let Some(expected) = self.straight.get(&frame)
        {
            assert_eq!(*expected, state_hash(game), "player {index} at {frame}, {now:?}");
            self.compared += 1;
        }
        while let Some(sent) = player.timeline.session_mut().poll_transmit() {
            let (stream, delivery) = match sent.channel {
                Channel::Unreliable => (None, Delivery::Datagram),
                Channel::Reliable(stream) => (Some(stream), Delivery::Ordered),
            };
            let message = (stream, sent.bytes.to_vec());
            self.net.send(&mut self.random, now, index + 1, 0, delivery, message);
        }
        while let Some(event) = player.timeline.session_mut().poll_event() {
            player.events.push(event);
        }
    }

    /// Changes the games of all players before they play.
    pub fn change_games(&mut self, change: impl Fn(&mut G)) {
        for player in &mut self.players {
            let mut game = player.timeline.game().clone();
            change(&mut game);
            let (index, slots) =
                ((player.timeline.session().local_peer().to_u128() - 1) as usize, player.slots);
            let session = Sealed::join(self.config.clone(), peer(index), REFEREE, slots, Incarnation(1));
            player.timeline = Timeline::new(session.expect("sensible"), game);
            player.timeline.session_mut().handle_connected(self.now, REFEREE);
        }
    }

    /// Runs until all players that are awake play, and forgets what was counted until then.
    pub fn settle(&mut self) {
        let plays = |player: &Player<G>| {
            player.condition != Condition::Awake
                || player.session().is_spectating()
                || player.session().is_member()
        };
        assert!(self.run_until(10_000, |world| world.players.iter().all(plays)), "all get in");
        self.run_ms(3_000);
        for player in &mut self.players {
            (player.depth_sum, player.depth_ticks) = (0, 0);
            player.events.clear();
        }
    }

    pub fn sealed(&self) -> Frame {
        self.room.referee().expect("founded").log().sealed()
    }
}
