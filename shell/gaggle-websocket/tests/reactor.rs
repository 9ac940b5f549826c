//! The reactor against clients that read nothing, send without end, or violate the protocol.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use gaggle_kit::Micros;
use gaggle_kit::rate_limit::RateLimit;
use gaggle_websocket::{
    Accepted, Connection, Flow, Frame, FrameError, FrameQueue, Handler, Message, MessageKind, Reactor,
    ReactorConfig, handshake,
};

/// Upper bound of every wait, for the slowest machine.
const PATIENCE: Duration = Duration::from_secs(60);
const WINDOW: Duration = Duration::from_millis(200);
const READ_PER_WINDOW: usize = 1 << 20;

/// Call of the handler.
#[derive(Debug, PartialEq, Eq)]
enum Told {
    Opened,
    Message(String),
    Malformed(FrameError),
    Beats(u32),
    Closed,
}

/// Echoes each message as text and as bytes, and reports it to the test.
struct Echo {
    told: Mutex<mpsc::Sender<Told>>,
    connection: mpsc::Sender<Arc<Connection<FrameQueue>>>,
    flow: Flow,
}

impl Echo {
    fn tell(&self, told: Told) {
        let _ = self.told.lock().unwrap().send(told);
    }
}

impl Handler for Echo {
    type Queue = FrameQueue;

    fn opened(&self, connection: &Arc<Connection<FrameQueue>>, _: IpAddr) -> Flow {
        let _ = self.connection.send(connection.clone());
        self.tell(Told::Opened);
        if self.flow == Flow::Close { Flow::Close } else { Flow::Continue }
    }

    fn message(&self, connection: &Connection<FrameQueue>, message: Message<'_>) -> Flow {
        if let Message::Text(text) = message {
            connection.queue(Frame::Text(text.into()));
            connection.queue(Frame::Binary(text.as_bytes().to_vec()));
            connection.flush();
        }
        self.tell(Told::Message(format!("{message:?}")));
        self.flow
    }

    fn pong(&self, _: &Connection<FrameQueue>, count: u32) {
        self.tell(Told::Beats(count));
    }

    fn malformed(&self, connection: &Connection<FrameQueue>, error: FrameError) {
        connection.end(Some(1_002), "");
        self.tell(Told::Malformed(error));
    }

    fn closed(&self, _: &Connection<FrameQueue>) {
        self.tell(Told::Closed);
    }
}

/// A server with one client.
struct Pair {
    reactor: Reactor,
    client: TcpStream,
    told: mpsc::Receiver<Told>,
    connections: mpsc::Receiver<Arc<Connection<FrameQueue>>>,
}

impl Pair {
    fn new(flow: Flow) -> Pair {
        Pair::with(flow, |_| {})
    }

    /// The server's stream is prepared by `prepare`.
    fn with(flow: Flow, prepare: impl FnOnce(&mut TcpStream)) -> Pair {
        let ((sender, told), (connection, connections)) = (mpsc::channel(), mpsc::channel());
        let config = ReactorConfig {
            name: "test",
            threads: 1,
            kind: MessageKind::Any,
            message_bytes_max: 1_000,
            read_limit: RateLimit {
                burst: READ_PER_WINDOW as u64,
                tokens: READ_PER_WINDOW as u64,
                per: Micros::from(WINDOW),
            },
        };
        let reactor = Reactor::start(Echo { told: Mutex::new(sender), connection, flow }, config).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.set_read_timeout(Some(PATIENCE)).unwrap();
        let (mut stream, remote) = listener.accept().unwrap();
        prepare(&mut stream);
        stream.set_nonblocking(true).unwrap();
        reactor.serve(1, Accepted { stream, tls: None, read: Vec::new(), address: remote.ip() });
        let pair = Pair { reactor, client, told, connections };
        assert_eq!(pair.hear(), Told::Opened);
        pair
    }

    fn hear(&self) -> Told {
        self.told.recv_timeout(PATIENCE).unwrap()
    }

    /// Next call other than for pings and pongs.
    fn hear_past_beats(&self) -> Told {
        loop {
            match self.hear() {
                Told::Beats(_) => {}
                told => return told,
            }
        }
    }
}

#[test]
fn client_of_other_implementation_is_served() {
    let ((sender, told), (connection, _connections)) = (mpsc::channel(), mpsc::channel());
    let config = ReactorConfig {
        name: "test",
        threads: 2,
        kind: MessageKind::Any,
        message_bytes_max: 1_000,
        read_limit: RateLimit::UNLIMITED,
    };
    let handler = Echo { told: Mutex::new(sender), connection, flow: Flow::Continue };
    let reactor = Reactor::start(handler, config).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let client = std::thread::spawn(move || {
        let stream = TcpStream::connect(address).unwrap();
        let (mut socket, _) = tungstenite::client(format!("ws://{address}/"), stream).unwrap();
        socket.send("hello".into()).unwrap();
        let answers = [socket.read().unwrap(), socket.read().unwrap()];
        socket.close(None).unwrap();
        while socket.read().is_ok() {}
        answers
    });
    let (mut stream, remote) = listener.accept().unwrap();
    let read = handshake::accept(&mut stream).unwrap();
    stream.set_nonblocking(true).unwrap();
    reactor.serve(7, Accepted { stream, tls: None, read, address: remote.ip() });
    let answers = client.join().unwrap();
    assert_eq!(answers, ["hello".into(), tungstenite::Message::binary(&b"hello"[..])]);
    let all: Vec<Told> = (0..3).map(|_| told.recv_timeout(PATIENCE).unwrap()).collect();
    assert_eq!(all, [Told::Opened, Told::Message("Text(\"hello\")".into()), Told::Closed]);
}

#[test]
fn pinging_client_that_never_reads_is_not_read_and_can_be_ended() {
    let mut pair = Pair::new(Flow::Continue);
    pair.client.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    // A masked ping of 125 bytes with a zero mask.
    let pings = [&[0x89, 0x80 | 125, 0, 0, 0, 0][..], &[b'x'; 125]].concat().repeat(100);
    let mut sent = 0;
    // Once reading pauses it never resumes. The kernel buffers some megabytes.
    while let Ok(count) = pair.client.write(&pings) {
        sent += count;
        assert!(sent < 64 << 20, "{sent} bytes were read from a client that reads nothing");
    }
    let connection = pair.connections.recv().unwrap();
    connection.end(None, "");
    assert_eq!(pair.hear_past_beats(), Told::Closed);
    drop(pair.reactor);
}

#[test]
fn pings_of_one_read_are_answered_and_reported_together() {
    let mut pair = Pair::new(Flow::Continue);
    let count = 2_000;
    pair.client.write_all(&[0x89, 0x80, 0, 0, 0, 0].repeat(count)).unwrap();
    let mut pongs = vec![0; 2 * count];
    pair.client.read_exact(&mut pongs).unwrap();
    assert_eq!(pongs, [0x8a, 0].repeat(count));
    let (mut beats, mut calls) = (0, 0);
    while beats < count as u32 {
        let Told::Beats(more) = pair.hear() else { panic!("another call") };
        (beats, calls) = (beats + more, calls + 1);
    }
    assert_eq!(beats, count as u32);
    assert!(calls <= 20, "reported {calls} times");
}

#[test]
fn client_that_sends_without_end_waits() {
    let mut pair = Pair::new(Flow::Continue);
    let began = Instant::now();
    // Pongs, which need no answer.
    let pongs = [0x8a, 0x80, 0, 0, 0, 0].repeat(10_000);
    let mut sent = 0;
    while sent < 16 * READ_PER_WINDOW {
        pair.client.write_all(&pongs).unwrap();
        sent += pongs.len();
    }
    pair.client.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(pair.hear_past_beats(), Told::Closed);
    assert!(began.elapsed() >= 14 * WINDOW, "{sent} bytes were read in {:?}", began.elapsed());
}

#[test]
fn paused_client_is_not_read_for_some_time() {
    let mut pair = Pair::new(Flow::Pause);
    let began = Instant::now();
    // Binary messages of one byte, more than fit into eight reads.
    let messages = [0x82, 0x81, 0, 0, 0, 0, 7].repeat(8 * 16_384 / 7 + 1);
    pair.client.write_all(&messages).unwrap();
    pair.client.shutdown(std::net::Shutdown::Write).unwrap();
    while pair.hear() != Told::Closed {}
    assert!(began.elapsed() >= 7 * WINDOW, "nine reads in {:?}", began.elapsed());
}

#[test]
fn malformed_frames_are_distinguished() {
    let long = 1_001_u16.to_be_bytes();
    for (bytes, expected) in [
        (vec![0x82, 0xfe, long[0], long[1], 0, 0, 0, 0], FrameError::TooLong { max: 1_000 }),
        (vec![0x83, 0x80, 0, 0, 0, 0], FrameError::UnknownKind(3)),
    ] {
        let mut pair = Pair::new(Flow::Continue);
        pair.client.write_all(&bytes).unwrap();
        assert_eq!((pair.hear(), pair.hear()), (Told::Malformed(expected), Told::Closed));
        let mut goodbye = Vec::new();
        pair.client.read_to_end(&mut goodbye).unwrap();
        assert_eq!(goodbye, [0x88, 2, 3, 234]);
    }
}

#[test]
fn rejected_client_is_closed_without_further_calls() {
    let mut pair = Pair::new(Flow::Close);
    assert_eq!(pair.client.read(&mut [0; 10]).unwrap(), 0);
    drop(pair.reactor);
    assert!(pair.told.recv().is_err());
}

#[test]
fn bytes_after_handshake_are_messages_too() {
    let mut pair = Pair::new(Flow::Continue);
    let mut other = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, remote) = listener.accept().unwrap();
        stream.set_nonblocking(true).unwrap();
        let read = vec![0x81, 0x81, 0, 0, 0, 0, b'x'];
        pair.reactor.serve(2, Accepted { stream, tls: None, read, address: remote.ip() });
        client
    };
    let mut answer = [0; 6];
    other.read_exact(&mut answer).unwrap();
    assert_eq!(answer, [0x81, 1, b'x', 0x82, 1, b'x']);
    pair.client.write_all(&[0x81, 0x81, 0, 0, 0, 0, b'y']).unwrap();
    pair.client.read_exact(&mut answer).unwrap();
    assert_eq!(answer, [0x81, 1, b'y', 0x82, 1, b'y']);
}
