//! The relay with its sockets and its clock: carries out what [`Relay`](crate::Relay) decides.
//!
//! The HTTP server hands WebSockets over, a reactor serves them, the UDP port has a thread of its
//! own. Absent: rules of the relay (`machine.rs`), WebSocket frames (`gaggle-websocket`).

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant, SystemTime};

use gaggle_kit::Micros;
use gaggle_kit::rate_limit::{ConcurrencyLimit, LimitRow, Prefix, network, prefixes};
use gaggle_link::relay::RelayFrame;
use gaggle_lobby::{RoomId, TicketKey};
use gaggle_websocket::{Accepted, Connection, Frame, Reactor};
use tokio::runtime::Builder;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::config::RelayConfig;
use crate::insider::{InsiderBatch, InsiderQueue};
use crate::limits::RelayLimit;
use crate::machine::{ConnectionId, Epochs, Host, Outbound, Relay, Request};
use crate::opening::Opening;
use crate::outbox::Outbox;
use crate::sockets::{Sockets, push, reactor_config};
use crate::stats::RelayStats;
use crate::udp::{Job, Offer, Port, Stray, UdpPort, micros};

/// Interval of the state machine's timers; none needs to be more exact.
const TICK: Duration = Duration::from_millis(100);

/// Jobs queued for the UDP port; further ones are dropped.
pub(crate) const JOBS_MAX: usize = 16_384;

/// Network of output that no member caused.
const NO_NETWORK: u64 = 0;
/// A client silent for this long is pinged, and disconnected after the same time again.
const PING_INTERVAL: Micros = Micros::from_secs(20);
/// Interval of the search for silent clients.
const SILENCE_CHECK: Micros = Micros::from_secs(1);

/// A relay that runs until it is dropped.
pub struct RelayServer {
    state: Mutex<State>,
    /// Signals that the UDP port has jobs.
    news: Arc<Notify>,
    /// Timer task; the UDP port has a thread of its own, where nothing else delays it.
    clock: Mutex<Option<JoinHandle<()>>>,
    port: Mutex<Option<std::thread::JoinHandle<()>>>,
    /// Serves the WebSockets. Set before anything else runs.
    reactor: OnceLock<Reactor>,
    stopping: AtomicBool,
    began: Instant,
    /// Clock that tickets are checked with.
    unix_seconds: UnixClock,
}

/// Unix time in seconds, by the clock that also issues tickets.
pub type UnixClock = Box<dyn Fn() -> u64 + Send + Sync>;

struct State {
    relay: Relay,
    sockets: BTreeMap<ConnectionId, Socket>,
    /// Sockets with frames that nothing has flushed yet.
    unflushed: Vec<Arc<Connection<Outbox>>>,
    silence_checked_at: Micros,
    places: ConcurrencyLimit<Prefix>,
    connections: u64,
    has_udp: bool,
    jobs: VecDeque<Job>,
    /// Rooms in which the server itself is a member.
    insiders: BTreeMap<ConnectionId, Arc<InsiderQueue>>,
}

/// WebSocket of a member, or of a client not yet authenticated.
struct Socket {
    connection: Arc<Connection<Outbox>>,
    network: u64,
    heard_at: Micros,
    is_pinged: bool,
}

impl fmt::Debug for RelayServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RelayServer").field("totals", &self.totals()).finish_non_exhaustive()
    }
}

impl RelayServer {
    /// Starts a relay for tickets of this key, with or without a port for channels. Must be called
    /// inside a tokio runtime.
    ///
    /// # Errors
    /// If the system provides no random bytes.
    pub fn start(key: TicketKey, config: RelayConfig, udp: Option<UdpPort>) -> io::Result<Arc<RelayServer>> {
        RelayServer::start_with_clock(key, config, udp, Box::new(wall_clock))
    }

    /// Starts a relay with the clock that issues the tickets: the wall clock can be set or drift
    /// from it while both run, and all tickets would become invalid.
    ///
    /// # Errors
    /// If the system provides no random bytes.
    pub fn start_with_clock(
        key: TicketKey,
        config: RelayConfig,
        udp: Option<UdpPort>,
        unix_seconds: UnixClock,
    ) -> io::Result<Arc<RelayServer>> {
        let instance = getrandom::u64().map_err(io::Error::other)?;
        let has_udp = udp.is_some();
        let opening = Opening::new(config.unproven_max, config.unproven_share());
        let of_port = config.clone();
        let relay = Relay::new(key, config, instance, has_udp);
        let (sockets, places, jobs) = (BTreeMap::new(), ConcurrencyLimit::default(), VecDeque::new());
        let (unflushed, silence_checked_at) = (Vec::new(), Micros::ZERO);
        let state = State {
            relay,
            sockets,
            unflushed,
            silence_checked_at,
            places,
            connections: 0,
            has_udp,
            jobs,
            insiders: BTreeMap::new(),
        };
        let news = Arc::new(Notify::new());
        let server = Arc::new(RelayServer {
            state: Mutex::new(state),
            news: Arc::clone(&news),
            clock: Mutex::default(),
            port: Mutex::default(),
            reactor: OnceLock::new(),
            stopping: AtomicBool::new(false),
            began: Instant::now(),
            unix_seconds,
        });
        let _ = server.reactor.set(Reactor::start(Sockets(Arc::downgrade(&server)), reactor_config())?);
        let port =
            udp.map(|udp| run_port(udp, opening, &of_port, Arc::downgrade(&server), news)).transpose()?;
        *server.port.lock().unwrap_or_else(PoisonError::into_inner) = port;
        let clock = tokio::spawn(tick(Arc::downgrade(&server)));
        *server.clock.lock().unwrap_or_else(PoisonError::into_inner) = Some(clock);
        Ok(server)
    }

    /// Serves one WebSocket until it ends.
    pub fn serve(&self, accepted: Accepted) {
        if let Some(reactor) = self.reactor.get() {
            reactor.serve(self.next_connection().0, accepted);
        }
    }

    /// Sets the source of epochs: see [`Relay::set_epochs`].
    pub fn set_epochs(&self, epochs: Epochs) {
        self.lock().relay.set_epochs(epochs);
    }

    /// Every limit, and how often it was exceeded.
    pub fn limits(&self) -> Vec<(LimitRow, u64)> {
        let state = self.lock();
        let exceeded = state.relay.totals().limited;
        state.relay.config().limits().into_iter().zip(exceeded).collect()
    }

    /// Counters since the start.
    pub fn totals(&self) -> RelayStats {
        self.lock().relay.totals()
    }

    /// Closes all connections with a reason, and the UDP port.
    pub async fn stop(&self) {
        self.with_relay(NO_NETWORK, |relay, out| relay.stop(out));
        self.flush();
        self.stopping.store(true, Ordering::Relaxed);
        self.reactor.get().into_iter().for_each(Reactor::stop);
        self.news.notify_one();
        let port = self.port.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(port) = port {
            // Its socket is closed only after the thread has ended.
            let _ = tokio::task::spawn_blocking(|| port.join()).await;
        }
    }

    /// Whether the UDP port should end after its current jobs.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Registers a socket. False if it exceeds a limit.
    pub(crate) fn open_socket(&self, connection: &Arc<Connection<Outbox>>, address: IpAddr) -> bool {
        let (now, network) = (self.now(), network(address));
        self.with_relay(network, |relay, out| relay.make_way(address, out));
        let mut state = self.lock();
        let limits = state.relay.config();
        let (sockets_max, share) = (limits.sockets_max(), limits.sockets_per_network);
        // Closing sockets count until they are gone: they still use memory.
        if !state.places.try_acquire(prefixes(network), sockets_max, share) {
            state.relay.totals_mut().refused_full += 1;
            state.relay.exceed(RelayLimit::Sockets);
            return false;
        }
        let id = ConnectionId(connection.number());
        if !state.relay.socket_opened(now, id, address) {
            state.places.release(prefixes(network));
            return false;
        }
        let socket = Socket { connection: connection.clone(), network, heard_at: now, is_pinged: false };
        state.sockets.insert(id, socket);
        true
    }

    /// Records that a client is alive. Returns its network, if it still has a socket.
    pub(crate) fn hear(&self, id: ConnectionId) -> Option<u64> {
        let now = self.now();
        let mut state = self.lock();
        let socket = state.sockets.get_mut(&id)?;
        (socket.heard_at, socket.is_pinged) = (now, false);
        Some(socket.network)
    }

    /// Handles a frame. False if the socket should not be read for a while.
    pub(crate) fn handle_socket(&self, id: ConnectionId, frame: &[u8]) -> bool {
        let Some(network) = self.hear(id) else { return true };
        let (now, unix_seconds) = (self.now(), (self.unix_seconds)());
        let (request, is_within) = self.with_relay(network, |relay, out| {
            let dropped = relay.totals_mut().dropped_rate;
            let request = relay.handle_socket(now, unix_seconds, id, frame, out);
            (request, relay.totals_mut().dropped_rate == dropped)
        });
        if let Some(Request::Channel(description)) = request {
            let offer = Offer { socket: id, network, description };
            let mut state = self.lock();
            if state.jobs.len() < JOBS_MAX && state.has_udp {
                state.jobs.push_back(Job::Offer(offer));
                self.news.notify_one();
            } else {
                state.relay.totals_mut().offers_refused += 1;
            }
        }
        is_within
    }

    pub(crate) fn close_socket(&self, id: ConnectionId) {
        let mut state = self.lock();
        let Some(Socket { network, .. }) = state.sockets.remove(&id) else { return };
        state.places.release(prefixes(network));
        if state.has_udp {
            state.jobs.push_back(Job::Closed { socket: id });
            self.news.notify_one();
        }
        drop(state);
        self.with_relay(network, |relay, out| relay.closed(id, out));
    }

    /// Pings silent clients, and disconnects those that do not answer.
    fn check_silence(&self, now: Micros) {
        let mut state = self.lock();
        if now.since(state.silence_checked_at) < SILENCE_CHECK {
            return;
        }
        state.silence_checked_at = now;
        let State { sockets, unflushed, .. } = &mut *state;
        for socket in sockets.values_mut().filter(|socket| now.since(socket.heard_at) >= PING_INTERVAL) {
            if std::mem::replace(&mut socket.is_pinged, true) {
                socket.connection.end(None, "");
            } else {
                socket.heard_at = now;
                socket.connection.queue(Frame::Ping);
            }
            unflushed.push(socket.connection.clone());
        }
    }

    /// Writes queued frames, as far as the kernel takes them.
    pub(crate) fn flush(&self) {
        let unflushed = std::mem::take(&mut self.lock().unflushed);
        unflushed.iter().for_each(|connection| connection.flush());
    }

    /// Makes the reactor thread flush, if needed.
    pub(crate) fn flush_soon(&self) {
        let has_unflushed = !self.lock().unflushed.is_empty();
        self.reactor.get().into_iter().filter(|_| has_unflushed).for_each(Reactor::wake);
    }

    /// Sets who is told of rooms whose members ask for the server. It must not call the relay.
    pub fn set_host(&self, host: Host) {
        self.lock().relay.set_host(host);
    }

    /// Makes the server a member of a room, named [`HOST_PEER`](gaggle_link::relay::HOST_PEER).
    /// What members send it arrives in the queue. `None` if it is one already.
    pub fn seat(&self, room: RoomId, queue: &Arc<InsiderQueue>) -> Option<ConnectionId> {
        let (now, connection) = (self.now(), self.next_connection());
        self.lock().insiders.insert(connection, Arc::clone(queue));
        let is_seated =
            self.with_relay(NO_NETWORK, |relay, out| relay.seat_insider(now, room, connection, out));
        self.flush_soon();
        if !is_seated {
            self.lock().insiders.remove(&connection);
        }
        is_seated.then_some(connection)
    }

    /// Ends the server's membership of a room.
    pub fn unseat(&self, connection: ConnectionId) {
        self.with_relay(NO_NETWORK, |relay, out| relay.unseat_insider(connection, out));
        self.lock().insiders.remove(&connection);
        self.flush_soon();
    }

    /// Sends what the server has for members of its rooms.
    pub fn send_from_insiders(&self, batch: &InsiderBatch) {
        let now = self.now();
        self.with_relay(NO_NETWORK, |relay, out| {
            for (connection, peer, datagram) in batch.iter() {
                match datagram {
                    Some(datagram) => relay.send_from_insider(now, connection, peer, datagram, out),
                    None => relay.close_from_insider(connection, peer, out),
                }
            }
        });
        self.flush_soon();
    }

    /// Calls the state machine and queues its output, charged to this network.
    fn with_relay<T>(
        &self,
        network: u64,
        act: impl FnOnce(&mut Relay, &mut dyn FnMut(ConnectionId, Outbound<'_>)) -> T,
    ) -> T {
        let (result, has_news) = self.with_relay_at_port(network, act);
        if has_news {
            self.news.notify_one();
        }
        result
    }

    /// Calls the state machine on the UDP thread, which checks its jobs anyway. The second result
    /// is whether there are new ones.
    pub(crate) fn with_relay_at_port<T>(
        &self,
        network: u64,
        act: impl FnOnce(&mut Relay, &mut dyn FnMut(ConnectionId, Outbound<'_>)) -> T,
    ) -> (T, bool) {
        let mut state = self.lock();
        let State { relay, sockets, unflushed, jobs, has_udp, insiders, .. } = &mut *state;
        let (mut dropped, jobs_before) = (0, jobs.len());
        let result = act(relay, &mut |connection, out| {
            if let Some(socket) = sockets.get(&connection) {
                dropped += push(&socket.connection, out, unflushed);
                return;
            }
            if let Some(queue) = insiders.get(&connection) {
                dropped += queue.push(connection, out);
                return;
            }
            match out {
                Outbound::Data(frame) if *has_udp => {
                    if jobs.len() >= JOBS_MAX {
                        dropped += 1;
                        return;
                    }
                    jobs.push_back(Job::Data { network, channel: connection, frame: frame.to_vec() });
                }
                Outbound::Close if *has_udp => jobs.push_back(Job::End { channel: connection }),
                _ => {}
            }
        });
        relay.count_slow(dropped);
        (result, jobs.len() > jobs_before)
    }

    /// Takes the queued jobs, in exchange for an empty queue.
    pub(crate) fn swap_jobs(&self, empty: &mut VecDeque<Job>) {
        std::mem::swap(&mut self.lock().jobs, empty);
    }

    pub(crate) fn next_connection(&self) -> ConnectionId {
        let mut state = self.lock();
        state.connections += 1;
        ConnectionId(state.connections)
    }

    /// Sends a frame over a socket.
    pub(crate) fn say(&self, socket: ConnectionId, frame: RelayFrame<'_>) {
        let mut state = self.lock();
        let State { sockets, unflushed, .. } = &mut *state;
        if let Some(socket) = sockets.get(&socket) {
            push(&socket.connection, Outbound::Control(&frame.to_bytes()), unflushed);
        }
    }

    /// Counts an excess of a limit.
    pub(crate) fn exceed(&self, limit: RelayLimit) {
        self.lock().relay.exceed(limit);
    }

    /// Updates counters of the UDP port.
    pub(crate) fn count(&self, count: impl FnOnce(&mut RelayStats)) {
        count(self.lock().relay.totals_mut());
    }

    /// Disables channels and drops jobs if the UDP port's thread has ended.
    fn look_at_port(&self) {
        let is_gone = {
            let port = self.port.lock().unwrap_or_else(PoisonError::into_inner);
            port.as_ref().is_some_and(std::thread::JoinHandle::is_finished) && !self.is_stopping()
        };
        if is_gone && self.lock().has_udp {
            self.with_relay(NO_NETWORK, |relay, out| relay.lose_channels(out));
            let mut state = self.lock();
            state.has_udp = false;
            state.jobs.clear();
        }
    }

    pub(crate) fn count_slow(&self, datagrams: u64) {
        if datagrams > 0 {
            self.lock().relay.count_slow(datagrams);
        }
    }

    pub(crate) fn count_datagram(&self, stray: Stray) {
        let mut state = self.lock();
        let totals = state.relay.totals_mut();
        match stray {
            Stray::Question => totals.questions += 1,
            Stray::Refused => totals.strays_refused += 1,
            Stray::Unknown => totals.strays_unknown += 1,
            Stray::Beyond => totals.dropped_rate += 1,
        }
    }

    pub(crate) fn now(&self) -> Micros {
        micros(self.began)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RelayServer {
    fn drop(&mut self) {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(JoinHandle::abort);
        // The UDP port holds a weak reference and ends.
        self.news.notify_one();
    }
}

fn run_port(
    udp: UdpPort,
    opening: Opening,
    config: &RelayConfig,
    server: Weak<RelayServer>,
    news: Arc<Notify>,
) -> io::Result<std::thread::JoinHandle<()>> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let port = {
        let _inside = runtime.enter();
        Port::new(udp, opening, config)?
    };
    let run = move || runtime.block_on(port.run(server, news));
    std::thread::Builder::new().name("relay-port".into()).spawn(run)
}

async fn tick(server: Weak<RelayServer>) {
    loop {
        tokio::time::sleep(TICK).await;
        let Some(server) = server.upgrade() else { return };
        let (now, unix_seconds) = (server.now(), (server.unix_seconds)());
        server.with_relay(NO_NETWORK, |relay, out| relay.handle_timeout(now, unix_seconds, out));
        server.check_silence(now);
        server.flush_soon();
        server.look_at_port();
    }
}

fn wall_clock() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use gaggle_kit::PeerId;
    use gaggle_lobby::{Claims, TicketSigner};
    use std::io::{Read, Write};

    use super::*;

    #[tokio::test]
    async fn ended_port_thread_disables_channels() {
        let key = TicketSigner::from_secret(&[7; 32]).key();
        let udp = UdpPort::bind(([127, 0, 0, 1], 0).into(), &[]).unwrap();
        let relay = RelayServer::start(key, RelayConfig::default(), Some(udp)).unwrap();
        tokio::time::sleep(3 * TICK).await;
        assert!(relay.lock().has_udp, "the port is running");
        let ended = std::thread::spawn(|| {});
        let port = relay.port.lock().unwrap_or_else(PoisonError::into_inner).replace(ended);
        let began = Instant::now();
        while relay.lock().has_udp {
            assert!(began.elapsed() < Duration::from_secs(60), "nothing serves it");
            tokio::time::sleep(TICK).await;
        }
        relay.close_socket(ConnectionId(7));
        assert!(relay.lock().jobs.is_empty(), "nothing waits for it");
        *relay.port.lock().unwrap_or_else(PoisonError::into_inner) = port;
        relay.stop().await;
    }

    #[tokio::test]
    async fn tickets_are_checked_by_issuing_clock() {
        let signer = TicketSigner::from_secret(&[7; 32]);
        // A clock far from the wall clock, as after a suspension.
        let clock: UnixClock = Box::new(|| 1_000_000);
        let relay = RelayServer::start_with_clock(signer.key(), RelayConfig::default(), None, clock).unwrap();
        for (expires, kind) in [(1_000_060, 7), (999_940, 11)] {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let mut client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (stream, remote) = listener.accept().unwrap();
            stream.set_nonblocking(true).unwrap();
            relay.serve(Accepted { stream, tls: None, read: Vec::new(), address: remote.ip() });
            let ticket = signer.sign(&Claims::bare(1, PeerId::from_bytes([3; 16]), 1, expires));
            let frame = RelayFrame::Authenticate { ticket: &ticket }.to_bytes();
            // A binary message with a zero mask.
            let length = (frame.len() as u16).to_be_bytes();
            client.write_all(&[0x82, 0xfe, length[0], length[1], 0, 0, 0, 0]).unwrap();
            client.write_all(&frame).unwrap();
            let mut answer = [0; 3];
            client.read_exact(&mut answer).unwrap();
            assert_eq!(answer[2], kind, "a ticket until {expires}");
        }
    }
}
