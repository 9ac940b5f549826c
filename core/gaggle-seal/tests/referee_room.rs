//! Stories of a whole room: hello, states between clients, verdicts, spectators, messages of the
//! application, restarts with and without a journal.

use std::collections::BTreeMap;

use gaggle_kit::{Frame, Micros, PeerId, Slot, StateHasher};
use gaggle_seal::{
    Admission, Build, Cell, Client, ClientEvent, ClientPhase, CloseReason, DamageReason, Epoch, Fault,
    Origin, OutReason, RefereeEvent, RefereePhase, RefereeRoom, RoomEvent, RoomPhase, RoomSetup, SealConfig,
    StreamId, StreamSlots,
};

const BUILD: Build = Build { game: 1, state: 2, settings: 3 };

/// Bytes of the state of every game here: several pieces of a transfer.
const STATE_BYTES: usize = 20_000;

/// A client with a game: its state is a hash of all that was sealed.
struct Player {
    client: Client,
    simulated: Frame,
    state: u64,
    has_state: bool,
    /// States of frames that are multiples of `check_frames`.
    kept: BTreeMap<Frame, u64>,
    wanted: Option<(u32, Frame)>,
    events: Vec<ClientEvent>,
    is_connected: bool,
    /// What the player does wrong.
    lie: Lie,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Lie {
    Nothing,
    /// It reports another checksum of its log.
    LogHash,
    /// It gives other bytes than it offers.
    StateBytes,
}

fn encoded(state: u64) -> Vec<u8> {
    state.to_le_bytes().repeat(STATE_BYTES / 8)
}

impl Player {
    fn follow(&mut self, check_frames: u32) {
        while let Some(event) = self.client.poll_event() {
            match &event {
                ClientEvent::SnapshotReceived { frame, state, state_hash } => {
                    let first = state.first_chunk::<8>();
                    self.state = first.map_or(0, |bytes| u64::from_le_bytes(*bytes));
                    assert!(state.is_empty() || (state.len(), *state_hash) == (STATE_BYTES, self.state));
                    (self.simulated, self.has_state) = (*frame, true);
                }
                ClientEvent::StateWanted { number, frame } => self.wanted = Some((*number, *frame)),
                _ => {}
            }
            self.events.push(event);
        }
        let log = self.client.log();
        if !self.has_state || self.client.is_receiving() || self.client.phase() != ClientPhase::Following {
            return;
        }
        let mut reports = Vec::new();
        while self.simulated < log.sealed() {
            let frame = self.simulated.next();
            for slot in (0..log.shape().slots()).map(Slot::at) {
                if let Cell::Made { value, .. } = log.cell(frame, slot) {
                    self.state = self.state.rotate_left(7) ^ StateHasher::of(value) ^ slot.index() as u64;
                }
            }
            self.simulated = frame;
            if frame.number().is_multiple_of(check_frames) {
                self.kept.insert(frame, self.state);
                reports.push((frame, self.state));
            }
        }
        for (frame, state) in reports {
            self.client.report(frame, state, 3);
            if let Some((number, wanted)) = self.wanted.take_if(|(_, wanted)| *wanted <= frame)
                && let Some(state) = self.kept.get(&wanted)
            {
                self.client.offer_state(number, wanted, *state, &encoded(*state));
            }
        }
    }
}

struct World {
    room: RefereeRoom,
    players: BTreeMap<u128, Player>,
    config: SealConfig,
    ticks: u64,
    /// What the server wrote: the journal of this room.
    file: Vec<u8>,
    events: Vec<RoomEvent>,
    closed: Vec<(PeerId, CloseReason)>,
    received: Vec<(PeerId, u8, Vec<u8>)>,
}

fn peer(number: u128) -> PeerId {
    PeerId::from_u128(number)
}

fn setup(epoch: u32, origin: Origin) -> RoomSetup {
    RoomSetup { match_id: 7, epoch: Epoch(epoch), origin, ..RoomSetup::default() }
}

impl World {
    fn new(config: SealConfig) -> World {
        World {
            room: RefereeRoom::new(Micros::ZERO, setup(1, Origin::Found)),
            players: BTreeMap::new(),
            config,
            ticks: 0,
            file: Vec::new(),
            events: Vec::new(),
            closed: Vec::new(),
            received: Vec::new(),
        }
    }

    fn now(&self) -> Micros {
        Micros::new(self.ticks * 1_000_000 / 60)
    }

    /// Lets a peer in, as a player of this slot or as a spectator.
    fn join(&mut self, number: u128, slot: Option<usize>) {
        let stream = StreamId { peer: peer(number), incarnation: 1 };
        let slots = slot.and_then(|slot| StreamSlots::new(&[Slot::at(slot)]));
        let client = match slots {
            Some(slots) => Client::new(self.config.clone(), stream, slots),
            None => Client::spectator(self.config.clone(), stream),
        };
        let client = client.expect("valid settings").with_build(BUILD);
        let player = Player {
            client,
            simulated: Frame::START,
            state: 0,
            has_state: false,
            kept: BTreeMap::new(),
            wanted: None,
            events: Vec::new(),
            is_connected: false,
            lie: Lie::Nothing,
        };
        self.players.insert(number, player);
        self.connect(number, slots);
    }

    fn connect(&mut self, number: u128, slots: Option<StreamSlots>) {
        let now = self.now();
        self.room.handle_connected(now, peer(number), Admission { slots });
        let player = self.players.get_mut(&number).expect("known");
        player.client.handle_connected(now);
        player.is_connected = true;
    }

    fn run(&mut self, ticks: u64) {
        (0..ticks).for_each(|_| self.tick());
    }

    fn tick(&mut self) {
        self.ticks += 1;
        let (now, check_frames) = (self.now(), self.config.check_frames);
        for (number, player) in self.players.iter_mut().filter(|(_, player)| player.is_connected) {
            player.follow(check_frames);
            player.client.set_ready(player.has_state);
            let frame = Frame::new(self.ticks as u32 + 3);
            let value = (self.ticks / 5) as u8 ^ *number as u8;
            let _ = player.client.set_entry(frame, &[Some(&[value])]);
            player.client.tick(now);
            while let Some(sent) = player.client.poll_transmit() {
                let mut bytes = sent.bytes.to_vec();
                match (player.lie, sent.is_reliable, bytes[0]) {
                    (Lie::LogHash, true, 12) => bytes[14] ^= 1,
                    (Lie::StateBytes, true, 10) => bytes[100] ^= 1,
                    _ => {}
                }
                match sent.is_reliable {
                    true => self.room.handle_message(now, peer(*number), sent.stream, &bytes),
                    false => self.room.handle_packet(now, peer(*number), &bytes),
                }
            }
        }
        self.room.tick(now);
        if self.room.is_journal_new() {
            self.file.clear();
        }
        self.file.extend_from_slice(self.room.records());
        self.room.mark_records_written();
        while let Some(sent) = self.room.poll_transmit() {
            if let Some(stream) = sent.stream.filter(|stream| *stream >= 16) {
                self.received.push((sent.peer, stream, sent.bytes.to_vec()));
                continue;
            }
            let found = self.players.iter_mut().find(|(number, _)| peer(**number) == sent.peer);
            let Some((_, player)) = found.filter(|(_, player)| player.is_connected) else { continue };
            match sent.stream {
                Some(_) => player.client.handle_message(now, sent.bytes),
                None => player.client.handle_packet(now, sent.bytes),
            }
            .expect("an honest referee");
        }
        while let Some((peer, reason)) = self.room.poll_close() {
            self.players
                .iter_mut()
                .filter(|(number, _)| PeerId::from_u128(**number) == peer)
                .for_each(|(_, player)| player.is_connected = false);
            self.closed.push((peer, reason));
        }
        while let Some(event) = self.room.poll_event() {
            self.events.push(event);
        }
    }

    fn sealed(&self) -> Frame {
        self.room.referee().expect("founded").log().sealed()
    }

    /// All games that are at the same frame are the same.
    fn expect_one_game(&mut self) {
        let check_frames = self.config.check_frames;
        self.players.values_mut().for_each(|player| player.follow(check_frames));
        let mut last: Vec<(Frame, u64)> = Vec::new();
        for player in self.players.values().filter(|player| player.is_connected) {
            assert!(player.has_state);
            let common = player.kept.iter().next_back().expect("it plays long enough");
            last.push((*common.0, *common.1));
        }
        let newest = last.iter().map(|(frame, _)| *frame).min().expect("players");
        let states: Vec<u64> = self
            .players
            .values()
            .filter(|player| player.is_connected)
            .map(|player| player.kept[&newest])
            .collect();
        assert!(states.windows(2).all(|pair| pair[0] == pair[1]), "{newest}: {states:?}");
    }

    fn event_count(&self, is_it: impl Fn(&RefereeEvent) -> bool) -> usize {
        self.events.iter().filter(|event| matches!(event, RoomEvent::Referee(event) if is_it(event))).count()
    }
}

fn config(slots: usize) -> SealConfig {
    SealConfig { slot_count: slots, ..SealConfig::default() }
}

fn playing(slots: usize) -> World {
    let mut world = World::new(config(slots));
    (0..slots).for_each(|slot| world.join(slot as u128 + 1, Some(slot)));
    world.run(200);
    assert!(world.players.values().all(|player| player.client.is_playing()));
    world
}

#[test]
fn room_is_founded_by_first_hello_and_closes_when_empty() {
    let mut world = World::new(config(2));
    world.run(10);
    assert_eq!(world.room.phase(), RoomPhase::Gathering);
    world.join(1, Some(0));
    world.run(100);
    assert_eq!(world.room.phase(), RoomPhase::Running);
    assert!(world.players[&1].client.is_playing());
    let now = world.now();
    world.players.get_mut(&1).expect("known").is_connected = false;
    world.room.handle_disconnected(now, peer(1), OutReason::Silent);
    world.run(60 * 59);
    assert_eq!(world.room.phase(), RoomPhase::Running);
    world.run(120);
    assert_eq!(world.room.phase(), RoomPhase::Closed);
}

#[test]
fn other_build_other_rules_and_silence_are_not_let_in() {
    let mut world = playing(3);
    let stream = |number| StreamId { peer: peer(number), incarnation: 1 };
    let spectator = |config: SealConfig, number| Client::spectator(config, stream(number)).expect("valid");
    let other_build = spectator(config(3), 10).with_build(Build { game: 9, ..BUILD });
    let other_rules = spectator(SealConfig { accept_frames: 1, ..config(3) }, 11).with_build(BUILD);
    for (number, mut client) in [(10, other_build), (11, other_rules)] {
        let now = world.now();
        world.room.handle_connected(now, peer(number), Admission::default());
        client.handle_connected(now);
        let hello = client.poll_transmit().expect("a hello").bytes.to_vec();
        world.room.handle_message(now, peer(number), 0, &hello);
        world.tick();
        assert_eq!(world.closed.last(), Some(&(peer(number), CloseReason::Incompatible)));
    }
    let now = world.now();
    world.room.handle_connected(now, peer(12), Admission::default());
    world.room.handle_message(now, peer(12), 0, &[1, 0]);
    world.tick();
    assert_eq!(world.closed.last(), Some(&(peer(12), CloseReason::Fault(Fault::NoHello))));
    let now = world.now();
    world.room.handle_connected(now, peer(13), Admission::default());
    world.run(290);
    assert_eq!(world.closed.len(), 3);
    world.run(20);
    assert_eq!(world.closed.last(), Some(&(peer(13), CloseReason::Silent)));
    assert!(world.players.values().all(|player| player.client.is_playing()), "no other notices");
}

#[test]
fn rules_beyond_server_found_no_room() {
    let mut world = World::new(SealConfig { history_frames: 2_000, ..config(2) });
    world.join(1, Some(0));
    world.run(5);
    assert_eq!(world.closed, [(peer(1), CloseReason::Settings)]);
    assert_eq!(world.room.phase(), RoomPhase::Gathering);
}

#[test]
fn late_joiner_gets_state_that_two_players_gave() {
    let mut world = playing(4);
    world.players.remove(&4);
    let now = world.now();
    world.room.handle_disconnected(now, peer(4), OutReason::Goodbye);
    // Longer than frame 0 is kept: only a client can give a state.
    world.run(700);
    world.join(4, Some(3));
    world.run(300);
    assert!(world.players[&4].client.is_playing());
    let referee = world.room.referee().expect("founded");
    assert_eq!((referee.stats().states_donated, referee.stats().desyncs), (1, 0));
    let booted = world.players[&4]
        .events
        .iter()
        .any(|event| matches!(event, ClientEvent::SnapshotReceived { frame, .. } if frame.number() >= 900));
    assert!(booted, "{:?}", world.players[&4].events);
    world.expect_one_game();
}

#[test]
fn lying_donor_is_closed_and_others_are_asked() {
    let mut world = playing(4);
    world.run(700);
    for number in [1, 2, 3] {
        world.players.get_mut(&number).expect("known").lie = Lie::StateBytes;
    }
    world.join(9, None);
    world.run(1_200);
    assert!(world.players[&9].has_state, "the honest one is found");
    let faults = world.closed.iter().filter(|(_, reason)| *reason == CloseReason::Fault(Fault::FalseState));
    assert!(faults.count() >= 1, "{:?}", world.closed);
    world.expect_one_game();
}

#[test]
fn player_with_other_state_is_told_and_recovers() {
    let mut world = playing(4);
    world.players.get_mut(&3).expect("known").state ^= 1;
    let sealed = world.sealed();
    world.run(400);
    let player = &world.players[&3];
    assert!(player.events.iter().any(|event| matches!(event, ClientEvent::Desync { .. })));
    let is_right =
        |event: &ClientEvent| matches!(event, ClientEvent::SnapshotReceived { frame, .. } if *frame > sealed);
    assert!(player.events.iter().any(is_right), "{:?}", player.events);
    assert!(!player.events.contains(&ClientEvent::Reset), "its log and its stream go on");
    assert!(world.event_count(|event| matches!(event, RefereeEvent::Desync { .. })) >= 1);
    assert!(world.players.values().all(|player| player.client.is_playing()));
    world.expect_one_game();
}

#[test]
fn tie_of_two_players_is_decided_by_rank() {
    let mut world = playing(2);
    world.players.get_mut(&2).expect("known").state ^= 1;
    world.run(500);
    assert!(world.players[&2].events.iter().any(|event| matches!(event, ClientEvent::Desync { .. })));
    assert!(!world.players[&1].events.iter().any(|event| matches!(event, ClientEvent::Desync { .. })));
    world.expect_one_game();
}

#[test]
fn player_with_other_log_begins_with_snapshot_again() {
    let mut world = playing(3);
    world.players.get_mut(&2).expect("known").lie = Lie::LogHash;
    world.run(70);
    world.players.get_mut(&2).expect("known").lie = Lie::Nothing;
    assert!(world.players[&2].events.contains(&ClientEvent::Reset));
    world.run(400);
    assert!(world.room.referee().expect("founded").stats().logs_rejected >= 1);
    assert!(world.players[&2].client.is_playing());
    world.expect_one_game();
}

#[test]
fn client_that_enters_anew_plays_on_as_same_stream() {
    let mut world = playing(3);
    let joins = world.event_count(|event| matches!(event, RefereeEvent::Joined { .. }));
    world.run(500);
    let player = world.players.get_mut(&2).expect("known");
    player.has_state = false;
    player.client.enter_anew();
    world.run(300);
    assert!(world.players[&2].client.is_playing());
    assert_eq!(world.event_count(|event| matches!(event, RefereeEvent::Joined { .. })), joins);
    world.expect_one_game();
}

#[test]
fn spectator_sees_frames_later_by_delay_and_takes_no_slot() {
    let mut world = World::new(config(2));
    world.room = RefereeRoom::new(
        Micros::ZERO,
        RoomSetup {
            server: SealConfig { spectator_delay_frames: 120, spectators_max: 1, ..SealConfig::default() },
            ..setup(1, Origin::Found)
        },
    );
    world.join(1, Some(0));
    world.join(2, Some(1));
    world.join(8, None);
    world.run(400);
    let seen = world.players[&8].client.log().sealed();
    let behind = world.sealed() - seen;
    assert!((120..140).contains(&behind), "{behind} frames behind");
    assert!(world.players[&8].has_state && !world.players[&8].client.is_playing());
    // One spectator is what this room has place for.
    world.join(9, None);
    world.tick();
    assert!(matches!(world.closed.last(), Some((_, CloseReason::Rejected(_)))), "{:?}", world.closed);
    // Later than frame 0 is kept, it waits until its state may be seen.
    world.players.remove(&8);
    let now = world.now();
    world.room.handle_disconnected(now, peer(8), OutReason::Silent);
    world.run(700);
    world.join(8, None);
    world.run(400);
    assert!(world.players[&8].has_state);
    let behind = world.sealed() - world.players[&8].client.log().sealed();
    assert!((120..140).contains(&behind), "{behind} frames behind");
}

#[test]
fn application_messages_reach_one_or_all_with_sender() {
    let mut world = playing(3);
    let now = world.now();
    let to_all = [&[0; 16][..], b"hi"].concat();
    let to_two = [&peer(2).as_bytes()[..], b"psst"].concat();
    world.room.handle_message(now, peer(1), 16, &to_all);
    world.room.handle_message(now, peer(1), 17, &to_two);
    world.tick();
    let from = |text: &[u8]| [&peer(1).as_bytes()[..], text].concat();
    let expected = [(peer(2), 16, from(b"hi")), (peer(3), 16, from(b"hi")), (peer(2), 17, from(b"psst"))];
    assert_eq!(world.received, expected);
    // A flood is dropped, and a message beyond its size.
    let large = [&[0; 16][..], &[0; 16_000]].concat();
    (0..1_000).for_each(|_| world.room.handle_message(now, peer(1), 16, &large));
    world.room.handle_message(now, peer(1), 16, &[0; 20_000]);
    assert!(world.room.forwards_dropped() > 900);
    world.received.clear();
    world.run(2);
    assert!(world.received.len() < 100);
    world.room.handle_message(now, peer(1), 16, &[1, 2, 3]);
    world.tick();
    assert_eq!(world.closed.last(), Some(&(peer(1), CloseReason::Fault(Fault::NoHello))));
}

/// The server's process is killed and started again.
fn restart(world: &mut World, epoch: u32, origin: Origin) {
    let now = world.now();
    world.room = RefereeRoom::new(now, setup(epoch, origin));
    let numbers: Vec<u128> = world.players.keys().copied().collect();
    world.room.expect_answers(numbers.iter().map(|number| peer(*number)));
    for (slot, number) in numbers.into_iter().enumerate() {
        world.connect(number, StreamSlots::new(&[Slot::at(slot)]));
    }
}

#[test]
fn killed_server_goes_on_from_journal_again_and_again() {
    let mut world = playing(3);
    for epoch in 2..6 {
        let held = world.players.values().map(|player| player.client.log().sealed()).max();
        let file = world.file.clone();
        restart(&mut world, epoch, Origin::Journal(file));
        world.run(100);
        let recovered = world.events.iter().rev().find_map(|event| match event {
            RoomEvent::Recovered { frame, damage } => Some((*frame, *damage)),
            _ => None,
        });
        let (frame, damage) = recovered.expect("from the journal");
        assert!(Some(frame) >= held && damage.is_none());
        assert!(world.players.values().all(|player| player.client.is_playing()));
        assert!(world.sealed() > frame + 50);
        world.expect_one_game();
    }
    assert!(world.players.values().all(|player| !player.events.contains(&ClientEvent::Reset)));
}

#[test]
fn journal_rewritten_in_play_stands_alone() {
    let mut world = playing(3);
    world.room.rewrite_journal();
    assert!(world.room.is_journal_new());
    world.run(50);
    assert!(!world.room.is_journal_new());
    let file = world.file.clone();
    restart(&mut world, 2, Origin::Journal(file));
    world.run(100);
    assert!(world.players.values().all(|player| player.client.is_playing()));
    world.expect_one_game();
}

#[test]
fn damaged_journal_goes_on_from_its_whole_part() {
    let mut world = playing(3);
    let mut file = world.file.clone();
    // Several frames, some of which players were told.
    let cut = file.len() - 60;
    file.truncate(cut);
    restart(&mut world, 2, Origin::Journal(file));
    world.run(200);
    let is_cut = |event: &RoomEvent| matches!(event, RoomEvent::Recovered { damage: Some(damage), .. } if damage.reason == DamageReason::Cut);
    assert!(world.events.iter().any(is_cut), "{:?}", world.events);
    assert!(world.players.values().all(|player| player.client.is_playing()));
    // A game here cannot go back; one that can takes back the frames the journal lost.
    let taken_back = |player: &Player| {
        player
            .events
            .iter()
            .any(|event| matches!(event, ClientEvent::TermChanged { kept, sealed, .. } if kept < sealed))
    };
    assert!(world.players.values().any(taken_back));
}

#[test]
fn journal_of_other_version_is_said_and_clients_are_asked() {
    let mut world = playing(3);
    let mut file = world.file.clone();
    file[7] = 9;
    let held = world.players.values().map(|player| player.client.log().sealed()).min();
    restart(&mut world, 2, Origin::Journal(file));
    world.run(200);
    assert!(world.events.iter().any(|event| matches!(event, RoomEvent::JournalRejected(_))));
    let referee = world.room.referee().expect("founded");
    assert_eq!(referee.phase(), RefereePhase::Running);
    assert!(Some(referee.log().sealed()) > held);
    assert!(world.players.values().all(|player| player.client.is_playing()));
    world.expect_one_game();
}

#[test]
fn room_whose_players_all_left_begins_again() {
    let mut world = playing(2);
    world.run(700);
    let now = world.now();
    for number in [1, 2] {
        world.players.remove(&number);
        world.room.handle_disconnected(now, peer(number), OutReason::Goodbye);
    }
    world.run(60);
    world.join(5, Some(0));
    world.run(200);
    let is_anew = |event: &RefereeEvent| matches!(event, RefereeEvent::Resumed { is_anew: true, .. });
    assert_eq!(world.event_count(is_anew), 1);
    assert!(world.players[&5].client.is_playing());
    // The journal holds the match that began again.
    let file = world.file.clone();
    restart(&mut world, 2, Origin::Journal(file));
    world.run(100);
    assert!(world.players[&5].client.is_playing());
}

#[test]
fn lost_referee_is_told_once_and_again_after_it_came_back() {
    let mut world = playing(2);
    let lost = |world: &World| {
        world.players[&1].events.iter().filter(|event| **event == ClientEvent::RefereeLost).count()
    };
    let mut alone = world.players.remove(&1).expect("known");
    let begin = world.now();
    (0..32).for_each(|second| alone.client.tick(begin + Micros::from_secs(second)));
    while alone.client.poll_transmit().is_some() {}
    alone.follow(60);
    world.players.insert(1, alone);
    assert_eq!(lost(&world), 1);
}

#[test]
fn drained_room_closes() {
    let mut world = playing(2);
    let now = world.now();
    world.room.drain(now);
    world.run(90);
    assert_eq!(world.room.phase(), RoomPhase::Closed);
}
