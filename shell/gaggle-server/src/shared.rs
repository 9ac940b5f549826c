//! A node's end of a log that several processes share: each has a directory, and all apply the
//! same entries in the same order.
//!
//! `dispatcher.rs` appends to it and applies what comes out; `redis.rs` carries entries to a Redis
//! and back. Absent: what entries say.

pub(crate) mod redis;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use gaggle_kit::Micros;
use gaggle_lobby::directory::command::Tick;
use gaggle_lobby::directory::{Directory, LogEntry, Snapshot};
use gaggle_lobby::node::NodeMessage;
use gaggle_lobby::{NodeId, Rejection, RejectionCode};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tracing::debug;

/// Questions of clients that may wait for the store. What a node has to say about connections that
/// ended comes on top.
const WAITING_MAX: usize = 8_192;
/// Bytes told to other nodes that may wait for the store.
const TELL_BYTES_MAX: usize = 16 << 20;
/// Somebody takes a snapshot every so many entries, or when there were four for each room.
const SNAPSHOT_EVERY: u64 = 2_000;
/// How long after something is due it is written down: others who are as late need not.
const TICK_AFTER: Micros = Micros::from_millis(50);
const TICK_AGAIN_AFTER: Micros = Micros::from_millis(500);

/// Something to be carried to the store.
#[derive(Debug)]
pub(crate) enum Parcel {
    /// An entry for the log, with its number among those of this node; 0 for one that may be there
    /// twice. It counts only as long as the node has not begun again.
    Entry { number: u64, text: String, life: u64 },
    /// A text for another node, and the space it takes.
    Tell { node: NodeId, text: String, _space: OwnedSemaphorePermit },
    /// Everything up to an entry.
    Snapshot { position: Position, snapshot: Box<Snapshot> },
}

/// What a node and those who carry for it tell each other.
#[derive(Debug, Default)]
pub(crate) struct Contact {
    /// Rises when the node begins again: what was written before that is worth nothing.
    life: AtomicU64,
    /// When the store last took and gave something, if only that there is nothing new.
    written_at: AtomicU64,
    read_at: AtomicU64,
    /// The highest number of those entries of ours the store says it has.
    written: AtomicU64,
    /// How far the lobby's time is ahead of this process' clock, in microseconds.
    ahead: AtomicI64,
}

impl Contact {
    /// Which [`Parcel::Entry`] counts.
    pub(crate) fn life(&self) -> u64 {
        self.life.load(Ordering::Relaxed)
    }

    /// The store took entries up to this number.
    pub(crate) fn has_written(&self, now: Micros, number: u64) {
        self.written_at.store(now.get(), Ordering::Relaxed);
        self.written.fetch_max(number, Ordering::Relaxed);
    }

    /// What the store must have of ours.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// The lobby's time: that of the latest entry, and what has passed here since. No clock of a
    /// machine is believed, only that it runs: one that is set, here, elsewhere or at the store,
    /// moves nothing.
    pub(crate) fn lobby_time(&self, now: Micros) -> Micros {
        Micros::new(now.get().saturating_add_signed(self.ahead.load(Ordering::Relaxed)))
    }

    /// An entry of this time came out of the log. It was on its way for a while, so that it is
    /// never too late, and the most advanced one is nearest to the truth.
    fn has_time(&self, now: Micros, time: Micros) {
        self.ahead.fetch_max(time.get().wrapping_sub(now.get()) as i64, Ordering::Relaxed);
    }

    /// It is this time now, whatever it seemed to be.
    fn set_time(&self, now: Micros, time: Micros) {
        self.ahead.store(time.get().wrapping_sub(now.get()) as i64, Ordering::Relaxed);
    }

    pub(crate) fn has_read(&self, now: Micros) {
        self.read_at.store(now.get(), Ordering::Relaxed);
    }

    /// Since when nothing could be written, or nothing read. A node that is well writes every few
    /// seconds that it is.
    pub(crate) fn lost_since(&self) -> Micros {
        Micros::new(self.written_at.load(Ordering::Relaxed).min(self.read_at.load(Ordering::Relaxed)))
    }
}

/// How far the log was taken.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Position {
    /// The last entry. They are numbered from 1, without holes.
    pub(crate) at: u64,
    /// Which one that was: [`Logged::name`]. A store that lost its last entries gives their numbers
    /// to others.
    pub(crate) name: String,
}

/// An entry as it comes out of the log.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Logged {
    /// Entries are numbered from 1, without holes.
    pub(crate) at: u64,
    /// The lobby's time, as its writer knew it.
    pub(crate) time: Micros,
    pub(crate) writer: NodeId,
    /// The number its writer gave it.
    pub(crate) number: u64,
    /// The name of the entry before it.
    pub(crate) previous: String,
    pub(crate) text: String,
}

impl Logged {
    /// What tells it from any other entry there was at its place, as the store writes it.
    pub(crate) fn name(&self) -> String {
        format!("{}:{}:{}", self.time.get(), self.writer, self.number)
    }

    /// Whether it is what comes next.
    pub(crate) fn follows(&self, position: &Position) -> bool {
        self.at == position.at + 1 && self.previous == position.name
    }

    pub(crate) fn position(&self) -> Position {
        Position { at: self.at, name: self.name() }
    }
}

/// What a node keeps about the log.
#[derive(Debug)]
pub(crate) struct Share {
    id: NodeId,
    outbox: UnboundedSender<Parcel>,
    /// Bytes that may still be told others before the store has taken what was told.
    space: Arc<Semaphore>,
    next_number: u64,
    /// What was written and did not come out yet, by its number.
    waiting: BTreeMap<u64, LogEntry>,
    contact: Arc<Contact>,
    /// The last entry that was taken.
    applied: Position,
    snapshot_at: u64,
    ticked_at: Micros,
}

impl Share {
    pub(crate) fn new(id: NodeId, outbox: UnboundedSender<Parcel>) -> Share {
        Share {
            id,
            outbox,
            space: Arc::new(Semaphore::new(TELL_BYTES_MAX)),
            next_number: 1,
            waiting: BTreeMap::new(),
            contact: Arc::default(),
            applied: Position::default(),
            snapshot_at: 0,
            ticked_at: Micros::ZERO,
        }
    }

    pub(crate) fn id(&self) -> NodeId {
        self.id
    }

    /// The last entry that was taken.
    pub(crate) fn applied(&self) -> &Position {
        &self.applied
    }

    pub(crate) fn contact(&self) -> Arc<Contact> {
        self.contact.clone()
    }

    /// What was written and did not come out yet.
    pub(crate) fn waiting_count(&self) -> usize {
        self.waiting.len()
    }

    /// Appends an entry, or gives it back if too many wait.
    pub(crate) fn append(&mut self, entry: Box<LogEntry>) -> Result<(), Box<LogEntry>> {
        if entry.command.is_client_request() && self.waiting.len() >= WAITING_MAX {
            return Err(entry);
        }
        let number = self.next_number;
        self.next_number += 1;
        self.write(number, entry.to_text());
        self.waiting.insert(number, *entry);
        Ok(())
    }

    fn write(&self, number: u64, text: String) {
        let life = self.contact.life();
        let _ = self.outbox.send(Parcel::Entry { number, text, life });
    }

    pub(crate) fn tell(&self, node: NodeId, message: &NodeMessage) {
        let text = message.to_text();
        // What is told is worth nothing later: when the store is gone it is lost, as on a network.
        match self.space.clone().try_acquire_many_owned(text.len() as u32) {
            Ok(space) => drop(self.outbox.send(Parcel::Tell { node, text, _space: space })),
            Err(_) => debug!(%node, "the store takes nothing: another node is not told"),
        }
    }

    /// Writes down that time passed, if something is due.
    pub(crate) fn tick(&mut self, now: Micros, directory: &Directory) {
        let lobby_now = self.contact.lobby_time(now);
        let is_due = directory.poll_timeout().is_some_and(|at| at + TICK_AFTER <= lobby_now);
        if is_due && now.since(self.ticked_at) >= TICK_AGAIN_AFTER {
            self.ticked_at = now;
            self.write(0, LogEntry::new(Tick {}).to_text());
        }
    }

    /// Takes note of an entry that is about to be applied, and gives it back if it is one of ours.
    pub(crate) fn take(&mut self, now: Micros, logged: &Logged) -> Option<LogEntry> {
        self.applied = logged.position();
        self.contact.has_time(now, logged.time);
        let is_ours = logged.writer == self.id && logged.number > 0;
        is_ours.then(|| self.waiting.remove(&logged.number)).flatten()
    }

    /// Whether something we wrote should be among or before these and is not: ours come out in the
    /// order of their numbers. The store said it had it, and has lost it before anybody has read
    /// it.
    pub(crate) fn misses_any(&self, entries: &[Logged]) -> bool {
        let ours = entries.iter().filter(|entry| entry.writer == self.id).map(|entry| entry.number);
        let mut awaited = self.waiting.keys();
        ours.filter(|number| self.waiting.contains_key(number)).any(|number| awaited.next() != Some(&number))
    }

    /// Whether it is on this node to take a snapshot after this entry, and then sends it.
    pub(crate) fn snapshot_after(&mut self, logged: &Logged, directory: &Directory) {
        let since = logged.at - self.snapshot_at;
        let is_time = logged.at.is_multiple_of(SNAPSHOT_EVERY) && since >= 4 * directory.room_count() as u64;
        if is_time {
            self.snapshot_at = logged.at;
            if logged.writer == self.id {
                let snapshot = Box::new(directory.snapshot());
                let _ = self.outbox.send(Parcel::Snapshot { position: self.applied.clone(), snapshot });
            }
        }
    }

    /// Begins again after this entry, and gives back what will not be applied. What waits to be
    /// written never is.
    pub(crate) fn restart(&mut self, now: Micros, position: Position, time: Micros) -> Vec<LogEntry> {
        self.contact.life.fetch_add(1, Ordering::Relaxed);
        self.contact.has_read(now);
        self.contact.has_written(now, 0);
        self.contact.written.store(0, Ordering::Relaxed);
        self.contact.set_time(now, time);
        self.snapshot_at = position.at;
        self.applied = position;
        std::mem::take(&mut self.waiting).into_values().collect()
    }
}

/// What is said when the store cannot be had.
pub(crate) fn unavailable() -> Rejection {
    Rejection::new(RejectionCode::Unavailable, "the rooms cannot be reached at the moment: try again")
}
