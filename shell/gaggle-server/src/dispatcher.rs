//! Node and directory behind one lock, connected to sockets, storage and the shared log.
//!
//! Socket threads and timers call it. Under the lock messages are handled and queued for sockets,
//! in order; sockets are written after it is released. Absent: lobby rules (`gaggle-lobby`), socket
//! I/O.

mod outputs;

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};

use gaggle_kit::{Micros, PeerId};
use gaggle_lobby::directory::command::{MarkStored, Tick};
use gaggle_lobby::directory::{Directory, LogEntry};
use gaggle_lobby::node::{
    AuditRecord, ConnectionId, Exceeded, Identity, Node, NodeConfig, NodeMessage, NodeStats, ParsedMessage,
    Purpose, Query,
};
use gaggle_lobby::rules::Rules;
use gaggle_lobby::view::RoomView;
use gaggle_lobby::{MatchRecord, Rejection, RejectionCode, RoomId, ServerMessage};
use gaggle_websocket::IdHasher;
use tokio::runtime::Handle;
use tracing::debug;

use crate::clock::Clock;
use crate::identity::TokenVerifier;
use crate::metrics::Histogram;
use crate::notes;
use crate::server::LEASE;
use crate::shared::{Logged, Position, Share, Start, unavailable};
use crate::socket::{LobbySocket, Socket};
use crate::storage::{Listener, Outcome, Storage, StorageThread};

/// Pings and pongs of one read that are passed to the node: more than it permits.
const BEATS_AT_ONCE: u32 = 128;

/// The lobby of this process, with everything it needs.
pub(crate) struct Dispatcher {
    clock: Clock,
    started_at: Micros,
    machines: Mutex<Machines>,
    storage: OnceLock<StorageThread>,
    tokens: Option<Arc<TokenVerifier>>,
    /// Runs token checks, which must not block socket threads.
    runtime: Handle,
    /// Time to handle a message.
    pub(crate) handling: Histogram,
    /// Bytes of messages read.
    pub(crate) message_bytes: AtomicU64,
    /// Matches stored, and matches that could not be.
    stored: AtomicU64,
    lost: AtomicU64,
    /// Time of the first failed store since the last success; 0: none.
    lost_at: AtomicU64,
}

/// How long a server reports itself not ready after storage failed. After it the server accepts
/// players again, because only a new match shows whether storage works.
const STORAGE_DOUBT: Micros = Micros::from_secs(60);

/// State of a server for operators.
pub(crate) struct Snapshot {
    pub(crate) tally: NodeStats,
    /// How often clients exceeded each limit.
    pub(crate) exceeded: Exceeded,
    pub(crate) connections: usize,
    pub(crate) rooms: usize,
    /// Some of its rooms.
    pub(crate) views: Vec<RoomView>,
    pub(crate) uptime: Micros,
    /// Matches stored, and matches that could not be.
    pub(crate) stored: u64,
    pub(crate) lost: u64,
}

impl fmt::Debug for Dispatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dispatcher").field("started_at", &self.started_at).finish_non_exhaustive()
    }
}

struct Machines {
    node: Node,
    directory: Directory,
    /// The shared log, if other processes have the same rooms; a single process applies its entries
    /// at once.
    share: Option<Share>,
    sockets: HashMap<ConnectionId, Arc<Socket>, IdHasher>,
}

/// Work to do after the lock is released.
#[derive(Default)]
struct Deferred {
    /// Sockets with queued data, possibly repeated; flushing twice is harmless.
    flush: Vec<Arc<Socket>>,
    records: Vec<MatchRecord>,
    queries: Vec<(Purpose, Query)>,
    tokens: Vec<(ConnectionId, String)>,
    notes: Vec<AuditRecord>,
}

impl Dispatcher {
    /// Must be called inside a tokio runtime.
    pub(crate) fn new(
        clock: Clock,
        rules: Rules,
        config: NodeConfig,
        shared: Option<(Share, Start)>,
        tokens: Option<TokenVerifier>,
        storage: Box<dyn Storage>,
    ) -> Arc<Dispatcher> {
        let now = clock.now();
        let node = Node::new(now, rules.clone(), config);
        let (share, directory) = match shared {
            None => (None, Directory::new(rules)),
            Some((mut share, start)) => {
                share.restart(now, start.position, start.time);
                (Some(share), start.directory)
            }
        };
        let machines = Machines { node, directory, share, sockets: HashMap::default() };
        let dispatcher = Arc::new(Dispatcher {
            clock,
            started_at: now,
            machines: Mutex::new(machines),
            storage: OnceLock::new(),
            tokens: tokens.map(Arc::new),
            runtime: Handle::current(),
            handling: Histogram::default(),
            message_bytes: AtomicU64::new(0),
            stored: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            lost_at: AtomicU64::new(0),
        });
        let _ = dispatcher
            .storage
            .set(StorageThread::start(storage, StorageListener(Arc::downgrade(&dispatcher))));
        dispatcher.call(|_, _| ());
        dispatcher
    }

    /// Handles a new client.
    pub(crate) fn connected(self: &Arc<Dispatcher>, socket: &Arc<Socket>, address: IpAddr) {
        let id = socket.id();
        self.call(|machines, now| {
            machines.sockets.insert(id, socket.clone());
            machines.node.handle_connected(now, id, address);
        });
        debug!(connection = id.0, %address, "connected");
    }

    /// Handles a received text.
    pub(crate) fn text(self: &Arc<Dispatcher>, id: ConnectionId, text: &str) {
        // Parsed outside the lock: a long message delays no other connection.
        let parsed = ParsedMessage::read(text);
        self.message_bytes.fetch_add(text.len() as u64, Ordering::Relaxed);
        let began = self.call(|machines, now| {
            machines.node.handle_parsed(now, id, parsed);
            now
        });
        self.handling.observe(self.clock.now().since(began).get());
    }

    /// Handles received pongs.
    pub(crate) fn pong(self: &Arc<Dispatcher>, id: ConnectionId, count: u32) {
        self.call(|machines, now| {
            // The node closes a connection that sends more at once.
            for _ in 0..count.min(BEATS_AT_ONCE) {
                machines.node.handle_pong(now, id);
            }
        });
    }

    /// Handles the end of a connection.
    pub(crate) fn closed(self: &Arc<Dispatcher>, id: ConnectionId) {
        self.call(|machines, now| {
            machines.sockets.remove(&id);
            machines.node.handle_closed(now, id);
        });
        debug!(connection = id.0, "closed");
    }

    /// Handles a violation of the WebSocket protocol by a client.
    pub(crate) fn misbehaved(self: &Arc<Dispatcher>, id: ConnectionId, refusal: Rejection) {
        self.call(|machines, now| machines.node.disconnect(now, id, refusal));
    }

    /// Runs timers. True if more is due: the caller releases the lock in between.
    pub(crate) fn tick(self: &Arc<Dispatcher>) -> bool {
        self.call_later(|machines, now, deferred| {
            let is_due = |machines: &Machines| machines.node.poll_timeout().is_some_and(|at| at <= now);
            if is_due(machines) {
                machines.node.handle_timeout(now);
            }
            match &mut machines.share {
                Some(share) => share.tick(now, &machines.directory),
                None if machines.directory.poll_timeout().is_some_and(|at| at <= now) => {
                    machines.append(now, Box::new(LogEntry::new(Tick {})), deferred);
                }
                None => {}
            }
            is_due(machines)
        })
    }

    /// Handles the confirmation that a match is stored.
    fn stored(self: &Arc<Dispatcher>, room: RoomId, round: u32, outcome: Outcome) {
        self.call_later(|machines, now, deferred| {
            // Every node stores decided matches. The first confirmation suffices.
            if machines.directory.is_unstored(room, round) {
                let Outcome { verdict, ratings } = outcome;
                let stored = MarkStored { room, round, verdict: Some(verdict), ratings };
                machines.append(now, Box::new(LogEntry::new(stored)), deferred);
            }
        });
    }

    /// Position of the last entry applied from the log.
    pub(crate) fn applied(&self) -> Position {
        self.lock().share.as_ref().map(|share| share.applied().clone()).unwrap_or_default()
    }

    /// Number of own entries written to the log and not read back yet.
    pub(crate) fn unanswered_count(&self) -> usize {
        self.lock().share.as_ref().map_or(0, Share::waiting_count)
    }

    /// Whether an own entry is missing in the log.
    pub(crate) fn misses_any(&self, entries: &[Logged]) -> bool {
        self.lock().share.as_ref().is_some_and(|share| share.misses_any(entries))
    }

    /// Applies entries read from the log.
    pub(crate) fn take_entries(self: &Arc<Dispatcher>, entries: &[Logged]) {
        self.call_later(|machines, now, deferred| {
            entries.iter().for_each(|logged| machines.apply_logged(now, logged, deferred));
        });
    }

    /// Handles a message of another node.
    pub(crate) fn told(self: &Arc<Dispatcher>, message: NodeMessage) {
        self.call(|machines, now| machines.node.handle_node_message(now, message));
    }

    /// Restarts with another directory. All clients must reconnect, because their reservations may
    /// be lost. The node starts a new epoch, so that its entries still on their way have no lasting
    /// effect.
    pub(crate) fn restart(self: &Arc<Dispatcher>, start: Start) {
        self.call(|machines, now| {
            let Some(share) = &mut machines.share else { return };
            let lost = share.restart(now, start.position, start.time);
            machines.directory = start.directory;
            for entry in lost {
                machines.node.handle_rejected(now, &entry, unavailable());
            }
            let connections: Vec<ConnectionId> = machines.sockets.keys().copied().collect();
            for connection in connections {
                machines.node.disconnect(now, connection, unavailable());
            }
            machines.node.restart(now);
        });
    }

    /// Handles an answer of the storage.
    fn answered(self: &Arc<Dispatcher>, purpose: Purpose, answer: Result<ServerMessage, Rejection>) {
        self.call(|machines, now| machines.node.handle_answer(now, purpose, answer));
    }

    /// Asks all clients to reconnect elsewhere.
    pub(crate) fn drain(self: &Arc<Dispatcher>, reconnect_ms: u64) {
        self.call(|machines, _| machines.node.drain(reconnect_ms));
    }

    /// Closes all remaining connections with a reason.
    pub(crate) fn end_all(self: &Arc<Dispatcher>) {
        self.call(|machines, now| {
            let connections: Vec<ConnectionId> = machines.sockets.keys().copied().collect();
            for connection in connections {
                let refusal = Rejection::new(
                    RejectionCode::Draining,
                    "the server is stopping; reconnect in a \
                     moment",
                );
                machines.node.disconnect(now, connection, refusal);
            }
        });
    }

    /// Time of the server's clock.
    pub(crate) fn now(&self) -> Micros {
        self.clock.now()
    }

    /// Whether a peer is a member of the room.
    pub(crate) fn is_member(&self, room: RoomId, peer: PeerId) -> bool {
        self.lock().node.room(room).is_some_and(|view| view.member(peer).is_some())
    }

    /// Reads a room known here, and whether its mode has a referee.
    pub(crate) fn with_room<T>(&self, room: RoomId, read: impl FnOnce(&RoomView, bool) -> T) -> Option<T> {
        let machines = self.lock();
        let has_referee = machines.node.mode_of(room).is_some_and(|mode| mode.referee);
        machines.node.room(room).map(|view| read(view, has_referee))
    }

    /// Epoch of a room known here.
    pub(crate) fn epoch_of(&self, room: RoomId) -> Option<u32> {
        self.lock().node.room(room).map(|view| view.epoch)
    }

    /// Why the server is not ready for new clients, if so.
    pub(crate) fn objection(&self) -> Option<&'static str> {
        let now = self.clock.now();
        let contact = self.lock().share.as_ref().map(Share::contact);
        let lost_at = Micros::new(self.lost_at.load(Ordering::Relaxed));
        if contact.is_some_and(|contact| now.since(contact.lost_since()) > LEASE) {
            Some("not ready: the shared rooms are unreachable; check the setting `redis`")
        } else if lost_at > Micros::ZERO && now.since(lost_at) < STORAGE_DOUBT {
            Some("not ready: results cannot be stored; check the setting `data`")
        } else {
            None
        }
    }

    /// Number of connections.
    pub(crate) fn connection_count(&self) -> usize {
        self.lock().node.connection_count()
    }

    /// State of the server, with at most `rooms_max` rooms.
    pub(crate) fn snapshot(&self, rooms_max: usize) -> Snapshot {
        let machines = self.lock();
        Snapshot {
            tally: machines.node.tally().clone(),
            exceeded: machines.node.exceeded().clone(),
            connections: machines.node.connection_count(),
            rooms: machines.node.rooms().count(),
            views: machines.node.rooms().take(rooms_max).cloned().collect(),
            uptime: self.clock.now().since(self.started_at),
            stored: self.stored.load(Ordering::Relaxed),
            lost: self.lost.load(Ordering::Relaxed),
        }
    }

    /// Calls node and directory and carries out their outputs.
    fn call<T>(self: &Arc<Dispatcher>, call: impl FnOnce(&mut Machines, Micros) -> T) -> T {
        self.call_later(|machines, now, _| call(machines, now))
    }

    fn call_later<T>(
        self: &Arc<Dispatcher>,
        call: impl FnOnce(&mut Machines, Micros, &mut Deferred) -> T,
    ) -> T {
        let mut deferred = Deferred::default();
        let result = {
            let mut machines = self.lock();
            let now = self.clock.now();
            let result = call(&mut machines, now, &mut deferred);
            machines.settle(now, &mut deferred);
            result
        };
        deferred.flush.iter().for_each(|socket| socket.flush());
        deferred.notes.iter().for_each(notes::log);
        if let Some(storage) = self.storage.get() {
            for record in deferred.records {
                if !storage.store(record) {
                    self.lose(1);
                }
            }
            for (purpose, query) in deferred.queries {
                if !storage.ask(purpose, query) {
                    let text = "too many requests are waiting; try again";
                    self.answered(purpose, Err(Rejection::new(RejectionCode::Unavailable, text)));
                }
            }
        }
        for (connection, token) in deferred.tokens {
            self.verify(connection, token);
        }
        result
    }

    fn lose(&self, matches: usize) {
        self.lost.fetch_add(matches as u64, Ordering::Relaxed);
        self.lost_at.store(self.clock.now().get(), Ordering::Relaxed);
    }

    /// Checks a token in a task of its own: keys may have to be fetched.
    fn verify(self: &Arc<Dispatcher>, connection: ConnectionId, token: String) {
        let dispatcher = self.clone();
        let verify = async move {
            let identity = match &dispatcher.tokens {
                Some(tokens) => tokens.verify(&token).await,
                None => Err(Rejection::new(RejectionCode::BadToken, "this server accepts no tokens")),
            };
            dispatcher.verified(connection, identity);
        };
        self.runtime.spawn(verify);
    }

    fn verified(self: &Arc<Dispatcher>, connection: ConnectionId, identity: Result<Identity, Rejection>) {
        self.call(|machines, now| machines.node.handle_verified(now, connection, identity));
    }

    fn lock(&self) -> MutexGuard<'_, Machines> {
        self.machines.lock().expect("the process aborts when a thread panics")
    }
}

/// Passes storage answers back.
struct StorageListener(Weak<Dispatcher>);

impl Listener for StorageListener {
    fn stored(&self, record: &MatchRecord, outcome: Outcome) {
        if let Some(dispatcher) = self.0.upgrade() {
            dispatcher.stored.fetch_add(1, Ordering::Relaxed);
            dispatcher.lost_at.store(0, Ordering::Relaxed);
            dispatcher.stored(record.room, record.round, outcome);
        }
    }

    fn lost(&self, matches: usize) {
        if let Some(dispatcher) = self.0.upgrade() {
            dispatcher.lose(matches);
        }
    }

    fn answered(&self, purpose: Purpose, answer: Result<ServerMessage, Rejection>) {
        if let Some(dispatcher) = self.0.upgrade() {
            dispatcher.answered(purpose, answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use gaggle_lobby::node::NoIce;
    use gaggle_lobby::{NodeId, TicketSigner};

    use super::*;
    use crate::storage::SqliteStorage;

    fn dispatcher(folder: &std::path::Path) -> Arc<Dispatcher> {
        let node = NodeConfig {
            id: NodeId(1),
            secret: [3; 32],
            signer: TicketSigner::from_secret(&[7; 32]),
            server_name: "test".into(),
            ice: Box::new(NoIce),
            lease: Micros::MAX,
        };
        let storage = Box::new(SqliteStorage::open(&folder.join("gaggle.sqlite")).unwrap());
        Dispatcher::new(Clock::new(), Rules::default(), node, None, None, storage)
    }

    #[tokio::test]
    async fn large_message_is_parsed_without_lock() {
        let folder = std::env::temp_dir().join(format!("gaggle-hub-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let dispatcher = dispatcher(&folder);
        let text = format!(r#"{{"type":"touch","more":[{}0]}}"#, "0,".repeat(30_000));
        let (bytes, held) = (text.len() as u64, dispatcher.lock());
        let parsed = std::thread::spawn({
            let dispatcher = dispatcher.clone();
            move || dispatcher.text(ConnectionId(1), &text)
        });
        // Parsed and counted while another thread holds the lock; handled afterwards.
        let began = Instant::now();
        while dispatcher.message_bytes.load(Ordering::Relaxed) < bytes {
            assert!(began.elapsed() < Duration::from_secs(30), "it waits for the lock");
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!((parsed.is_finished(), held.node.tally().messages), (false, 0));
        drop(held);
        parsed.join().unwrap();
        assert_eq!(dispatcher.snapshot(0).tally.messages, 1);
        let _ = std::fs::remove_dir_all(&folder);
    }
}
