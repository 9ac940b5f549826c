//! What an operator may want to read about later: who came, who went, and who was refused what.
//! Each is noted by the node the person is connected to, and by no other.

use super::{ConnectionId, Node, NodeOutput};
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

impl Node {
    /// Notes something about whoever is behind this connection, in the room they are in.
    pub(super) fn note(&mut self, connection: ConnectionId, happening: AuditEvent) {
        let room = self.session(connection).and_then(|session| session.room);
        self.note_in(connection, room, happening);
    }

    /// The same in a room they are not in any more.
    pub(super) fn note_in(&mut self, connection: ConnectionId, room: Option<RoomId>, happening: AuditEvent) {
        let player = self.session(connection).map(|session| session.player);
        self.outputs.push_back(NodeOutput::AuditRecord(Box::new(AuditRecord {
            connection,
            player,
            room,
            happening,
        })));
    }
}
