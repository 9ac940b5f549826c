//! Rooms whose caller keeps the state, in one match with rooms that keep it themselves.

use std::cell::Cell;
use std::collections::BTreeMap;

use crate::callers::Held;
use gaggle::kit::state_hash;
use gaggle::link::sim::{Chance, Conditions};
use gaggle::testing::{FRAME, SimLobby, SimPlatform};
use gaggle::timeline::{Match, Request, SimId};
use gaggle::{
    AnyRoom, Frame, Game, GameRoom, Inputs, JoinTarget, Micros, Phase, RequestRoom, RoomConfig, RoomEvent,
    SavedStates, Slot, SlotSet, State, StateShape,
};

/// A game in which every past input affects every later state.
#[derive(Debug, Clone, PartialEq, Eq, State)]
struct Mixer {
    frame: u32,
    mixed: u64,
    presses: [u32; 4],
}

thread_local! {
    /// The peer that computes a wrong state, and the peer that computes now.
    static BROKEN: Cell<Option<usize>> = const { Cell::new(None) };
    static COMPUTING: Cell<usize> = const { Cell::new(0) };
}

impl Game for Mixer {
    type Input = u8;

    fn tick(&mut self, inputs: &Inputs<'_, u8>) {
        self.frame += 1;
        if BROKEN.get() == Some(COMPUTING.get()) {
            self.mixed ^= 1 << 40;
        }
        for (nth, presses) in self.presses.iter_mut().enumerate() {
            let input = inputs.get(Slot::at(nth));
            *presses += u32::from(input);
            self.mixed = self.mixed.rotate_left(7).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(input);
        }
    }
}

fn mixer() -> Mixer {
    Mixer { frame: 0, mixed: 1, presses: [0; 4] }
}

/// A room of either kind.
enum Peer {
    Game(Box<GameRoom<Mixer, SimPlatform>>),
    Caller(Box<RequestRoom<u8, SimPlatform>>, Box<SavedStates<Mixer>>, Box<Held<Mixer>>),
}

impl Peer {
    fn room(&mut self) -> &mut dyn AnyRoom {
        match self {
            Peer::Game(room) => room.as_mut(),
            Peer::Caller(room, ..) => room.as_mut(),
        }
    }

    fn session(&self) -> &Match<u8> {
        match self {
            Peer::Game(room) => room.session(),
            Peer::Caller(room, ..) => room.session(),
        }
    }

    fn game(&self) -> &Mixer {
        match self {
            Peer::Game(room) => room.game(),
            Peer::Caller(_, _, held) => &held.game,
        }
    }

    /// The latest state without predicted input, and its number.
    fn confirmed(&self) -> Option<(Frame, u64)> {
        let (frame, game) = match self {
            Peer::Game(room) => room.confirmed()?,
            Peer::Caller(room, saved, held) => {
                let session = room.session();
                let frame = session.confirmed_state_frame();
                let is_current = frame == session.current_frame();
                (frame, if is_current { &held.game } else { saved.saved(frame)? })
            }
        };
        Some((frame, state_hash(game)))
    }

    fn update(&mut self, now: Micros, input: u8) {
        match self {
            Peer::Game(room) => {
                room.set_input(0, input);
                room.update(now);
            }
            Peer::Caller(room, saved, held) => {
                room.set_input(0, input);
                room.update(now);
                saved.run(room, held.as_mut());
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Game,
    Caller,
}

struct Cluster {
    net: SimLobby,
    peers: Vec<Option<Peer>>,
    events: Vec<Vec<RoomEvent>>,
    /// Hashes of confirmed states by frame, of all peers, and how many were compared.
    hashes: BTreeMap<Frame, u64>,
    compared: u32,
    compares: bool,
    opened: u64,
}

impl Cluster {
    fn new() -> Cluster {
        BROKEN.set(None);
        Cluster {
            net: SimLobby::new(4, 5, Conditions { loss: Chance::percent(2), ..Conditions::latency_ms(60) }),
            peers: (0..4).map(|_| None).collect(),
            events: vec![Vec::new(); 4],
            hashes: BTreeMap::new(),
            compared: 0,
            compares: true,
            opened: 0,
        }
    }

    fn open(&mut self, peer: usize, kind: Kind, join: JoinTarget) {
        let config = RoomConfig::new("mixer", 4).expect("a label").version("1");
        let config = RoomConfig { lobby: SimLobby::client_config(peer), join, ..config };
        let (now, platform) = (self.net.now(), self.net.platform(peer));
        self.opened += 1;
        self.events[peer].clear();
        self.peers[peer] = Some(match kind {
            Kind::Game => {
                let room = GameRoom::open(now, config, platform, mixer(), self.opened);
                Peer::Game(Box::new(room.expect("in range")))
            }
            Kind::Caller => {
                let saved = SavedStates::new(&config.engine);
                let shape = StateShape::of::<Mixer>();
                let room = RequestRoom::open(now, config, platform, shape, self.opened).expect("in range");
                Peer::Caller(Box::new(room), Box::new(saved), Box::new(Held::new(mixer())))
            }
        });
    }

    fn run_ms(&mut self, ms: u64) {
        for _ in 0..ms * 1_000 / FRAME.get() {
            let now = self.net.advance();
            for (index, peer) in self.peers.iter_mut().enumerate() {
                let Some(peer) = peer else { continue };
                COMPUTING.set(index);
                let beat = now.get() / FRAME.get() / (3 + index as u64);
                peer.update(now, (beat % 2) as u8);
                self.events[index].extend(std::iter::from_fn(|| peer.room().poll_event()));
                if self.compares
                    && peer.room().phase() == Phase::Playing
                    && let Some((frame, hash)) = peer.confirmed()
                {
                    let first = *self.hashes.entry(frame).or_insert(hash);
                    assert_eq!(first, hash, "{frame} of peer {index}: {:?}", self.events);
                    self.compared += 1;
                }
            }
        }
    }

    fn run_until(&mut self, what: &str, ms: u64, is_so: impl Fn(&mut Cluster) -> bool) {
        let until = self.net.now() + Micros::from_millis(ms);
        while !is_so(self) {
            assert!(self.net.now() < until, "{what}: not within {ms} ms; {:?}", self.events);
            self.run_ms(17);
        }
    }

    fn open_until_playing(&mut self, peer: usize, kind: Kind) {
        self.open(peer, kind, JoinTarget::Matchmake);
        let is_in = move |cluster: &mut Cluster| cluster.peer(peer).room().phase() == Phase::Playing;
        self.run_until("the peer plays", 4_000, is_in);
    }

    fn peer(&mut self, peer: usize) -> &mut Peer {
        self.peers[peer].as_mut().expect("an open room")
    }

    fn count(&self, peer: usize, what: impl Fn(&RoomEvent) -> bool) -> usize {
        self.events[peer].iter().filter(|event| what(event)).count()
    }

    /// Asserts that these peers play one match, and that all confirmed states of the next second
    /// are equal.
    fn expect_one_match(&mut self, peers: &[usize]) {
        self.hashes.clear();
        self.compared = 0;
        self.run_ms(1_000);
        let (frames, compared) = (self.hashes.len() as u32, self.compared);
        assert!(frames > 30 && compared > frames * (peers.len() as u32 - 1), "{compared} of {frames}");
        let branches: Vec<u64> = peers.iter().map(|&peer| self.peer(peer).session().branch_id()).collect();
        assert!(branches.iter().all(|branch| *branch == branches[0]), "{branches:?}");
        for &peer in peers {
            let members = self.peer(peer).room().members();
            let playing = members.iter().filter(|member| !member.slots.is_empty()).count();
            assert_eq!((self.peer(peer).room().phase(), playing), (Phase::Playing, peers.len()));
        }
    }
}

const BOTH_ORDERS: [[Kind; 2]; 2] = [[Kind::Game, Kind::Caller], [Kind::Caller, Kind::Game]];

#[test]
fn both_kinds_of_rooms_play_one_match() {
    for [first, second] in BOTH_ORDERS {
        let mut cluster = Cluster::new();
        cluster.open_until_playing(0, first);
        cluster.run_ms(2_000);
        let before = cluster.peer(0).game().frame;
        assert!(before > 100, "it plays solo");
        cluster.open_until_playing(1, second);
        assert!(cluster.peer(1).game().frame > before, "a joiner takes over what was played before");
        cluster.expect_one_match(&[0, 1]);
        // A third peer joins late, with a donor of either kind.
        cluster.open_until_playing(2, Kind::Caller);
        cluster.expect_one_match(&[0, 1, 2]);
        let joined = |event: &RoomEvent| matches!(event, RoomEvent::PlayerJoined { .. });
        assert_eq!(cluster.count(0, joined), 2, "{:?}", cluster.events[0]);
        let desync = |event: &RoomEvent| matches!(event, RoomEvent::DesyncDetected { .. });
        assert_eq!((0..3).map(|peer| cluster.count(peer, desync)).sum::<usize>(), 0);
        assert!(cluster.peer(1).session().stats().rollbacks > 10, "states were loaded");
    }
}

#[test]
fn match_on_screen_goes_on_while_joining() {
    let mut cluster = Cluster::new();
    cluster.open_until_playing(0, Kind::Game);
    cluster.run_ms(2_000);
    cluster.open(1, Kind::Caller, JoinTarget::Matchmake);
    let (mut frames, mut before) = (0, 0);
    while cluster.peer(1).room().phase() != Phase::Playing {
        let frame = cluster.peer(1).game().frame;
        assert!(frame == before || frame == before + 1, "{before} to {frame}");
        frames += u32::from(cluster.count(1, |event| matches!(event, RoomEvent::Joining { .. })) > 0);
        before = frame;
        cluster.run_ms(17);
    }
    assert!(frames > 5, "{frames} frames while joining");
    assert!(cluster.peer(1).game().frame > before + 60, "then the match of the other one is shown");
}

#[test]
fn confirmed_states_are_equal_while_third_peer_joins() {
    for kind in [Kind::Game, Kind::Caller] {
        let mut cluster = Cluster::new();
        (0..3).for_each(|peer| cluster.open_until_playing(peer, kind));
        cluster.expect_one_match(&[0, 1, 2]);
    }
}

#[test]
fn crashed_caller_gets_its_slot_back() {
    let mut cluster = Cluster::new();
    for (peer, kind) in [Kind::Caller, Kind::Caller, Kind::Game].into_iter().enumerate() {
        cluster.open_until_playing(peer, kind);
    }
    cluster.run_ms(2_000);
    let slots = cluster.peer(1).session().local_slots();
    let presses = |cluster: &mut Cluster, slots: SlotSet| {
        cluster.peer(0).game().presses[slots.lowest().expect("a slot").index()]
    };
    let before = presses(&mut cluster, slots);
    let crashed = cluster.peers[1].take();
    cluster.net.crash(1, crashed);
    cluster.run_ms(700);
    cluster.open_until_playing(1, Kind::Caller);
    cluster.expect_one_match(&[0, 1, 2]);
    assert_eq!(cluster.peer(1).session().local_slots(), slots);
    assert!(before > 0 && presses(&mut cluster, slots) > before);
}

#[test]
fn wrong_state_is_located_and_recovered() {
    for broken in 0..3 {
        let mut cluster = Cluster::new();
        for (peer, kind) in [Kind::Game, Kind::Caller, Kind::Caller].into_iter().enumerate() {
            cluster.open_until_playing(peer, kind);
        }
        cluster.expect_one_match(&[0, 1, 2]);
        let recovered = |event: &RoomEvent| matches!(event, RoomEvent::DesyncRecovered { .. });
        let detected = |event: &RoomEvent| matches!(event, RoomEvent::DesyncDetected { .. });
        let located = |event: &RoomEvent| matches!(event, RoomEvent::DesyncLocated { .. });
        cluster.compares = false;
        BROKEN.set(Some(broken));
        let is_detected = |cluster: &mut Cluster| (0..3).all(|peer| cluster.count(peer, detected) > 0);
        cluster.run_until("all peers detect it", 4_000, is_detected);
        BROKEN.set(None);
        cluster.run_until("it is recovered", 8_000, |cluster| cluster.count(broken, recovered) > 0);
        cluster.run_ms(4_000);
        for peer in 0..3 {
            assert!(cluster.count(peer, located) > 0, "peer {peer}: {:?}", cluster.events[peer]);
            let recoveries = cluster.peer(peer).session().stats().recoveries;
            assert_eq!(recoveries > 0, peer == broken, "peer {peer}: {:?}", cluster.events[peer]);
        }
        cluster.compares = true;
        cluster.expect_one_match(&[0, 1, 2]);
    }
}

#[test]
fn spectating_caller_sees_confirmed_states() {
    let mut cluster = Cluster::new();
    cluster.open_until_playing(0, Kind::Caller);
    cluster.open_until_playing(1, Kind::Game);
    let code = cluster.events[0].iter().find_map(|event| match event {
        RoomEvent::RoomJoined { code, .. } => Some(*code),
        _ => None,
    });
    cluster.open(2, Kind::Caller, JoinTarget::Spectate(code.expect("a room")));
    let spectates = |cluster: &mut Cluster| cluster.peer(2).room().phase() == Phase::Spectating;
    cluster.run_until("it spectates", 4_000, spectates);
    cluster.hashes.clear();
    let mut seen = 0;
    for _ in 0..60 {
        cluster.run_ms(17);
        let (frame, hash) = cluster.peer(2).confirmed().expect("it is current");
        if let Some(other) = cluster.hashes.get(&frame) {
            assert_eq!(*other, hash, "{frame}");
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen} frames were compared");
    assert!(cluster.peer(2).session().local_slots().is_empty());
}

#[test]
fn suspended_caller_leaves_and_rejoins() {
    let mut cluster = Cluster::new();
    cluster.open_until_playing(0, Kind::Game);
    cluster.open_until_playing(1, Kind::Caller);
    cluster.peer(1).room().suspend();
    cluster.run_ms(2_000);
    let stalled = cluster.peer(0).session().stats().stalled_ticks;
    cluster.run_ms(1_000);
    assert_eq!(cluster.peer(0).session().stats().stalled_ticks, stalled, "no peer waits for it");
    cluster.peer(1).room().resume();
    let is_back = |cluster: &mut Cluster| cluster.peer(1).room().phase() == Phase::Playing;
    cluster.run_until("it is back", 4_000, is_back);
    cluster.expect_one_match(&[0, 1]);
    // The peer goes on alone with its state.
    cluster.peer(1).room().leave();
    cluster.run_ms(100);
    let before = cluster.peer(1).game().clone();
    cluster.run_ms(1_000);
    let after = cluster.peer(1).game().clone();
    assert!(after.frame > before.frame + 50 && after.presses[0] >= before.presses[0]);
    assert_eq!(cluster.peer(1).room().phase(), Phase::Solo);
}

#[test]
fn update_before_requests_are_drained_is_harmless() {
    let mut cluster = Cluster::new();
    cluster.open_until_playing(0, Kind::Game);
    cluster.open_until_playing(1, Kind::Caller);
    // For a while the caller fetches one request of an update, or none.
    for nth in 0..20 {
        let now = cluster.net.advance();
        cluster.peer(0).update(now, 1);
        let Peer::Caller(room, saved, held) = cluster.peer(1) else { unreachable!() };
        room.update(now);
        if nth % 2 == 0
            && let Some(request) = room.poll_request()
        {
            saved.fulfill(request, held.as_mut());
        }
    }
    cluster.run_ms(1_000);
    cluster.expect_one_match(&[0, 1]);
    // The peer leaves in the middle of an update.
    let now = cluster.net.advance();
    let Peer::Caller(room, saved, held) = cluster.peer(1) else { unreachable!() };
    room.update(now);
    let request = room.poll_request().expect("a tick is due");
    saved.fulfill(request, held.as_mut());
    room.leave();
    let Some(Request::Renumber { sim: SimId::Live }) = room.poll_request() else { panic!("another match") };
    cluster.run_ms(1_000);
    assert_eq!(cluster.peer(1).room().phase(), Phase::Solo);
}

#[test]
fn input_of_caller_is_made_before_each_tick() {
    let config = RoomConfig { join: JoinTarget::Offline, ..RoomConfig::new("mixer", 4).expect("a label") };
    let mut saved = SavedStates::new(&config.engine);
    let mut held = Held::new(mixer());
    let shape = StateShape::of::<Mixer>();
    let platform = SimLobby::new(1, 5, Conditions::default()).platform(0);
    let mut room = RequestRoom::open(Micros::ZERO, config, platform, shape, 7).expect("in range");
    let mut asked = Vec::new();
    for update in 1..=10 {
        // Six ticks in one update; it presses up to frame 20, whichever update that is in.
        let ticks = room.update(Micros::from_millis(update * 100));
        assert!(ticks >= 5, "{ticks} ticks");
        saved.run_with(&mut room, &mut held, |held, player| {
            asked.push((held.game.frame, player));
            u8::from(held.game.frame < 20)
        });
    }
    let frames: Vec<(u32, usize)> = (0..held.game.frame).map(|frame| (frame, 0)).collect();
    assert_eq!(asked, frames, "once for each tick, with the state before it");
    assert_eq!(held.game.presses[0], 20);
}

#[test]
fn chosen_input_delay_of_caller_survives_restart() {
    let mut cluster = Cluster::new();
    cluster.compares = false;
    cluster.open_until_playing(0, Kind::Caller);
    let Peer::Caller(room, ..) = cluster.peer(0) else { unreachable!() };
    room.set_input_delay(Some(3)).expect("within the limits");
    cluster.run_ms(500);
    assert_eq!(cluster.peer(0).session().stats().input_delay_frames, 3);
    let before = cluster.peer(0).session().current_frame();
    let Peer::Caller(room, _, held) = cluster.peer(0) else { unreachable!() };
    room.restart(StateShape::of::<Mixer>(), 1, JoinTarget::Matchmake).expect("in range");
    held.game = mixer();
    assert!(cluster.peer(0).session().current_frame() < before, "another match");
    cluster.run_ms(500);
    assert_eq!(cluster.peer(0).session().stats().input_delay_frames, 3);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a room is `Send`: it may go on in another thread")]
fn request_room_changes_threads_in_mid_match() {
    fn assert_send<T: Send>(value: T) -> T {
        value
    }
    let mut cluster = Cluster::new();
    cluster.open_until_playing(0, Kind::Game);
    cluster.open_until_playing(1, Kind::Caller);
    for _ in 0..20 {
        let now = cluster.net.advance();
        cluster.peer(0).update(now, 1);
        let Some(Peer::Caller(mut room, mut saved, mut held)) = cluster.peers[1].take() else {
            unreachable!()
        };
        room = assert_send(room);
        let other = std::thread::spawn(move || {
            room.update(now);
            saved.run(&mut room, held.as_mut());
            (room, saved, held)
        });
        let (room, saved, held) = other.join().expect("no panic");
        cluster.peers[1] = Some(Peer::Caller(room, saved, held));
    }
    cluster.expect_one_match(&[0, 1]);
}
