//! Restart of a server under a match that runs through its relay.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use gaggle::link::Path;
use gaggle::{OnlineConfig, Phase, RoomConfig, RoomEvent, SlotSet};
use gaggle_native::{Clock, GameRoom, platform_with, random_seed};
use gaggle_server::{BackgroundServer, Config};

use crate::counter::Counter;

/// Downtime of the server.
const AWAY: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(120);

struct Player {
    room: GameRoom<Counter>,
    /// Connected to the restarted server.
    is_back: bool,
}

impl Player {
    fn open(server: SocketAddr, clock: &Clock) -> Player {
        let config = RoomConfig::new("counter", 2).unwrap();
        let ways = OnlineConfig { only_path: Some(Path::Relay), ..OnlineConfig::default() };
        let outside = platform_with(&format!("ws://{server}"), ways).unwrap();
        let seed = random_seed().unwrap();
        let room = GameRoom::open(clock.now(), config, outside, Counter::default(), seed).unwrap();
        Player { room, is_back: false }
    }

    /// Confirmed presses of the player with fewer of them.
    fn presses(&self) -> u32 {
        let together = self.room.phase() == Phase::Playing;
        let confirmed = self.room.confirmed().filter(|_| together);
        confirmed.and_then(|(_, game)| game.presses.into_iter().min()).unwrap_or(0)
    }

    fn slots(&self) -> SlotSet {
        self.room.local_slots()
    }
}

fn step(clock: &Clock, players: &mut [Player; 2]) {
    for player in players {
        player.room.set_input(0, 1);
        player.room.update(clock.now());
        while let Some(event) = player.room.poll_event() {
            player.is_back |= event == RoomEvent::LobbyReconnected;
        }
    }
    std::thread::sleep(Duration::from_millis(2));
}

fn until(what: &str, clock: &Clock, players: &mut [Player; 2], so: impl Fn(&Player) -> bool) {
    let began = Instant::now();
    while !players.iter().all(&so) {
        assert!(began.elapsed() < PATIENCE, "{what}");
        step(clock, players);
    }
}

/// Time from the restart until both players have their slots and confirmed presses of each other
/// made since.
pub(crate) fn server() -> Duration {
    let data = std::env::temp_dir().join(format!("gaggle-back-{}", std::process::id()));
    let start = |listen| BackgroundServer::start(Config { listen, data: data.clone(), ..Config::default() });
    let server = start(([127, 0, 0, 1], 0).into()).unwrap();
    let (address, clock) = (server.address(), Clock::start());
    let mut players = [Player::open(address, &clock), Player::open(address, &clock)];
    until("they connect", &clock, &mut players, |player| player.presses() > 60);
    let seats = players.each_ref().map(Player::slots);

    server.stop();
    let stopped = Instant::now();
    let server = loop {
        step(&clock, &mut players);
        if stopped.elapsed() > AWAY
            && let Ok(server) = start(address)
        {
            break server;
        }
        assert!(stopped.elapsed() < PATIENCE, "the port is still in use");
    };
    let (up, before) = (Instant::now(), players.iter().map(Player::presses).max().unwrap_or(0));
    // More presses than half a second of unconfirmed ones.
    until("they are back", &clock, &mut players, |player| player.is_back && player.presses() > before + 30);
    let took = up.elapsed();
    assert_eq!(players.each_ref().map(Player::slots), seats, "both have the slots they had");
    assert_eq!(players[0].room.session().branch_id(), players[1].room.session().branch_id(), "one match");
    drop(players);
    server.stop();
    let _ = std::fs::remove_dir_all(data);
    took
}
