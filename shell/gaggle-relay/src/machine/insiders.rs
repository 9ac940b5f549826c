//! Members of rooms that are the server itself: seating them, and what they send.
//!
//! Part of [`Relay`](super::Relay). Absent: what a server does in a room, queues.

use gaggle_kit::{Micros, PeerId};
use gaggle_link::relay::{HOST_PEER, RelayLeg};
use gaggle_lobby::{Claims, RoomId};

use super::{Connection, ConnectionId, Host, Relay, Sink};
use crate::member::MemberId;

/// No datagram of an insider is charged to a network.
const NO_NETWORK: u64 = 0;

impl Relay {
    /// Sets who is told of rooms whose members ask for the server.
    pub fn set_host(&mut self, host: Host) {
        self.host = Some(host);
    }

    /// A member asks for the server, which is not in its room.
    pub(super) fn want_insider(&self, room: RoomId) {
        self.host.iter().for_each(|host| host(room));
    }

    /// Makes the server a member of a room, on a connection of its own. Members that requested a
    /// pair with [`HOST_PEER`] get it. False if it is one already.
    pub fn seat_insider(
        &mut self,
        now: Micros,
        room: RoomId,
        connection: ConnectionId,
        out: Sink<'_>,
    ) -> bool {
        if self.rooms.get(&room).is_some_and(|room| room.members.contains_key(&HOST_PEER)) {
            return false;
        }
        // Its own epoch and expiry are never reached; those of the room are its members'.
        let claims = Claims { room, ..Claims::bare(0, HOST_PEER, 0, u64::MAX) };
        let id = self.insert(now, &claims, NO_NETWORK);
        let member = self.member(id);
        (member.is_insider, member.epoch) = (true, u32::MAX);
        member.set_connection(RelayLeg::WebSocket, Some(connection));
        self.insiders += 1;
        let leg = RelayLeg::WebSocket;
        let opened = Connection { leg, member: Some(id), unproven_from: None, since: now };
        self.connections.insert(connection, opened);
        self.open_requested_pairs(id, out);
        true
    }

    /// Removes the server from the room of this connection.
    pub fn unseat_insider(&mut self, connection: ConnectionId, out: Sink<'_>) {
        if self.insider(connection).is_some() {
            self.closed(connection, out);
        }
    }

    /// Sends a datagram of an insider to a member of its room.
    pub fn send_from_insider(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        to: PeerId,
        datagram: &[u8],
        out: Sink<'_>,
    ) {
        if let Some(id) = self.insider(connection) {
            self.forward(now, id, RelayLeg::WebSocket, Some(to), datagram, out);
        }
    }

    /// Ends the pair of an insider with a member.
    pub fn close_from_insider(&mut self, connection: ConnectionId, peer: PeerId, out: Sink<'_>) {
        if let Some(id) = self.insider(connection) {
            self.close_pair(id, peer, out);
        }
    }

    fn insider(&self, connection: ConnectionId) -> Option<MemberId> {
        let id = self.connections.get(&connection)?.member?;
        self.members[id].as_ref().filter(|member| member.is_insider)?;
        Some(id)
    }

    /// Most members of a room: many more if the server is one, because then they need no pairs with
    /// each other.
    pub(super) fn members_max(&self, room: RoomId) -> usize {
        let has_insider = |room: &super::Room| room.members.contains_key(&HOST_PEER);
        match self.rooms.get(&room).is_some_and(has_insider) {
            true => self.config.insider_members_max + 1,
            false => self.config.room_members_max,
        }
    }

    /// Most pairs of a member.
    pub(super) fn pairs_max(&self, id: MemberId) -> usize {
        let is_insider = self.members[id].as_ref().is_some_and(|member| member.is_insider);
        if is_insider { self.config.insider_members_max } else { self.config.room_members_max }
    }
}
