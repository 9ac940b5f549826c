//! One server process of a lobby: its connections, their limits, and copies of its members' rooms.
//!
//! The host of a node calls `handle_…`, drains [`Node::poll_output`], appends its entries to the
//! log and returns them once the directory has applied them. Absent: rules of rooms, sockets,
//! clocks.

mod admission;
mod commands;
mod config;
mod connection;
mod connections;
mod entering;
mod exceeded;
mod hello;
mod lease;
mod limits;
mod lists;
mod message;
mod notes;
mod outbox;
mod output;
mod pending_changes;
mod replies;
mod room_copies;
mod searches;
mod signals;

pub use config::{IceProvider, NoIce, NodeConfig, ParsedMessage};
pub use exceeded::{Exceeded, LobbyLimit};
pub use message::{NodeMessage, Probe, ProbeResult};
pub use notes::{AuditEvent, AuditRecord};
pub use output::{Identity, NodeOutput, NodeStats, Purpose, Query};

use std::collections::BTreeMap;
use std::net::IpAddr;

use gaggle_kit::{Micros, PeerId};

use crate::directory::command::{Act, Detach};
use crate::directory::{Command, Found, LogEntry, Lookup, Notice, Origin, Reply};
use crate::id::RoomId;
use crate::label::DisplayName;
use crate::message::server::{Closing, Draining};
use crate::message::{Envelope, Rejection, RejectionCode, ServerMessage};
use crate::room::IdleTimeout;
use crate::rules::Rules;
use crate::secret::Secrets;
use crate::ticket::TicketSigner;
use connection::{Check, Connection, Session};
use connections::Connections;
use lease::OwnLease;
use limits::{ConnectionLimits, RoomCharge};
use lists::{ListUpdate, Lists};
use outbox::Outbox;
use room_copies::{LocalRoom, RoomCopies};
use searches::Searches;

/// Number of a connection, given by the host of the node and never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u64);

/// One process of a lobby server.
#[derive(Debug)]
pub struct Node {
    rules: Rules,
    lease: OwnLease,
    signer: TicketSigner,
    ticket_key: String,
    server_name: String,
    ice: Box<dyn IceProvider>,
    secrets: Secrets,
    /// Keys the hashes that identify accounts and networks.
    id_key: [u8; 32],
    connections: Connections,
    rooms: RoomCopies,
    lists: Lists,
    searches: Searches,
    limits: ConnectionLimits,
    /// Rooms charged to the address of a connection whose `find` is in the log.
    charges: BTreeMap<ConnectionId, Vec<RoomCharge>>,
    draining: Option<u64>,
    outbox: Outbox,
}

impl Node {
    /// A node without connections. It appends its lease at once.
    pub fn new(now: Micros, rules: Rules, config: NodeConfig) -> Node {
        let NodeConfig { id, secret, signer, server_name, ice, lease } = config;
        let mut node = Node {
            limits: ConnectionLimits::new(&rules),
            rules,
            lease: OwnLease::new(id, lease),
            ticket_key: signer.key().to_text(),
            id_key: signer.derive(b"ids"),
            signer,
            server_name,
            ice,
            secrets: Secrets::new(secret),
            connections: Connections::default(),
            rooms: RoomCopies::default(),
            lists: Lists::default(),
            searches: Searches::default(),
            charges: BTreeMap::new(),
            draining: None,
            outbox: Outbox::default(),
        };
        node.renew_lease(now);
        node
    }

    /// Call when a client has connected.
    pub fn handle_connected(&mut self, now: Micros, connection: ConnectionId, address: IpAddr) {
        if admission::reaches_reserve(self.connections.len() + 1, &self.rules) {
            self.make_way(now, address, None);
        }
        let full = self.connections.len() >= self.rules.connections_max;
        let objection = if self.draining.is_some() {
            let text = "the server is about to stop; reconnect in a moment";
            Some(Rejection::new(RejectionCode::Draining, text))
        } else if full {
            self.limits.exceed(LobbyLimit::Connections);
            Some(Rejection::new(RejectionCode::ServerFull, "the server is full; try again later"))
        } else {
            self.limits.connect(now, address, &self.rules).err()
        };
        if let Some(refusal) = objection {
            self.say_bye(connection, refusal, true);
            return;
        }
        self.connections.insert(connection, Connection::new(now, address));
        self.connections.check_at(now + self.rules.hello_timeout, connection);
    }

    /// Call with each received text.
    pub fn handle_text(&mut self, now: Micros, connection: ConnectionId, text: &str) {
        self.handle_parsed(now, connection, ParsedMessage::read(text));
    }

    /// Handles a decoded message. Decoding can run in parallel for many connections; a node handles
    /// one message at a time.
    pub fn handle_parsed(&mut self, now: Micros, connection: ConnectionId, parsed: ParsedMessage) {
        let ParsedMessage { id, bytes, message } = parsed;
        self.outbox.count(|stats| stats.messages += 1);
        let Some(known) = self.connections.get_mut(connection) else { return };
        known.note_heard(now);
        let taken = known
            .take_message(now, &self.rules.limits, bytes as u64)
            .and_then(|()| self.limits.take_message(now, known.address(), bytes as u64));
        if let Err((limit, wait)) = taken {
            self.limits.exceed(limit);
            self.refuse(now, connection, id, too_fast(wait));
            return;
        }
        if known.is_probed() {
            self.answer_probe(now, connection);
        }
        match message {
            Ok(message) => self.handle_message(now, connection, Envelope { id, message }, bytes),
            Err(error) => self.refuse(now, connection, id, error.into()),
        }
    }

    /// Call when a connection has answered a ping.
    pub fn handle_pong(&mut self, now: Micros, connection: ConnectionId) {
        let Some(known) = self.connections.get_mut(connection) else { return };
        if !known.note_beat(now) {
            let text = "too many pings or pongs";
            self.disconnect(now, connection, Rejection::new(RejectionCode::TooFast, text));
            return;
        }
        self.answer_probe(now, connection);
    }

    /// Call when a connection is closed.
    pub fn handle_closed(&mut self, now: Micros, connection: ConnectionId) {
        self.forget_connection(now, connection);
    }

    /// Closes a connection that reads too slowly or violates the WebSocket protocol.
    pub fn disconnect(&mut self, now: Micros, connection: ConnectionId, refusal: Rejection) {
        if self.connections.get(connection).is_some() {
            self.say_bye(connection, refusal, true);
            self.forget_connection(now, connection);
        }
    }

    /// Checks the deadlines of a connection and schedules the next check.
    fn check_connection(&mut self, now: Micros, connection: ConnectionId) {
        let Some(known) = self.connections.get_mut(connection) else { return };
        if known.is_proof(now, &self.rules) {
            self.limits.prove(now, known.address());
        }
        let again_at = match known.check(now, &self.rules) {
            Check::Dead(text) => {
                return self.disconnect(now, connection, Rejection::new(RejectionCode::Silent, text));
            }
            Check::ProbeOver => {
                self.probed(now, connection, false);
                now + self.rules.ping_interval
            }
            Check::Wait(until) => until,
            Check::Ping(until) => {
                self.outbox.push(NodeOutput::Ping { connection });
                self.check_silence(now, connection);
                until
            }
            Check::Alive(until) => {
                self.check_silence(now, connection);
                until
            }
        };
        self.connections.check_at(again_at, connection);
    }

    /// Removes a member from its room whose socket answers pings but whose client sends nothing.
    fn check_silence(&mut self, now: Micros, connection: ConnectionId) {
        let Some(session) = self.session(connection) else { return };
        if let Some(room) = session.room
            && session.touched_at + self.rules.idle_timeout <= now
        {
            let (peer, link) = (session.peer, session.link);
            self.append(None, Act { room, peer, link, action: IdleTimeout {}.into() });
        }
    }

    /// Drops a closed connection. Its reservation stays.
    fn forget_connection(&mut self, now: Micros, connection: ConnectionId) {
        self.stop_search(connection, false);
        if self.session(connection).is_some_and(|session| session.room.is_some()) {
            self.note(connection, AuditEvent::Away);
        }
        let Some(known) = self.connections.remove(connection) else { return };
        self.limits.disconnect(known.address(), known.is_in_reserve());
        self.lists.remove(connection);
        let (session, probers) = known.end();
        if let Some(Session { player, peer, link, room, signals, .. }) = session {
            self.limits.forget_identity(player);
            if let Some(room) = room {
                self.rooms.remove_local(room, peer, connection);
                let (next_signal, got, mail) = signals.into_mail(now);
                self.append(None, Detach { room, peer, link, next_signal, got, mail });
            }
        }
        probers.into_iter().for_each(|prober| self.tell_prober(now, prober, false));
    }

    /// Call when the directory has applied an entry. Entries of other nodes change nothing here.
    pub fn handle_applied(&mut self, now: Micros, entry: &LogEntry, reply: Reply) {
        self.take_reply(now, entry, reply);
        if self.is_expected(entry) {
            self.rooms.note_answered();
        }
    }

    /// Call when an entry could not be appended, or is lost.
    pub fn handle_rejected(&mut self, now: Micros, entry: &LogEntry, rejection: Rejection) {
        self.take_reply(now, entry, Reply::Rejected(rejection));
        if self.is_expected(entry) {
            self.rooms.note_retracted();
        }
    }

    /// Call with the directory's answer to a lookup.
    pub fn handle_found(&mut self, now: Micros, lookup: Lookup, found: Found) {
        match (lookup, found) {
            (Lookup::Room(room), Found::Room(copy)) => self.looked(now, room, copy.map(|copy| *copy)),
            (Lookup::List { key, .. }, Found::List { stamp, rooms }) => {
                let ListUpdate { change, whole } = self.lists.take(&key, stamp, rooms);
                if let Some((to, change)) = change {
                    self.outbox.send_all(to.into_iter(), change);
                }
                whole.into_iter().for_each(|(to, id, rooms)| self.send(to, id, rooms));
            }
            _ => debug_assert!(false, "an answer to another lookup"),
        }
    }

    /// Call with each notice of the directory.
    pub fn handle_notice(&mut self, now: Micros, notice: Notice) {
        match notice {
            Notice::Changed { room, version, events, links } => {
                self.room_changed(now, room, version, (events, links));
            }
            Notice::Displaced { peer, session } => self.displace(now, peer, session),
            Notice::Found { peer, session } => {
                let speaker = self.connections.speaker(peer);
                let known = speaker.and_then(|connection| self.session(connection));
                if known.is_some_and(|known| known.link.session == session)
                    && let Some(connection) = speaker
                {
                    self.ask_for_others(now, connection);
                }
            }
            Notice::Signal(signal) => self.deliver(now, signal),
        }
    }

    /// Call with each message of another node.
    pub fn handle_node_message(&mut self, now: Micros, message: NodeMessage) {
        match message {
            NodeMessage::QueueSignal(signal) => self.deliver(now, signal),
            NodeMessage::Probe(probe) => self.probe_for(now, probe),
            NodeMessage::ProbeResult(ProbeResult { connection, alive }) => {
                self.probed(now, ConnectionId(connection), alive);
            }
        }
    }

    /// Call with the storage's answer to a query.
    pub fn handle_answer(&mut self, now: Micros, purpose: Purpose, answer: Result<ServerMessage, Rejection>) {
        match (purpose, answer) {
            (Purpose::Search(connection), answer) => self.rated(now, connection, answer),
            (Purpose::Request { connection, id }, Ok(message)) => self.send(connection, id, message),
            (Purpose::Request { connection, id }, Err(refusal)) => self.refuse(now, connection, id, refusal),
        }
    }

    /// Closes all connections and accepts no new ones. Clients are asked to reconnect after this
    /// time.
    pub fn drain(&mut self, reconnect_ms: u64) {
        self.draining = Some(reconnect_ms);
        self.outbox.send_all(self.connections.ids(), Draining { reconnect_ms });
    }

    /// Starts a new epoch, because the directory was replaced or lost recent entries; replies to
    /// entries of the old epoch are ignored. Disconnect all clients before.
    pub fn restart(&mut self, now: Micros) {
        self.lease.restart();
        self.renew_lease(now);
    }

    /// Performs what is due at `now`; call at [`Node::poll_timeout`] or later.
    pub fn handle_timeout(&mut self, now: Micros) {
        if self.lease.due().is_some_and(|due| due <= now) {
            self.renew_lease(now);
        }
        while let Some(connection) = self.connections.take_due(now) {
            self.check_connection(now, connection);
        }
        let missing = self.rooms.look_for_missing(now);
        self.look_up_rooms(missing);
        for lookup in self.lists.refresh(now, self.rules.list_interval) {
            self.outbox.push(NodeOutput::LookUp(lookup));
        }
        for connection in self.searches.take_due(now) {
            self.ask_for_others(now, connection);
        }
        self.limits.forget_idle(now);
    }

    /// Requests all rooms again: any change may have been missed.
    pub fn resync(&mut self, now: Micros) {
        let rooms = self.rooms.look_for_all(now);
        self.look_up_rooms(rooms);
    }

    fn look_up_rooms(&mut self, rooms: Vec<RoomId>) {
        rooms.into_iter().for_each(|room| self.outbox.push(NodeOutput::LookUp(Lookup::Room(room))));
    }

    /// When [`Node::handle_timeout`] has something to do.
    pub fn poll_timeout(&self) -> Option<Micros> {
        [
            self.connections.due(),
            self.lease.due(),
            self.rooms.due(),
            self.searches.due(),
            self.lists.due(),
            self.limits.due(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// Next output for the host of the node. Drain it after every call.
    pub fn poll_output(&mut self) -> Option<NodeOutput> {
        self.outbox.poll()
    }

    /// Counters since the start.
    pub fn tally(&self) -> &NodeStats {
        self.outbox.stats()
    }

    /// How often clients exceeded each limit.
    pub fn exceeded(&self) -> &Exceeded {
        self.limits.exceeded()
    }

    /// Number of open connections.
    pub fn connection_count(&self) -> usize {
        self.connections.len()
    }

    /// Rooms with a member connected here, as their members see them.
    pub fn rooms(&self) -> impl Iterator<Item = &crate::view::RoomView> {
        self.rooms.values().map(LocalRoom::view)
    }

    /// A room as its members see it, if this node knows the room.
    pub fn room(&self, room: RoomId) -> Option<&crate::view::RoomView> {
        self.rooms.get(room).map(LocalRoom::view)
    }

    /// Settings of the mode that a room of this node plays.
    pub fn mode_of(&self, room: RoomId) -> Option<&crate::rules::ModeConfig> {
        let view = self.room(room)?;
        self.rules.mode(&view.game, &view.mode).ok()
    }

    /// Peer of a connection, once it has identified itself.
    pub fn peer_of(&self, connection: ConnectionId) -> Option<(PeerId, &DisplayName)> {
        self.session(connection).map(|session| (session.peer, &session.name))
    }

    fn renew_lease(&mut self, now: Micros) {
        if let Some(lease) = self.lease.renew(now) {
            self.append(None, lease);
        }
    }

    /// Appends a command to the log; the reply to it answers `origin`.
    fn append(&mut self, origin: Option<Origin>, command: impl Into<Command>) {
        let entry = LogEntry { origin, command: command.into() };
        if self.is_expected(&entry) {
            self.rooms.expect_reply();
        }
        self.outbox.push(NodeOutput::Append(Box::new(entry)));
    }

    /// Whether an entry is from this node and may bring a copy of a room.
    fn is_expected(&self, entry: &LogEntry) -> bool {
        entry.command.may_join() && entry.origin.is_some_and(|origin| origin.node == self.lease.node())
    }

    fn origin(&self, connection: ConnectionId, request: Option<u64>) -> Option<Origin> {
        Some(Origin { node: self.lease.node(), connection: connection.0, request })
    }

    /// Records an audit event about the player of a connection, in its current room.
    fn note(&mut self, connection: ConnectionId, happening: AuditEvent) {
        let room = self.session(connection).and_then(|session| session.room);
        self.note_in(connection, room, happening);
    }

    /// Records an audit event about the player of a connection, in the given room.
    fn note_in(&mut self, connection: ConnectionId, room: Option<RoomId>, happening: AuditEvent) {
        let player = self.session(connection).map(|session| session.player);
        let record = AuditRecord { connection, player, room, happening };
        self.outbox.push(NodeOutput::AuditRecord(Box::new(record)));
    }

    fn session(&self, connection: ConnectionId) -> Option<&Session> {
        self.connections.session(connection)
    }

    fn session_mut(&mut self, connection: ConnectionId) -> Option<&mut Session> {
        self.connections.session_mut(connection)
    }

    fn send(&mut self, connection: ConnectionId, id: Option<u64>, message: impl Into<ServerMessage>) {
        self.outbox.send(connection, id, message);
    }

    /// Rejects a request. A client that keeps sending rejected requests is disconnected.
    fn refuse(&mut self, now: Micros, connection: ConnectionId, id: Option<u64>, refusal: Rejection) {
        self.outbox.count(|stats| *stats.rejected.entry(refusal.code).or_default() += 1);
        if self.connections.get(connection).is_none() {
            return;
        }
        self.note(connection, AuditEvent::Rejected(refusal.clone()));
        let Some(known) = self.connections.get_mut(connection) else { return };
        if known.strike(now, refusal.code) {
            self.disconnect(now, connection, refusal);
        } else {
            self.send(connection, id, crate::message::server::Refused::from(refusal));
        }
    }

    fn say_bye(&mut self, connection: ConnectionId, refusal: Rejection, reconnect: bool) {
        self.note(connection, AuditEvent::RoomClosed(refusal.clone()));
        let Rejection { code, text, .. } = refusal;
        self.outbox.count(|stats| *stats.closed.entry(code).or_default() += 1);
        self.send(connection, None, Closing { code, text, reconnect });
        self.outbox.push(NodeOutput::Close { connection, code });
    }
}

fn too_fast(wait: Micros) -> Rejection {
    let retry_ms = wait.as_millis() + 1;
    let text = format!("too many requests; try again in {retry_ms} ms");
    Rejection { code: RejectionCode::TooFast, text, retry_after_ms: Some(retry_ms), game: None }
}
