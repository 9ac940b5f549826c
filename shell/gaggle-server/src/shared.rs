//! A node's side of a log shared by several processes: all apply the same entries in the same
//! order.
//!
//! `dispatcher.rs` appends and applies entries; `redis.rs` carries them. Absent: content of
//! entries.

#[cfg_attr(not(feature = "redis"), path = "left_out/redis.rs")]
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

/// Client requests that may wait for the store; entries about closed connections are not limited.
const WAITING_MAX: usize = 8_192;
/// Bytes of messages to other nodes that may wait for the store.
const TELL_BYTES_MAX: usize = 16 << 20;
/// Entries between snapshots, or four per room if that is more.
const SNAPSHOT_EVERY: u64 = 2_000;
/// Delay before due timers are appended: another node may do so first.
const TICK_AFTER: Micros = Micros::from_millis(50);
const TICK_AGAIN_AFTER: Micros = Micros::from_millis(500);

/// An item to write to the store.
#[derive(Debug)]
pub(crate) enum Parcel {
    /// An entry with its number among those of this node; 0 for one that may be repeated. Valid
    /// only in its epoch of the node.
    Entry { number: u64, text: String, life: u64 },
    /// A message to another node, and the queue space it uses.
    Tell { node: NodeId, text: String, _space: OwnedSemaphorePermit },
    /// The directory's state after an entry.
    Snapshot { position: Position, snapshot: Box<Snapshot> },
}

/// State shared between a node and its store connections.
#[derive(Debug, Default)]
pub(crate) struct Contact {
    /// Rises when the node restarts: earlier entries become invalid.
    life: AtomicU64,
    /// Time of the last successful write and read.
    written_at: AtomicU64,
    read_at: AtomicU64,
    /// Highest own entry number confirmed by the store.
    written: AtomicU64,
    /// The lobby's time minus this process's clock, in microseconds.
    ahead: AtomicI64,
}

impl Contact {
    /// Current epoch, in which a [`Parcel::Entry`] is valid.
    pub(crate) fn life(&self) -> u64 {
        self.life.load(Ordering::Relaxed)
    }

    /// The store has confirmed entries up to this number.
    pub(crate) fn has_written(&self, now: Micros, number: u64) {
        self.written_at.store(now.get(), Ordering::Relaxed);
        self.written.fetch_max(number, Ordering::Relaxed);
    }

    /// Own entries confirmed by the store.
    pub(crate) fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// The lobby's time: that of the latest entry plus the time elapsed here. Only the rate of
    /// local clocks is trusted: setting one moves nothing.
    pub(crate) fn lobby_time(&self, now: Micros) -> Micros {
        Micros::new(now.get().saturating_add_signed(self.ahead.load(Ordering::Relaxed)))
    }

    /// An entry of this time was read. It was delayed on its way, so the largest offset is the most
    /// exact.
    fn has_time(&self, now: Micros, time: Micros) {
        self.ahead.fetch_max(time.get().wrapping_sub(now.get()) as i64, Ordering::Relaxed);
    }

    /// Sets the lobby's time.
    fn set_time(&self, now: Micros, time: Micros) {
        self.ahead.store(time.get().wrapping_sub(now.get()) as i64, Ordering::Relaxed);
    }

    pub(crate) fn has_read(&self, now: Micros) {
        self.read_at.store(now.get(), Ordering::Relaxed);
    }

    /// Since when writing or reading has failed. A healthy node writes every few seconds.
    pub(crate) fn lost_since(&self) -> Micros {
        Micros::new(self.written_at.load(Ordering::Relaxed).min(self.read_at.load(Ordering::Relaxed)))
    }
}

/// Position in the log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Position {
    /// Number of the last entry, from 1 without gaps.
    pub(crate) at: u64,
    /// Name of that entry, see [`Logged::name`]. A store that lost entries reuses their numbers.
    pub(crate) name: String,
}

/// Initial state of a directory.
pub(crate) struct Start {
    pub(crate) directory: Directory,
    pub(crate) position: Position,
    pub(crate) time: Micros,
}

/// An entry as read from the log.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Logged {
    /// Number, from 1 without gaps.
    pub(crate) at: u64,
    /// The lobby's time according to its writer.
    pub(crate) time: Micros,
    pub(crate) writer: NodeId,
    /// Number given by its writer.
    pub(crate) number: u64,
    /// Name of the entry before it.
    pub(crate) previous: String,
    pub(crate) text: String,
}

impl Logged {
    /// Distinguishes it from any other entry with the same number, as the store writes it.
    pub(crate) fn name(&self) -> String {
        format!("{}:{}:{}", self.time.get(), self.writer, self.number)
    }

    /// Whether it follows this position.
    pub(crate) fn follows(&self, position: &Position) -> bool {
        self.at == position.at + 1 && self.previous == position.name
    }

    pub(crate) fn position(&self) -> Position {
        Position { at: self.at, name: self.name() }
    }
}

/// A node's state of the log.
#[derive(Debug)]
pub(crate) struct Share {
    id: NodeId,
    outbox: UnboundedSender<Parcel>,
    /// Bytes of messages to other nodes that may still be queued.
    space: Arc<Semaphore>,
    next_number: u64,
    /// Own entries written and not read back, by number.
    waiting: BTreeMap<u64, LogEntry>,
    contact: Arc<Contact>,
    /// Position of the last applied entry.
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

    /// Position of the last applied entry.
    pub(crate) fn applied(&self) -> &Position {
        &self.applied
    }

    pub(crate) fn contact(&self) -> Arc<Contact> {
        self.contact.clone()
    }

    /// Number of entries written and not read back.
    pub(crate) fn waiting_count(&self) -> usize {
        self.waiting.len()
    }

    /// Appends an entry, or returns it if too many wait.
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
        // Late messages are useless: without the store they are lost, as on a network.
        match self.space.clone().try_acquire_many_owned(text.len() as u32) {
            Ok(space) => drop(self.outbox.send(Parcel::Tell { node, text, _space: space })),
            Err(_) => debug!(%node, "a message to another node is lost: the store takes nothing"),
        }
    }

    /// Appends a tick, if something is due.
    pub(crate) fn tick(&mut self, now: Micros, directory: &Directory) {
        let lobby_now = self.contact.lobby_time(now);
        let is_due = directory.poll_timeout().is_some_and(|at| at + TICK_AFTER <= lobby_now);
        if is_due && now.since(self.ticked_at) >= TICK_AGAIN_AFTER {
            self.ticked_at = now;
            self.write(0, LogEntry::new(Tick {}).to_text());
        }
    }

    /// Records an entry about to be applied, and returns it if it is an own one.
    pub(crate) fn take(&mut self, now: Micros, logged: &Logged) -> Option<LogEntry> {
        self.applied = logged.position();
        self.contact.has_time(now, logged.time);
        let is_ours = logged.writer == self.id && logged.number > 0;
        is_ours.then(|| self.waiting.remove(&logged.number)).flatten()
    }

    /// Whether an own entry should be among or before these and is not: own entries come out in
    /// order. The store confirmed it and lost it.
    pub(crate) fn misses_any(&self, entries: &[Logged]) -> bool {
        let ours = entries.iter().filter(|entry| entry.writer == self.id).map(|entry| entry.number);
        let mut awaited = self.waiting.keys();
        ours.filter(|number| self.waiting.contains_key(number)).any(|number| awaited.next() != Some(&number))
    }

    /// Sends a snapshot after this entry, if this node is to take it.
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

    /// Restarts after this entry and returns entries that will not be applied. Queued ones are
    /// never written.
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

/// Rejection while the store is unavailable.
pub(crate) fn unavailable() -> Rejection {
    Rejection::new(RejectionCode::Unavailable, "the rooms are unavailable at the moment; try again")
}
