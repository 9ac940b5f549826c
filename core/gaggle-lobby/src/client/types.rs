//! Settings, commands and events of a [`Client`](super::Client).
//!
//! Applications fill and read them. Absent: when they are used.

use gaggle_kit::{Micros, PeerId};

use super::{Backoff, RequestId};
use crate::id::{PlayerId, RoomCode, RoomId};
use crate::label::DisplayName;
use crate::message::{Rejection, ServerMessage};
use crate::view::{LeaveReason, RawJson, RoomUpdate};

/// Settings of a new client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientConfig {
    /// Secret that identifies a guest, kept from the last run. Without one the server creates one
    /// and returns it in [`ClientEvent::Connected`].
    pub guest_key: Option<String>,
    /// Tells devices and browser tabs of one player apart. Each has its own reservation.
    pub device_key: Option<String>,
    /// Name shown to other players.
    pub display_name: Option<String>,
    /// Token of an external issuer, used instead of a key. A rejected token is dropped: see
    /// [`ClientEvent::SignInRejected`].
    pub token: Option<String>,
    /// Ticket and settings of the last run. They restore the room even on a server that lost it.
    pub ticket: Option<(String, RawJson)>,
    /// Waits between connection attempts.
    pub backoff: Backoff,
    /// Time the server has to answer before the client drops the connection.
    pub response_timeout: Micros,
    /// Longest silence before the client sends a keepalive; the server may ask for a shorter one.
    pub keepalive_interval: Micros,
}

impl Default for ClientConfig {
    fn default() -> ClientConfig {
        ClientConfig {
            guest_key: None,
            device_key: None,
            display_name: None,
            token: None,
            ticket: None,
            backoff: Backoff::default(),
            response_timeout: Micros::from_secs(10),
            keepalive_interval: Micros::from_secs(20),
        }
    }
}

/// Commands for the socket, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum ClientOutput {
    /// Connect; report the outcome with [`Client::handle_open`](super::Client::handle_open) or
    /// [`Client::handle_closed`](super::Client::handle_closed).
    Connect,
    /// Send this text as one message.
    Send(String),
    /// Close; [`Client::handle_closed`](super::Client::handle_closed) need not follow.
    Disconnect,
}

/// Events for the game.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientEvent {
    /// Connected, for the first time or again.
    Connected {
        /// Account of the local player.
        player: PlayerId,
        /// Id of this client.
        peer: PeerId,
        /// Key that the server created; store it for the next run.
        key: Option<String>,
        /// Display name; after a sign-in the one of the issuer.
        name: DisplayName,
        /// Whether a token was accepted.
        signed_in: bool,
    },
    /// The server rejected the token. The client is connected as a guest instead.
    SignInRejected(Rejection),
    /// The connection is lost; the client retries by itself.
    Disconnected {
        /// Time of the next attempt.
        retry_at: Micros,
    },
    /// Another client with the same key and device key is connected. See
    /// [`Client::take_over`](super::Client::take_over).
    OpenedElsewhere {
        /// Room of that client.
        code: Option<RoomCode>,
    },
    /// The server closed the connection for good; nothing follows until
    /// [`Client::reconnect`](super::Client::reconnect).
    Closed(Rejection),
    /// The client is in a room: see [`Client::room`](super::Client::room).
    RoomJoined {
        /// Request that led to it; none if the reservation existed before.
        request: Option<RequestId>,
        /// The room was created for this request.
        created: bool,
        /// The reservation existed before.
        returned: bool,
    },
    /// Something changed in the room.
    RoomUpdated(RoomUpdate),
    /// The client is no longer in the room.
    RoomLeft {
        /// Room it was in.
        room: RoomId,
        /// Why it left.
        reason: LeaveReason,
    },
    /// A signal from another member of the room.
    Signal {
        /// Member that sent it.
        from: PeerId,
        /// Its content, not interpreted by the lobby.
        data: RawJson,
    },
    /// Signals in both directions may be lost after a reconnect: negotiate again.
    SignalsLost,
    /// There is a new ticket: see [`Client::ticket`](super::Client::ticket).
    TicketRenewed,
    /// The list of rooms changed: [`Client::room_list`](super::Client::room_list).
    RoomListChanged,
    /// A request succeeded.
    Replied {
        /// The answered request.
        request: RequestId,
        /// The server's answer.
        answer: ServerMessage,
    },
    /// A request was rejected.
    Rejected {
        /// The rejected request.
        request: RequestId,
        /// Why it was rejected.
        refusal: Rejection,
    },
    /// A message that answers no request: search progress, or a rejection of an unnumbered message.
    Notice(ServerMessage),
}
