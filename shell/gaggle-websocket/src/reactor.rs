//! Event loop for all WebSockets of a server, in one thread or a few.
//!
//! The HTTP server hands connections over after their opening handshake; a [`Handler`] receives
//! what arrives. Absent: what messages mean, when clients are pinged, HTTP.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, TcpStream};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gaggle_kit::rate_limit::RateLimit;
use mio::event::Event;
use mio::{Events, Interest, Poll, Token, Waker};
use tracing::{debug, error};

use crate::codec::{Decoder, FrameError, Message, MessageKind, Queue};
use crate::connection::Connection;
use crate::id_hasher::IdHasher;
use crate::line::{Line, READ_BYTES, ReadResult, Reading};
use crate::tls::TlsSession;

/// Reads of one connection before others get their turn.
const READS_PER_TURN: usize = 2;
const EVENTS_PER_TURN: usize = 1_024;
/// Time for the other side to close a connection that this side has ended.
const LINGER: Duration = Duration::from_secs(2);
/// Bytes read and dropped meanwhile. A flooding client need not learn why it was closed.
const LINGER_BYTES: usize = 1 << 20;
/// Time for closed clients when the thread ends.
const LAST_LINGER: Duration = Duration::from_millis(500);
/// Token of no connection: their numbers begin with 1.
const COMMANDS: Token = Token(0);

/// What happens to a connection after a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Continue to read.
    Continue,
    /// Do not read for 200 ms: what the client sends waits in the kernel.
    Pause,
    /// End the connection. If the handler has not closed it, no close frame is sent.
    Close,
}

/// A server of WebSockets. All threads of a reactor call the same handler.
pub trait Handler: Send + Sync + 'static {
    /// Queue of frames to one client.
    type Queue: Queue;

    /// A connection was opened from this address. [`Flow::Close`] rejects it without further calls.
    fn opened(&self, connection: &Arc<Connection<Self::Queue>>, address: IpAddr) -> Flow;

    /// A text or binary message has arrived.
    fn message(&self, connection: &Connection<Self::Queue>, message: Message<'_>) -> Flow;

    /// Number of pings and pongs in one read; pings are answered already.
    fn pong(&self, connection: &Connection<Self::Queue>, count: u32);

    /// The client violated the protocol. The connection is over.
    fn malformed(&self, connection: &Connection<Self::Queue>, error: FrameError);

    /// The connection is over, whichever side ended it. Called once for each that was opened.
    fn closed(&self, connection: &Connection<Self::Queue>);

    /// The client exceeded [`ReactorConfig::read_limit`]: it is not read for a while.
    fn throttled(&self, connection: &Connection<Self::Queue>) {
        let _ = connection;
    }

    /// A batch is handled: frames queued meanwhile can be flushed together.
    fn turn_ended(&self) {}
}

/// Settings of a reactor.
#[derive(Debug, Clone, Copy)]
pub struct ReactorConfig {
    /// Name of its threads.
    pub name: &'static str,
    /// Number of threads, at least one.
    pub threads: usize,
    /// Messages the server accepts.
    pub kind: MessageKind,
    /// Bytes of the longest message.
    pub message_bytes_max: u32,
    /// Limit of bytes read from one client; the excess waits in the kernel.
    pub read_limit: RateLimit,
}

/// A connection whose opening handshake is done.
#[derive(Debug)]
pub struct Accepted {
    /// The stream, in non-blocking mode.
    pub stream: TcpStream,
    /// Its TLS state, if it is encrypted.
    pub tls: Option<TlsSession>,
    /// Bytes received after the handshake.
    pub read: Vec<u8>,
    /// Address of the client, also behind a proxy.
    pub address: IpAddr,
}

enum Command {
    Serve(u64, Box<Accepted>),
    /// A connection was closed by this side.
    Finish(u64),
    Stop,
}

/// Command channel of one thread.
#[derive(Debug, Clone)]
pub(crate) struct ReactorHandle(Arc<HandleParts>);

#[derive(Debug)]
struct HandleParts {
    commands: mpsc::Sender<Command>,
    waker: Waker,
}

impl ReactorHandle {
    /// Lets the thread finish a closed connection.
    pub(crate) fn finish(&self, id: u64) {
        self.tell(Command::Finish(id));
    }

    fn tell(&self, command: Command) {
        // A thread that has ended has closed everything.
        if self.0.commands.send(command).is_ok() {
            let _ = self.0.waker.wake();
        }
    }
}

/// Threads that serve the connections of one handler. They end when this is dropped.
#[derive(Debug)]
pub struct Reactor {
    handles: Vec<ReactorHandle>,
    threads: Vec<JoinHandle<()>>,
}

impl Reactor {
    /// Starts serving.
    ///
    /// # Errors
    /// If the threads cannot be started.
    pub fn start<H: Handler>(handler: H, config: ReactorConfig) -> io::Result<Reactor> {
        let handler = Arc::new(handler);
        let mut reactor = Reactor { handles: Vec::new(), threads: Vec::new() };
        for _ in 0..config.threads.max(1) {
            let poll = Poll::new()?;
            let waker = Waker::new(poll.registry(), COMMANDS)?;
            let (sender, commands) = mpsc::channel();
            let handle = ReactorHandle(Arc::new(HandleParts { commands: sender, waker }));
            let worker = Worker {
                handler: handler.clone(),
                config,
                handle: handle.clone(),
                poll,
                began: Instant::now(),
                now: Instant::now(),
                lines: HashMap::default(),
                unread: Vec::new(),
                paused: BTreeSet::new(),
                lingering: VecDeque::new(),
                buffer: vec![0; READ_BYTES],
            };
            let thread = std::thread::Builder::new().name(config.name.into());
            reactor.threads.push(thread.spawn(move || worker.run(&commands))?);
            reactor.handles.push(handle);
        }
        Ok(reactor)
    }

    /// Serves a connection until it ends. `id` must be unique, from 1 on.
    pub fn serve(&self, id: u64, accepted: Accepted) {
        let at = id as usize % self.handles.len();
        self.handles[at].tell(Command::Serve(id, Box::new(accepted)));
    }

    /// Makes a thread call [`Handler::turn_ended`] soon.
    pub fn wake(&self) {
        let _ = self.handles[0].0.waker.wake();
    }

    /// Closes all connections.
    pub fn stop(&self) {
        self.handles.iter().for_each(|handle| handle.tell(Command::Stop));
    }
}

impl Drop for Reactor {
    fn drop(&mut self) {
        self.stop();
        for thread in self.threads.drain(..) {
            // A handler may own the reactor that calls it.
            let is_own = thread.thread().id() == std::thread::current().id();
            if !is_own && thread.join().is_err() {
                error!("a WebSocket thread panicked");
            }
        }
    }
}

/// One thread and its connections.
struct Worker<H: Handler> {
    handler: Arc<H>,
    config: ReactorConfig,
    handle: ReactorHandle,
    poll: Poll,
    began: Instant,
    /// Time of this iteration.
    now: Instant,
    lines: HashMap<Token, Line<H::Queue>, IdHasher>,
    /// Connections with possible data that the kernel will not report again.
    unread: Vec<Token>,
    /// Paused connections with the end of their pause.
    paused: BTreeSet<(Instant, Token)>,
    /// Ended connections with their final deadline.
    lingering: VecDeque<(Instant, Token)>,
    buffer: Vec<u8>,
}

impl<H: Handler> Worker<H> {
    fn run(mut self, commands: &mpsc::Receiver<Command>) {
        let mut events = Events::with_capacity(EVENTS_PER_TURN);
        let mut ends_at: Option<Instant> = None;
        while ends_at.is_none_or(|at| self.now < at && !self.lines.is_empty()) {
            match self.poll.poll(&mut events, self.timeout(ends_at)) {
                // No connection could be served any more: abort, so that a new process takes over.
                Err(error) if error.kind() != ErrorKind::Interrupted => {
                    panic!("waiting for connections failed: {error}")
                }
                _ => {}
            }
            self.now = Instant::now();
            // Connections left over and newly reported ones: each once per iteration.
            let unread = std::mem::take(&mut self.unread);
            for event in &events {
                self.turn(event);
            }
            for token in unread {
                self.resume(token, Reading::Due);
            }
            while let Some((_, token)) = self.paused.first().copied().filter(|(at, _)| *at <= self.now) {
                self.paused.pop_first();
                self.resume(token, Reading::Paused);
            }
            while let Ok(command) = commands.try_recv() {
                match command {
                    Command::Serve(id, accepted) => self.serve(id, *accepted),
                    Command::Finish(id) => self.finish(Token(id as usize)),
                    Command::Stop => {
                        self.close_all();
                        ends_at.get_or_insert(self.now + LAST_LINGER);
                    }
                }
            }
            while let Some((_, token)) = self.lingering.front().filter(|(at, _)| *at <= self.now) {
                self.lines.remove(token);
                self.lingering.pop_front();
            }
            self.handler.turn_ended();
        }
    }

    /// How long to wait for the kernel.
    fn timeout(&self, ends_at: Option<Instant>) -> Option<Duration> {
        if !self.unread.is_empty() {
            return Some(Duration::ZERO);
        }
        let lingers = self.lingering.front().map(|(at, _)| *at);
        let paused = self.paused.first().map(|(at, _)| *at);
        let next = [lingers, paused, ends_at].into_iter().flatten().min();
        next.map(|at| at.saturating_duration_since(Instant::now()))
    }

    /// Closes all connections; notified clients get a moment to read the close frame.
    fn close_all(&mut self) {
        let handler = &self.handler;
        self.lines.retain(|_, line| {
            if !line.lingers() {
                handler.closed(line.connection());
            }
            line.lingers()
        });
    }

    fn serve(&mut self, id: u64, accepted: Accepted) {
        let Accepted { stream, tls, mut read, address } = accepted;
        let token = Token(id as usize);
        let mut stream = mio::net::TcpStream::from_std(stream);
        let both = Interest::READABLE | Interest::WRITABLE;
        if let Err(error) = self.poll.registry().register(&mut stream, token, both) {
            debug!(connection = id, %error, "the connection cannot be registered");
            return;
        }
        let connection = Arc::new(Connection::new(id, stream, tls, self.handle.clone()));
        if self.handler.opened(&connection, address) == Flow::Close {
            return connection.refuse();
        }
        let decoder = Decoder::new(self.config.kind, self.config.message_bytes_max);
        let mut line = Line::new(connection, decoder);
        // Bytes received with the handshake are not reported by the kernel.
        let is_over = line.begin(&*self.handler, &mut read);
        self.lines.insert(token, line);
        if is_over {
            self.finish(token);
        }
    }

    fn turn(&mut self, event: &Event) {
        let is_closed = event.is_read_closed() || event.is_write_closed() || event.is_error();
        let Some(line) = self.lines.get_mut(&event.token()) else { return };
        if event.is_writable() {
            line.connection().resume();
            if !line.connection().is_blocked() && line.resume(Reading::Blocked) {
                return self.read(event.token(), is_closed);
            }
        }
        // A client that is gone reads no more.
        if is_closed && line.is_blocked() {
            line.set_reading(Reading::Awaited);
        }
        if line.is_awaited() && (event.is_readable() || is_closed) {
            self.read(event.token(), is_closed);
        }
    }

    /// Reads a postponed connection, if it still is.
    fn resume(&mut self, token: Token, reading: Reading) {
        if self.lines.get_mut(&token).is_some_and(|line| line.resume(reading)) {
            // The kernel does not report again what is behind the end of the stream.
            self.read(token, true);
        }
    }

    /// Reads a connection. If the other side has closed, the kernel reports nothing more.
    fn read(&mut self, token: Token, is_closed: bool) {
        let Some(line) = self.lines.get_mut(&token) else { return };
        let times = (self.began, self.now);
        for _ in 0..READS_PER_TURN {
            match line.read(&*self.handler, &self.config.read_limit, times, &mut self.buffer) {
                ReadResult::Full => {}
                ReadResult::Part if is_closed => {}
                ReadResult::Part | ReadResult::Nothing => return,
                ReadResult::Pause(until) => {
                    line.set_reading(Reading::Paused);
                    self.paused.insert((until, token));
                    return;
                }
                ReadResult::Block => {
                    line.set_reading(Reading::Blocked);
                    return;
                }
                ReadResult::Over => return self.finish(token),
                ReadResult::Gone => return self.remove(token),
            }
        }
        self.read_again(token);
    }

    fn read_again(&mut self, token: Token) {
        if self.lines.get_mut(&token).is_some_and(|line| line.set_reading(Reading::Due)) {
            self.unread.push(token);
        }
    }

    /// Finishes a connection that the handler has closed. Unread bytes would make the kernel
    /// discard the last frames, so the socket is closed after the other side has closed, or a
    /// timeout.
    fn finish(&mut self, token: Token) {
        let Some(line) = self.lines.get_mut(&token).filter(|line| !line.lingers()) else { return };
        if !line.connection().has_ended() {
            return self.remove(token);
        }
        line.linger(LINGER_BYTES as u32);
        line.connection().flush();
        self.handler.closed(line.connection());
        self.lingering.push_back((self.now + LINGER, token));
        self.read_again(token);
    }

    fn remove(&mut self, token: Token) {
        let Some(line) = self.lines.remove(&token) else { return };
        if !line.lingers() {
            line.connection().flush();
            self.handler.closed(line.connection());
        }
    }
}
