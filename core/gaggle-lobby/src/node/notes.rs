//! What an operator may want to read about later: who came, who went, and who was refused what.
//! Each is noted by the node the person is connected to, and by no other.

use super::ConnectionId;
use crate::id::{PlayerId, RoomId};
use crate::message::Rejection;
use crate::view::LeaveReason;

/// Something that happened to whoever is behind a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRecord {
    /// The connection.
    pub connection: ConnectionId,
    /// Who it is, once they have said so.
    pub player: Option<PlayerId>,
    /// The room, if they are in one.
    pub room: Option<RoomId>,
    /// What happened.
    pub happening: AuditEvent,
}

/// What happened to somebody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditEvent {
    /// They have a seat.
    Joined {
        /// In a room that was made for them.
        created: bool,
        /// One they had before.
        returned: bool,
    },
    /// They are not in the room any more.
    Left(LeaveReason),
    /// The connection is gone, and the seat waits for them.
    Away,
    /// They are the host now.
    BecameHost,
    /// Something was not done for them.
    Rejected(Rejection),
    /// The server ends the connection.
    RoomClosed(Rejection),
}
