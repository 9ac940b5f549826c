//! A thread that serves the referees of some rooms: arrivals, ticks, one write of journals, output.
//!
//! `referee.rs` starts `referee_threads` of them. Absent: which thread serves a room, settings.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use gaggle_kit::Micros;
use gaggle_lobby::RoomId;
use gaggle_relay::{ConnectionId, InsiderEvent, InsiderQueue, RelayServer};
use gaggle_seal::{Epoch, Origin, RoomSetup, SealConfig};
use tracing::{error, info, warn};

use super::boots::Boots;
use super::figures::Figures;
use super::journal::{RoomJournal, Segments};
use super::members::{Members, RefereeSpec};
use super::room::HostedRoom;

/// Longest pause of the loop.
const PAUSE_MAX: Micros = Micros::from_millis(10);
/// How long the thread waits until the lobby knows a room that members ask for.
const WANTED_MAX: Micros = Micros::from_secs(60);
/// Time between two updates of the counters.
const FIGURES_INTERVAL: Micros = Micros::from_millis(500);
/// Time a stopping thread gives clients to catch up.
const DRAIN_MAX: Micros = Micros::from_millis(1_500);

/// State that all threads and their owner share.
pub(super) struct Shared {
    pub(super) relay: Arc<RelayServer>,
    pub(super) lobby: Arc<dyn Members + Send + Sync>,
    pub(super) boots: Boots,
    pub(super) figures: Arc<Figures>,
    pub(super) is_stopping: AtomicBool,
    /// Settings of referees.
    pub(super) config: SealConfig,
}

/// Requests and datagrams from other threads.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    pub(super) queue: Arc<InsiderQueue>,
    wanted: Mutex<Vec<RoomId>>,
}

impl Inbox {
    /// A member of the room asks for its referee.
    pub(super) fn want(&self, room: RoomId) {
        let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        if !wanted.contains(&room) {
            wanted.push(room);
        }
    }

    fn take_wanted(&self) -> Vec<RoomId> {
        std::mem::take(&mut *self.wanted.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// State of a referee thread.
pub(super) struct RefereeThread {
    shared: Arc<Shared>,
    inbox: Arc<Inbox>,
    rooms: BTreeMap<ConnectionId, HostedRoom>,
    by_room: BTreeMap<RoomId, ConnectionId>,
    /// Rooms that members ask for, and since when.
    wanted: BTreeMap<RoomId, Micros>,
    /// Journals of an earlier process whose rooms were not asked for yet.
    journals: BTreeMap<RoomId, RoomJournal>,
    segments: Segments,
    /// Whether the journal could not be written: no room is sealed any more.
    has_failed: bool,
    arrivals: Vec<(ConnectionId, InsiderEvent)>,
    figures_at: Micros,
    began: Instant,
}

impl RefereeThread {
    pub(super) fn new(
        shared: Arc<Shared>,
        inbox: Arc<Inbox>,
        journals: BTreeMap<RoomId, RoomJournal>,
        segments: Segments,
    ) -> RefereeThread {
        RefereeThread {
            shared,
            inbox,
            rooms: BTreeMap::new(),
            by_room: BTreeMap::new(),
            wanted: BTreeMap::new(),
            journals,
            segments,
            has_failed: false,
            arrivals: Vec::new(),
            figures_at: Micros::ZERO,
            began: Instant::now(),
        }
    }

    fn now(&self) -> Micros {
        Micros::new(u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX))
    }

    /// Runs until the owner stops it, and drains its rooms then.
    pub(super) fn run(mut self) {
        while !self.shared.is_stopping.load(Ordering::Relaxed) {
            let now = self.now();
            self.turn(now);
            let due = self.rooms.values().map(HostedRoom::due_at).min().unwrap_or(Micros::MAX);
            let pause = due.since(self.now()).min(PAUSE_MAX);
            if pause > Micros::ZERO {
                std::thread::sleep(Duration::from_micros(pause.get()));
            }
        }
        let end = self.now() + DRAIN_MAX;
        let now = self.now();
        self.rooms.values_mut().for_each(|hosted| hosted.room_mut().drain(now));
        while !self.rooms.is_empty() && self.now() < end {
            let now = self.now();
            self.turn(now);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn turn(&mut self, now: Micros) {
        self.take_arrivals();
        if !self.has_failed && !self.shared.is_stopping.load(Ordering::Relaxed) {
            self.start_wanted(now);
        }
        let mut ticked = Vec::new();
        for (connection, hosted) in &mut self.rooms {
            if hosted.due_at() <= now {
                hosted.tick(now, &*self.shared.lobby, &self.shared.figures);
                if let Some(late) = hosted.room().referee().and_then(|referee| referee.seal_lateness()) {
                    self.shared.figures.lateness.observe(late.get());
                }
                ticked.push(*connection);
            }
        }
        if ticked.is_empty() {
            return;
        }
        if let Err(error) = self.write_journals(&ticked) {
            error!(%error, "a journal cannot be written: the referees of its rooms stop; check the disk");
            return self.fail();
        }
        for connection in &ticked {
            if let Some(hosted) = self.rooms.get_mut(connection) {
                hosted.room_mut().mark_records_written();
                hosted.send(now, &self.shared.relay);
            }
        }
        self.close_rooms(&ticked);
        self.look(now);
    }

    fn take_arrivals(&mut self) {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        self.inbox.queue.swap(&mut arrivals);
        for (connection, event) in arrivals.drain(..) {
            if let Some(hosted) = self.rooms.get_mut(&connection) {
                hosted.arrive(event);
            }
        }
        self.arrivals = arrivals;
    }

    /// Starts referees of rooms that members ask for, once the lobby knows the rooms.
    fn start_wanted(&mut self, now: Micros) {
        for room in self.inbox.take_wanted() {
            self.wanted.entry(room).or_insert(now);
        }
        let asked: Vec<RoomId> = self.wanted.keys().copied().collect();
        for room in asked {
            if self.by_room.contains_key(&room) {
                self.wanted.remove(&room);
            } else if let Some(spec) = self.shared.lobby.spec(room) {
                self.wanted.remove(&room);
                self.start(now, room, &spec);
            }
        }
        self.wanted.retain(|_, since| now.since(*since) < WANTED_MAX);
    }

    fn start(&mut self, now: Micros, room: RoomId, spec: &RefereeSpec) {
        let boot = match self.shared.boots.take(room) {
            Ok(boot) => boot,
            Err(error) => return error!(%room, %error, "the referee cannot start"),
        };
        let journal = self.journals.remove(&room).filter(|journal| journal.match_id == spec.match_id);
        let origin = match journal {
            Some(journal) => Origin::Journal(journal.bytes),
            // A referee of this room ran before, and its journal is gone.
            None if boot > 1 => Origin::Ask,
            None => Origin::Found,
        };
        let setup = RoomSetup {
            match_id: spec.match_id,
            epoch: Epoch(boot),
            build: spec.build,
            origin,
            server: self.shared.config.clone(),
            slots_max: spec.slots,
            ..RoomSetup::default()
        };
        let Some(connection) = self.shared.relay.seat(room, &self.inbox.queue) else {
            return warn!(%room, "the relay has a referee for this room already");
        };
        let seed = spec.match_id ^ u64::from(boot);
        let mut hosted = HostedRoom::new(now, room, spec.round, connection, setup, seed);
        hosted.room_mut().expect_answers(self.shared.lobby.present(room).into_iter());
        self.rooms.insert(connection, hosted);
        self.by_room.insert(room, connection);
        info!(%room, boot, round = spec.round, "a referee starts");
    }

    /// Appends the records of all rooms with one write.
    fn write_journals(&mut self, ticked: &[ConnectionId]) -> std::io::Result<()> {
        if self.segments.is_full() {
            self.segments.rotate()?;
            // All rooms, because those that are not due now are in the old segment only.
            for hosted in self.rooms.values_mut() {
                hosted.room_mut().rewrite_journal();
                let (id, match_id) = (hosted.id(), hosted.match_id());
                self.segments.push(id, match_id, true, hosted.room().records());
                hosted.room_mut().mark_records_written();
            }
            for (room, journal) in &self.journals {
                self.segments.push(*room, journal.match_id, true, &journal.bytes);
            }
        } else {
            for connection in ticked {
                let Some(hosted) = self.rooms.get(connection) else { continue };
                let room = hosted.room();
                if !room.records().is_empty() {
                    let (id, match_id) = (hosted.id(), hosted.match_id());
                    self.segments.push(id, match_id, room.is_journal_new(), room.records());
                }
            }
        }
        let began = Instant::now();
        let bytes = self.segments.write()?;
        if bytes > 0 {
            let micros = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
            self.shared.figures.journal.observe(micros);
            self.shared.figures.journaled(bytes);
        }
        Ok(())
    }

    /// Stops all rooms without sending anything more: clients may not learn of frames that are not
    /// in the journal.
    fn fail(&mut self) {
        self.has_failed = true;
        self.shared.figures.journal_failed();
        for connection in std::mem::take(&mut self.rooms).into_keys() {
            self.shared.relay.unseat(connection);
        }
        self.by_room.clear();
    }

    /// Removes rooms that are empty, drained, in another round, or that the lobby has closed.
    fn close_rooms(&mut self, ticked: &[ConnectionId]) {
        for connection in ticked {
            let Some(hosted) = self.rooms.get(connection) else { continue };
            let (id, lobby) = (hosted.id(), &self.shared.lobby);
            let spec = lobby.spec(id);
            let is_next = spec.as_ref().is_some_and(|spec| spec.round != hosted.round());
            if !hosted.is_closed() && !is_next {
                continue;
            }
            let is_stopping = self.shared.is_stopping.load(Ordering::Relaxed);
            self.shared.relay.unseat(*connection);
            self.rooms.remove(connection);
            self.by_room.remove(&id);
            self.shared.figures.forget(id);
            // A process that stops leaves its journals to the next one.
            if !is_stopping {
                self.segments.close(id);
                if spec.is_none() {
                    self.shared.boots.forget(id);
                }
            }
            info!(room = %id, is_next, "a referee ends");
        }
    }

    fn look(&mut self, now: Micros) {
        if now.since(self.figures_at) < FIGURES_INTERVAL {
            return;
        }
        self.figures_at = now;
        self.shared.figures.set_dropped(self.inbox.queue.dropped());
        for hosted in self.rooms.values() {
            self.shared.figures.look(hosted.id(), hosted.room());
        }
    }
}
