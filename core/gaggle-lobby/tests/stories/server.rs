//! One node and its directory without delays, addressed in JSON, as from a WebSocket command-line
//! client.

use std::collections::{BTreeMap, VecDeque};

use gaggle_kit::Micros;
use gaggle_lobby::client::{Client, ClientConfig, ClientEvent, ClientOutput};
use gaggle_lobby::directory::command::{MarkStored, Tick};
use gaggle_lobby::directory::{Command, Directory, LogEntry, Lookup};
use gaggle_lobby::message::server::{JoinedRoom, MyStats, Refused, Welcome};
use gaggle_lobby::node::{AuditRecord, ConnectionId, Identity, NoIce, Node, NodeConfig, NodeOutput, Query};
use gaggle_lobby::rules::{Limits, Rules};
use gaggle_lobby::view::{RoomUpdate, RoomView, Verdict};
use gaggle_lobby::{
    Envelope, MatchRecord, NodeId, PlayerId, Rejection, RejectionCode, ServerMessage, TicketKey, TicketSigner,
};

pub(crate) struct Server {
    rules: Rules,
    pub(crate) now: Micros,
    pub(crate) node: Node,
    pub(crate) directory: Directory,
    pub(crate) records: Vec<MatchRecord>,
    pub(crate) queries: Vec<Query>,
    /// Audit records so far.
    pub(crate) notes: Vec<AuditRecord>,
    /// Entries appended to the log.
    pub(crate) asked: Vec<LogEntry>,
    /// Lookups made so far.
    pub(crate) lookups: Vec<Lookup>,
    /// Ratings in storage; queries wait while it is empty.
    pub(crate) ratings: BTreeMap<PlayerId, i64>,
    /// Held back entries that create rooms, if the directory is to be slow.
    pub(crate) held: Option<VecDeque<LogEntry>>,
    /// Whether matches are stored.
    pub(crate) storage_works: bool,
    /// Verdict that storage has from before, if any.
    pub(crate) stored_before: Option<Verdict>,
    heard: BTreeMap<ConnectionId, Vec<ServerMessage>>,
    pub(crate) pings: Vec<ConnectionId>,
    closed: BTreeMap<ConnectionId, RejectionCode>,
    next: u64,
}

impl Server {
    /// A server without rate limits.
    pub(crate) fn new() -> Server {
        Server::with_rules(Rules { limits: Limits::unlimited(), ..Rules::default() })
    }

    pub(crate) fn with_rules(rules: Rules) -> Server {
        let now = Micros::from_secs(1_800_000_000);
        let config = NodeConfig {
            id: NodeId(1),
            secret: [3; 32],
            signer: TicketSigner::from_secret(&[7; 32]),
            server_name: "test".into(),
            ice: Box::new(NoIce),
            lease: Micros::MAX,
        };
        let mut server = Server {
            rules: rules.clone(),
            now,
            node: Node::new(now, rules.clone(), config),
            directory: Directory::new(rules),
            records: Vec::new(),
            queries: Vec::new(),
            notes: Vec::new(),
            asked: Vec::new(),
            lookups: Vec::new(),
            ratings: BTreeMap::new(),
            held: None,
            storage_works: true,
            stored_before: None,
            heard: BTreeMap::new(),
            pings: Vec::new(),
            closed: BTreeMap::new(),
            next: 0,
        };
        server.drain();
        server
    }

    /// The same server without its memory and connections.
    pub(crate) fn restarted(&self) -> Server {
        Server { now: self.now, next: self.next, ..Server::with_rules(self.rules.clone()) }
    }

    pub(crate) fn ticket_key(&self) -> TicketKey {
        TicketSigner::from_secret(&[7; 32]).key()
    }

    /// A new connection from an address of its own.
    pub(crate) fn connect(&mut self) -> ConnectionId {
        let address = format!("10.1.{}.{}", self.next / 250, self.next % 250 + 1);
        self.connect_from(&address)
    }

    pub(crate) fn connect_from(&mut self, address: &str) -> ConnectionId {
        self.next += 1;
        let connection = ConnectionId(self.next);
        self.node.handle_connected(self.now, connection, address.parse().unwrap());
        self.drain();
        connection
    }

    /// Sends a text and returns what the same connection then receives.
    pub(crate) fn say(&mut self, connection: ConnectionId, text: &str) -> Vec<ServerMessage> {
        self.heard.remove(&connection);
        self.node.handle_text(self.now, connection, text);
        self.drain();
        self.hear(connection)
    }

    /// Messages received since the last call.
    pub(crate) fn hear(&mut self, connection: ConnectionId) -> Vec<ServerMessage> {
        self.heard.remove(&connection).unwrap_or_default()
    }

    pub(crate) fn close(&mut self, connection: ConnectionId) {
        self.node.handle_closed(self.now, connection);
        self.drain();
    }

    pub(crate) fn pong(&mut self, connection: ConnectionId) {
        self.node.handle_pong(self.now, connection);
        self.drain();
    }

    pub(crate) fn verified(&mut self, connection: ConnectionId, identity: Result<Identity, Rejection>) {
        self.node.handle_verified(self.now, connection, identity);
        self.drain();
    }

    pub(crate) fn drain_connections(&mut self, reconnect_ms: u64) {
        self.node.drain(reconnect_ms);
        self.drain();
    }

    /// Advances time in steps of a tenth of a second.
    pub(crate) fn wait(&mut self, span: Micros) {
        let end = self.now + span;
        while self.now < end {
            self.now = (self.now + Micros::from_millis(100)).min(end);
            self.node.handle_timeout(self.now);
            // Thousands of searches are worked off in batches.
            while self.node.poll_timeout().is_some_and(|at| at <= self.now) {
                self.drain();
                self.node.handle_timeout(self.now);
            }
            let _ = self.directory.apply(self.now, &LogEntry::new(Tick {}));
            self.drain();
        }
    }

    pub(crate) fn wait_secs(&mut self, secs: u64) {
        self.wait(Micros::from_secs(secs));
    }

    pub(crate) fn closed(&self, connection: ConnectionId) -> Option<RejectionCode> {
        self.closed.get(&connection).copied()
    }

    fn drain(&mut self) {
        loop {
            let mut is_quiet = true;
            while let Some((_, notice)) = self.directory.poll_notice() {
                self.node.handle_notice(self.now, notice);
                is_quiet = false;
            }
            while let Some(record) = self.directory.poll_record() {
                let (room, round) = (record.room, record.round);
                self.records.push(record);
                if self.storage_works {
                    let verdict = self.stored_before;
                    let stored = MarkStored { room, round, verdict, ratings: Vec::new() };
                    let _ = self.directory.apply(self.now, &LogEntry::new(stored));
                }
                is_quiet = false;
            }
            if let Some(output) = self.node.poll_output() {
                self.take(output);
                is_quiet = false;
            }
            if is_quiet {
                return;
            }
        }
    }

    fn take(&mut self, output: NodeOutput) {
        match output {
            NodeOutput::Send { connection, text } => {
                let message = Envelope::<ServerMessage>::decode(&text).expect("server texts are valid");
                self.heard.entry(connection).or_default().push(message.message);
            }
            NodeOutput::Ping { connection } => self.pings.push(connection),
            NodeOutput::Close { connection, code } => {
                self.closed.insert(connection, code);
            }
            NodeOutput::Append(entry) => {
                self.asked.push((*entry).clone());
                match &mut self.held {
                    Some(held) if matches!(entry.command, Command::Create(_) | Command::Find(_)) => {
                        held.push_back(*entry);
                    }
                    _ => self.answer(&entry),
                }
            }
            NodeOutput::LookUp(lookup) => {
                let found = self.directory.look_up(&lookup);
                self.lookups.push(lookup.clone());
                self.node.handle_found(self.now, lookup, found);
            }
            NodeOutput::Query { purpose, query: Query::PlayerStats { player, game, mode } }
                if !self.ratings.is_empty() =>
            {
                let rating = self.ratings.get(&player).copied();
                let mine = MyStats { game, mode, best: None, rating, matches: Vec::new() };
                self.node.handle_answer(self.now, purpose, Ok(mine.into()));
            }
            NodeOutput::Query { query, .. } => self.queries.push(query),
            NodeOutput::Verify { .. } => {}
            NodeOutput::AuditRecord(note) => self.notes.push(*note),
            NodeOutput::Tell { .. } => panic!("there is no other node"),
        }
    }

    fn answer(&mut self, entry: &LogEntry) {
        let reply = self.directory.apply(self.now, entry);
        while let Some((_, notice)) = self.directory.poll_notice() {
            self.node.handle_notice(self.now, notice);
        }
        self.node.handle_applied(self.now, entry, reply);
    }

    /// Applies the oldest held back entry.
    pub(crate) fn answer_held(&mut self) {
        let entry = self.held.as_mut().and_then(VecDeque::pop_front).expect("an entry is held back");
        self.answer(&entry);
        self.drain();
    }

    /// An identified client with a key of this number.
    pub(crate) fn guest(&mut self, number: u32) -> ConnectionId {
        let connection = self.connect();
        let heard = self.say(connection, &hello(number));
        assert!(matches!(heard[0], ServerMessage::Welcome(_)), "{heard:?}");
        connection
    }

    /// The first client creates a public room, and the others join it by its code.
    pub(crate) fn gathered(&mut self, numbers: std::ops::Range<u32>) -> Vec<ConnectionId> {
        let create = CREATE.replace('}', r#","drop_in":true}"#);
        let mut room = None;
        let mut come = |number: u32| {
            let connection = self.guest(number);
            let wish = room.map_or(create.clone(), join);
            room = Some(seat(&self.say(connection, &wish)).room.code);
            connection
        };
        numbers.map(&mut come).collect()
    }

    /// A client that joined a room by `find`.
    pub(crate) fn player(&mut self, number: u32) -> ConnectionId {
        let connection = self.guest(number);
        let heard = self.say(connection, FIND);
        assert!(matches!(heard[0], ServerMessage::JoinedRoom(_)), "{heard:?}");
        connection
    }

    pub(crate) fn room_of(&mut self, connection: ConnectionId) -> RoomView {
        let heard = self.say(connection, r#"{"type":"look"}"#);
        match &heard[..] {
            [.., ServerMessage::Room(message)] => message.room.clone(),
            other => panic!("no room: {other:?}"),
        }
    }
}

/// A [`Client`] connected to the server, with a socket that answers pings.
pub(crate) struct Ours {
    pub(crate) client: Client,
    pub(crate) connection: ConnectionId,
    pub(crate) told: Vec<ClientEvent>,
}

impl Ours {
    pub(crate) fn connect(server: &mut Server, number: u32) -> Ours {
        let key = Some(format!("key-of-guest-number-{number}"));
        let mut client =
            Client::new(server.now, ClientConfig { guest_key: key, ..ClientConfig::default() }, 7);
        let connection = server.connect();
        client.handle_open(server.now);
        Ours { client, connection, told: Vec::new() }
    }

    /// Moves messages in both directions.
    pub(crate) fn pump(&mut self, server: &mut Server) {
        self.client.handle_timeout(server.now);
        loop {
            while let Some(output) = self.client.poll_output() {
                if let ClientOutput::Send(text) = output {
                    server.node.handle_text(server.now, self.connection, &text);
                    server.drain();
                }
            }
            let heard = server.hear(self.connection);
            if heard.is_empty() {
                break;
            }
            for message in heard {
                self.client.handle_text(server.now, &Envelope { id: None, message }.encode());
            }
        }
        self.told.extend(std::iter::from_fn(|| self.client.poll_event()));
        server.pong(self.connection);
    }
}

pub(crate) const FIND: &str = r#"{"type":"find","game":"gander","mode":"team"}"#;
pub(crate) const CREATE: &str = r#"{"type":"create","game":"gander","mode":"team"}"#;
pub(crate) const STEP_OUT: &str = r#"{"type":"leave","back":true}"#;
pub(crate) const LEAVE: &str = r#"{"type":"leave"}"#;

pub(crate) fn hello(number: u32) -> String {
    format!(r#"{{"type":"hello","key":"key-of-guest-number-{number}","name":"Guest {number}"}}"#)
}

pub(crate) fn join(code: impl std::fmt::Display) -> String {
    format!(r#"{{"type":"join","code":"{code}"}}"#)
}

/// The `joined` message among these.
pub(crate) fn seat(heard: &[ServerMessage]) -> JoinedRoom {
    let seat = heard.iter().find_map(|message| match message {
        ServerMessage::JoinedRoom(seated) => Some(seated.clone()),
        _ => None,
    });
    seat.unwrap_or_else(|| panic!("no `joined`: {heard:?}"))
}

/// The `welcome` message among these.
pub(crate) fn welcome(heard: &[ServerMessage]) -> Welcome {
    match &heard[0] {
        ServerMessage::Welcome(welcome) => welcome.clone(),
        other => panic!("no `welcome`: {other:?}"),
    }
}

/// The single rejection.
pub(crate) fn refusal(heard: &[ServerMessage]) -> Refused {
    match heard {
        [ServerMessage::Refused(refused)] => refused.clone(),
        other => panic!("not rejected: {other:?}"),
    }
}

pub(crate) fn code(heard: &[ServerMessage]) -> RejectionCode {
    refusal(heard).code
}

/// Kinds of the events received, in order.
pub(crate) fn event_kinds(heard: &[ServerMessage]) -> Vec<&'static str> {
    events(heard).iter().map(RoomUpdate::kind).collect()
}

/// Events received, in order.
pub(crate) fn events(heard: &[ServerMessage]) -> Vec<RoomUpdate> {
    let changes = heard.iter().filter_map(|message| match message {
        ServerMessage::Change(change) => Some(change.events.clone()),
        _ => None,
    });
    changes.flatten().collect()
}
