//! The relay with its sockets and its clock: what [`Relay`](crate::Relay) decides is done here.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant, SystemTime};

use gaggle_kit::Micros;
use gaggle_lobby::TicketKey;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::machine::{ConnectionId, Out, Relay, RelayConfig, Request};
use crate::outbox::Outbox;
use crate::totals::Totals;
use crate::websocket;

/// How often time is passed on to the machine. Nothing in it is finer.
const TICK: Duration = Duration::from_millis(100);

/// A relay that runs until it is dropped.
pub struct RelayServer {
    state: Mutex<State>,
    began: Instant,
}

struct State {
    relay: Relay,
    sockets: BTreeMap<ConnectionId, Arc<Outbox>>,
    connections: u64,
}

impl fmt::Debug for RelayServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RelayServer").field("totals", &self.totals()).finish_non_exhaustive()
    }
}

impl RelayServer {
    /// Starts a relay for tickets of this key. Call it inside a tokio runtime.
    ///
    /// # Errors
    /// If the system gives no entropy.
    pub fn start(key: TicketKey, config: RelayConfig) -> io::Result<Arc<RelayServer>> {
        let instance = getrandom::u64().map_err(io::Error::other)?;
        let relay = Relay::new(key, config, instance, false);
        let state = State { relay, sockets: BTreeMap::new(), connections: 0 };
        let server = Arc::new(RelayServer { state: Mutex::new(state), began: Instant::now() });
        tokio::spawn(tick(Arc::downgrade(&server)));
        Ok(server)
    }

    /// Serves one WebSocket, on which the opening handshake is done, until it ends.
    pub async fn serve(self: &Arc<RelayServer>, stream: impl AsyncRead + AsyncWrite + Unpin + Send) {
        let Some((id, outbox)) = self.open_socket() else { return };
        websocket::serve(stream, &outbox, |frame| self.handle_socket(id, frame)).await;
        self.close_socket(id);
    }

    /// What happened so far.
    pub fn totals(&self) -> Totals {
        self.lock().relay.totals()
    }

    /// Ends all connections and tells everybody why.
    pub fn stop(&self) {
        self.with_relay(|relay, out| relay.stop(out));
    }

    fn open_socket(&self) -> Option<(ConnectionId, Arc<Outbox>)> {
        let now = self.now();
        let mut state = self.lock();
        state.connections += 1;
        let id = ConnectionId(state.connections);
        let outbox = Arc::new(Outbox::default());
        state.relay.socket_opened(now, id).then(|| {
            state.sockets.insert(id, Arc::clone(&outbox));
            (id, outbox)
        })
    }

    fn handle_socket(&self, id: ConnectionId, frame: &[u8]) {
        let (now, unix_seconds) = (self.now(), unix_seconds());
        let request = self.with_relay(|relay, out| relay.handle_socket(now, unix_seconds, id, frame, out));
        // There are no channels, so none is asked for.
        debug_assert!(!matches!(request, Some(Request::Channel(_))));
    }

    fn close_socket(&self, id: ConnectionId) {
        self.lock().sockets.remove(&id);
        self.with_relay(|relay, out| relay.closed(id, out));
    }

    /// Lets the machine do something and passes on what it says.
    fn with_relay<T>(&self, act: impl FnOnce(&mut Relay, &mut dyn FnMut(ConnectionId, Out<'_>)) -> T) -> T {
        let mut state = self.lock();
        let State { relay, sockets, .. } = &mut *state;
        let mut dropped = 0;
        let result = act(relay, &mut |connection, out| {
            if let Some(outbox) = sockets.get(&connection) {
                dropped += outbox.push(out);
            }
        });
        relay.count_slow(dropped);
        result
    }

    fn now(&self) -> Micros {
        Micros::new(self.began.elapsed().as_micros() as u64)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn tick(server: Weak<RelayServer>) {
    loop {
        tokio::time::sleep(TICK).await;
        let Some(server) = server.upgrade() else { return };
        let (now, unix_seconds) = (server.now(), unix_seconds());
        server.with_relay(|relay, out| relay.handle_timeout(now, unix_seconds, out));
    }
}

fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
