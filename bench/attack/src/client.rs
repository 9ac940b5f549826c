//! A client of lobby, relay and files, from any local address, plain or with TLS.
//!
//! Honest clients and attackers use it. Absent: what they ask for.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use serde_json::Value;
use tungstenite::{Message, WebSocket};

/// Time after which an unanswered request counts as lost.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3);

/// Address of the server and how to connect.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    pub(crate) tls: Option<Arc<ClientConfig>>,
}

/// Address of an honest client: each in a network of its own, so that none shares a limit.
pub(crate) fn honest(nth: usize) -> IpAddr {
    Ipv4Addr::new(127, 32 + (nth / 250 % 64) as u8, (nth % 250) as u8, 1).into()
}

/// Address of an attacker: many in few networks.
pub(crate) fn hostile(nth: usize) -> IpAddr {
    Ipv4Addr::new(127, 1, (nth / 250 % 250) as u8, 1 + (nth % 250) as u8).into()
}

/// A TCP connection from this address.
pub(crate) fn tcp(from: IpAddr, to: SocketAddr) -> io::Result<TcpStream> {
    tcp_with(from, to, None)
}

/// A TCP connection whose receive buffer holds at most `unread` bytes.
pub(crate) fn tcp_with(from: IpAddr, to: SocketAddr, unread: Option<usize>) -> io::Result<TcpStream> {
    let domain = if to.is_ipv6() { socket2::Domain::IPV6 } else { socket2::Domain::IPV4 };
    let socket = socket2::Socket::new(domain, socket2::Type::STREAM, None)?;
    if let Some(bytes) = unread {
        socket.set_recv_buffer_size(bytes)?;
    }
    socket.bind(&SocketAddr::from((from, 0)).into())?;
    socket.connect_timeout(&to.into(), PATIENCE)?;
    socket.set_tcp_nodelay(true)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_write_timeout(Some(PATIENCE))?;
    Ok(socket.into())
}

/// A stream with or without TLS.
pub(crate) enum Stream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Stream {
    pub(crate) fn connect(from: IpAddr, target: &Target) -> Result<Stream, String> {
        let tcp = tcp(from, target.address).map_err(|error| format!("no connection: {error}"))?;
        let Some(config) = &target.tls else { return Ok(Stream::Plain(tcp)) };
        let name = ServerName::try_from("localhost").map_err(|error| error.to_string())?;
        let session = ClientConnection::new(config.clone(), name).map_err(|error| error.to_string())?;
        Ok(Stream::Tls(Box::new(StreamOwned::new(session, tcp))))
    }

    pub(crate) fn socket(&self) -> &TcpStream {
        match self {
            Stream::Plain(tcp) => tcp,
            Stream::Tls(tls) => tls.get_ref(),
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket().as_fd()
    }
}

impl Read for Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(tcp) => tcp.read(bytes),
            Stream::Tls(tls) => tls.read(bytes),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(tcp) => tcp.write(bytes),
            Stream::Tls(tls) => tls.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Plain(tcp) => tcp.flush(),
            Stream::Tls(tls) => tls.flush(),
        }
    }
}

/// A WebSocket at this path.
pub(crate) fn websocket(from: IpAddr, target: &Target, path: &str) -> Result<WebSocket<Stream>, String> {
    let stream = Stream::connect(from, target)?;
    let url = match target.tls {
        None => format!("ws://{}{path}", target.address),
        Some(_) => format!("wss://localhost{path}"),
    };
    tungstenite::client(url, stream)
        .map(|(socket, _)| socket)
        .map_err(|error| format!("no WebSocket: {error}"))
}

/// A lobby client that was welcomed.
pub(crate) struct Guest {
    pub(crate) socket: WebSocket<Stream>,
    pub(crate) peer: String,
}

impl Guest {
    /// Connects and sends a hello with this key.
    pub(crate) fn connect(from: IpAddr, target: &Target, key: &str) -> Result<Guest, String> {
        Guest::connect_with(from, target, &format!(r#"{{"type":"hello","key":"{key}"}}"#))
    }

    /// Connects and sends this hello.
    pub(crate) fn connect_with(from: IpAddr, target: &Target, hello: &str) -> Result<Guest, String> {
        let mut guest = Guest { socket: websocket(from, target, "/lobby")?, peer: String::new() };
        guest.say(hello)?;
        loop {
            let heard = guest.hear()?;
            match (heard["type"].as_str(), heard["code"].as_str()) {
                (Some("welcome"), _) => {
                    guest.peer = text(&heard["peer"]);
                    return Ok(guest);
                }
                // The ticket brought no reservation, but the client is welcome without it.
                (Some("error"), Some("bad-ticket")) => {}
                (Some("error" | "bye"), code) => {
                    return Err(format!("not welcome: {}", code.unwrap_or_default()));
                }
                _ => {}
            }
        }
    }

    pub(crate) fn say(&mut self, said: &str) -> Result<(), String> {
        self.socket.send(Message::text(said)).map_err(|error| format!("cannot send: {error}"))
    }

    /// The next message of any type.
    pub(crate) fn hear(&mut self) -> Result<Value, String> {
        loop {
            let heard = self.socket.read().map_err(|error| format!("nothing heard: {error}"))?;
            if let Message::Text(text) = heard {
                return serde_json::from_str(&text).map_err(|error| error.to_string());
            }
        }
    }

    /// The next message of this type. A rejection or a disconnect is an error.
    pub(crate) fn hear_a(&mut self, kind: &str) -> Result<Value, String> {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            let heard = self.hear()?;
            match heard["type"].as_str() {
                Some(heard_kind) if heard_kind == kind => return Ok(heard),
                Some("error" | "bye") => {
                    return Err(format!("{kind} refused: {} {}", text(&heard["code"]), text(&heard["text"])));
                }
                _ => {}
            }
        }
        Err(format!("no {kind} in time"))
    }

    pub(crate) fn ask(&mut self, said: &str, kind: &str) -> Result<Value, String> {
        self.say(said)?;
        self.hear_a(kind)
    }

    /// A message that arrives within this time, if any.
    pub(crate) fn hear_within(&mut self, time: Duration) -> Option<Value> {
        let socket = self.socket.get_ref().socket();
        socket.set_read_timeout(Some(time.max(Duration::from_millis(1)))).ok()?;
        let heard = self.hear().ok();
        self.socket.get_ref().socket().set_read_timeout(Some(PATIENCE)).ok()?;
        heard
    }
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_string()
}

/// Status of a GET, after reading the whole answer. `more` are header lines.
pub(crate) fn get(from: IpAddr, target: &Target, path: &str, more: &str) -> Result<u16, String> {
    let mut stream = Stream::connect(from, target)?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{more}\r\n");
    stream.write_all(request.as_bytes()).map_err(|error| format!("cannot ask: {error}"))?;
    let (mut answer, mut buffer) = (Vec::new(), [0; 8_192]);
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => answer.extend_from_slice(&buffer[..count]),
            // With TLS, an end without close_notify also ends the answer.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
            Err(error) => return Err(format!("no answer: {error}")),
        }
    }
    let status = answer.get(9..12).and_then(|code| std::str::from_utf8(code).ok()?.parse().ok());
    status.ok_or_else(|| "not HTTP".to_string())
}
