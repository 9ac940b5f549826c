//! Rooms whose matches a referee seals: the same game as among peers, by configuration alone.

use std::collections::BTreeSet;

use gaggle::testing::{SimLobby, SimPlatform};
use gaggle::timeline::{Replay, SealConfig};
use gaggle::{
    Frame, Game, GameRoom, HostCommand, Inputs, JoinTarget, LeaveCause, Micros, Phase, RoomConfig, RoomEvent,
    Slot, StartMode, State, TimelineConfig,
};
use gaggle_link::sim::Conditions;

/// A game in which every input counts. Solo it counts, too, so a match must begin with its first
/// state.
#[derive(Clone, Default, State)]
struct Blend {
    hash: u64,
}

impl Game for Blend {
    type Input = u8;

    fn tick(&mut self, inputs: &Inputs<'_, u8>) {
        for slot in (0..4).map(Slot::at) {
            let read = u64::from(inputs.get(slot)) << 1 | u64::from(inputs.is_present(slot));
            self.hash = (self.hash ^ read).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
        }
    }
}

type TestRoom = GameRoom<Blend, SimPlatform>;

struct World {
    lobby: SimLobby,
    rooms: Vec<Option<TestRoom>>,
    told: Vec<Vec<RoomEvent>>,
    frozen: BTreeSet<usize>,
    ticks: u64,
}

impl World {
    fn new(peers: usize) -> World {
        World::with(peers, Conditions::latency_ms(30))
    }

    fn with(peers: usize, conditions: Conditions) -> World {
        World {
            lobby: SimLobby::with_referee(peers, 7, conditions),
            rooms: (0..peers).map(|_| None).collect(),
            told: vec![Vec::new(); peers],
            frozen: BTreeSet::new(),
            ticks: 0,
        }
    }

    fn open(&mut self, index: usize) {
        self.open_as(index, JoinTarget::Matchmake);
    }

    fn open_as(&mut self, index: usize, join: JoinTarget) {
        self.open_with(index, join, StartMode::DropIn);
    }

    fn open_with(&mut self, index: usize, join: JoinTarget, start: StartMode) {
        let config = RoomConfig::new("blend", 4).expect("a label").version("1");
        let mut config = config.with_engine(TimelineConfig::sealed(SealConfig::default()));
        (config.lobby, config.record_replay, config.join) = (SimLobby::client_config(index), true, join);
        config.start = start;
        let (now, platform) = (self.lobby.now(), self.lobby.platform(index));
        let room = GameRoom::open(now, config, platform, Blend::default(), index as u64 + 1);
        self.rooms[index] = Some(room.expect("in range"));
        self.told[index].clear();
    }

    fn playing(peers: usize) -> World {
        let mut world = World::new(peers);
        (0..peers).for_each(|index| world.open(index));
        world.run_until(6_000, |world| (0..peers).all(|index| world.plays(index)));
        world.run_ms(3_000);
        world.told.iter_mut().for_each(Vec::clear);
        world
    }

    fn room(&mut self, index: usize) -> &mut TestRoom {
        self.rooms[index].as_mut().expect("open")
    }

    fn plays(&self, index: usize) -> bool {
        self.rooms[index].as_ref().is_some_and(|room| room.phase() == Phase::Playing)
    }

    fn step(&mut self) {
        let now = self.lobby.advance();
        self.ticks += 1;
        for (index, room) in self.rooms.iter_mut().enumerate() {
            let Some(room) = room.as_mut().filter(|_| !self.frozen.contains(&index)) else { continue };
            room.set_input(0, (self.ticks / (7 + index as u64)) as u8);
            room.update(now);
            while let Some(event) = room.poll_event() {
                self.told[index].push(event);
            }
        }
    }

    fn run_ms(&mut self, millis: u64) {
        let until = self.lobby.now() + Micros::from_millis(millis);
        while self.lobby.now() < until {
            self.step();
        }
    }

    fn run_until(&mut self, millis: u64, mut done: impl FnMut(&World) -> bool) {
        let until = self.lobby.now() + Micros::from_millis(millis);
        while !done(self) {
            assert!(self.lobby.now() < until, "it takes longer than {millis} ms: {:?}", self.told);
            self.step();
        }
    }

    fn count(&self, index: usize, is_it: impl Fn(&RoomEvent) -> bool) -> usize {
        self.told[index].iter().filter(|event| is_it(event)).count()
    }

    fn stalled_ticks(&self, index: usize) -> u64 {
        self.rooms[index].as_ref().expect("open").stats().stalled_ticks
    }

    /// All have equal states in equal frames.
    fn expect_one_match(&mut self, indexes: &[usize]) {
        self.run_ms(4_000);
        let sums: Vec<_> = indexes.iter().map(|index| self.room(*index).checksums()).collect();
        for other in &sums[1..] {
            let common = sums[0].iter().filter(|sum| other.contains(sum)).count();
            let frames = sums[0].iter().filter(|(frame, _)| other.iter().any(|(at, _)| at == frame)).count();
            assert!(frames >= 2 && common == frames, "{sums:?}");
        }
    }
}

#[test]
fn players_find_each_other_at_referee() {
    let mut world = World::new(3);
    world.open(0);
    world.step();
    assert_eq!(world.room(0).phase(), Phase::Solo);
    world.run_until(3_000, |world| world.plays(0));
    assert!(world.room(0).session().is_sealed());
    (1..3).for_each(|index| world.open(index));
    world.run_until(6_000, |world| (1..3).all(|index| world.plays(index)));
    world.expect_one_match(&[0, 1, 2]);
    assert_eq!(world.count(0, |event| matches!(event, RoomEvent::PlayerJoined { .. })), 2);
    assert_eq!(world.count(2, |event| *event == RoomEvent::MatchJoined), 1);
    let members = world.room(1).members().to_vec();
    assert!(members.len() == 3 && members.iter().all(|member| member.slots.len() == 1), "{members:?}");
    assert_eq!(members.iter().filter(|member| member.is_leader).count(), 1);
    assert_eq!((0..3).map(|index| world.stalled_ticks(index)).sum::<u64>(), 0);
}

#[test]
fn late_joiner_takes_running_match_over() {
    let mut world = World::new(3);
    (0..2).for_each(|index| world.open(index));
    world.run_until(6_000, |world| (0..2).all(|index| world.plays(index)));
    world.run_ms(12_000);
    world.open(2);
    world.run_until(8_000, |world| world.plays(2));
    assert_eq!(world.room(2).stats().snapshots_received, 1);
    world.expect_one_match(&[0, 1, 2]);
}

#[test]
fn player_who_leaves_goes_on_solo() {
    let mut world = World::playing(3);
    world.room(1).leave();
    world.run_ms(2_000);
    assert_eq!(world.room(1).phase(), Phase::Solo);
    let left = |event: &RoomEvent| matches!(event, RoomEvent::PlayerLeft { cause: LeaveCause::Left, .. });
    assert_eq!((world.count(0, left), world.count(2, left)), (1, 1));
    world.expect_one_match(&[0, 2]);
    world.room(1).join(JoinTarget::Matchmake);
    world.run_until(8_000, |world| world.plays(1));
    world.expect_one_match(&[0, 1, 2]);
}

#[test]
fn crashed_player_stalls_no_other() {
    let mut world = World::playing(4);
    let before: Vec<u64> = (0..3).map(|index| world.stalled_ticks(index)).collect();
    let room = world.rooms[3].take();
    world.lobby.crash(3, room);
    world.run_ms(14_000);
    for (index, before) in before.into_iter().enumerate() {
        assert_eq!(world.stalled_ticks(index), before);
        let lost = |event: &RoomEvent| matches!(event, RoomEvent::PlayerLeft { .. });
        assert_eq!(world.count(index, lost), 1, "{:?}", world.told[index]);
    }
    world.expect_one_match(&[0, 1, 2]);
}

#[test]
fn frozen_player_stalls_no_other_and_learns_of_refused_input() {
    let mut world = World::playing(4);
    let before: Vec<u64> = (0..3).map(|index| world.stalled_ticks(index)).collect();
    for _ in 0..3 {
        world.frozen.insert(3);
        world.run_ms(2_000);
        world.frozen.remove(&3);
        world.run_ms(3_000);
    }
    let refused = |event: &RoomEvent| matches!(event, RoomEvent::InputRefused { .. });
    for (index, before) in before.into_iter().enumerate() {
        assert_eq!((world.stalled_ticks(index), world.count(index, refused)), (before, 0));
    }
    assert!(world.count(3, refused) > 0 && world.plays(3));
    world.expect_one_match(&[0, 1, 2, 3]);
}

#[test]
fn passive_player_keeps_its_slot_and_returns() {
    let mut world = World::playing(3);
    world.room(2).set_passive(0, true);
    world.run_ms(12_000);
    let slots = world.room(2).local_slots();
    assert_eq!(slots.len(), 1);
    let refused = |event: &RoomEvent| matches!(event, RoomEvent::InputRefused { .. });
    assert_eq!(world.count(2, refused), 0);
    world.room(2).set_passive(0, false);
    world.expect_one_match(&[0, 1, 2]);
    assert!(world.plays(2) && world.room(2).local_slots() == slots);
}

#[test]
fn spectator_sees_match() {
    let mut world = World::new(3);
    (0..2).for_each(|index| world.open(index));
    world.run_until(6_000, |world| (0..2).all(|index| world.plays(index)));
    world.run_ms(12_000);
    let joined = world.told[0].iter().find_map(|event| match event {
        RoomEvent::RoomJoined { code, .. } => Some(*code),
        _ => None,
    });
    world.open_as(2, JoinTarget::Spectate(joined.expect("in a room")));
    world.run_until(8_000, |world| {
        world.rooms[2].as_ref().is_some_and(|room| room.phase() == Phase::Spectating)
    });
    world.expect_one_match(&[0, 1, 2]);
    assert!(world.room(2).local_slots().is_empty());
}

#[test]
fn match_survives_restart_of_referee() {
    for with_journal in [true, false] {
        let mut world = World::playing(3);
        let before = world.room(0).session().confirmed_frame();
        world.lobby.restart_referee(with_journal);
        world.run_ms(8_000);
        assert!((0..3).all(|index| world.plays(index)), "{:?}", world.told);
        assert!(world.room(0).session().confirmed_frame() > before + 120);
        world.expect_one_match(&[0, 1, 2]);
    }
}

#[test]
fn messages_and_values_pass_through_referee() {
    let mut world = World::playing(3);
    let ids: Vec<_> = (0..3).map(|index| world.room(index).session().local_peer()).collect();
    world.room(0).send_message(Some(ids[1]), b"to one").expect("connected");
    world.room(0).send_message(None, b"to all").expect("connected");
    world.room(0).set_value(3, b"red").expect("it fits");
    world.run_ms(500);
    let texts = |world: &mut World, index: usize| {
        std::iter::from_fn(|| world.room(index).poll_message()).collect::<Vec<_>>()
    };
    let all = (ids[0], b"to all".to_vec());
    assert_eq!(texts(&mut world, 1), [(ids[0], b"to one".to_vec()), all.clone()]);
    assert_eq!(texts(&mut world, 2), [all]);
    assert_eq!(world.room(2).value(ids[0], 3), Some(&b"red"[..]));
}

#[test]
fn replay_of_sealed_match_plays_back() {
    let mut world = World::playing(2);
    world.run_ms(5_000);
    let bytes = world.room(0).replay_bytes().expect("recorded");
    let fingerprint = world.room(0).session().config().game_fingerprint;
    let replay = Replay::<Blend>::read(&bytes, fingerprint).expect("a whole file");
    assert!(replay.last_frame().number() > 200);
    assert!(replay.verify().is_ok());
}

#[test]
fn player_who_rests_returns_to_match() {
    let mut world = World::playing(3);
    world.room(2).suspend();
    world.run_ms(3_000);
    assert_eq!(world.room(2).phase(), Phase::Suspended);
    world.room(2).resume();
    world.run_until(8_000, |world| world.plays(2));
    world.expect_one_match(&[0, 1, 2]);
}

#[test]
fn host_starts_match_that_all_begin_equal() {
    let mut world = World::new(3);
    let start = StartMode::HostStarts { join_late: true };
    world.open_with(0, JoinTarget::CreatePrivate, start);
    world.run_ms(500);
    let code = world.told[0].iter().find_map(|event| match event {
        RoomEvent::RoomJoined { code, .. } => Some(*code),
        _ => None,
    });
    let target = JoinTarget::Code(code.expect("in a room"));
    (1..3).for_each(|index| world.open_with(index, target.clone(), start));
    world.run_ms(8_000);
    assert!((0..3).all(|index| matches!(world.room(index).phase(), Phase::Lobby { .. })));
    for _ in 0..2 {
        let start = HostCommand::Start { countdown: Micros::from_secs(1) };
        world.room(0).host_command(start).expect("the host");
        world.run_until(10_000, |world| (0..3).all(|index| world.plays(index)));
        world.expect_one_match(&[0, 1, 2]);
        assert!(world.room(0).session().start_frame() == Frame::START, "the match began with them");
        world.room(0).host_command(HostCommand::EndMatch).expect("the host");
        world.run_ms(1_000);
    }
}
