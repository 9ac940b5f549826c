//! The line to a relay: a WebSocket.

use std::sync::mpsc::TryRecvError;

use gaggle_kit::Micros;
use gaggle_link::Busy;
use gaggle_link::relay::{Leg, Line, LineEvent};
use tungstenite::http::Uri;
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Bytes, Error, Message, WebSocket};

use crate::websocket::{self, Opening, Security, Stream, is_waiting};

/// Bytes that may wait for the kernel to take them. More than that is a queue that only gets older.
const WRITE_BUFFER_MAX: usize = 128 * 1024;
/// How often a socket is looked at while it is being opened or has something to say: it cannot wake anybody.
const LOOK_AGAIN: Micros = Micros::from_millis(5);

enum State {
    Closed,
    Opening(Opening),
    Open(Box<WebSocket<Stream>>),
    /// It ended, which has not been told yet.
    Ended,
}

/// A relay's address and the socket to it.
pub struct RelayLine {
    url: Option<Uri>,
    security: Security,
    state: State,
    now: Micros,
}

impl std::fmt::Debug for RelayLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RelayLine").field("url", &self.url).finish_non_exhaustive()
    }
}

impl RelayLine {
    /// A line to the relay at this address, as `wss://example.org/relay`. It never opens if that is no address.
    pub fn new(url: &str) -> RelayLine {
        let (url, security) = (url.parse().ok(), Security::default());
        RelayLine { url, security, state: State::Closed, now: Micros::ZERO }
    }

    /// The same with certificates of one's own choice.
    #[cfg(feature = "tls")]
    pub fn with_tls(url: &str, config: std::sync::Arc<rustls::ClientConfig>) -> RelayLine {
        RelayLine { security: Security::with(config), ..RelayLine::new(url) }
    }

    fn write(&mut self, frame: &[u8]) -> Result<(), Busy> {
        let State::Open(socket) = &mut self.state else { return Ok(()) };
        match socket.write(Message::Binary(Bytes::copy_from_slice(frame))) {
            Err(Error::WriteBufferFull(_)) => Err(Busy),
            // Whatever else is wrong with the socket, reading will show it.
            _ => Ok(()),
        }
    }
}

impl Line for RelayLine {
    fn open(&mut self, _: Micros) {
        let config = WebSocketConfig::default().write_buffer_size(0).max_write_buffer_size(WRITE_BUFFER_MAX);
        let opening = self.url.as_ref().and_then(|url| websocket::open(url, &self.security, config));
        self.state = opening.map_or(State::Ended, State::Opening);
    }

    fn close(&mut self) {
        if let State::Open(mut socket) = std::mem::replace(&mut self.state, State::Closed) {
            let _ = socket.close(None);
            let _ = socket.flush();
        }
    }

    fn say(&mut self, frame: &[u8]) {
        if self.write(frame).is_err() {
            // A word lost would leave the two sides of different minds; a new socket says everything again.
            self.state = State::Ended;
        }
    }

    fn send(&mut self, _: Micros, leg: Leg, frame: &[u8]) -> Result<(), Busy> {
        if leg == Leg::Socket { self.write(frame) } else { Ok(()) }
    }

    fn offer(&mut self, _: Micros) {}

    fn accept(&mut self, _: Micros, _: &str) {}

    fn drop_channel(&mut self) {}

    fn poll(&mut self, now: Micros, frame: &mut Vec<u8>) -> Option<LineEvent> {
        self.now = now;
        match &mut self.state {
            State::Closed => None,
            State::Ended => {
                self.state = State::Closed;
                Some(LineEvent::Closed)
            }
            State::Opening(opening) => match opening.try_recv() {
                Ok(Some(socket)) => {
                    self.state = State::Open(socket);
                    Some(LineEvent::Opened)
                }
                Err(TryRecvError::Empty) => None,
                Ok(None) | Err(TryRecvError::Disconnected) => {
                    self.state = State::Closed;
                    Some(LineEvent::Closed)
                }
            },
            State::Open(socket) => loop {
                match socket.read() {
                    Ok(Message::Binary(bytes)) => {
                        frame.clear();
                        frame.extend_from_slice(&bytes);
                        return Some(LineEvent::Frame(Leg::Socket));
                    }
                    Ok(_) => {}
                    Err(error) if is_waiting(&error) => {
                        // Pongs, and what the kernel did not take before.
                        let _ = socket.flush();
                        return None;
                    }
                    Err(_) => {
                        self.state = State::Closed;
                        return Some(LineEvent::Closed);
                    }
                }
            },
        }
    }

    fn poll_timeout(&self) -> Micros {
        match &self.state {
            State::Closed => Micros::MAX,
            _ => self.now + LOOK_AGAIN,
        }
    }
}
