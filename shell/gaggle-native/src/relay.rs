//! Socket to a relay: a WebSocket, with a WebRTC channel beside it.
//!
//! Implements [`RelaySocket`](gaggle_link::RelaySocket). Absent: when to connect (`gaggle-link`).

use std::collections::VecDeque;
use std::sync::mpsc::TryRecvError;
use std::time::Instant;

use gaggle_kit::Micros;
use gaggle_link::WouldBlock;
use gaggle_link::relay::{RelayLeg, RelaySocket, RelaySocketEvent};
use gaggle_rtc::{Certificate, Role, RtcChannel, RtcChannelError, RtcOutput};
use tungstenite::http::Uri;
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Bytes, Error, Message, WebSocket};

use crate::network_watch::NetworkWatch;
use crate::sockets::{DATAGRAMS_AT_ONCE, Sockets};
use crate::websocket::{self, Opening, Security, Stream, is_waiting};

/// Most bytes queued for the kernel. More would only arrive later.
const WRITE_BUFFER_MAX: usize = 128 * 1024;
/// Polling interval while a socket is opening or has unsent bytes: it cannot wake its caller.
const LOOK_AGAIN: Micros = Micros::from_millis(5);

enum State {
    Closed,
    Opening(Opening),
    Open(Box<WebSocket<Stream>>),
    /// Ended, and not reported yet.
    Ended,
}

/// Address of a relay, with the WebSocket and channel to it.
pub struct RelayWebSocket {
    url: Option<Uri>,
    security: Security,
    state: State,
    watch: NetworkWatch,
    channel: Option<Channel>,
    /// Unpolled outputs of the channel.
    news: VecDeque<News>,
    now: Micros,
}

/// The channel and its sockets.
struct Channel {
    channel: RtcChannel,
    sockets: Sockets,
    timeout: Instant,
}

enum News {
    Described(String),
    Opened,
    Closed,
    Frame(Vec<u8>),
}

impl std::fmt::Debug for RelayWebSocket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RelayLine").field("url", &self.url).finish_non_exhaustive()
    }
}

impl RelayWebSocket {
    /// A socket to the relay at this address, such as `wss://example.org/relay`. It never opens if
    /// that is no address.
    pub fn new(url: &str) -> RelayWebSocket {
        let (url, security) = (url.parse().ok(), Security::default());
        let (state, channel, news) = (State::Closed, None, VecDeque::new());
        let watch = NetworkWatch::default();
        RelayWebSocket { url, security, state, watch, channel, news, now: Micros::ZERO }
    }

    /// Like [`RelayWebSocket::new`], with a TLS configuration.
    #[cfg(feature = "tls")]
    pub fn with_tls(url: &str, config: std::sync::Arc<rustls::ClientConfig>) -> RelayWebSocket {
        RelayWebSocket { security: Security::with(config), ..RelayWebSocket::new(url) }
    }

    fn write(&mut self, frame: &[u8]) -> Result<(), WouldBlock> {
        let State::Open(socket) = &mut self.state else { return Ok(()) };
        match socket.write(Message::Binary(Bytes::copy_from_slice(frame))) {
            Err(Error::WriteBufferFull(_)) => Err(WouldBlock),
            // Reading reports any other error.
            _ => Ok(()),
        }
    }
}

impl RelayWebSocket {
    fn poll_socket(&mut self, frame: &mut Vec<u8>) -> Option<RelaySocketEvent> {
        match &mut self.state {
            State::Closed => None,
            State::Ended => {
                self.state = State::Closed;
                Some(RelaySocketEvent::Closed)
            }
            State::Opening(opening) => match opening.try_recv() {
                Ok(Some(socket)) => {
                    self.state = State::Open(socket);
                    Some(RelaySocketEvent::Opened)
                }
                Err(TryRecvError::Empty) => None,
                Ok(None) | Err(TryRecvError::Disconnected) => {
                    self.state = State::Closed;
                    Some(RelaySocketEvent::Closed)
                }
            },
            // A connection over the former network would only time out.
            State::Open(socket) if self.watch.has_moved(socket.get_ref().tcp()) => {
                self.state = State::Closed;
                Some(RelaySocketEvent::Closed)
            }
            State::Open(socket) => loop {
                match socket.read() {
                    Ok(Message::Binary(bytes)) => {
                        frame.clear();
                        frame.extend_from_slice(&bytes);
                        return Some(RelaySocketEvent::Frame(RelayLeg::WebSocket));
                    }
                    Ok(_) => {}
                    Err(error) if is_waiting(&error) => {
                        // Sends pongs, and earlier unsent bytes.
                        let _ = socket.flush();
                        return None;
                    }
                    Err(_) => {
                        self.state = State::Closed;
                        return Some(RelaySocketEvent::Closed);
                    }
                }
            },
        }
    }

    /// Passes received datagrams and time to the channel.
    fn look_at_channel(&mut self) {
        let now = Instant::now();
        for _ in 0..DATAGRAMS_AT_ONCE {
            let Some(held) = &mut self.channel else { return };
            let Some((to, from, bytes)) = held.sockets.receive() else { break };
            let is_fine = held.channel.handle(now, from, to, bytes).is_ok();
            self.go_on(is_fine, now);
        }
        if let Some(held) = self.channel.as_mut().filter(|held| held.timeout <= now) {
            let is_fine = held.channel.handle_timeout(now).is_ok();
            self.go_on(is_fine, now);
        }
    }

    fn go_on(&mut self, is_fine: bool, now: Instant) {
        if !is_fine {
            self.channel = None;
            self.news.push_back(News::Closed);
        }
        self.drain(now);
    }

    /// Carries out the channel's outputs until there are none.
    fn drain(&mut self, now: Instant) {
        loop {
            let Some(held) = &mut self.channel else { return };
            match held.channel.poll(now) {
                RtcOutput::Transmit { from, to, bytes } => held.sockets.send(from, to, &bytes),
                RtcOutput::Open => self.news.push_back(News::Opened),
                RtcOutput::Message(bytes) => self.news.push_back(News::Frame(bytes)),
                RtcOutput::Closed => {
                    self.channel = None;
                    self.news.push_back(News::Closed);
                }
                RtcOutput::Timeout(at) => {
                    held.timeout = at;
                    return;
                }
            }
        }
    }
}

impl RelaySocket for RelayWebSocket {
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

    fn send_control(&mut self, frame: &[u8]) {
        if self.write(frame).is_err() {
            // A lost control frame would leave the two sides in different states; a new socket
            // repeats everything.
            self.state = State::Ended;
        }
    }

    fn send(&mut self, _: Micros, leg: RelayLeg, frame: &[u8]) -> Result<(), WouldBlock> {
        match (leg, &mut self.channel) {
            (RelayLeg::WebSocket, _) => self.write(frame),
            (RelayLeg::Datagram, None) => Ok(()),
            (RelayLeg::Datagram, Some(held)) => {
                held.channel.write(frame)?;
                self.drain(Instant::now());
                Ok(())
            }
        }
    }

    fn offer(&mut self, _: Micros) {
        self.drop_channel();
        let now = Instant::now();
        match begin(now) {
            Ok((channel, description)) => {
                self.channel = Some(channel);
                self.news.push_back(News::Described(description));
                self.drain(now);
            }
            Err(_) => self.news.push_back(News::Closed),
        }
    }

    fn accept(&mut self, _: Micros, description: &str) {
        let Some(held) = &mut self.channel else { return };
        if held.channel.accept(description).is_err() {
            self.channel = None;
            self.news.push_back(News::Closed);
        }
        self.drain(Instant::now());
    }

    fn drop_channel(&mut self) {
        if let Some(held) = &mut self.channel {
            held.channel.close();
            self.drain(Instant::now());
        }
        self.channel = None;
        self.news.clear();
    }

    fn poll(&mut self, now: Micros, frame: &mut Vec<u8>) -> Option<RelaySocketEvent> {
        self.now = now;
        if let Some(event) = self.poll_socket(frame) {
            return Some(event);
        }
        if self.news.is_empty() {
            self.look_at_channel();
        }
        Some(match self.news.pop_front()? {
            News::Described(description) => RelaySocketEvent::Described(description),
            News::Opened => RelaySocketEvent::ChannelOpened,
            News::Closed => RelaySocketEvent::ChannelClosed,
            News::Frame(bytes) => {
                *frame = bytes;
                RelaySocketEvent::Frame(RelayLeg::Datagram)
            }
        })
    }

    fn poll_timeout(&self) -> Micros {
        match &self.state {
            State::Closed if self.channel.is_none() => Micros::MAX,
            _ => self.now + LOOK_AGAIN,
        }
    }
}

fn begin(now: Instant) -> Result<(Channel, String), RtcChannelError> {
    let sockets = Sockets::open();
    let mut channel = RtcChannel::new(now, Role::Peer, &Certificate::generate()?);
    for address in sockets.addresses() {
        channel.add_host(address)?;
    }
    let description = channel.offer()?;
    Ok((Channel { channel, sockets, timeout: now }, description))
}
