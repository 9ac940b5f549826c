//! Two players behind routers, each in a thread of its own.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gaggle::link::{Path, PathReason};
use gaggle::{GameRoom, Phase, RoomConfig, RoomEvent};
use gaggle_native::{Clock, platform, random_seed};
use gaggle_server::{BackgroundServer, Config};

use crate::counter::Counter;
use crate::network::{Cluster, Nat, SERVER};

const PATIENCE: Duration = Duration::from_secs(180);
/// A path used this long is stable: the direct path is retried every five seconds.
const HOLDS: Duration = Duration::from_secs(7);

/// A player in a home network, until stopped.
pub(crate) struct Player {
    seen: Arc<Seen>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Seen {
    /// Confirmed presses of the other player.
    presses: AtomicU32,
    /// Slots of its local player.
    slots: AtomicU64,
    path: Mutex<Option<Path>>,
    /// Path changes the room reported, with reasons.
    told: Mutex<Vec<(Option<Path>, PathReason)>>,
    stop: AtomicBool,
}

impl Player {
    fn at(network: &Arc<Cluster>, nth: usize, server: String) -> Player {
        let (seen, network) = (Arc::new(Seen::default()), Arc::clone(network));
        let shared = Arc::clone(&seen);
        let thread = std::thread::spawn(move || {
            network.enter(&format!("home{nth}"));
            play(&server, &shared);
        });
        Player { seen, thread: Some(thread) }
    }

    fn presses(&self) -> u32 {
        self.seen.presses.load(Ordering::Relaxed)
    }

    /// Slots of its local player.
    pub(crate) fn slots(&self) -> u64 {
        self.seen.slots.load(Ordering::Relaxed)
    }

    fn path(&self) -> Option<Path> {
        *self.seen.path.lock().unwrap()
    }

    fn told(&self) -> Vec<(Option<Path>, PathReason)> {
        self.seen.told.lock().unwrap().clone()
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
    let outside = platform(server).unwrap();
    let mut room =
        GameRoom::open(clock.now(), config, outside, Counter::default(), random_seed().unwrap()).unwrap();
    while !seen.stop.load(Ordering::Relaxed) {
        room.set_input(0, 1);
        room.update(clock.now());
        while let Some(event) = room.poll_event() {
            if let RoomEvent::PathChanged { path, reason, .. } = event {
                seen.told.lock().unwrap().push((path, reason));
            }
        }
        if let Some(own) = room.local_slots().iter().next().filter(|_| room.phase() == Phase::Playing) {
            let confirmed = room.confirmed().map_or([0; 2], |(_, game)| game.presses);
            seen.slots.store(room.local_slots().bits(), Ordering::Relaxed);
            seen.presses.store(confirmed[1 - own.index()], Ordering::Relaxed);
            *seen.path.lock().unwrap() = room.members().into_iter().find_map(|person| person.path);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Two players behind these routers; none if such routers cannot be created.
pub(crate) struct Match {
    pub(crate) players: [Player; 2],
    _server: BackgroundServer,
    pub(crate) network: Arc<Cluster>,
}

impl Match {
    pub(crate) fn begin(name: &str, nats: [Nat; 2]) -> Option<Match> {
        let network = match Cluster::build(name, nats) {
            Ok(network) => Arc::new(network),
            Err(why) => {
                // Not by a macro, whose output is hidden for passing tests: `cargo xtask test`
                // shows this.
                let _ = writeln!(std::io::stderr(), "skipped: address translation: {why}");
                return None;
            }
        };
        let data = std::env::temp_dir().join(format!("gaggle-nat-{name}-{}", std::process::id()));
        let server = network.enter_for("sky", || {
            let config = Config { listen: (SERVER, 0).into(), data, ..Config::default() };
            BackgroundServer::start(config).unwrap()
        });
        let url = format!("ws://{}", server.address());
        let players = [0, 1].map(|nth| Player::at(&network, nth, url.clone()));
        Some(Match { players, _server: server, network })
    }

    /// Waits until each has received this many more presses of the other; returns the time it took.
    pub(crate) fn hear_more(&self, what: &str, more: u32) -> Duration {
        let (began, before) = (Instant::now(), self.players.each_ref().map(Player::presses));
        while (0..2).any(|nth| self.players[nth].presses() < before[nth] + more) {
            assert!(
                began.elapsed() < PATIENCE,
                "{what}: {before:?}, now {:?}",
                self.players.each_ref().map(Player::presses)
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        began.elapsed()
    }

    /// Waits until both use this path steadily: on a busy machine another one may come first.
    pub(crate) fn connect_by(&self, path: Path) {
        let (began, paths) = (Instant::now(), || self.players.each_ref().map(Player::path));
        let mut since = Instant::now();
        while since.elapsed() < HOLDS {
            if paths() != [Some(path); 2] {
                since = Instant::now();
            }
            assert!(began.elapsed() < PATIENCE, "not {path:?}: {:?}", paths());
            std::thread::sleep(Duration::from_millis(20));
        }
        for told in self.players.each_ref().map(Player::told) {
            let first = told.first().expect("the room reported a path");
            assert_eq!(first.1, PathReason::Initial, "{told:?}");
            assert_eq!(told.last().expect("the same").0, Some(path), "{told:?}");
        }
    }
}
