//! Audit records for operators: joins, departures, rejections.
//!
//! Only the node with the connection makes them. Absent: where they are logged.

use super::ConnectionId;
use crate::id::{PlayerId, RoomId};
use crate::message::Rejection;
use crate::view::LeaveReason;

/// An audit event about the player of one connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRecord {
    /// Connection it is about.
    pub connection: ConnectionId,
    /// Account, once identified.
    pub player: Option<PlayerId>,
    /// Room of the peer, if it is in one.
    pub room: Option<RoomId>,
    /// The recorded event.
    pub happening: AuditEvent,
}

/// An event worth recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditEvent {
    /// The peer joined a room.
    Joined {
        /// The room was created for it.
        created: bool,
        /// It had the reservation before.
        returned: bool,
    },
    /// The peer left its room.
    Left(LeaveReason),
    /// The connection is lost and the reservation is kept.
    Away,
    /// The peer became host.
    BecameHost,
    /// A request was rejected.
    Rejected(Rejection),
    /// The server closes the connection.
    RoomClosed(Rejection),
}
