//! Peers behind routers that translate addresses, as nearly everybody is: which way they find to each other.
//!
//! The routers are the kernel's own, in network namespaces (`town.rs`), which only root can make; elsewhere it is said that nothing
//! was tried.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

mod town;

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gaggle::link::Path;
use gaggle::{Game, Inputs, Room, RoomConfig, Slot, Stage, State};
use gaggle_native::{Clock, online, random_seed};
use gaggle_server::{BackgroundServer, Config};

use town::{Nat, SERVER, Town};

const PATIENCE: Duration = Duration::from_secs(180);
/// A way that lasts so long is no passing one: the direct way is tried again after five seconds.
const HOLDS: Duration = Duration::from_secs(7);

/// Everybody's presses, summed.
#[derive(Clone, Debug, Default, State)]
struct Counter {
    presses: [u32; 2],
}

impl Game for Counter {
    type Input = u8;

    fn tick(&mut self, inputs: &Inputs<'_, u8>) {
        for slot in 0..2 {
            self.presses[slot] += u32::from(inputs.get(Slot::at(slot)));
        }
    }
}

/// Somebody who plays in a home until told to stop.
struct Player {
    seen: Arc<Seen>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Seen {
    /// Presses of the other that are final here.
    presses: AtomicU32,
    path: Mutex<Option<Path>>,
    stop: AtomicBool,
}

impl Player {
    fn at(town: &Arc<Town>, nth: usize, server: String) -> Player {
        let (seen, town) = (Arc::new(Seen::default()), Arc::clone(town));
        let shared = Arc::clone(&seen);
        let thread = std::thread::spawn(move || {
            town.enter(&format!("home{nth}"));
            play(&server, &shared);
        });
        Player { seen, thread: Some(thread) }
    }

    fn presses(&self) -> u32 {
        self.seen.presses.load(Ordering::Relaxed)
    }

    fn path(&self) -> Option<Path> {
        *self.seen.path.lock().unwrap()
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        self.seen.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn play(server: &str, seen: &Seen) {
    let (clock, config) = (Clock::start(), RoomConfig::new("counter", 2).unwrap());
    let outside = online(server).unwrap();
    let mut room =
        Room::open(clock.now(), config, outside, Counter::default(), random_seed().unwrap()).unwrap();
    while !seen.stop.load(Ordering::Relaxed) {
        room.set_input(0, 1);
        room.update(clock.now());
        while room.next_event().is_some() {}
        if let Some(own) = room.own_slots().iter().next().filter(|_| room.stage() == Stage::Together) {
            let confirmed = room.confirmed_game().map_or([0; 2], |(_, game)| game.presses);
            seen.presses.store(confirmed[1 - usize::from(own.number())], Ordering::Relaxed);
            *seen.path.lock().unwrap() = room.people().into_iter().find_map(|person| person.path);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Two who play with each other behind these routers; none if there can be no such routers here.
struct Match {
    players: [Player; 2],
    _server: BackgroundServer,
    town: Arc<Town>,
}

impl Match {
    fn begin(name: &str, nats: [Nat; 2]) -> Option<Match> {
        let town = match Town::build(name, nats) {
            Ok(town) => Arc::new(town),
            Err(why) => {
                // Not by a macro, whose words are kept back for tests that fail: `cargo xtask test` shows this.
                let _ = writeln!(std::io::stderr(), "not tried: address translation: {why}");
                return None;
            }
        };
        let data = std::env::temp_dir().join(format!("gaggle-nat-{name}-{}", std::process::id()));
        let server = town.enter_for("sky", || {
            let config = Config { listen: (SERVER, 0).into(), data, ..Config::default() };
            BackgroundServer::start(config).unwrap()
        });
        let url = format!("ws://{}", server.address());
        let players = [0, 1].map(|nth| Player::at(&town, nth, url.clone()));
        Some(Match { players, _server: server, town })
    }

    /// Waits until each has heard so many more presses of the other.
    fn hear_more(&self, what: &str, more: u32) {
        let (began, before) = (Instant::now(), self.players.each_ref().map(Player::presses));
        while (0..2).any(|nth| self.players[nth].presses() < before[nth] + more) {
            assert!(
                began.elapsed() < PATIENCE,
                "{what}: {before:?}, now {:?}",
                self.players.each_ref().map(Player::presses)
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until both are connected so, and have been for a while: on a busy machine another way may come first, or the direct one
    /// after the relay.
    fn connect_by(&self, path: Path) {
        let (began, paths) = (Instant::now(), || self.players.each_ref().map(Player::path));
        let mut since = Instant::now();
        while since.elapsed() < HOLDS {
            if paths() != [Some(path); 2] {
                since = Instant::now();
            }
            assert!(began.elapsed() < PATIENCE, "not {path:?}: {:?}", paths());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn behind_cones_the_way_is_direct_and_found_again_after_a_move() {
    let Some(game) = Match::begin("cone", [Nat::Cone, Nat::Cone]) else { return };
    game.hear_more("they meet", 60);
    game.connect_by(Path::Direct);
    // From Wi-Fi to mobile: another address, and every socket of the old one is dead.
    game.town.move_home(0);
    game.hear_more("one moved", 120);
    game.connect_by(Path::Direct);
    game.hear_more("direct again", 60);
}

#[test]
fn behind_symmetric_routers_the_way_leads_through_the_relay() {
    let Some(game) = Match::begin("symmetric", [Nat::Symmetric, Nat::Symmetric]) else { return };
    game.hear_more("they meet", 60);
    game.connect_by(Path::Relay);
}

#[test]
fn a_cone_does_not_help_against_a_symmetric_router() {
    let Some(game) = Match::begin("mixed", [Nat::Cone, Nat::Symmetric]) else { return };
    game.hear_more("they meet", 60);
    game.connect_by(Path::Relay);
}
