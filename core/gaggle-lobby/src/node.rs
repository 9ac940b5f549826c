//! The server side of the lobby, as one process sees it: its connections, who they are, what they
//! may say and how often, and copies of the rooms its members are in.
//!
//! It decides nothing about rooms: it asks a [directory](crate::directory) and passes on what
//! happened. It opens no socket and reads no clock: feed it with `handle_…`, then drain
//! [`Node::poll_output`].
//!
//! `hello.rs` is about who somebody is, `commands.rs` about what they ask for, `answers.rs` about
//! what the directory says, `copies.rs` about rooms, `signals.rs` about what members hand to each
//! other, `lists.rs` about the list of rooms, `searches.rs` about who looks for people of their
//! skill, `notes.rs` about what operators can read later, `connection.rs` and `limits.rs` about
//! connections and how much they may do.

mod answers;
mod commands;
mod connection;
mod crowd;
mod hello;
mod limits;
mod lists;
mod notes;
mod room_copies;
mod searches;
mod signals;

pub use notes::{AuditEvent, AuditRecord};

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use gaggle_kit::{Micros, PeerId};

use crate::MessageError;
use crate::directory::{Command, Notice, QueuedSignal, Reply};
use crate::id::{NodeId, PlayerId, ResumeId, RoomId};
use crate::label::{DisplayName, Label};
use crate::message::server::{Closing, Draining, IceServer, Relay};
use crate::message::{ClientMessage, Envelope, Rejection, RejectionCode, ServerMessage, id_of};
use crate::rules::Rules;
use crate::secret::Secrets;
use crate::ticket::TicketSigner;
use answers::Asked;
use connection::{BEATS, Connection, Phase, Session};
use limits::ConnectionLimits;
use lists::Lists;
use room_copies::{LocalRoom, Strays};
use searches::Search;

/// A connection, as the caller numbers them. Numbers are not used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u64);

/// A question to the directory or to storage, to find the way back to who wanted to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AskId(pub u64);

/// Lends the servers that help to make links, with fresh credentials.
pub trait IceProvider: fmt::Debug + Send {
    /// For this person, from now on.
    fn servers(&self, now: Micros, player: PlayerId) -> Vec<IceServer>;
    /// How long the credentials count, in seconds.
    fn ttl_seconds(&self) -> u64;
    /// The relay, if there is one.
    fn relay(&self) -> Option<Relay> {
        None
    }
}

/// No such servers.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoIce;

impl IceProvider for NoIce {
    fn servers(&self, _now: Micros, _player: PlayerId) -> Vec<IceServer> {
        Vec::new()
    }

    fn ttl_seconds(&self) -> u64 {
        0
    }
}

/// What must be chosen for a node.
#[derive(Debug)]
pub struct NodeConfig {
    /// Its name among the nodes that share a directory.
    pub id: NodeId,
    /// 32 random bytes, never used for anything else.
    pub secret: [u8; 32],
    /// Signs tickets. The same on all nodes.
    pub signer: TicketSigner,
    /// What is told in `welcome`.
    pub server_name: String,
    /// Servers that help to make links.
    pub ice: Box<dyn IceProvider>,
    /// How long the directory waits for a sign of life of this node; `Micros::MAX` if it is the
    /// only one.
    pub lease: Micros,
}

/// What a node wants done, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum NodeOutput {
    /// Send this text.
    Send {
        /// On which connection.
        connection: ConnectionId,
        /// What.
        text: Arc<str>,
    },
    /// Send a ping that the other side must answer.
    Ping {
        /// On which connection.
        connection: ConnectionId,
    },
    /// Close, after everything sent before has gone out. [`Node::handle_closed`] is not expected
    /// any more.
    Close {
        /// Which connection.
        connection: ConnectionId,
        /// Why.
        code: RejectionCode,
    },
    /// Ask the directory and give the answer to [`Node::handle_reply`].
    Ask {
        /// To be given back.
        ask: AskId,
        /// What.
        request: Box<Command>,
    },
    /// Tell another node.
    Tell {
        /// Which.
        node: NodeId,
        /// What.
        message: NodeMessage,
    },
    /// Check a token from an outside issuer and say so with [`Node::handle_verified`].
    Verify {
        /// Whose.
        connection: ConnectionId,
        /// The token.
        token: String,
    },
    /// Look something up in storage and say so with [`Node::handle_answer`].
    Query {
        /// To be given back.
        ask: AskId,
        /// What.
        query: Query,
    },
    /// Something for the log. Nothing has to be done.
    AuditRecord(Box<AuditRecord>),
}

/// What one node tells another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeMessage {
    /// A signal for a member connected there.
    Signal {
        /// In which room.
        room: RoomId,
        /// To whom.
        to: PeerId,
        /// What.
        mail: QueuedSignal,
    },
    /// Does this connection live?
    Probe {
        /// Whose.
        peer: PeerId,
        /// Which.
        session: ResumeId,
        /// Who wants to know.
        from: NodeId,
        /// For whom.
        connection: ConnectionId,
    },
    /// Whether it does.
    ProbeResult {
        /// For whom.
        connection: ConnectionId,
        /// Whether.
        alive: bool,
    },
}

/// What a client wants to know from storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    /// The best of a game and mode.
    Leaderboard {
        /// Which game.
        game: Label,
        /// Which mode.
        mode: Label,
        /// Only confirmed results.
        verified: bool,
        /// At most so many.
        count: u8,
    },
    /// One's own best, rating and last matches.
    PlayerStats {
        /// Who.
        player: PlayerId,
        /// Which game.
        game: Label,
        /// Which mode.
        mode: Label,
    },
}

/// Who an outside issuer says somebody is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The issuer.
    pub issuer: String,
    /// Whom it means.
    pub subject: String,
    /// What they are called there.
    pub name: Option<String>,
}

/// What happened so far, for whoever watches over a server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NodeStats {
    /// Messages received.
    pub messages: u64,
    /// Connections that said hello.
    pub authenticated: u64,
    /// Seats given to newcomers.
    pub joined: u64,
    /// Rooms made.
    pub rooms_created: u64,
    /// Seats given back to those who had them.
    pub returned: u64,
    /// Signals handed over.
    pub signals: u64,
    /// Things refused, by why.
    pub rejected: BTreeMap<RejectionCode, u64>,
    /// Connections ended by the server, by why.
    pub closed: BTreeMap<RejectionCode, u64>,
}

/// A client's message, decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    id: Option<u64>,
    bytes: usize,
    message: Result<ClientMessage, MessageError>,
}

impl Said {
    /// Reads a text.
    pub fn read(text: &str) -> Said {
        let bytes = text.len();
        match Envelope::<ClientMessage>::decode(text) {
            Ok(Envelope { id, message }) => Said { id, bytes, message: Ok(message) },
            Err(error) => Said { id: id_of(text), bytes, message: Err(error) },
        }
    }
}

/// One process of a lobby server.
#[derive(Debug)]
pub struct Node {
    rules: Rules,
    id: NodeId,
    epoch: u32,
    lease: Micros,
    lease_due: Option<Micros>,
    signer: TicketSigner,
    ticket_key: String,
    server_name: String,
    ice: Box<dyn IceProvider>,
    secrets: Secrets,
    /// Makes ids of accounts and networks that tell nothing without it.
    id_key: [u8; 32],
    connections: BTreeMap<ConnectionId, Connection>,
    /// The connection that speaks for each machine.
    by_peer: BTreeMap<PeerId, ConnectionId>,
    rooms: BTreeMap<RoomId, LocalRoom>,
    /// When to look whether each of them is still missing a change.
    missing: BTreeSet<(Micros, RoomId)>,
    strays: Strays,
    lists: Lists,
    searches: BTreeMap<ConnectionId, Search>,
    /// When to ask for each of them.
    searches_due: BTreeSet<(Micros, ConnectionId)>,
    limits: ConnectionLimits,
    asked: BTreeMap<AskId, Asked>,
    next_ask: u64,
    deadlines: BTreeSet<(Micros, ConnectionId)>,
    draining: Option<u64>,
    outputs: VecDeque<NodeOutput>,
    /// Where signals are written before their length is known.
    scratch: String,
    tally: NodeStats,
}

impl Node {
    /// A node without connections. It asks the directory for a lease at once.
    pub fn new(now: Micros, rules: Rules, config: NodeConfig) -> Node {
        let NodeConfig { id, secret, signer, server_name, ice, lease } = config;
        let mut node = Node {
            rules,
            id,
            epoch: 1,
            lease,
            lease_due: None,
            ticket_key: signer.key().to_text(),
            id_key: signer.derive(b"ids"),
            signer,
            server_name,
            ice,
            secrets: Secrets::new(secret),
            connections: BTreeMap::new(),
            by_peer: BTreeMap::new(),
            rooms: BTreeMap::new(),
            missing: BTreeSet::new(),
            strays: Strays::default(),
            lists: Lists::default(),
            searches: BTreeMap::new(),
            searches_due: BTreeSet::new(),
            limits: ConnectionLimits::default(),
            asked: BTreeMap::new(),
            next_ask: 0,
            deadlines: BTreeSet::new(),
            draining: None,
            outputs: VecDeque::new(),
            scratch: String::new(),
            tally: NodeStats::default(),
        };
        node.renew_lease(now);
        node
    }

    /// Somebody connected.
    pub fn handle_connected(&mut self, now: Micros, connection: ConnectionId, address: IpAddr) {
        if self.reaches_reserve(1) {
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
        self.deadlines.insert((now + self.rules.hello_timeout, connection));
    }

    /// Somebody said something.
    pub fn handle_text(&mut self, now: Micros, connection: ConnectionId, text: &str) {
        self.handle_said(now, connection, Said::read(text));
    }

    /// Handles a message decoded before: many connections decode at once, and one at a time talks
    /// to a node.
    pub fn handle_said(&mut self, now: Micros, connection: ConnectionId, said: Said) {
        let Said { id, bytes, message } = said;
        self.tally.messages += 1;
        let Some(known) = self.connections.get_mut(&connection) else { return };
        known.heard_at = now;
        let rates = &self.rules.limits;
        let taken = known
            .messages
            .take(now, rates.message)
            .and_then(|()| known.bytes.take_many(now, rates.message_bytes, bytes as u32))
            .and_then(|()| self.limits.take_message(now, known.address, bytes as u32, rates));
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
        let Some(known) = self.connections.get_mut(&connection) else { return };
        if known.beats.take(now, BEATS).is_err() {
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
        if self.connections.contains_key(&connection) {
            self.say_bye(connection, refusal, true);
            self.forget_connection(now, connection);
        }
    }

    /// The directory answers.
    pub fn handle_reply(&mut self, now: Micros, ask: AskId, reply: Reply) {
        self.take_reply(now, ask, reply);
    }

    /// The directory tells.
    pub fn handle_notice(&mut self, now: Micros, notice: Notice) {
        match notice {
            Notice::Changed { room, version, events, links } => {
                self.room_changed(now, room, version, events, links);
            }
            Notice::Displaced { peer, session } => self.displace(now, peer, session),
            Notice::Found { peer, session } => self.found(now, peer, session),
            Notice::Signal { room, to, mail } => self.deliver(now, room, to, mail),
        }
    }

    /// Another node tells.
    pub fn handle_node_message(&mut self, now: Micros, message: NodeMessage) {
        match message {
            NodeMessage::Signal { room, to, mail } => self.deliver(now, room, to, mail),
            NodeMessage::Probe { peer, session, from, connection } => {
                self.probe_for(now, peer, session, from, connection);
            }
            NodeMessage::ProbeResult { connection, alive } => self.probed(now, connection, alive),
        }
    }

    /// A token was checked.
    pub fn handle_verified(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        identity: Result<Identity, Rejection>,
    ) {
        self.verified(now, connection, identity);
    }

    /// Storage answers.
    pub fn handle_answer(&mut self, now: Micros, ask: AskId, answer: Result<ServerMessage, Rejection>) {
        match (self.asked.remove(&ask), answer) {
            (Some(Asked::Rating { connection }), answer) => self.rated(now, connection, answer),
            (Some(Asked::Query { connection, id }), Ok(message)) => self.send(connection, id, message),
            (Some(Asked::Query { connection, id }), Err(refusal)) => {
                self.refuse(now, connection, id, refusal);
            }
            _ => {}
        }
    }

    /// Says goodbye to everybody and lets nobody in any more. They are asked to come back after so
    /// long.
    pub fn drain(&mut self, reconnect_ms: u64) {
        self.draining = Some(reconnect_ms);
        let text = encode(None, Draining { reconnect_ms }.into());
        for connection in self.connections.keys() {
            self.outputs.push_back(NodeOutput::Send { connection: *connection, text: text.clone() });
        }
    }

    /// The directory is another one, or has lost what it was told last: begins a new life, so that
    /// what was asked in the old one and is still on its way counts for nothing. Whoever is
    /// connected should be disconnected before.
    pub fn restart(&mut self, now: Micros) {
        self.epoch += 1;
        self.asked.retain(|_, asked| !matches!(asked, Asked::Lease));
        self.renew_lease(now);
    }

    /// Does what time alone brings about.
    pub fn handle_timeout(&mut self, now: Micros) {
        if self.lease_due.is_some_and(|due| due <= now) {
            self.renew_lease(now);
        }
        while let Some(&(at, connection)) = self.deadlines.first().filter(|(at, _)| *at <= now) {
            self.deadlines.remove(&(at, connection));
            self.check_connection(now, connection);
        }
        self.look_for_missing_rooms(now);
        self.refresh_lists(now);
        self.go_on_searching(now);
        self.limits.forget_idle(now);
    }

    /// When [`Node::handle_timeout`] has something to do.
    pub fn poll_timeout(&self) -> Option<Micros> {
        let first = self.deadlines.first().map(|(at, _)| *at);
        let missing = self.missing.first().map(|(at, _)| *at);
        let searches = self.searches_due.first().map(|(at, _)| *at);
        [first, self.lease_due, missing, searches, self.lists.due(), self.limits.due()]
            .into_iter()
            .flatten()
            .min()
    }

    /// What the node wants done. Drain it after every call.
    pub fn poll_output(&mut self) -> Option<NodeOutput> {
        self.outputs.pop_front()
    }

    /// What happened so far.
    pub fn tally(&self) -> &NodeStats {
        &self.tally
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
        self.rooms.get(&room).is_some_and(|copy| copy.view.member(peer).is_some())
    }

    /// The epoch of a room, as far as this node knows the room: tickets of lower ones are worth
    /// nothing.
    pub fn epoch_of(&self, room: RoomId) -> Option<u32> {
        self.rooms.get(&room).map(|copy| copy.view.epoch)
    }

    /// The machine that speaks on this connection, once it has said who it is.
    pub fn peer_of(&self, connection: ConnectionId) -> Option<(PeerId, &DisplayName)> {
        self.session(connection).map(|session| (session.peer, &session.name))
    }

    fn renew_lease(&mut self, now: Micros) {
        self.lease_due = (self.lease < Micros::MAX).then(|| now + Micros::new(self.lease.get() / 3));
        // One question at a time: old ones would be answered for a life that is over.
        if self.asked.values().any(|asked| matches!(asked, Asked::Lease)) {
            return;
        }
        let until = now.saturating_add(self.lease);
        let request = Command::Lease { node: self.id, epoch: self.epoch, until };
        self.ask(Asked::Lease, request);
    }

    fn ask(&mut self, asked: Asked, request: Command) {
        let ask = self.remember(asked);
        self.outputs.push_back(NodeOutput::Ask { ask, request: Box::new(request) });
    }

    fn remember(&mut self, asked: Asked) -> AskId {
        self.next_ask += 1;
        let ask = AskId(self.next_ask);
        if asked.may_bring_room() {
            self.strays.expect(ask);
        }
        self.asked.insert(ask, asked);
        ask
    }

    fn session(&self, connection: ConnectionId) -> Option<&Session> {
        match &self.connections.get(&connection)?.phase {
            Phase::Known(session) => Some(session),
            _ => None,
        }
    }

    fn session_mut(&mut self, connection: ConnectionId) -> Option<&mut Session> {
        match &mut self.connections.get_mut(&connection)?.phase {
            Phase::Known(session) => Some(session),
            _ => None,
        }
    }

    fn send(&mut self, connection: ConnectionId, id: Option<u64>, message: impl Into<ServerMessage>) {
        let text = encode(id, message.into());
        self.outputs.push_back(NodeOutput::Send { connection, text });
    }

    /// Says why something was not done. Who keeps doing what is refused is shown out.
    fn refuse(&mut self, now: Micros, connection: ConnectionId, id: Option<u64>, refusal: Rejection) {
        *self.tally.rejected.entry(refusal.code).or_default() += 1;
        if !self.connections.contains_key(&connection) {
            return;
        }
        self.note(connection, AuditEvent::Rejected(refusal.clone()));
        let Some(known) = self.connections.get_mut(&connection) else { return };
        if known.strike(now, refusal.code) {
            self.disconnect(now, connection, refusal);
        } else {
            self.send(connection, id, crate::message::server::Refused::from(refusal));
        }
    }

    fn say_bye(&mut self, connection: ConnectionId, refusal: Rejection, reconnect: bool) {
        self.note(connection, AuditEvent::RoomClosed(refusal.clone()));
        let Rejection { code, text, .. } = refusal;
        *self.tally.closed.entry(code).or_default() += 1;
        self.send(connection, None, Closing { code, text, reconnect });
        self.outputs.push_back(NodeOutput::Close { connection, code });
    }
}

fn encode(id: Option<u64>, message: ServerMessage) -> Arc<str> {
    Envelope { id, message }.encode().into()
}

fn too_fast(wait: Micros) -> Rejection {
    let retry_ms = wait.as_millis() + 1;
    let text = format!("too often: try again in {retry_ms} ms");
    Rejection { code: RejectionCode::TooFast, text, retry_after_ms: Some(retry_ms), game: None }
}
