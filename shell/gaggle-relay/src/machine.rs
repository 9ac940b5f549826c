//! State machine of the relay: connections, members, pairs, and where frames go.
//!
//! Driven by [`RelayServer`](crate::RelayServer). Absent: sockets, clocks, frames on the wire
//! (`gaggle-link`).

mod admission;
mod pairs;

use std::collections::BTreeMap;
use std::net::IpAddr;

use gaggle_kit::rate_limit::{ConcurrencyLimit, Prefix, choose_evicted, network, prefixes};
use gaggle_kit::{Micros, PeerId};
use gaggle_link::relay::{RelayFrame, RelayLeg, RelayReject};
use gaggle_lobby::{RoomId, TicketKey};

use crate::config::RelayConfig;
use crate::limits::{Limits, RelayLimit};
use crate::member::{Member, MemberId};
use crate::stats::RelayStats;

/// Number of a connection, given by the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u64);

/// Output on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outbound<'a> {
    /// A datagram: if the buffer is full, it or an older one may be dropped.
    Data(&'a [u8]),
    /// A frame that must not be dropped.
    Control(&'a [u8]),
    /// Close the connection after earlier frames.
    Close,
}

/// A member's request that needs sockets to fulfill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Open a channel with this offer.
    Channel(String),
}

#[derive(Debug)]
struct Connection {
    leg: RelayLeg,
    member: Option<MemberId>,
    /// Network of the connection until it authenticates.
    unproven_from: Option<u64>,
    since: Micros,
}

#[derive(Debug)]
struct Room {
    epoch: u32,
    /// Since when members of an earlier epoch are in their grace time.
    raised_at: Option<Micros>,
    members: BTreeMap<PeerId, MemberId>,
}

/// One in 32 members is removed at once when the relay is full: choosing them scans all members.
const EVICTED_SHARE: usize = 32;
/// Shortest time between two searches for members to remove.
const EVICT_INTERVAL: Micros = Micros::from_millis(100);
/// Interval of asking for the epochs of rooms.
const ASK_EVERY: Micros = Micros::from_millis(500);

/// Current epoch of a room according to the lobby; none for an unknown room.
pub type Epochs = Box<dyn Fn(RoomId) -> Option<u32> + Send + Sync>;

/// Is told of a room whose members ask for the server while it is no member.
pub type Host = Box<dyn Fn(RoomId) + Send + Sync>;

/// Receives outputs with their connection.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(ConnectionId, Outbound<'_>);

/// Due times of periodic work.
#[derive(Debug, Default)]
struct Due {
    /// When to ask for the epochs of rooms.
    ask: Micros,
    /// When members to remove may be searched again.
    evict: Micros,
}

/// State of a relay.
pub struct Relay {
    key: TicketKey,
    epochs: Option<Epochs>,
    due: Due,
    config: RelayConfig,
    instance: u64,
    has_channels: bool,
    connections: BTreeMap<ConnectionId, Connection>,
    members: Vec<Option<Member>>,
    free: Vec<MemberId>,
    rooms: BTreeMap<RoomId, Room>,
    unproven: ConcurrencyLimit<Prefix>,
    members_by_network: ConcurrencyLimit<Prefix>,
    limits: Limits,
    totals: RelayStats,
    frame: Vec<u8>,
    /// Members that are the server itself.
    insiders: usize,
    /// Told of rooms whose members ask for the server.
    host: Option<Host>,
}

impl std::fmt::Debug for Relay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Relay").field("totals", &self.totals()).finish_non_exhaustive()
    }
}

impl Relay {
    /// A relay for tickets of this key. `instance` must differ from all earlier runs.
    pub fn new(key: TicketKey, config: RelayConfig, instance: u64, has_channels: bool) -> Relay {
        Relay {
            limits: Limits::new(&config),
            key,
            epochs: None,
            due: Due::default(),
            config,
            instance,
            has_channels,
            connections: BTreeMap::new(),
            members: Vec::new(),
            free: Vec::new(),
            rooms: BTreeMap::new(),
            unproven: ConcurrencyLimit::default(),
            members_by_network: ConcurrencyLimit::default(),
            totals: RelayStats::default(),
            frame: Vec::new(),
            insiders: 0,
            host: None,
        }
    }

    /// Sets the source of current epochs: tickets of earlier ones are rejected, even before a
    /// member shows a newer one.
    pub fn set_epochs(&mut self, epochs: Epochs) {
        self.epochs = Some(epochs);
    }

    /// Counters since the start.
    pub fn totals(&self) -> RelayStats {
        let (members, rooms) = (self.member_count() as u64, self.rooms.len() as u64);
        RelayStats { members, rooms, limited: *self.limits.exceeded(), ..self.totals }
    }

    pub(crate) fn config(&self) -> &RelayConfig {
        &self.config
    }

    pub(crate) fn totals_mut(&mut self) -> &mut RelayStats {
        &mut self.totals
    }

    /// Counts an excess of a limit that the sockets found.
    pub(crate) fn exceed(&mut self, limit: RelayLimit) {
        self.limits.exceed(limit);
    }

    /// Counts datagrams that sockets had no space for.
    pub fn count_slow(&mut self, datagrams: u64) {
        self.totals.dropped_slow += datagrams;
    }

    /// Closes unauthenticated connections if there are too many, so that a socket from this address
    /// fits: those of heavy networks first, then the oldest.
    pub fn make_way(&mut self, from: IpAddr, out: Sink<'_>) {
        if self.unproven.total() < self.config.unproven_max {
            return;
        }
        let unproven = self.connections.iter().filter_map(|(id, held)| Some((held.unproven_from?, *id)));
        let weight_min = self.unproven.weight(network(from)) + 1;
        let count = self.config.unproven_share();
        for connection in choose_evicted(&self.unproven, weight_min, unproven, count) {
            self.refuse(connection, RelayReject::Full, out);
        }
    }

    /// A socket has opened from this address. It must authenticate; false if it does not fit.
    pub fn socket_opened(&mut self, now: Micros, connection: ConnectionId, from: IpAddr) -> bool {
        self.totals.connections += 1;
        let (network, max) = (network(from), self.config.unproven_max);
        if self.unproven.total() < max && !self.limits.allows_connect(now, network) {
            self.totals.refused_full += 1;
            return false;
        }
        if !self.unproven.try_acquire(prefixes(network), max, self.config.unproven_share()) {
            self.limits.exceed(RelayLimit::Unauthenticated);
            self.totals.refused_full += 1;
            return false;
        }
        let (leg, unproven_from) = (RelayLeg::WebSocket, Some(network));
        self.connections.insert(connection, Connection { leg, member: None, unproven_from, since: now });
        true
    }

    /// A channel that was requested over this socket has opened. False if the member is gone.
    pub fn channel_opened(
        &mut self,
        now: Micros,
        socket: ConnectionId,
        channel: ConnectionId,
        out: Sink<'_>,
    ) -> bool {
        let Some(member) = self.connections.get(&socket).and_then(|connection| connection.member) else {
            return false;
        };
        let opened =
            Connection { leg: RelayLeg::Datagram, member: Some(member), unproven_from: None, since: now };
        self.connections.insert(channel, opened);
        if let Some(older) = self.member(member).set_connection(RelayLeg::Datagram, Some(channel)) {
            self.take_connection(older);
            out(older, Outbound::Close);
        }
        true
    }

    /// A connection has ended.
    pub fn closed(&mut self, connection: ConnectionId, out: Sink<'_>) {
        let Some(Connection { leg, member: Some(id), .. }) = self.take_connection(connection) else { return };
        self.member(id).set_connection(leg, None);
        if self.member(id).connections().next().is_none() {
            self.remove(id, out);
        }
    }

    /// A frame has arrived over a socket. If the connection must be closed, `out` is told.
    pub fn handle_socket(
        &mut self,
        now: Micros,
        unix_seconds: u64,
        connection: ConnectionId,
        bytes: &[u8],
        out: Sink<'_>,
    ) -> Option<Request> {
        let member = self.connections.get(&connection)?.member;
        let handled = match (RelayFrame::read(bytes), member) {
            (Err(_), _) => Err(RelayReject::Malformed),
            (Ok(RelayFrame::Authenticate { .. }), Some(member))
                if !self.allows(now, member, RelayLimit::MemberAuthentications) =>
            {
                Err(RelayReject::Malformed)
            }
            (Ok(RelayFrame::Authenticate { ticket }), _) => {
                self.authenticate(now, unix_seconds, connection, ticket, out).map(|()| None)
            }
            (Ok(_), None) => Err(RelayReject::Malformed),
            (Ok(frame), Some(member)) => self.handle_frame(now, member, frame, out),
        };
        handled.unwrap_or_else(|reason| {
            self.refuse(connection, reason, out);
            None
        })
    }

    /// A frame has arrived over a channel. Anything but a datagram is counted and ignored: its
    /// source may be forged.
    pub fn handle_channel(&mut self, now: Micros, connection: ConnectionId, bytes: &[u8], out: Sink<'_>) {
        let Some(member) = self.connections.get(&connection).and_then(|connection| connection.member) else {
            return;
        };
        match RelayFrame::read(bytes) {
            Ok(RelayFrame::Data { peer, datagram }) => {
                self.forward(now, member, RelayLeg::Datagram, Some(peer), datagram, out);
            }
            Ok(RelayFrame::Broadcast { datagram }) => {
                self.forward(now, member, RelayLeg::Datagram, None, datagram, out);
            }
            _ => self.totals.malformed += 1,
        }
    }

    /// The peer of a channel violated its protocol: closes all connections of the member.
    pub fn misbehaved(&mut self, connection: ConnectionId, out: Sink<'_>) {
        match self.connections.get(&connection).and_then(|connection| connection.member) {
            Some(member) => self.expel(member, RelayReject::Malformed, out),
            None => self.totals.refuse(RelayReject::Malformed),
        }
    }

    /// Performs what is due; call it several times a second.
    pub fn handle_timeout(&mut self, now: Micros, unix_seconds: u64, out: Sink<'_>) {
        let late = |connection: &Connection| {
            connection.member.is_none() && now.since(connection.since) >= self.config.prove_within
        };
        let late: Vec<ConnectionId> =
            self.connections.iter().filter(|(_, connection)| late(connection)).map(|(id, _)| *id).collect();
        for connection in late {
            self.refuse(connection, RelayReject::Malformed, out);
        }
        self.ask_for_epochs(now);
        let (grace, idle_timeout) = (self.config.epoch_grace, self.config.idle_timeout);
        for index in 0..self.members.len() {
            let Some(member) = &self.members[index] else { continue };
            let room = &self.rooms[&member.room()];
            let behind = member.is_before(room.epoch)
                && room.raised_at.is_none_or(|raised| now.since(raised) >= grace);
            let is_lost =
                member.connection(RelayLeg::WebSocket).is_none() && member.is_idle(now, idle_timeout);
            let reason = match () {
                () if behind => RelayReject::StaleEpoch,
                () if member.has_expired(unix_seconds) => RelayReject::Expired,
                () if is_lost => RelayReject::Stopping,
                () => continue,
            };
            self.expel(index, reason, out);
        }
    }

    /// Fetches epochs: they rise when a member is removed, even if no member shows a newer ticket
    /// here.
    fn ask_for_epochs(&mut self, now: Micros) {
        let Some(epochs) = self.epochs.as_ref().filter(|_| now >= self.due.ask) else { return };
        self.due.ask = now + ASK_EVERY;
        for (id, room) in &mut self.rooms {
            if let Some(epoch) = epochs(*id).filter(|epoch| *epoch > room.epoch) {
                (room.epoch, room.raised_at) = (epoch, Some(now));
            }
        }
    }

    /// Disables channels: closes those of members and rejects offers.
    pub fn lose_channels(&mut self, out: Sink<'_>) {
        self.has_channels = false;
        let channels = self.connections.iter().filter(|(_, connection)| connection.leg == RelayLeg::Datagram);
        let channels: Vec<ConnectionId> = channels.map(|(id, _)| *id).collect();
        channels.into_iter().for_each(|channel| self.closed(channel, out));
    }

    /// Closes all connections with a reason.
    pub fn stop(&mut self, out: Sink<'_>) {
        for index in 0..self.members.len() {
            if self.members[index].is_some() {
                self.expel(index, RelayReject::Stopping, out);
            }
        }
    }

    fn member_count(&self) -> usize {
        self.members.len() - self.free.len() - self.insiders
    }

    fn handle_frame(
        &mut self,
        now: Micros,
        id: MemberId,
        frame: RelayFrame<'_>,
        out: Sink<'_>,
    ) -> Result<Option<Request>, RelayReject> {
        match frame {
            RelayFrame::Data { peer, datagram } => {
                self.forward(now, id, RelayLeg::WebSocket, Some(peer), datagram, out);
            }
            RelayFrame::Broadcast { datagram } => {
                self.forward(now, id, RelayLeg::WebSocket, None, datagram, out);
            }
            // Each of these causes a control frame to another member.
            RelayFrame::Open { .. } | RelayFrame::Close { .. }
                if !self.allows(now, id, RelayLimit::MemberControl) =>
            {
                self.totals.words_ignored += 1;
            }
            RelayFrame::Open { peer } => self.request_pair(id, peer, out),
            RelayFrame::Close { peer } => self.close_pair(id, peer, out),
            RelayFrame::Offer { description } => {
                let member = self.member(id);
                let (key, network) = (member.key(), member.network());
                if self.has_channels && self.limits.allows_offer(now, key, network) {
                    return Ok(Some(Request::Channel(description.to_string())));
                }
                self.totals.offers_refused += 1;
            }
            // Members do not send these.
            _ => return Err(RelayReject::Malformed),
        }
        Ok(None)
    }

    fn refuse(&mut self, connection: ConnectionId, reason: RelayReject, out: Sink<'_>) {
        self.totals.refuse(reason);
        send_control(out, connection, RelayFrame::Refused { reason });
        out(connection, Outbound::Close);
        self.closed(connection, out);
    }

    fn expel(&mut self, id: MemberId, reason: RelayReject, out: Sink<'_>) {
        self.totals.refuse(reason);
        self.tell(id, RelayFrame::Refused { reason }, out);
        let connections: Vec<ConnectionId> = self.member(id).connections().collect();
        for connection in connections {
            out(connection, Outbound::Close);
            self.take_connection(connection);
        }
        self.remove(id, out);
    }

    /// Removes a connection and updates the counts.
    fn take_connection(&mut self, connection: ConnectionId) -> Option<Connection> {
        let held = self.connections.remove(&connection)?;
        self.count_out(held.unproven_from);
        Some(held)
    }

    fn count_out(&mut self, unproven_from: Option<u64>) {
        if let Some(network) = unproven_from {
            self.unproven.release(prefixes(network));
        }
    }

    /// Removes a member that has no connection left.
    fn remove(&mut self, id: MemberId, out: Sink<'_>) {
        let Some(member) = self.members[id].take() else { return };
        self.free.push(id);
        if member.is_insider() {
            self.insiders -= 1;
        } else {
            self.members_by_network.release(prefixes(member.network()));
        }
        if let Some(room) = self.rooms.get_mut(&member.room()) {
            room.members.remove(&member.peer());
            if room.members.is_empty() {
                self.rooms.remove(&member.room());
            }
        }
        for other in member.pairs().iter().filter_map(|pair| pair.open) {
            self.unpair(other, member.peer(), out);
            self.member(other).tidy();
        }
    }

    fn allows(&mut self, now: Micros, id: MemberId, limit: RelayLimit) -> bool {
        let key = self.member(id).key();
        self.limits.allows(now, key, limit)
    }

    fn member(&mut self, id: MemberId) -> &mut Member {
        self.members[id].as_mut().expect("connections and pairs name current members")
    }

    /// Sends a control frame to a member, if it has a socket.
    fn tell(&mut self, id: MemberId, frame: RelayFrame<'_>, out: Sink<'_>) {
        if let Some(connection) = self.member(id).connection(RelayLeg::WebSocket) {
            send_control(out, connection, frame);
        }
    }
}

fn send_control(out: Sink<'_>, connection: ConnectionId, frame: RelayFrame<'_>) {
    out(connection, Outbound::Control(&frame.to_bytes()));
}
