//! Native peer in the match of the pages: a bot in a thread of its own, which tests can make leave
//! or kill.

use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use gaggle::link::{Path, PathReason};
use gaggle::{GameRoom, JoinTarget, OnlineConfig, Phase, RoomCode, RoomConfig, RoomEvent};
use gaggle_native::{Clock, NativePlatform, platform_with, random_seed};
use gander::bots::{Bot, Strength};
use gander::{Gander, SEATS, Setup};

/// Facts of a peer, as pages report them too.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    /// Slots in the match; none while it is not in one.
    pub(crate) present: u64,
    /// Its own slots.
    pub(crate) own: u64,
    pub(crate) code: String,
    /// Paths of its links, with the slots of the other peer.
    pub(crate) paths: Vec<(u64, String)>,
    /// Hashes of its latest final states.
    pub(crate) marks: Vec<(u64, String)>,
    pub(crate) rollbacks: u64,
    /// Path changes that its room reported, with reasons.
    pub(crate) told: Vec<(Option<Path>, PathReason)>,
    /// Guest key, by which the lobby recognizes the peer.
    key: Option<String>,
}

/// How a peer ends its part in the match.
enum End {
    Leave,
    Die,
}

/// Native peer of the match.
pub(crate) struct Native {
    server: String,
    only: Option<Path>,
    known: Arc<Mutex<Known>>,
    running: Option<(Sender<End>, JoinHandle<()>)>,
}

impl Native {
    /// Joins the room with this code, over one path only or over any.
    pub(crate) fn come(server: &str, code: &str, only: Option<Path>) -> Native {
        let known = Arc::new(Mutex::new(Known { code: code.to_string(), ..Known::default() }));
        let mut native = Native { server: server.to_string(), only, known, running: None };
        native.come_back();
        native
    }

    /// Joins again with the same guest key.
    pub(crate) fn come_back(&mut self) {
        let (end, ends) = channel();
        let (server, only, known) = (self.server.clone(), self.only, Arc::clone(&self.known));
        let thread = std::thread::spawn(move || fly(&server, only, &known, &ends));
        self.running = Some((end, thread));
    }

    pub(crate) fn known(&self) -> Known {
        self.known.lock().unwrap().clone()
    }

    /// Leaves the match with a goodbye.
    pub(crate) fn leave(&mut self) {
        self.end(End::Leave);
    }

    /// Ends without a goodbye: its sockets close, as those of a killed process do.
    pub(crate) fn kill(&mut self) {
        self.end(End::Die);
    }

    fn end(&mut self, end: End) {
        let Some((ends, thread)) = self.running.take() else { return };
        ends.send(end).unwrap();
        thread.join().unwrap();
        let mut known = self.known.lock().unwrap();
        (known.present, known.marks) = (0, Vec::new());
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        if let Some((ends, thread)) = self.running.take() {
            let _ = ends.send(End::Die);
            let _ = thread.join();
        }
    }
}

fn fly(server: &str, only: Option<Path>, known: &Mutex<Known>, ends: &Receiver<End>) {
    let (clock, seed) = (Clock::start(), random_seed().unwrap());
    let mut config = RoomConfig::new("gander", SEATS as u8).unwrap();
    config.engine.game_fingerprint = gander::FINGERPRINT;
    config.record_replay = true;
    config.mode = "team".parse().unwrap();
    let code: RoomCode = known.lock().unwrap().code.parse().unwrap();
    config.join = JoinTarget::Code(code);
    config.lobby.guest_key = known.lock().unwrap().key.clone();
    let outside = platform_with(server, OnlineConfig { only_path: only, ..OnlineConfig::default() }).unwrap();
    let mut room =
        GameRoom::open(clock.now(), config, outside, Gander::new(Setup::default(), seed), seed).unwrap();
    let mut bot: Option<Bot> = None;
    loop {
        match ends.try_recv() {
            Err(TryRecvError::Empty) => {}
            Ok(End::Leave) => {
                room.leave();
                room.update(clock.now());
                return;
            }
            Ok(End::Die) | Err(TryRecvError::Disconnected) => return,
        }
        if let Some(slot) = room.local_slots().iter().next() {
            let seat = slot.index();
            let bot = match &mut bot {
                Some(bot) if bot.seat() == seat => bot,
                other => other.insert(Bot::new(seat, Strength::Steady, seed)),
            };
            let pad = bot.play(room.game());
            room.set_input(0, pad);
        }
        room.update(clock.now());
        while let Some(event) = room.poll_event() {
            match event {
                RoomEvent::GuestKey(key) => known.lock().unwrap().key = Some(key),
                RoomEvent::PathChanged { path, reason, .. } => {
                    known.lock().unwrap().told.push((path, reason));
                }
                _ => {}
            }
        }
        tell(&mut room, &mut known.lock().unwrap());
        std::thread::sleep(Duration::from_millis(4));
    }
}

fn tell(room: &mut GameRoom<Gander, NativePlatform>, known: &mut Known) {
    let people = room.members();
    let is_together = room.phase() == Phase::Playing;
    let slots = people.iter().map(|person| person.slots.bits());
    known.present = if is_together { slots.fold(0, |all, slots| all | slots) } else { 0 };
    known.own = room.local_slots().bits();
    let others = people.iter().filter(|person| !person.is_local);
    known.paths = others.filter_map(|other| Some((other.slots.bits(), other.path?.to_string()))).collect();
    known.marks = room
        .checksums()
        .iter()
        .map(|(frame, hash)| (frame.number().into(), format!("{hash:016x}")))
        .collect();
    known.rollbacks = room.stats().rollbacks;
}
