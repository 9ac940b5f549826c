//! Parts of a [`Client`](super::Client): connection, reservation, room list, signals.
//!
//! `Client` owns them. Absent: messages that change them (`incoming.rs`).

use std::collections::VecDeque;

use gaggle_kit::{Micros, Slot, VecMap};

use crate::id::RoomId;
use crate::message::client::{Signal, SubscribeRooms};
use crate::message::server::{IceServer, Listing, Relay};
use crate::view::RoomView;

/// Delay before an unanswered `rest` message is sent again.
pub(super) const RESTING_AGAIN: Micros = Micros::from_secs(2);
/// Sent signals kept for a resend after a reconnect.
pub(super) const SIGNALS_KEPT: usize = 64;

/// The connection to the server.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) state: State,
    /// Failed attempts in a row.
    pub(super) attempts: u32,
    /// When to drop the connection because an answer is overdue.
    pub(super) overdue_at: Option<Micros>,
}

/// Time of the next keepalive.
#[derive(Debug)]
pub(super) struct Keepalive {
    /// When to send a keepalive. Received messages do not change it: the server counts only
    /// messages of this client.
    pub(super) at: Option<Micros>,
    /// Keepalive interval in force.
    pub(super) interval: Micros,
}

/// The subscribed room list.
#[derive(Debug, Default)]
pub(super) struct RoomList {
    pub(super) subscription: Option<SubscribeRooms>,
    pub(super) rooms: VecMap<RoomId, Listing>,
    /// The connection was lost after the room list was requested.
    pub(super) is_lost: bool,
}

/// Numbering of signals in both directions.
#[derive(Debug, Default)]
pub(super) struct Signals {
    pub(super) sent: u64,
    /// Recently sent ones, for a resend after a reconnect.
    pub(super) kept: VecDeque<Signal>,
    pub(super) seen: u64,
}

/// Whether the local player is away from the game, and whether the server acknowledged that.
#[derive(Debug, Default)]
pub(super) struct Resting {
    pub(super) is_resting: bool,
    pub(super) is_acknowledged: bool,
    /// When to send `rest` again if it is not acknowledged by then.
    pub(super) repeat_at: Option<Micros>,
}

/// State of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Waiting to reconnect at this time.
    Offline(Micros),
    Connecting,
    /// `hello` is sent, `welcome` has not arrived.
    Greeting,
    Online,
    /// Closed until [`Client::reconnect`](super::Client::reconnect).
    Closed,
}

/// Reservation of this client.
#[derive(Debug, Clone)]
pub(super) struct OwnReservation {
    pub(super) slot: Option<Slot>,
    pub(super) reused_slots: Vec<Slot>,
    pub(super) room: RoomView,
    pub(super) ice_servers: Vec<IceServer>,
    pub(super) relay: Option<Relay>,
}
