//! The server side of the lobby, as one process sees it: its connections, their limits, and copies
//! of the rooms its members are in.
//!
//! Feed it with `handle_…`, drain [`Node::poll_output`], append its entries to the log and give them
//! back once the directory has applied them. Absent: rules of rooms, sockets, clocks.

mod commands;
mod config;
mod connection;
mod connections;
mod crowd;
mod entering;
mod hello;
mod lease;
mod limits;
mod lists;
mod message;
mod notes;
mod outbox;
mod output;
mod replies;
mod room_copies;
mod searches;
mod signals;
mod strays;

pub use config::{IceProvider, NoIce, NodeConfig, Said};
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
use connection::{BEATS, Check, Connection, Phase, Session};
use connections::Connections;
use lease::OwnLease;
use limits::{ConnectionLimits, RoomCharge};
use lists::{ListUpdate, Lists};
use outbox::Outbox;
use room_copies::RoomCopies;
use searches::Searches;

/// A connection, as the caller numbers them. Numbers are not used again.
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
    /// Makes ids of accounts and networks that tell nothing without it.
    id_key: [u8; 32],
    connections: Connections,
    rooms: RoomCopies,
    lists: Lists,
    searches: Searches,
    limits: ConnectionLimits,
    /// Rooms counted for the address of a connection whose `find` is in the log.
    charges: BTreeMap<ConnectionId, Vec<RoomCharge>>,
    draining: Option<u64>,
    outbox: Outbox,
}

impl Node {
    /// A node without connections. It asks the directory for a lease at once.
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

    /// Somebody connected.
    pub fn handle_connected(&mut self, now: Micros, connection: ConnectionId, address: IpAddr) {
        if crowd::reaches_reserve(self.connections.len() + 1, &self.rules) {
            self.make_way(now, address, None);
        }
        let full = self.connections.len() >= self.rules.connections_max;
        let objection = if self.draining.is_some() {
            Some(Rejection::new(RejectionCode::Draining, "this server is about to stop"))
        } else if full {
            Some(Rejection::new(RejectionCode::ServerFull, "as many as can be are connected"))
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

    /// Somebody said something.
    pub fn handle_text(&mut self, now: Micros, connection: ConnectionId, text: &str) {
        self.handle_said(now, connection, Said::read(text));
    }

    /// Handles a message decoded before: many connections decode at once, and one at a time talks
    /// to a node.
    pub fn handle_said(&mut self, now: Micros, connection: ConnectionId, said: Said) {
        let Said { id, bytes, message } = said;
        self.outbox.stats.messages += 1;
        let Some(known) = self.connections.get_mut(connection) else { return };
        known.heard_at = now;
        let rates = &self.rules.limits;
        let taken = known
            .messages
            .try_acquire(now, &rates.message, 1)
            .and_then(|()| known.bytes.try_acquire(now, &rates.message_bytes, bytes as u64))
            .and_then(|()| self.limits.take_message(now, known.address, bytes as u64));
        if let Err(wait) = taken {
            self.refuse(now, connection, id, too_fast(wait));
            return;
        }
        if !known.probed_by.is_empty() {
            self.answer_probe(now, connection);
        }
        match message {
            Ok(message) => self.handle_message(now, connection, Envelope { id, message }, bytes),
            Err(error) => self.refuse(now, connection, id, error.into()),
        }
    }

    /// A ping was answered.
    pub fn handle_pong(&mut self, now: Micros, connection: ConnectionId) {
        let Some(known) = self.connections.get_mut(connection) else { return };
        if known.beats.try_acquire(now, &BEATS, 1).is_err() {
            let text = "more pings and pongs than anybody needs";
            self.disconnect(now, connection, Rejection::new(RejectionCode::TooFast, text));
            return;
        }
        known.heard_at = now;
        self.answer_probe(now, connection);
    }

    /// A connection is gone.
    pub fn handle_closed(&mut self, now: Micros, connection: ConnectionId) {
        self.forget_connection(now, connection);
    }

    /// Ends a connection that does not take what it is sent, or breaks the rules of the socket
    /// below.
    pub fn disconnect(&mut self, now: Micros, connection: ConnectionId, refusal: Rejection) {
        if self.connections.get(connection).is_some() {
            self.say_bye(connection, refusal, true);
            self.forget_connection(now, connection);
        }
    }

    /// Looks whether a connection is overdue with anything, and when to look again.
    fn check_connection(&mut self, now: Micros, connection: ConnectionId) {
        let Some(known) = self.connections.get_mut(connection) else { return };
        if known.is_proof(now, &self.rules) {
            self.limits.prove(now, known.address);
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

    /// Removes a member from its room whose socket answers pings and that says nothing itself.
    fn check_silence(&mut self, now: Micros, connection: ConnectionId) {
        let Some(session) = self.session(connection) else { return };
        if let Some(room) = session.room
            && session.touched_at + self.rules.idle_timeout <= now
        {
            let (peer, link) = (session.peer, session.link);
            self.append(None, Act { room, peer, link, action: IdleTimeout {}.into() });
        }
    }

    /// Forgets a connection that ended. The reservation behind it stays.
    fn forget_connection(&mut self, now: Micros, connection: ConnectionId) {
        self.stop_search(connection, false);
        if self.session(connection).is_some_and(|session| session.room.is_some()) {
            self.note(connection, AuditEvent::Away);
        }
        let Some(known) = self.connections.remove(connection) else { return };
        self.limits.disconnect(known.address, known.in_reserve);
        self.lists.remove(connection);
        if let Phase::Known(session) = known.phase {
            let Session { player, peer, link, room, signals, .. } = *session;
            self.limits.forget_identity(player);
            if let Some(room) = room {
                self.rooms.remove_local(room, peer, connection);
                let (next_signal, got, mail) = signals.into_mail(now);
                self.append(None, Detach { room, peer, link, next_signal, got, mail });
            }
        }
        known.probed_by.into_iter().for_each(|prober| self.tell_prober(now, prober, false));
    }

    /// The directory has applied an entry. Those of other nodes change nothing here.
    pub fn handle_applied(&mut self, now: Micros, entry: &LogEntry, reply: Reply) {
        self.take_reply(now, entry, reply);
        if self.is_expected(entry) {
            let over = self.rooms.strays.answered();
            self.rooms.drop_over(&over);
        }
    }

    /// An entry could not be appended, or is lost.
    pub fn handle_rejected(&mut self, now: Micros, entry: &LogEntry, rejection: Rejection) {
        self.take_reply(now, entry, Reply::Rejected(rejection));
        if self.is_expected(entry) {
            let over = self.rooms.strays.retracted();
            self.rooms.drop_over(&over);
        }
    }

    /// The directory answers a question.
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
            _ => debug_assert!(false, "an answer to another question"),
        }
    }

    /// The directory tells.
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

    /// Another node tells.
    pub fn handle_node_message(&mut self, now: Micros, message: NodeMessage) {
        match message {
            NodeMessage::QueueSignal(signal) => self.deliver(now, signal),
            NodeMessage::Probe(probe) => self.probe_for(now, probe),
            NodeMessage::ProbeResult(ProbeResult { connection, alive }) => {
                self.probed(now, ConnectionId(connection), alive);
            }
        }
    }

    /// Storage answers.
    pub fn handle_answer(&mut self, now: Micros, purpose: Purpose, answer: Result<ServerMessage, Rejection>) {
        match (purpose, answer) {
            (Purpose::Search(connection), answer) => self.rated(now, connection, answer),
            (Purpose::Request { connection, id }, Ok(message)) => self.send(connection, id, message),
            (Purpose::Request { connection, id }, Err(refusal)) => self.refuse(now, connection, id, refusal),
        }
    }

    /// Says goodbye to everybody and lets nobody in any more. They are asked to come back after so
    /// long.
    pub fn drain(&mut self, reconnect_ms: u64) {
        self.draining = Some(reconnect_ms);
        self.outbox.send_all(self.connections.ids(), Draining { reconnect_ms });
    }

    /// The directory is another one, or has lost what it was told last: begins a new life, so that
    /// what was asked in the old one and is still on its way counts for nothing. Whoever is
    /// connected should be disconnected before.
    pub fn restart(&mut self, now: Micros) {
        self.lease.restart();
        self.renew_lease(now);
    }

    /// Does what time alone brings about.
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

    /// Asks for every room again: any change may have been missed.
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

    /// What the node wants done. Drain it after every call.
    pub fn poll_output(&mut self) -> Option<NodeOutput> {
        self.outbox.poll()
    }

    /// What happened so far.
    pub fn tally(&self) -> &NodeStats {
        &self.outbox.stats
    }

    /// How many are connected.
    pub fn connection_count(&self) -> usize {
        self.connections.len()
    }

    /// The rooms this node has a member of, as they see them.
    pub fn rooms(&self) -> impl Iterator<Item = &crate::view::RoomView> {
        self.rooms.values().map(|copy| &copy.view)
    }

    /// Whether this machine is a member of the room, as far as this node knows: for relays, which
    /// serve members of one room only and have checked a ticket before.
    pub fn is_member(&self, room: RoomId, peer: PeerId) -> bool {
        self.rooms.get(room).is_some_and(|copy| copy.view.member(peer).is_some())
    }

    /// The epoch of a room, as far as this node knows the room: tickets of lower ones are worth
    /// nothing.
    pub fn epoch_of(&self, room: RoomId) -> Option<u32> {
        self.rooms.get(room).map(|copy| copy.view.epoch)
    }

    /// The machine that speaks on this connection, once it has said who it is.
    pub fn peer_of(&self, connection: ConnectionId) -> Option<(PeerId, &DisplayName)> {
        self.session(connection).map(|session| (session.peer, &session.name))
    }

    fn renew_lease(&mut self, now: Micros) {
        if let Some(lease) = self.lease.renew(now) {
            self.append(None, lease);
        }
    }

    /// Appends a command to the log, for a request if there is one.
    fn append(&mut self, origin: Option<Origin>, command: impl Into<Command>) {
        let entry = LogEntry { origin, command: command.into() };
        if self.is_expected(&entry) {
            self.rooms.strays.expect();
        }
        self.outbox.push(NodeOutput::Append(Box::new(entry)));
    }

    /// Whether an entry is ours and may bring a copy of a room.
    fn is_expected(&self, entry: &LogEntry) -> bool {
        entry.command.may_join() && entry.origin.is_some_and(|origin| origin.node == self.lease.node())
    }

    fn origin(&self, connection: ConnectionId, request: Option<u64>) -> Option<Origin> {
        Some(Origin { node: self.lease.node(), connection: connection.0, request })
    }

    /// Notes something about the player behind a connection, in the room it is in.
    fn note(&mut self, connection: ConnectionId, happening: AuditEvent) {
        let room = self.session(connection).and_then(|session| session.room);
        self.note_in(connection, room, happening);
    }

    /// The same in a room it is not in any more.
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

    /// Says why something was not done. Who keeps doing what is refused is shown out.
    fn refuse(&mut self, now: Micros, connection: ConnectionId, id: Option<u64>, refusal: Rejection) {
        *self.outbox.stats.rejected.entry(refusal.code).or_default() += 1;
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
        *self.outbox.stats.closed.entry(code).or_default() += 1;
        self.send(connection, None, Closing { code, text, reconnect });
        self.outbox.push(NodeOutput::Close { connection, code });
    }
}

fn too_fast(wait: Micros) -> Rejection {
    let retry_ms = wait.as_millis() + 1;
    let text = format!("too often: try again in {retry_ms} ms");
    Rejection { code: RejectionCode::TooFast, text, retry_after_ms: Some(retry_ms), game: None }
}
