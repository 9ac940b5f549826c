//! Authentication of connections, and admission of members: peers with tickets, and *insiders*: the
//! server itself, which needs none.
//!
//! Part of [`Relay`](super::Relay). Absent: pairs, forwarding, what a server does in a room.

use std::collections::BTreeMap;

use gaggle_kit::rate_limit::{choose_evicted, prefixes};
use gaggle_kit::{Micros, PeerId};
use gaggle_link::relay::{HOST_PEER, RelayFrame, RelayLeg, RelayReject};
use gaggle_lobby::{Claims, RoomId, TicketError};

use super::{
    Connection, ConnectionId, EVICT_INTERVAL, EVICTED_SHARE, Host, Outbound, Relay, Room, Sink, send_control,
};
use crate::limits::RelayLimit;
use crate::member::{Member, MemberId};

/// Network of insiders, whose datagrams no limit counts.
const NO_NETWORK: u64 = 0;

impl Relay {
    pub(super) fn authenticate(
        &mut self,
        now: Micros,
        unix_seconds: u64,
        connection: ConnectionId,
        ticket: &str,
        out: Sink<'_>,
    ) -> Result<(), RelayReject> {
        let claims = self.key.open(ticket, unix_seconds).map_err(|error| match error {
            TicketError::Expired { .. } => RelayReject::Expired,
            _ => RelayReject::Ticket,
        })?;
        let before = self.connections.get(&connection).and_then(|connection| connection.member);
        let id = match before {
            Some(id) => self.renew(id, &claims)?,
            None => self.admit(now, connection, &claims, out)?,
        };
        self.raise_epoch(now, &claims);
        let (instance, channels) = (self.instance, self.has_channels);
        send_control(out, connection, RelayFrame::Authenticated { instance, channels });
        if before.is_none() {
            self.totals.proven += 1;
            for pair in self.member(id).pairs().iter().filter(|pair| pair.open.is_some()) {
                send_control(out, connection, RelayFrame::Opened { peer: pair.peer });
            }
            self.open_requested_pairs(id, out);
        }
        Ok(())
    }

    /// Takes a newer ticket of a connected member.
    pub(super) fn renew(&mut self, id: MemberId, claims: &Claims) -> Result<MemberId, RelayReject> {
        self.member(id).renew(claims).map(|()| id)
    }

    /// Adds an authenticated connection to its member.
    pub(super) fn admit(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        claims: &Claims,
        out: Sink<'_>,
    ) -> Result<MemberId, RelayReject> {
        if claims.peer == HOST_PEER {
            return Err(RelayReject::Ticket);
        }
        self.evict_idle(now, connection, out);
        let members_max = self.members_max(claims.room);
        let room = self.rooms.get(&claims.room);
        let told = self.epochs.as_ref().and_then(|epochs| epochs(claims.room));
        let epoch = room.map(|room| room.epoch).max(told);
        if epoch.is_some_and(|epoch| claims.admit(claims.room, epoch).is_err()) {
            return Err(RelayReject::StaleEpoch);
        }
        let known = room.and_then(|room| room.members.get(&claims.peer).copied());
        let is_full = known.is_none()
            && (self.member_count() >= self.config.members_max
                || room.is_some_and(|room| room.members.len() >= members_max));
        let held = self.connections.get_mut(&connection).ok_or(RelayReject::Malformed)?;
        let network = held.unproven_from.ok_or(RelayReject::Malformed)?;
        // A member that returns from another network counts for that one.
        let before = known.and_then(|id| self.members[id].as_ref());
        let counted = before.map(Member::network);
        if before.is_some_and(|member| member.is_stolen(claims, network)) {
            return Err(RelayReject::Replaced);
        }
        let has_capacity = counted == Some(network)
            || !is_full
                && self.members_by_network.try_acquire(
                    prefixes(network),
                    usize::MAX,
                    self.config.sockets_per_network,
                );
        if !has_capacity {
            let is_room_full = room.is_some_and(|room| room.members.len() >= members_max);
            self.limits.exceed(if is_room_full { RelayLimit::RoomMembers } else { RelayLimit::Members });
            return Err(RelayReject::Full);
        }
        held.unproven_from = None;
        self.count_out(Some(network));
        let id = match known {
            Some(id) => self.renew(id, claims)?,
            None => self.insert(now, claims, network),
        };
        if let Some(counted) = counted.filter(|counted| *counted != network) {
            self.members_by_network.release(prefixes(counted));
            self.member(id).move_to(network);
        }
        if let Some(held) = self.connections.get_mut(&connection) {
            held.member = Some(id);
        }
        let older = self.member(id).set_connection(RelayLeg::WebSocket, Some(connection));
        if let Some(older) = older {
            self.take_connection(older);
            self.totals.replaced += 1;
            send_control(out, older, RelayFrame::Refused { reason: RelayReject::Replaced });
            out(older, Outbound::Close);
        }
        Ok(id)
    }

    /// Removes silent members if the relay is full: those of networks with more members than the
    /// joiner's, the heaviest first.
    pub(super) fn evict_idle(&mut self, now: Micros, joiner: ConnectionId, out: Sink<'_>) {
        let from = self.connections.get(&joiner).and_then(|held| held.unproven_from);
        let Some(network) = from.filter(|_| self.member_count() >= self.config.members_max) else { return };
        if now < self.due.evict {
            return;
        }
        self.due.evict = now + EVICT_INTERVAL;
        let idle = self.members.iter().enumerate().filter_map(|(id, member)| {
            let member = member.as_ref()?;
            let is_idle = member.is_idle(now, self.config.idle_timeout);
            is_idle.then_some((member.network(), (member.heard_at(), id)))
        });
        let weight_min = self.members_by_network.weight(network) + 1;
        let count = (self.config.members_max / EVICTED_SHARE).max(1);
        for (_, id) in choose_evicted(&self.members_by_network, weight_min, idle, count) {
            self.expel(id, RelayReject::Full, out);
        }
    }

    pub(super) fn insert(&mut self, now: Micros, claims: &Claims, network: u64) -> MemberId {
        let member = Member::new(claims, network, now);
        let id = self.free.pop().unwrap_or_else(|| {
            self.members.push(None);
            self.members.len() - 1
        });
        self.members[id] = Some(member);
        let new = || Room { epoch: claims.epoch, raised_at: None, members: BTreeMap::new() };
        self.rooms.entry(claims.room).or_insert_with(new).members.insert(claims.peer, id);
        id
    }

    pub(super) fn raise_epoch(&mut self, now: Micros, claims: &Claims) {
        if let Some(room) = self.rooms.get_mut(&claims.room).filter(|room| room.epoch < claims.epoch) {
            room.epoch = claims.epoch;
            room.raised_at = Some(now);
        }
    }

    /// Sets the callback for rooms whose members ask for the server.
    pub fn set_host(&mut self, host: Host) {
        self.host = Some(host);
    }

    /// Reports that a member asks for the server, which is not in its room.
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
        let claims = Claims { room, ..Claims::bare(0, HOST_PEER, 0, u64::MAX) };
        let id = self.insert(now, &claims, NO_NETWORK);
        let member = self.member(id);
        *member = Member::insider(&claims, NO_NETWORK, now);
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
        self.members[id].as_ref().filter(|member| member.is_insider())?;
        Some(id)
    }

    /// Most members of a room: many more if the server is one, because then they need no pairs with
    /// each other.
    pub(super) fn members_max(&self, room: RoomId) -> usize {
        let has_insider = |room: &Room| room.members.contains_key(&HOST_PEER);
        match self.rooms.get(&room).is_some_and(has_insider) {
            true => self.config.insider_members_max + 1,
            false => self.config.room_members_max,
        }
    }

    /// Most pairs of a member.
    pub(super) fn pairs_max(&self, id: MemberId) -> usize {
        let is_insider = self.members[id].as_ref().is_some_and(Member::is_insider);
        if is_insider { self.config.insider_members_max } else { self.config.room_members_max }
    }
}
