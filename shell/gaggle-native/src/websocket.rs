//! Opening of WebSockets in the background.
//!
//! Used by `lobby.rs` and `relay.rs`. Names are resolved and connections opened in a short-lived
//! thread, because the system offers no non-blocking way; the result never blocks. Absent:
//! messages.

mod stream;

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use tungstenite::http::Uri;
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Error, WebSocket};

pub(crate) use stream::{Security, Stream};

/// Time for one address of a server to answer.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// Time for each step of the handshakes.
const OPEN_WITHIN: Duration = Duration::from_secs(8);

/// Receives the open WebSocket, or none after a failure.
pub(crate) type Opening = Receiver<Option<Box<WebSocket<Stream>>>>;

/// Starts opening a WebSocket; none if no thread can be created.
pub(crate) fn open(url: &Uri, security: &Security, config: WebSocketConfig) -> Option<Opening> {
    let (told, told_to) = channel();
    let (url, security) = (url.clone(), security.clone());
    let thread = std::thread::Builder::new().name("websocket".into());
    // The receiver may be gone by then.
    let started = thread.spawn(move || drop(told.send(connect(&url, &security, config).ok().map(Box::new))));
    started.is_ok().then_some(told_to)
}

/// Whether the error only means that reading or writing would block.
pub(crate) fn is_waiting(error: &Error) -> bool {
    matches!(error, Error::Io(error) if error.kind() == io::ErrorKind::WouldBlock)
}

/// Opens a connection, blocking.
fn connect(url: &Uri, security: &Security, config: WebSocketConfig) -> io::Result<WebSocket<Stream>> {
    let is_secure = url.scheme_str() == Some("wss");
    let host = url.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let port = url.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
    let tcp = reach(host, port)?;
    tcp.set_nodelay(true)?;
    tcp.set_read_timeout(Some(OPEN_WITHIN))?;
    tcp.set_write_timeout(Some(OPEN_WITHIN))?;
    let stream = if is_secure { security.wrap(host, tcp)? } else { Stream::Plain(tcp) };
    let opened = tungstenite::client::client_with_config(url, stream, Some(config));
    let (socket, _) = opened.map_err(|error| io::Error::other(error.to_string()))?;
    socket.get_ref().tcp().set_nonblocking(true)?;
    Ok(socket)
}

/// Connects to the first of a host's addresses that answers.
fn reach(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT_WITHIN) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}
