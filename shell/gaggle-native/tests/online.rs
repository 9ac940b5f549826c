//! Two native programs meet in a room of a real server and play, over every kind of path.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

mod counter;

use std::time::{Duration, Instant};

use gaggle::link::{Path, PathReason, sim::Conditions};
use gaggle::{
    GameRoom, HostCommand, JoinTarget, Micros, OnlineConfig, Phase, RoomConfig, RoomEvent, Slot, StartMode,
};
use gaggle_native::{Clock, NativePlatform, RequestRoom, WorldRoom, platform_with, random_seed};
use gaggle_server::{BackgroundServer, Config};

use counter::Counter;

type Player = GameRoom<Counter, NativePlatform>;

/// A minimal world.
struct NoWorld;

impl gaggle::World for NoWorld {
    type Input = u8;

    fn kinds() -> gaggle::replica::Kinds {
        gaggle::replica::Kinds::new()
    }

    fn populate(&mut self, _: &mut gaggle::replica::Session) {}

    fn step(&mut self, _: &mut gaggle::replica::Session) {}
}

/// Round trip with [`far_away`].
const ROUND_TRIP: Micros = Micros::from_millis(200);

fn far_away() -> Conditions {
    Conditions::from_settings([("latency", "200")]).unwrap()
}

fn open(server: &BackgroundServer, clock: &Clock, only: Option<Path>) -> Player {
    let config = RoomConfig::new("counter", 2).unwrap();
    let ways = OnlineConfig { only_path: only, conditions: far_away() };
    let outside = platform_with(&format!("ws://{}", server.address()), ways).unwrap();
    GameRoom::open(clock.now(), config, outside, Counter::default(), random_seed().unwrap()).unwrap()
}

/// Runs two players until each has seen the other press, both use the path, and the round trip is
/// as configured.
fn meet(only: Option<Path>, by: Path) {
    let data = std::env::temp_dir().join(format!("gaggle-online-{}-{only:?}", std::process::id()));
    let config = Config { listen: ([127, 0, 0, 1], 0).into(), data: data.clone(), ..Config::default() };
    let server = BackgroundServer::start(config).unwrap();
    let clock = Clock::start();
    let mut players = [open(&server, &clock, only), open(&server, &clock, only)];
    let (began, mut told) = (Instant::now(), [const { Vec::new() }; 2]);
    loop {
        assert!(began.elapsed() < Duration::from_secs(180), "{players:?}: {told:?}");
        for (player, told) in players.iter_mut().zip(&mut told) {
            player.set_input(0, 1);
            player.update(clock.now());
            while let Some(event) = player.poll_event() {
                if let RoomEvent::PathChanged { path, reason, .. } = event {
                    told.push((path, reason));
                }
            }
        }
        std::thread::sleep(Duration::from_millis(2));
        let both = players.iter().all(|player| {
            player.phase() == Phase::Playing && player.game().presses.iter().all(|presses| *presses > 10)
        });
        // A busy machine may use another path first, if permitted.
        let others = players.each_mut().map(|player| player.members().into_iter().find(|one| !one.is_local));
        let paths = others.each_ref().map(|other| other.as_ref()?.path);
        let rtts = others.map(|other| other?.link_stats?.rtt);
        let are_told = told.iter().all(|told| told.last().is_some_and(|(path, _)| *path == Some(by)));
        if both && paths == [Some(by); 2] && are_told && rtts.iter().all(Option::is_some) {
            assert!(rtts.iter().all(|rtt| *rtt >= Some(ROUND_TRIP)), "{by:?}: {rtts:?}");
            break;
        }
    }
    for told in told {
        assert_eq!(told[0].1, PathReason::Initial, "{told:?}");
    }
    drop(players);
    server.stop();
    let _ = std::fs::remove_dir_all(data);
}

fn assert_send<T: Send>() {}

/// A world need not be `Send`; if it is, so is its room.
fn shared_room_is_send<W: gaggle::World<Input: Send> + Send>() {
    assert_send::<WorldRoom<W>>();
}

#[test]
fn room_moved_between_threads_in_match_plays_on() {
    assert_send::<Player>();
    assert_send::<RequestRoom<u8>>();
    let _ = shared_room_is_send::<NoWorld>;
    let data = std::env::temp_dir().join(format!("gaggle-threads-{}", std::process::id()));
    let config = Config { listen: ([127, 0, 0, 1], 0).into(), data: data.clone(), ..Config::default() };
    let server = BackgroundServer::start(config).unwrap();
    let clock = Clock::start();
    let mut first = open(&server, &clock, None);
    let mut second = Some(open(&server, &clock, None));
    let (began, mut threads) = (Instant::now(), 0);
    // Each iteration the second room is on another thread.
    while threads < 20 {
        assert!(began.elapsed() < Duration::from_secs(60), "{first:?} {second:?}");
        let mut moved = second.take().unwrap();
        let on_its_own = clock;
        let thread = std::thread::spawn(move || {
            for _ in 0..25 {
                moved.set_input(0, 1);
                moved.update(on_its_own.now());
                std::thread::sleep(Duration::from_millis(2));
            }
            moved
        });
        while !thread.is_finished() {
            first.set_input(0, 1);
            first.update(clock.now());
            std::thread::sleep(Duration::from_millis(2));
        }
        let moved = thread.join().unwrap();
        let is_in = first.phase() == Phase::Playing && first.members().len() == 2;
        threads += u32::from(is_in && moved.game().presses.iter().all(|presses| *presses > 10));
        second = Some(moved);
    }
    drop((first, second));
    server.stop();
    let _ = std::fs::remove_dir_all(data);
}

/// Opens a room of a host that starts the matches, or joins it.
fn open_waiting(server: &BackgroundServer, clock: &Clock, join: JoinTarget) -> Player {
    let start = StartMode::HostStarts { join_late: false };
    let config = RoomConfig { join, start, ..RoomConfig::new("counter", 2).unwrap() };
    let outside = platform_with(&format!("ws://{}", server.address()), OnlineConfig::default()).unwrap();
    GameRoom::open(clock.now(), config, outside, Counter::default(), random_seed().unwrap()).unwrap()
}

/// Two programs wait for the host, get ready, start together, report, and start once more.
#[test]
fn host_starts_two_matches_whose_results_are_stored() {
    let data = std::env::temp_dir().join(format!("gaggle-starts-{}", std::process::id()));
    let config = Config { listen: ([127, 0, 0, 1], 0).into(), data: data.clone(), ..Config::default() };
    let server = BackgroundServer::start(config).unwrap();
    let clock = Clock::start();
    let mut players = vec![open_waiting(&server, &clock, JoinTarget::CreatePrivate)];
    let mut told = [const { Vec::new() }; 2];
    let (began, mut round) = (Instant::now(), 1);
    let (mut readied, mut started, mut reported) = (0, 0, [0; 2]);
    while round <= 2 {
        assert!(began.elapsed() < Duration::from_secs(90), "round {round}: {players:?}: {told:?}");
        for (player, told) in players.iter_mut().zip(&mut told) {
            player.set_input(0, 1);
            player.update(clock.now());
            while let Some(event) = player.poll_event() {
                told.push(event);
            }
        }
        std::thread::sleep(Duration::from_millis(2));
        let waiting = Phase::Lobby { starts_at: None };
        if players.len() == 1 {
            let code = told[0].iter().find_map(|event| match event {
                RoomEvent::RoomJoined { code, .. } => Some(*code),
                _ => None,
            });
            players.extend(code.map(|code| open_waiting(&server, &clock, JoinTarget::Code(code))));
            continue;
        }
        let are_waiting =
            players.iter().all(|player| player.phase() == waiting && player.members().len() == 2);
        if are_waiting && readied < round {
            players.iter_mut().for_each(|player| player.set_ready(true));
            readied = round;
        } else if are_waiting && started < round && players[0].members().iter().all(|member| member.is_ready)
        {
            let countdown = Micros::from_millis(300);
            players[0].host_command(HostCommand::Start { countdown }).unwrap();
            started = round;
        }
        for (player, reported) in players.iter_mut().zip(&mut reported) {
            let presses = player.game().presses;
            if player.phase() == Phase::Playing
                && *reported < round
                && presses.iter().all(|count| *count > 60)
            {
                assert!(presses[0].abs_diff(presses[1]) < 60, "both play from the first frame: {presses:?}");
                assert!(player.report_result(&[(Slot::at(0), 4), (Slot::at(1), 9)], None, 7));
                *reported = round;
            }
        }
        let count = |what: fn(&RoomEvent) -> bool| {
            told.each_ref().map(|told: &Vec<RoomEvent>| told.iter().filter(|event| what(event)).count())
        };
        let stored = count(|event| *event == RoomEvent::ResultStored);
        let ended = count(|event| *event == RoomEvent::MatchEnded);
        let joined = count(|event| *event == RoomEvent::MatchJoined);
        if are_waiting && [stored, ended, joined] == [[round; 2]; 3] {
            round += 1;
        }
    }
    let rejected = told.iter().flatten().find(|event| matches!(event, RoomEvent::RequestRejected { .. }));
    assert_eq!(rejected, None);
    drop(players);
    server.stop();
    let _ = std::fs::remove_dir_all(data);
}

#[test]
fn two_programs_connect_directly_if_possible() {
    meet(None, Path::Direct);
}

#[test]
fn peer_that_hides_its_address_uses_relay() {
    meet(Some(Path::Relay), Path::Relay);
}

#[test]
fn peer_without_udp_uses_websocket() {
    meet(Some(Path::WebSocket), Path::WebSocket);
}
