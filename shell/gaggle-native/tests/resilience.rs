//! Incidents in matches between real programs on a real server that must not end them: a restart of
//! the server with its relay, a second device of one player.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

mod counter;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use gaggle::link::Path;
use gaggle::{GameRoom, OnlineConfig, Phase, RoomConfig, RoomEvent, SlotSet};
use gaggle_native::{Clock, NativePlatform, platform_with, random_seed};
use gaggle_server::{BackgroundServer, Config};

use counter::Counter;

const PATIENCE: Duration = Duration::from_secs(180);

/// A player that keeps pressing.
struct Player {
    room: GameRoom<Counter, NativePlatform>,
    key: Option<String>,
    events: Vec<RoomEvent>,
}

impl Player {
    fn open(server: SocketAddr, clock: &Clock, only: Option<Path>, key: Option<String>) -> Player {
        let mut config = RoomConfig::new("counter", 2).unwrap();
        (config.lobby.guest_key, config.lobby.device_key) = (key.clone(), Some("desk".to_string()));
        let outside = platform_with(
            &format!("ws://{server}"),
            OnlineConfig { only_path: only, ..OnlineConfig::default() },
        )
        .unwrap();
        let room =
            GameRoom::open(clock.now(), config, outside, Counter::default(), random_seed().unwrap()).unwrap();
        Player { room, key, events: Vec::new() }
    }

    fn update(&mut self, clock: &Clock) {
        self.room.set_input(0, 1);
        self.room.update(clock.now());
        while let Some(event) = self.room.poll_event() {
            if let RoomEvent::GuestKey(key) = &event {
                self.key = Some(key.clone());
            }
            self.events.push(event);
        }
    }

    fn slots(&self) -> SlotSet {
        self.room.local_slots()
    }

    /// Confirmed presses of both players.
    fn presses(&self) -> [u32; 2] {
        let together = self.room.phase() == Phase::Playing;
        self.room.confirmed().filter(|_| together).map_or([0; 2], |(_, game)| game.presses)
    }
}

/// Runs the players until the condition holds.
fn until(what: &str, clock: &Clock, players: &mut [Player], so: impl Fn(&[Player]) -> bool) {
    let began = Instant::now();
    while !so(players) {
        assert!(
            began.elapsed() < PATIENCE,
            "{what}: {:?}",
            players.iter().map(|player| &player.events).collect::<Vec<_>>()
        );
        players.iter_mut().for_each(|player| player.update(clock));
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn config(listen: SocketAddr, name: &str) -> (Config, PathBuf) {
    let data = std::env::temp_dir().join(format!("gaggle-resilience-{name}-{}", std::process::id()));
    (Config { listen, data: data.clone(), ..Config::default() }, data)
}

#[test]
fn match_continues_through_server_restart() {
    let (settings, data) = config(([127, 0, 0, 1], 0).into(), "restart");
    let server = BackgroundServer::start(settings).unwrap();
    let (address, clock) = (server.address(), Clock::start());
    let mut players = [0, 1].map(|_| Player::open(address, &clock, Some(Path::Relay), None));
    until("they connect", &clock, &mut players, |players| {
        players.iter().all(|player| player.presses().iter().all(|presses| *presses > 60))
    });
    let (seats, before) = (players.each_ref().map(Player::slots), players[0].presses());

    server.stop();
    let began = Instant::now();
    let server = loop {
        // Nothing in the game waits for the server.
        players.iter_mut().for_each(|player| player.update(&clock));
        std::thread::sleep(Duration::from_millis(2));
        if began.elapsed() > Duration::from_secs(1)
            && let Ok(server) = BackgroundServer::start(config(address, "restart").0)
        {
            break server;
        }
        assert!(began.elapsed() < PATIENCE, "the port is still in use");
    };
    until("they are back", &clock, &mut players, |players| {
        let further = |player: &Player| (0..2).all(|slot| player.presses()[slot] > before[slot] + 60);
        players.iter().all(|player| further(player) && player.room.phase() == Phase::Playing)
            && players[0].room.session().branch_id() == players[1].room.session().branch_id()
    });
    assert_eq!(players.each_ref().map(Player::slots), seats, "both have the slots they had");
    // Paths of members are known once the lobby has sent the room.
    let began = Instant::now();
    loop {
        players.iter_mut().for_each(|player| player.update(&clock));
        let paths =
            players.each_mut().map(|player| player.room.members().into_iter().find_map(|person| person.path));
        if paths == [Some(Path::Relay); 2] {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "{paths:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
    drop(players);
    server.stop();
    let _ = std::fs::remove_dir_all(data);
}

#[test]
fn second_tab_takes_over_on_request() {
    let (settings, data) = config(([127, 0, 0, 1], 0).into(), "tabs");
    let server = BackgroundServer::start(settings).unwrap();
    let (address, clock) = (server.address(), Clock::start());
    let mut players =
        vec![Player::open(address, &clock, None, None), Player::open(address, &clock, None, None)];
    until("they connect", &clock, &mut players, |players| {
        players.iter().all(|player| player.presses().iter().all(|presses| *presses > 30))
    });
    let seat = players[1].slots();

    // The same player opens a second tab, learns of the first, and takes over.
    let tab = Player::open(address, &clock, None, players[1].key.clone());
    players.push(tab);
    let told =
        |player: &Player| player.events.iter().any(|event| matches!(event, RoomEvent::OpenedElsewhere));
    until("the new tab is notified", &clock, &mut players, |players| told(&players[2]));
    assert!(!told(&players[1]), "the old tab plays on until the take-over");
    players[2].room.take_over();
    let unseated = |event: &RoomEvent| matches!(event, RoomEvent::RoomLeft { .. });
    until("the new tab has the slot", &clock, &mut players, |players| {
        let (other, old, tab) = (players[0].presses(), &players[1], &players[2]);
        // The old tab learns why it lost the slot, and plays alone.
        told(old)
            && old.events.iter().any(unseated)
            && old.room.phase() != Phase::Playing
            && tab.room.phase() == Phase::Playing
            && tab.slots() == seat
            && other.iter().all(|presses| *presses > 90)
    });

    // It can take over again.
    players[1].room.take_over();
    until("the old tab has the slot again", &clock, &mut players, |players| {
        let is_back = players[1].room.phase() == Phase::Playing && players[1].slots() == seat;
        is_back && players[2].events.iter().any(unseated)
    });
    drop(players);
    server.stop();
    let _ = std::fs::remove_dir_all(data);
}
