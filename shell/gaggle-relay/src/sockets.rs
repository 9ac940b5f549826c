//! WebSockets of the relay: reactor events to the relay, frames to outboxes.
//!
//! Called by the reactor and by `server.rs`. Absent: WebSocket frames (`gaggle-websocket`), meaning
//! of relay frames.

use std::net::IpAddr;
use std::sync::{Arc, Weak};

use gaggle_link::relay::RELAY_TEXT_BYTES_MAX;
use gaggle_websocket::{Connection, Flow, FrameError, Handler, Message, MessageKind, ReactorConfig};

use crate::limits::{RelayLimit, SOCKET_READ};
use crate::machine::{ConnectionId, Outbound};
use crate::outbox::Outbox;
use crate::server::RelayServer;

/// Longest accepted message: the longest relay frame.
const MESSAGE_BYTES_MAX: usize = RELAY_TEXT_BYTES_MAX + 64;
/// Most WebSocket threads: the state machine is behind one lock.
const THREADS_MAX: usize = 4;

/// Queues output for a socket and lists the socket for flushing. Returns the datagrams dropped for
/// it.
pub(crate) fn push(
    connection: &Arc<Connection<Outbox>>,
    out: Outbound<'_>,
    unflushed: &mut Vec<Arc<Connection<Outbox>>>,
) -> u64 {
    let pushed = connection.with_queue(|outbox| {
        let (dropped, is_over) = match out {
            Outbound::Data(bytes) => (outbox.push_data(bytes), false),
            Outbound::Control(bytes) => (0, !outbox.push_control(bytes)),
            Outbound::Close => (0, true),
        };
        (dropped, is_over, outbox.list())
    });
    let Some((dropped, is_over, is_new)) = pushed else { return 0 };
    if is_over {
        connection.end(None, "");
    }
    if is_new {
        unflushed.push(connection.clone());
    }
    dropped
}

pub(crate) fn reactor_config() -> ReactorConfig {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    ReactorConfig {
        name: "relay",
        threads: cores.min(THREADS_MAX),
        kind: MessageKind::Binary,
        message_bytes_max: MESSAGE_BYTES_MAX as u32,
        read_limit: SOCKET_READ,
    }
}

/// Passes reactor events to the relay.
pub(crate) struct Sockets(pub(crate) Weak<RelayServer>);

impl Handler for Sockets {
    type Queue = Outbox;

    fn opened(&self, connection: &Arc<Connection<Outbox>>, address: IpAddr) -> Flow {
        let is_served = self.0.upgrade().is_some_and(|server| server.open_socket(connection, address));
        if is_served { Flow::Continue } else { Flow::Close }
    }

    fn message(&self, connection: &Connection<Outbox>, message: Message<'_>) -> Flow {
        let (Some(server), Message::Binary(frame)) = (self.0.upgrade(), message) else { return Flow::Close };
        let is_within = server.handle_socket(ConnectionId(connection.number()), frame);
        if is_within { Flow::Continue } else { Flow::Pause }
    }

    fn pong(&self, connection: &Connection<Outbox>, _: u32) {
        if let Some(server) = self.0.upgrade() {
            server.hear(ConnectionId(connection.number()));
        }
    }

    fn malformed(&self, connection: &Connection<Outbox>, _: FrameError) {
        if let Some(server) = self.0.upgrade() {
            server.count(|totals| totals.malformed += 1);
        }
        connection.end(None, "");
    }

    fn closed(&self, connection: &Connection<Outbox>) {
        if let Some(server) = self.0.upgrade() {
            server.close_socket(ConnectionId(connection.number()));
        }
    }

    fn throttled(&self, _: &Connection<Outbox>) {
        if let Some(server) = self.0.upgrade() {
            server.exceed(RelayLimit::SocketRead);
        }
    }

    fn turn_ended(&self) {
        if let Some(server) = self.0.upgrade() {
            server.flush();
        }
    }
}
