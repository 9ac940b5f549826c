//! Socket to a relay: a WebSocket of the page, with a WebRTC channel beside it.
//!
//! Implements [`RelaySocket`](gaggle_link::RelaySocket). Absent: when to connect (`gaggle-link`).

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use gaggle_kit::{Micros, PeerId};
use gaggle_link::WouldBlock;
use gaggle_link::relay::{RELAY_TEXT_BYTES_MAX, RelayLeg, RelaySocket, RelaySocketEvent};
use js_sys::{ArrayBuffer, Uint8Array};
use wasm_bindgen::prelude::*;
use web_sys::{BinaryType, MessageEvent, RtcConfiguration, WebSocket};

use crate::arrival::arrived;
use crate::connection::{Connection, Inbox, Report, Task};

/// Most bytes the browser may buffer. More would only arrive later.
const BUFFERED_BYTES_MAX: u32 = 64 * 1024;
/// Frames queued for polling; beyond that the oldest datagram is dropped.
const FRAMES_MAX: usize = 2_048;
/// Longest frame: a kind and a text.
const FRAME_BYTES_MAX: usize = RELAY_TEXT_BYTES_MAX + 1;

/// Report of a socket.
enum Said {
    Opened,
    Closed,
    Frame(Vec<u8>),
}

/// Reports not polled yet.
#[derive(Default)]
struct Words {
    said: VecDeque<(u32, Said)>,
    /// Frames dropped because they were not polled in time, or were too long.
    dropped: u64,
}

impl Words {
    fn push(&mut self, number: u32, said: Said) {
        self.said.push_back((number, said));
    }

    fn push_frame(&mut self, number: u32, bytes: &Uint8Array) {
        if bytes.length() as usize > FRAME_BYTES_MAX {
            self.dropped += 1;
            return;
        }
        if self.said.len() >= FRAMES_MAX
            && let Some(oldest) = self.said.iter().position(|(_, said)| is_datagram(said))
        {
            self.said.remove(oldest);
            self.dropped += 1;
        }
        self.push(number, Said::Frame(bytes.to_vec()));
    }
}

/// Address of a relay, with the WebSocket and channel to it.
pub struct RelayWebSocket {
    url: String,
    socket: Option<Socket>,
    said: Rc<RefCell<Words>>,
    /// Number of the current socket, if any. Reports of others are ignored.
    sockets: u32,
    channel: Option<Connection>,
    /// Number of the current channel.
    channels: u32,
    inbox: Rc<RefCell<Inbox>>,
}

impl std::fmt::Debug for RelayWebSocket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RelayLine").field("url", &self.url).finish_non_exhaustive()
    }
}

struct Socket {
    socket: WebSocket,
    /// Kept alive as long as the browser may call them.
    _handlers: Handlers,
}

struct Handlers {
    _opened: Closure<dyn FnMut()>,
    _closed: Closure<dyn FnMut()>,
    _message: Closure<dyn FnMut(MessageEvent)>,
}

impl RelayWebSocket {
    /// A socket to the relay at this address, such as `wss://example.org/relay`.
    pub fn new(url: &str) -> RelayWebSocket {
        RelayWebSocket {
            url: url.to_string(),
            socket: None,
            said: Rc::default(),
            sockets: 0,
            channel: None,
            channels: 0,
            inbox: Rc::default(),
        }
    }

    fn poll_socket(&mut self, frame: &mut Vec<u8>) -> Option<RelaySocketEvent> {
        loop {
            let (number, said) = self.said.borrow_mut().said.pop_front()?;
            if number != self.sockets {
                continue;
            }
            return Some(match said {
                Said::Opened => RelaySocketEvent::Opened,
                Said::Closed => {
                    self.close();
                    RelaySocketEvent::Closed
                }
                Said::Frame(bytes) => {
                    *frame = bytes;
                    RelaySocketEvent::Frame(RelayLeg::WebSocket)
                }
            });
        }
    }

    fn poll_channel(&mut self, frame: &mut Vec<u8>) -> Option<RelaySocketEvent> {
        let mut inbox = self.inbox.borrow_mut();
        while let Some((_, attempt, report)) = inbox.reports.pop_front() {
            if attempt != self.channels {
                continue;
            }
            match report {
                Report::Described(description) => return Some(RelaySocketEvent::Described(description)),
                // The relay needs no local candidates: it answers to the source address.
                Report::Found(_) => {}
                Report::Open => return Some(RelaySocketEvent::ChannelOpened),
                Report::Failed => {
                    drop(inbox);
                    self.drop_channel();
                    return Some(RelaySocketEvent::ChannelClosed);
                }
            }
        }
        while let Some((_, attempt, mut bytes)) = inbox.datagrams.pop_front() {
            std::mem::swap(frame, &mut bytes);
            inbox.spare.push(bytes);
            if attempt == self.channels {
                return Some(RelaySocketEvent::Frame(RelayLeg::Datagram));
            }
        }
        None
    }
}

impl RelaySocket for RelayWebSocket {
    fn open(&mut self, _: Micros) {
        self.sockets += 1;
        self.socket = Socket::open(&self.url, self.sockets, &self.said);
        if self.socket.is_none() {
            // An address the page may not use: reported as a failure and retried.
            self.said.borrow_mut().push(self.sockets, Said::Closed);
        }
    }

    fn close(&mut self) {
        self.socket = None;
        self.sockets += 1;
    }

    fn send_control(&mut self, frame: &[u8]) {
        if let Some(socket) = &self.socket {
            let _ = socket.socket.send_with_u8_array(frame);
        }
    }

    fn send(&mut self, _: Micros, leg: RelayLeg, frame: &[u8]) -> Result<(), WouldBlock> {
        match leg {
            RelayLeg::Datagram => self.channel.as_ref().map_or(Ok(()), |channel| channel.send(frame)),
            RelayLeg::WebSocket => match &self.socket {
                Some(socket) if socket.socket.buffered_amount() > BUFFERED_BYTES_MAX => Err(WouldBlock),
                Some(socket) => socket.socket.send_with_u8_array(frame).map_err(|_| WouldBlock),
                None => Ok(()),
            },
        }
    }

    fn offer(&mut self, _: Micros) {
        self.channels += 1;
        // The peer id is not used: there is one channel at a time.
        let peer = PeerId::default();
        self.channel = Connection::new(peer, self.channels, &RtcConfiguration::new(), &self.inbox).ok();
        match &self.channel {
            Some(channel) => channel.push(Task::Offer),
            None => self.inbox.borrow_mut().reports.push_back((peer, self.channels, Report::Failed)),
        }
    }

    fn accept(&mut self, _: Micros, description: &str) {
        if let Some(channel) = &self.channel {
            channel.push(Task::Accept(description.to_string()));
        }
    }

    fn drop_channel(&mut self) {
        self.channel = None;
        self.channels += 1;
    }

    fn poll(&mut self, _: Micros, frame: &mut Vec<u8>) -> Option<RelaySocketEvent> {
        self.poll_socket(frame).or_else(|| self.poll_channel(frame))
    }

    fn poll_timeout(&self) -> Micros {
        // The browser calls back; a page polls every frame anyway.
        Micros::MAX
    }

    fn dropped(&self, leg: RelayLeg) -> u64 {
        match leg {
            RelayLeg::Datagram => self.inbox.borrow().dropped,
            RelayLeg::WebSocket => self.said.borrow().dropped,
        }
    }
}

impl Socket {
    fn open(url: &str, number: u32, said: &Rc<RefCell<Words>>) -> Option<Socket> {
        let socket = WebSocket::new(url).ok()?;
        socket.set_binary_type(BinaryType::Arraybuffer);
        let on = Rc::clone(said);
        let opened = Closure::<dyn FnMut()>::new(move || on.borrow_mut().push(number, Said::Opened));
        socket.set_onopen(Some(opened.as_ref().unchecked_ref()));
        // An error is always followed by a close.
        let on = Rc::clone(said);
        let closed = Closure::<dyn FnMut()>::new(move || on.borrow_mut().push(number, Said::Closed));
        socket.set_onclose(Some(closed.as_ref().unchecked_ref()));
        let on = Rc::clone(said);
        let message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
            if let Ok(buffer) = event.data().dyn_into::<ArrayBuffer>() {
                on.borrow_mut().push_frame(number, &Uint8Array::new(&buffer));
                arrived();
            }
        });
        socket.set_onmessage(Some(message.as_ref().unchecked_ref()));
        Some(Socket { socket, _handlers: Handlers { _opened: opened, _closed: closed, _message: message } })
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.socket.set_onopen(None);
        self.socket.set_onclose(None);
        self.socket.set_onmessage(None);
        let _ = self.socket.close();
    }
}

/// Only datagrams may be dropped: the kind is the first byte (docs/protocol/7-paths-and-relay.md).
fn is_datagram(said: &Said) -> bool {
    matches!(said, Said::Frame(bytes) if bytes.first() == Some(&4))
}
