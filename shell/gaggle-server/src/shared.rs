//! One lobby of several processes: each has a directory of its own, and all of them take the same entries in the
//! same order from a log that a store keeps. See `core/gaggle-lobby/src/directory/log.rs` for why that is enough.
//!
//! Here is what a node keeps about the log; `redis.rs` carries entries to a Redis and back.

pub(crate) mod redis;

use std::collections::BTreeMap;
use std::sync::Arc;

use gaggle_kit::Micros;
use gaggle_lobby::directory::{Directory, Entry, Request, Snapshot};
use gaggle_lobby::node::{AskId, NodeMessage};
use gaggle_lobby::{NodeId, Refusal, RefusalCode};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tracing::debug;

/// Questions of clients that may wait for the store. What a node has to say about connections that ended comes on top.
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
    /// An entry for the log, with its number among those of this node; 0 for one that may be there twice.
    Entry { number: u64, text: String },
    /// A text for another node, and the space it takes.
    Tell { node: NodeId, text: String, _space: OwnedSemaphorePermit },
    /// Everything up to an entry.
    Snapshot { at: u64, snapshot: Box<Snapshot> },
}

/// An entry as it comes out of the log.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Logged {
    /// Entries are numbered from 1, without holes.
    pub(crate) at: u64,
    /// By the store's clock.
    pub(crate) time: Micros,
    pub(crate) writer: NodeId,
    /// The number its writer gave it.
    pub(crate) number: u64,
    pub(crate) text: String,
}

/// What a node keeps about the log.
#[derive(Debug)]
pub(crate) struct Share {
    id: NodeId,
    outbox: UnboundedSender<Parcel>,
    /// Bytes that may still be told others before the store has taken what was told.
    space: Arc<Semaphore>,
    next_number: u64,
    /// What was written and did not come out yet.
    waiting: BTreeMap<u64, Option<AskId>>,
    /// The last entry that was taken.
    applied: u64,
    snapshot_at: u64,
    /// What the store's clock showed last, and ours at that moment.
    clocks: (Micros, Micros),
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
            applied: 0,
            snapshot_at: 0,
            clocks: (Micros::ZERO, Micros::ZERO),
            ticked_at: Micros::ZERO,
        }
    }

    pub(crate) fn id(&self) -> NodeId {
        self.id
    }

    /// The last entry that was taken.
    pub(crate) fn applied(&self) -> u64 {
        self.applied
    }

    /// What was written and did not come out yet.
    pub(crate) fn waiting_count(&self) -> usize {
        self.waiting.len()
    }

    /// Writes a request down. The answer comes when it comes out of the log.
    pub(crate) fn ask(&mut self, now: Micros, ask: Option<AskId>, request: Request) -> Result<(), Refusal> {
        let is_client_s =
            !matches!(request, Request::Lease { .. } | Request::Detach { .. } | Request::Stored { .. });
        if is_client_s && self.waiting.len() >= WAITING_MAX {
            return Err(unavailable());
        }
        let number = self.next_number;
        self.next_number += 1;
        self.waiting.insert(number, ask);
        let text = Entry::Request(Box::new(request)).to_text(now);
        let _ = self.outbox.send(Parcel::Entry { number, text });
        Ok(())
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
        let (theirs, ours) = self.clocks;
        let store_now = theirs + now.since(ours);
        let is_due = directory.poll_timeout().is_some_and(|at| at + TICK_AFTER <= store_now);
        if is_due && now.since(self.ticked_at) >= TICK_AGAIN_AFTER {
            self.ticked_at = now;
            let _ = self.outbox.send(Parcel::Entry { number: 0, text: Entry::Tick.to_text(now) });
        }
    }

    /// Takes note of an entry that is about to be taken, and says whose answer it brings.
    pub(crate) fn take(&mut self, now: Micros, logged: &Logged) -> Option<AskId> {
        self.applied = logged.at;
        self.clocks = (logged.time, now);
        let is_ours = logged.writer == self.id && logged.number > 0;
        is_ours.then(|| self.waiting.remove(&logged.number).flatten()).flatten()
    }

    /// Whether it is on this node to take a snapshot after this entry, and then sends it.
    pub(crate) fn snapshot_after(&mut self, logged: &Logged, directory: &Directory) {
        let since = self.applied - self.snapshot_at;
        let is_time = logged.at.is_multiple_of(SNAPSHOT_EVERY) && since >= 4 * directory.room_count() as u64;
        if is_time {
            self.snapshot_at = self.applied;
            if logged.writer == self.id {
                let snapshot = Box::new(directory.snapshot());
                let _ = self.outbox.send(Parcel::Snapshot { at: self.applied, snapshot });
            }
        }
    }

    /// Begins again after this entry, and says which questions will not be answered.
    pub(crate) fn restart(&mut self, now: Micros, at: u64, time: Micros) -> Vec<AskId> {
        (self.applied, self.snapshot_at, self.clocks) = (at, at, (time, now));
        std::mem::take(&mut self.waiting).into_values().flatten().collect()
    }
}

/// What is said when the store cannot be had.
pub(crate) fn unavailable() -> Refusal {
    Refusal::new(RefusalCode::Unavailable, "the rooms cannot be reached at the moment: try again")
}
