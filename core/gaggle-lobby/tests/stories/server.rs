//! One node and its directory without any delay, spoken to in JSON, as a newcomer with a WebSocket
//! command-line client would.

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
    /// What an operator could read.
    pub(crate) notes: Vec<AuditRecord>,
    /// What was appended to the log.
    pub(crate) asked: Vec<LogEntry>,
    /// What the directory was asked beside that.
    pub(crate) lookups: Vec<Lookup>,
    /// What storage knows of people's skill; questions wait while it knows nobody.
    pub(crate) ratings: BTreeMap<PlayerId, i64>,
    /// Rooms to be made that wait for the directory, if it takes its time.
    pub(crate) held: Option<VecDeque<LogEntry>>,
    /// Whether matches get stored.
    pub(crate) storage_works: bool,
    /// What storage has had of them before, if it has.
    pub(crate) stored_before: Option<Verdict>,
    heard: BTreeMap<ConnectionId, Vec<ServerMessage>>,
    pub(crate) pings: Vec<ConnectionId>,
    closed: BTreeMap<ConnectionId, RejectionCode>,
    next: u64,
}

impl Server {
    /// A server without limits on how often.
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

    /// The same server without its memory and without connections.
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

    /// Says something and gives back what is heard on the same connection from then on.
    pub(crate) fn say(&mut self, connection: ConnectionId, text: &str) -> Vec<ServerMessage> {
        self.heard.remove(&connection);
        self.node.handle_text(self.now, connection, text);
        self.drain();
        self.hear(connection)
    }

    /// What was heard since the last time.
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

    /// Lets time pass, a tenth of a second at a time.
    pub(crate) fn wait(&mut self, span: Micros) {
        let end = self.now + span;
        while self.now < end {
            self.now = (self.now + Micros::from_millis(100)).min(end);
            self.node.handle_timeout(self.now);
            // Thousands of searches are gone through piece by piece.
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
                let message = Envelope::<ServerMessage>::decode(&text).expect("servers speak properly");
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

    /// Lets the directory make the room that has waited longest.
    pub(crate) fn answer_held(&mut self) {
        let entry = self.held.as_mut().and_then(VecDeque::pop_front).expect("something waits");
        self.answer(&entry);
        self.drain();
    }

    /// Somebody who said hello with a key of this number.
    pub(crate) fn guest(&mut self, number: u32) -> ConnectionId {
        let connection = self.connect();
        let heard = self.say(connection, &hello(number));
        assert!(matches!(heard[0], ServerMessage::Welcome(_)), "{heard:?}");
        connection
    }

    /// The first makes a public room, and the others join it by its code.
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

    /// Somebody who found a seat.
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

/// A client of ours on a connection to the server, with a socket that answers pings.
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

    /// Says what it has to say and hears what was said to it.
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

/// The seat in what was heard.
pub(crate) fn seat(heard: &[ServerMessage]) -> JoinedRoom {
    let seat = heard.iter().find_map(|message| match message {
        ServerMessage::JoinedRoom(seated) => Some(seated.clone()),
        _ => None,
    });
    seat.unwrap_or_else(|| panic!("no seat: {heard:?}"))
}

/// The welcome in what was heard.
pub(crate) fn welcome(heard: &[ServerMessage]) -> Welcome {
    match &heard[0] {
        ServerMessage::Welcome(welcome) => welcome.clone(),
        other => panic!("not welcome: {other:?}"),
    }
}

/// The refusal that is all there is.
pub(crate) fn refusal(heard: &[ServerMessage]) -> Refused {
    match heard {
        [ServerMessage::Refused(refused)] => refused.clone(),
        other => panic!("not refused: {other:?}"),
    }
}

pub(crate) fn code(heard: &[ServerMessage]) -> RejectionCode {
    refusal(heard).code
}

/// The kinds of events in what was heard, in order.
pub(crate) fn event_kinds(heard: &[ServerMessage]) -> Vec<&'static str> {
    events(heard).iter().map(RoomUpdate::kind).collect()
}

/// The events in what was heard, in order.
pub(crate) fn events(heard: &[ServerMessage]) -> Vec<RoomUpdate> {
    let changes = heard.iter().filter_map(|message| match message {
        ServerMessage::Change(change) => Some(change.events.clone()),
        _ => None,
    });
    changes.flatten().collect()
}
