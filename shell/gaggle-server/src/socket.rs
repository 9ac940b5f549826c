//! WebSockets of the lobby: reactor events to the dispatcher, messages to clients.
//!
//! The HTTP server hands connections to the reactor; the dispatcher queues messages. Absent: frames
//! and sockets (`gaggle-websocket`), what messages mean.

use std::net::IpAddr;
use std::sync::Arc;

use gaggle_kit::rate_limit::RateLimit;
use gaggle_lobby::message::MESSAGE_BYTES_MAX;
use gaggle_lobby::node::ConnectionId;
use gaggle_lobby::{Rejection, RejectionCode};
use gaggle_websocket::{
    Connection, Flow, Frame, FrameError, FrameQueue, Handler, Message, MessageKind, ReactorConfig,
};

use crate::dispatcher::Dispatcher;

/// Unread bytes after which a client is closed as too slow.
const WRITE_BUFFER_MAX: usize = 262_144;

/// A WebSocket of the lobby.
pub(crate) type Socket = Connection<FrameQueue>;

/// Operations of the dispatcher on a [`Socket`].
pub(crate) trait LobbySocket {
    fn id(&self) -> ConnectionId;

    /// Queues a message; [`Connection::flush`] sends it. False if the client is too slow.
    fn queue_text(&self, text: Arc<str>) -> bool;

    /// Queues a ping; false if the client is too slow.
    fn queue_ping(&self) -> bool;

    /// Closes the connection after what is queued.
    fn queue_end(&self, code: RejectionCode);
}

impl LobbySocket for Socket {
    fn id(&self) -> ConnectionId {
        ConnectionId(self.number())
    }

    fn queue_text(&self, text: Arc<str>) -> bool {
        self.queue(Frame::Text(text)) <= WRITE_BUFFER_MAX
    }

    fn queue_ping(&self) -> bool {
        self.queue(Frame::Ping) <= WRITE_BUFFER_MAX
    }

    fn queue_end(&self, code: RejectionCode) {
        self.end(Some(close_code(code)), code.as_str());
    }
}

/// Settings of the lobby's reactor.
pub(crate) fn reactor_config(threads: usize) -> ReactorConfig {
    ReactorConfig {
        name: "lobby",
        threads,
        kind: MessageKind::Text,
        message_bytes_max: MESSAGE_BYTES_MAX as u32,
        // The node limits messages and their bytes by connection and by network.
        read_limit: RateLimit::UNLIMITED,
    }
}

/// Passes reactor events to the dispatcher.
pub(crate) struct LobbyHandler(pub(crate) Arc<Dispatcher>);

impl Handler for LobbyHandler {
    type Queue = FrameQueue;

    fn opened(&self, socket: &Arc<Socket>, address: IpAddr) -> Flow {
        self.0.connected(socket, address);
        Flow::Continue
    }

    fn message(&self, socket: &Socket, message: Message<'_>) -> Flow {
        if let Message::Text(text) = message {
            self.0.text(socket.id(), text);
        }
        Flow::Continue
    }

    fn pong(&self, socket: &Socket, count: u32) {
        self.0.pong(socket.id(), count);
    }

    fn malformed(&self, socket: &Socket, error: FrameError) {
        let code = match error {
            FrameError::TooLong { .. } | FrameError::TooManyPieces => RejectionCode::TooLarge,
            _ => RejectionCode::BadMessage,
        };
        self.0.misbehaved(socket.id(), Rejection::new(code, error.to_string()));
    }

    fn closed(&self, socket: &Socket) {
        self.0.closed(socket.id());
    }
}

/// Close code of the WebSocket, for clients that read no messages (RFC 6455, section 7.4.1).
fn close_code(code: RejectionCode) -> u16 {
    match code {
        RejectionCode::Draining | RejectionCode::ServerFull | RejectionCode::Unavailable => 1_013,
        RejectionCode::TooLarge => 1_009,
        RejectionCode::Replaced | RejectionCode::Silent => 1_000,
        _ => 1_008,
    }
}
