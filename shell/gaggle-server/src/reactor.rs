//! Waits for all WebSockets of the lobby at once, in one thread or a few.
//!
//! A task for each of them would be woken, queued and polled again for every message, and all of
//! that lies cold in memory by the time its client says something. Here the kernel names the
//! socket, and what came is heard at once.

use std::collections::{HashMap, VecDeque};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, TcpStream};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gaggle_lobby::message::MESSAGE_BYTES_MAX;
use gaggle_lobby::node::ConnectionId;
use mio::event::Event;
use mio::{Events, Interest, Poll, Token, Waker};
use tokio_rustls::rustls::ServerConnection;
use tracing::{debug, error};

use crate::dispatcher::Dispatcher;
use crate::frames::Incoming;
use crate::id_hasher::IdHasher;
use crate::socket::Socket;

/// What is taken from the kernel at once, into a buffer all sockets of a thread share.
const READ_AT_ONCE: usize = 16_384;
/// How often one socket is read before the others have their turn.
const READS_A_TURN: usize = 2;
const EVENTS_A_TURN: usize = 1_024;
/// How long the other side may take to finish a connection we ended.
const LINGER: Duration = Duration::from_secs(2);
/// What of its unread words is taken for that. Who floods us need not hear why it was shown out.
const LINGER_BYTES: usize = 1 << 20;
/// How long those who were told that it is over have when the thread is to end.
const LAST_LINGER: Duration = Duration::from_millis(500);
/// Nobody's number: connections are counted from 1.
const COMMANDS: Token = Token(0);

/// A connection that has become a WebSocket.
pub(crate) struct Arrival {
    pub(crate) id: ConnectionId,
    pub(crate) stream: TcpStream,
    pub(crate) tls: Option<ServerConnection>,
    /// What was received after the handshake.
    pub(crate) read: Vec<u8>,
    pub(crate) address: IpAddr,
}

enum Command {
    Serve(Box<Arrival>),
    /// A connection was ended from this side.
    Finish(ConnectionId),
    Stop,
}

/// The way to one thread.
#[derive(Debug, Clone)]
pub(crate) struct ReactorHandle {
    commands: mpsc::Sender<Command>,
    waker: Arc<Waker>,
}

impl ReactorHandle {
    /// Whoever ended a connection has said its last word: what is left of it is up to the thread.
    pub(crate) fn finish(&self, id: ConnectionId) {
        self.tell(Command::Finish(id));
    }

    fn tell(&self, command: Command) {
        // A thread that is gone has closed everything.
        if self.commands.send(command).is_ok() {
            let _ = self.waker.wake();
        }
    }
}

/// All threads that serve the lobby's sockets. They end with this.
#[derive(Debug)]
pub(crate) struct Reactor {
    boards: Vec<ReactorHandle>,
    threads: Vec<JoinHandle<()>>,
}

impl Reactor {
    /// Begins to serve, in so many threads.
    pub(crate) fn start(hub: &Arc<Dispatcher>, threads: usize) -> io::Result<Reactor> {
        let mut switchboard = Reactor { boards: Vec::new(), threads: Vec::new() };
        for _ in 0..threads.max(1) {
            let poll = Poll::new()?;
            let waker = Arc::new(Waker::new(poll.registry(), COMMANDS)?);
            let (sender, commands) = mpsc::channel();
            let board = ReactorHandle { commands: sender, waker };
            let lines = Lines {
                hub: hub.clone(),
                board: board.clone(),
                poll,
                lines: HashMap::default(),
                unread: Vec::new(),
                lingering: VecDeque::new(),
                buffer: vec![0; READ_AT_ONCE],
            };
            let thread = std::thread::Builder::new().name("lobby".into());
            switchboard.threads.push(thread.spawn(move || lines.run(&commands))?);
            switchboard.boards.push(board);
        }
        Ok(switchboard)
    }

    /// Serves a connection until it ends.
    pub(crate) fn serve(&self, arrival: Arrival) {
        let at = arrival.id.0 as usize % self.boards.len();
        self.boards[at].tell(Command::Serve(Box::new(arrival)));
    }

    /// Closes all connections.
    pub(crate) fn stop(&self) {
        self.boards.iter().for_each(|board| board.tell(Command::Stop));
    }
}

impl Drop for Reactor {
    fn drop(&mut self) {
        self.stop();
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                error!("a thread of the lobby panicked");
            }
        }
    }
}

/// One thread and its connections.
struct Lines {
    hub: Arc<Dispatcher>,
    board: ReactorHandle,
    poll: Poll,
    lines: HashMap<Token, Line, IdHasher>,
    /// Those the kernel will not name again, although there may be something to read.
    unread: Vec<Token>,
    /// Those that are over, and until when they may take to notice.
    lingering: VecDeque<(Instant, Token)>,
    buffer: Vec<u8>,
}

struct Line {
    socket: Arc<Socket>,
    incoming: Incoming,
    /// It is over; so much of what it still says is thrown away.
    lingers: Option<usize>,
    /// It is among those that are read again without the kernel saying so.
    is_unread: bool,
}

/// What came of reading.
enum Came {
    /// As much as can be taken at once: there may be more.
    All,
    /// Less than that: the kernel says when there is more.
    Some,
    Nothing,
    /// It is over for this side.
    Over,
    /// The other side is gone.
    Gone,
}

impl Line {
    fn read(&mut self, hub: &Arc<Dispatcher>, buffer: &mut [u8]) -> Came {
        let count = match self.socket.read(buffer) {
            // Whoever has closed only its own side still takes our last words.
            Ok(0) if self.lingers.is_some() && self.socket.is_blocked() => return Came::Nothing,
            Ok(0) => return Came::Gone,
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Came::Nothing,
            Err(error) if error.kind() == ErrorKind::Interrupted => return Came::All,
            Err(_) => return Came::Gone,
        };
        match &mut self.lingers {
            Some(left) if *left < count => return Came::Gone,
            Some(left) => *left -= count,
            None if self.socket.take(hub, &mut self.incoming, &mut buffer[..count]) => {}
            None => return Came::Over,
        }
        if count == buffer.len() { Came::All } else { Came::Some }
    }
}

impl Lines {
    fn run(mut self, commands: &mpsc::Receiver<Command>) {
        let mut events = Events::with_capacity(EVENTS_A_TURN);
        let mut ends_at: Option<Instant> = None;
        while ends_at.is_none_or(|at| Instant::now() < at && !self.lines.is_empty()) {
            let is_behind = !self.unread.is_empty();
            let first = self.lingering.front().map(|(at, _)| *at).into_iter().chain(ends_at).min();
            let linger = first.map(|at| at.saturating_duration_since(Instant::now()));
            let timeout = if is_behind { Some(Duration::ZERO) } else { linger };
            match self.poll.poll(&mut events, timeout) {
                // Nobody could be served any more: a new process will do better.
                Err(error) if error.kind() != ErrorKind::Interrupted => {
                    panic!("cannot wait for connections: {error}")
                }
                _ => {}
            }
            // Those that were not done before, and whoever has something new: each once a turn.
            let unread = std::mem::take(&mut self.unread);
            for event in &events {
                self.turn(event);
            }
            for token in unread {
                if let Some(line) = self.lines.get_mut(&token) {
                    line.is_unread = false;
                    self.read(token, true);
                }
            }
            while let Ok(command) = commands.try_recv() {
                match command {
                    Command::Serve(arrival) => self.serve(*arrival),
                    Command::Finish(ConnectionId(id)) => self.finish(Token(id as usize)),
                    Command::Stop => {
                        // Who was told that it is over has a moment to read it.
                        let hub = &self.hub;
                        self.lines.retain(|_, line| {
                            if line.lingers.is_none() {
                                hub.closed(line.socket.id());
                            }
                            line.lingers.is_some()
                        });
                        ends_at.get_or_insert_with(|| Instant::now() + LAST_LINGER);
                    }
                }
            }
            while let Some((_, token)) = self.lingering.front().filter(|(at, _)| *at <= Instant::now()) {
                self.lines.remove(token);
                self.lingering.pop_front();
            }
        }
    }

    fn serve(&mut self, arrival: Arrival) {
        let Arrival { id, stream, tls, mut read, address } = arrival;
        let token = Token(id.0 as usize);
        let mut stream = mio::net::TcpStream::from_std(stream);
        let both = Interest::READABLE | Interest::WRITABLE;
        if let Err(error) = self.poll.registry().register(&mut stream, token, both) {
            debug!(connection = id.0, %error, "cannot be waited for");
            return;
        }
        let socket = Arc::new(Socket::new(id, stream, tls, self.board.clone()));
        self.hub.connected(&socket, address);
        let mut incoming = Incoming::new(MESSAGE_BYTES_MAX);
        // What came together with the handshake is there without the kernel saying so.
        let goes_on = socket.hear(&self.hub, &mut incoming, &mut read)
            && socket.take(&self.hub, &mut incoming, &mut []);
        self.lines.insert(token, Line { socket, incoming, lingers: None, is_unread: false });
        if !goes_on {
            self.finish(token);
        }
    }

    fn turn(&mut self, event: &Event) {
        let is_closed = event.is_read_closed() || event.is_write_closed() || event.is_error();
        if event.is_writable()
            && let Some(line) = self.lines.get(&event.token())
        {
            line.socket.go_on();
        }
        if event.is_readable() || is_closed {
            self.read(event.token(), is_closed);
        }
    }

    /// Takes what came. If the other side has closed, there is something behind it that the kernel
    /// does not say again.
    fn read(&mut self, token: Token, is_closed: bool) {
        // Who has a turn coming has it then, and no other.
        let Some(line) = self.lines.get_mut(&token).filter(|line| !line.is_unread) else { return };
        for _ in 0..READS_A_TURN {
            match line.read(&self.hub, &mut self.buffer) {
                Came::All => {}
                Came::Some if is_closed => {}
                Came::Some | Came::Nothing => return,
                Came::Over => return self.finish(token),
                Came::Gone => return self.remove(token),
            }
        }
        self.read_again(token);
    }

    fn read_again(&mut self, token: Token) {
        if let Some(line) = self.lines.get_mut(&token).filter(|line| !line.is_unread) {
            line.is_unread = true;
            self.unread.push(token);
        }
    }

    /// Nobody listens to this connection any more. Unread bytes would make the kernel throw away
    /// what we said last, so that it is closed when the other side has done so, or has had the time
    /// for it.
    fn finish(&mut self, token: Token) {
        let Some(line) = self.lines.get_mut(&token).filter(|line| line.lingers.is_none()) else { return };
        if !line.socket.has_ended() {
            return self.remove(token);
        }
        line.lingers = Some(LINGER_BYTES);
        line.socket.flush();
        self.hub.closed(line.socket.id());
        self.lingering.push_back((Instant::now() + LINGER, token));
        self.read_again(token);
    }

    fn remove(&mut self, token: Token) {
        let Some(line) = self.lines.remove(&token) else { return };
        if line.lingers.is_none() {
            line.socket.flush();
            self.hub.closed(line.socket.id());
        }
    }
}
