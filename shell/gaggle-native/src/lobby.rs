//! WebSocket to a lobby, for the client of `gaggle-lobby`.
//!
//! `websocket.rs` opens it; from then on everything happens in [`LobbyWebSocket::poll`]. Absent:
//! lobby messages.

use std::sync::mpsc::{Receiver, TryRecvError};

use gaggle_lobby::client::{LobbySocket, SocketEvent};
use gaggle_lobby::message::MESSAGE_BYTES_MAX;
use thiserror::Error;
use tungstenite::http::Uri;
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Message, WebSocket};

use crate::network_watch::NetworkWatch;
use crate::websocket::{self, Security, Stream, is_waiting};

/// Longest send queue in bytes; a client never needs as much.
const WRITE_BUFFER_MAX: usize = 1 << 20;

/// The text is not the address of a lobby.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is not the address of a lobby; use one such as ws://127.0.0.1:8080 or wss://play.example")]
pub struct ParseLobbyUrlError(pub String);

/// WebSocket to a lobby, for [`SocketClient`](gaggle_lobby::client::SocketClient):
///
/// ```no_run
/// use gaggle_lobby::client::{ClientConfig, SocketClient};
/// use gaggle_lobby::message::client::Find;
/// use gaggle_native::{Clock, LobbyWebSocket, random_seed};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let clock = Clock::start();
/// let socket = LobbyWebSocket::new("ws://127.0.0.1:8080")?;
/// let mut lobby = SocketClient::new(clock.now(), ClientConfig::default(), random_seed()?, socket);
/// lobby.client_mut().find(Find { game: "gander".parse()?, ..Find::default() });
/// loop {
///     while let Some(event) = lobby.poll(clock.now()) {
///         println!("{event:?}");
///     }
///     std::thread::sleep(std::time::Duration::from_millis(15));
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct LobbyWebSocket {
    url: Uri,
    security: Security,
    state: State,
    watch: NetworkWatch,
}

#[derive(Debug)]
enum State {
    Idle,
    Connecting(Receiver<Option<Box<WebSocket<Stream>>>>),
    Open(Box<WebSocket<Stream>>),
    /// Ended, and not reported yet.
    Ended,
}

impl LobbyWebSocket {
    /// A socket to the lobby of this server. `http:` and `https:` are accepted for `ws:` and
    /// `wss:`; the default path is `/lobby`.
    ///
    /// # Errors
    /// If it is not such an address.
    pub fn new(url: &str) -> Result<LobbyWebSocket, ParseLobbyUrlError> {
        Ok(LobbyWebSocket {
            url: parse(url)?,
            security: Security::default(),
            state: State::Idle,
            watch: NetworkWatch::default(),
        })
    }

    /// Like [`LobbyWebSocket::new`], with a TLS configuration.
    ///
    /// # Errors
    /// If it is not such an address.
    #[cfg(feature = "tls")]
    pub fn with_tls(
        url: &str,
        config: std::sync::Arc<rustls::ClientConfig>,
    ) -> Result<LobbyWebSocket, ParseLobbyUrlError> {
        Ok(LobbyWebSocket { security: Security::with(config), ..LobbyWebSocket::new(url)? })
    }

    /// Origin of the server, such as `wss://play.example:8443`.
    pub(crate) fn origin(&self) -> String {
        let authority = self.url.authority().map_or("", |authority| authority.as_str());
        format!("{}://{authority}", self.url.scheme_str().unwrap_or("ws"))
    }

    fn read(&mut self) -> Option<SocketEvent> {
        let State::Open(socket) = &mut self.state else { return None };
        if self.watch.has_moved(socket.get_ref().tcp()) {
            return self.end();
        }
        loop {
            // Sends earlier unsent bytes, and pongs.
            if let Err(error) = socket.flush()
                && !is_waiting(&error)
            {
                return self.end();
            }
            match socket.read() {
                Ok(Message::Text(text)) => return Some(SocketEvent::Text(text.as_str().to_string())),
                Ok(Message::Ping(_) | Message::Pong(_)) => {}
                Err(error) if is_waiting(&error) => return None,
                // A close frame, or a message that no lobby sends.
                Ok(_) | Err(_) => return self.end(),
            }
        }
    }

    fn end(&mut self) -> Option<SocketEvent> {
        self.state = State::Idle;
        Some(SocketEvent::Closed)
    }
}

impl LobbySocket for LobbyWebSocket {
    fn connect(&mut self) {
        let config = WebSocketConfig::default()
            .max_message_size(Some(MESSAGE_BYTES_MAX))
            .max_frame_size(Some(MESSAGE_BYTES_MAX))
            .max_write_buffer_size(WRITE_BUFFER_MAX);
        let opening = websocket::open(&self.url, &self.security, config);
        self.state = opening.map_or(State::Ended, State::Connecting);
    }

    fn send(&mut self, text: &str) {
        let State::Open(socket) = &mut self.state else { return };
        match socket.send(Message::text(text)) {
            Ok(()) => {}
            Err(error) if is_waiting(&error) => {}
            Err(_) => self.state = State::Ended,
        }
    }

    fn disconnect(&mut self) {
        if let State::Open(socket) = &mut self.state {
            // Sends a close frame, if that is possible at once.
            let _ = socket.close(None);
            let _ = socket.flush();
        }
        self.state = State::Idle;
    }

    fn poll(&mut self) -> Option<SocketEvent> {
        match &mut self.state {
            State::Idle => None,
            State::Ended => self.end(),
            State::Open(_) => self.read(),
            State::Connecting(told) => match told.try_recv() {
                Ok(Some(socket)) => {
                    self.state = State::Open(socket);
                    Some(SocketEvent::Opened)
                }
                Ok(None) | Err(TryRecvError::Disconnected) => self.end(),
                Err(TryRecvError::Empty) => None,
            },
        }
    }
}

fn parse(text: &str) -> Result<Uri, ParseLobbyUrlError> {
    let wrong = || ParseLobbyUrlError(text.into());
    let url: Uri = text.parse().map_err(|_| wrong())?;
    let scheme = match url.scheme_str() {
        Some("ws" | "http") => "ws",
        Some("wss" | "https") if cfg!(feature = "tls") => "wss",
        _ => return Err(wrong()),
    };
    let authority = url.authority().ok_or_else(wrong)?;
    let path = match url.path_and_query().map_or("/", |path| path.as_str()) {
        "/" => "/lobby",
        path => path,
    };
    format!("{scheme}://{authority}{path}").parse().map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_people_write_them() {
        for (text, expected) in [
            ("http://127.0.0.1:8080", "ws://127.0.0.1:8080/lobby"),
            ("ws://127.0.0.1:8080/", "ws://127.0.0.1:8080/lobby"),
            ("wss://play.example", "wss://play.example/lobby"),
            ("https://play.example/eu/lobby?x=1", "wss://play.example/eu/lobby?x=1"),
            ("ws://[::1]:9/lobby", "ws://[::1]:9/lobby"),
        ] {
            assert_eq!(parse(text).map(|url| url.to_string()), Ok(expected.to_string()), "{text}");
        }
        for text in ["", "play.example", "ftp://play.example", "/lobby", "ws://", "ws:// "] {
            assert_eq!(parse(text), Err(ParseLobbyUrlError(text.into())));
        }
    }
}
