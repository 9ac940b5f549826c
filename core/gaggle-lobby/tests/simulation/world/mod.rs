//! A whole lobby in virtual time: clients, nodes and a directory with delays in between, from one
//! seed.
//!
//! Clients and nodes are the real ones; only sockets and clocks are simulated. `checker.rs` checks
//! the invariants.

pub(crate) mod checker;
pub(crate) mod rude;
mod twin;

use std::collections::{BTreeMap, VecDeque};

use gaggle_kit::{Micros, Prng};
use gaggle_lobby::client::{Client, ClientConfig, ClientEvent, ClientOutput};
use gaggle_lobby::directory::command::{MarkStored, Tick};
use gaggle_lobby::directory::{Directory, Found, LogEntry, Lookup, Notice, Reply};
use gaggle_lobby::message::server::MyStats;
use gaggle_lobby::node::{ConnectionId, Identity, NoIce, Node, NodeConfig, NodeMessage, NodeOutput, Purpose};
use gaggle_lobby::rules::{GameRules, Limits, ModeConfig, Rules};
use gaggle_lobby::{NodeId, Rejection, TicketSigner};
use gaggle_testkit::{Delivery, PacketScheduler};

use checker::Checker;
use rude::{Rude, RudeTally};
use twin::Twin;

/// 2027-01-15, so that tickets have plausible times.
const EPOCH: Micros = Micros::from_secs(1_800_000_000);
pub(crate) const SECOND: Micros = Micros::from_secs(1);

/// Longest delays of messages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Delays {
    /// Between client and node.
    pub(crate) socket: Micros,
    /// Between node and directory.
    pub(crate) directory: Micros,
}

/// A client and its socket.
pub(crate) struct SimClient {
    pub(crate) machine: Client,
    pub(crate) events: Vec<ClientEvent>,
    /// Its current connection, possibly still opening.
    connection: Option<(usize, ConnectionId)>,
    /// Whether the process runs; events are ignored until it is restarted.
    pub(crate) running: bool,
    wake_at: Option<Micros>,
}

struct SimNode {
    machine: Node,
    id: NodeId,
    wake_at: Option<Micros>,
}

#[derive(Debug)]
enum Happening {
    Connected { slot: usize, connection: ConnectionId, client: usize },
    Opened { client: usize, connection: ConnectionId },
    ToNode { slot: usize, connection: ConnectionId, text: String },
    ToClient { client: usize, connection: ConnectionId, text: String },
    Ping { client: usize, slot: usize, connection: ConnectionId },
    Pong { slot: usize, connection: ConnectionId },
    ClosedAtNode { slot: usize, connection: ConnectionId },
    ClosedAtClient { client: usize, connection: ConnectionId },
    Append { slot: usize, node: NodeId, entry: Box<LogEntry> },
    Applied { slot: usize, node: NodeId, entry: Box<LogEntry>, reply: Reply },
    LookUp { slot: usize, node: NodeId, lookup: Lookup },
    Found { slot: usize, node: NodeId, lookup: Lookup, found: Found },
    Notice { node: NodeId, notice: Notice },
    Tell { node: NodeId, message: NodeMessage },
    Verified { slot: usize, node: NodeId, connection: ConnectionId, identity: Result<Identity, Rejection> },
    Answered { slot: usize, node: NodeId, purpose: Purpose, answer: Box<MyStats> },
    WakeClient(usize),
    WakeNode(usize, NodeId),
    WakeDirectory,
}

pub(crate) struct World {
    pub(crate) now: Micros,
    pub(crate) rules: Rules,
    pub(crate) directory: Directory,
    /// A second directory that is fed the same entries as texts.
    twin: Twin,
    pub(crate) clients: Vec<SimClient>,
    pub(crate) prng: Prng,
    pub(crate) checker: Checker,
    pub(crate) steps: u64,
    /// Crashes of each node so far.
    pub(crate) crashes: Vec<u32>,
    rude: Vec<Rude>,
    pub(crate) rude_tally: RudeTally,
    rude_owners: BTreeMap<ConnectionId, usize>,
    delays: Delays,
    directory_wake_at: Option<Micros>,
    nodes: Vec<Option<SimNode>>,
    /// Texts on one connection, and answers to one node, never overtake each other: (kind, number)
    /// of a lane are sender and receiver.
    net: PacketScheduler<Happening>,
    owners: BTreeMap<ConnectionId, (usize, usize)>,
    next_connection: u64,
    next_node: u64,
}

impl World {
    pub(crate) fn new(seed: u64, nodes: usize, delays: Delays) -> World {
        World::with_rules(seed, nodes, delays, generous())
    }

    pub(crate) fn with_rules(seed: u64, nodes: usize, delays: Delays, rules: Rules) -> World {
        let mut world = World {
            now: EPOCH,
            directory: Directory::new(rules.clone()),
            twin: Twin::new(rules.clone()),
            rules,
            clients: Vec::new(),
            prng: Prng::new(seed),
            checker: Checker::default(),
            steps: 0,
            crashes: vec![0; nodes],
            rude: Vec::new(),
            rude_tally: RudeTally::default(),
            rude_owners: BTreeMap::new(),
            delays,
            directory_wake_at: None,
            nodes: (0..nodes).map(|_| None).collect(),
            net: PacketScheduler::default(),
            owners: BTreeMap::new(),
            next_connection: 0,
            next_node: 0,
        };
        (0..nodes).for_each(|slot| world.start_node(slot));
        world
    }

    pub(crate) fn start_node(&mut self, slot: usize) {
        self.next_node += 1;
        let id = NodeId(self.next_node);
        let mut secret = [0; 32];
        secret[..8].copy_from_slice(&self.next_node.to_le_bytes());
        let config = NodeConfig {
            id,
            secret,
            signer: TicketSigner::from_secret(&[7; 32]),
            server_name: "simulated".into(),
            ice: Box::new(NoIce),
            lease: Micros::from_secs(6),
        };
        let machine = Node::new(self.now, self.rules.clone(), config);
        self.nodes[slot] = Some(SimNode { machine, id, wake_at: None });
        self.drain_node(slot);
    }

    /// Crashes a node. Clients notice at once, or only by missing pongs.
    pub(crate) fn crash_node(&mut self, slot: usize) {
        self.nodes[slot] = None;
        self.crashes[slot] += 1;
        let clients: Vec<(ConnectionId, usize)> =
            self.owners.iter().filter(|(_, owner)| owner.1 == slot).map(|(c, owner)| (*c, owner.0)).collect();
        for (connection, client) in clients {
            self.owners.remove(&connection);
            if self.prng.chance(3, 4) {
                let happening = Happening::ClosedAtClient { client, connection };
                self.later(self.delays.socket, (1, connection.0), happening);
            }
        }
    }

    /// Delays everything between a node and the directory for a while. Nothing is lost.
    pub(crate) fn partition_node(&mut self, slot: usize, span: Micros) {
        let Some(id) = self.nodes[slot].as_ref().map(|node| node.id) else { return };
        for lane in 2..=5 {
            self.net.hold_ordered_until(lane, id.0 as usize, self.now + span);
        }
    }

    pub(crate) fn is_node_up(&self, slot: usize) -> bool {
        self.nodes[slot].is_some()
    }

    /// Loses all rooms, as a restarted server does that keeps them in memory.
    pub(crate) fn forget_rooms(&mut self) {
        self.directory = Directory::new(self.rules.clone());
        self.twin = Twin::new(self.rules.clone());
        self.checker.forget_rooms();
    }

    pub(crate) fn add_client(&mut self, config: ClientConfig) -> usize {
        let seed = self.prng.next_u64();
        let machine = Client::new(self.now, config, seed);
        self.clients.push(SimClient {
            machine,
            events: Vec::new(),
            connection: None,
            running: true,
            wake_at: None,
        });
        let client = self.clients.len() - 1;
        self.drain_client(client);
        client
    }

    /// Adds a guest with its own key and device key.
    pub(crate) fn add_guest(&mut self) -> usize {
        let number = self.clients.len();
        self.add_client(guest(number))
    }

    /// Crashes a client and restarts it with its stored state.
    pub(crate) fn reload_client(&mut self, client: usize, config: ClientConfig) {
        self.cut_connection(client);
        let seed = self.prng.next_u64();
        self.clients[client].machine = Client::new(self.now, config, seed);
        self.clients[client].events.clear();
        self.clients[client].running = true;
        self.checker.client_reloaded(client);
        self.drain_client(client);
    }

    /// Crashes a client.
    pub(crate) fn stop_client(&mut self, client: usize) {
        self.cut_connection(client);
        self.clients[client].running = false;
        self.checker.client_reloaded(client);
    }

    /// Breaks a client's connection: the client notices at once, the node at once or by a missing
    /// pong.
    pub(crate) fn cut_connection(&mut self, client: usize) {
        if let Some((slot, connection)) = self.clients[client].connection.take() {
            self.owners.remove(&connection);
            if self.prng.chance(1, 2) {
                self.later(
                    self.delays.socket,
                    (0, connection.0),
                    Happening::ClosedAtNode { slot, connection },
                );
            }
        }
    }

    pub(crate) fn lose_connection(&mut self, client: usize) {
        if self.clients[client].connection.is_some() {
            self.cut_connection(client);
            self.with_client(client, |machine, now| machine.handle_closed(now));
        }
    }

    pub(crate) fn with_client<T>(&mut self, client: usize, call: impl FnOnce(&mut Client, Micros) -> T) -> T {
        let result = call(&mut self.clients[client].machine, self.now);
        self.drain_client(client);
        result
    }

    pub(crate) fn run_for(&mut self, span: Micros) {
        let end = self.now + span;
        while let Some(due) = self.net.poll(end) {
            self.now = self.now.max(due.at);
            self.steps += 1;
            self.happen(due.message);
        }
        self.now = end;
    }

    pub(crate) fn running_clients(&self) -> Vec<(usize, &Client)> {
        let running = self.clients.iter().enumerate().filter(|(_, client)| client.running);
        running.map(|(number, client)| (number, &client.machine)).collect()
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Connected { slot, connection, client } => self.connected(slot, connection, client),
            Happening::Opened { client, connection } => {
                if self.is_current(client, connection) {
                    self.with_client(client, |machine, now| machine.handle_open(now));
                }
            }
            Happening::ToNode { slot, connection, text } => {
                self.with_live_node(slot, |node, now| node.handle_text(now, connection, &text));
            }
            Happening::ToClient { client, connection, text } => {
                if self.is_current(client, connection) {
                    self.with_client(client, |machine, now| machine.handle_text(now, &text));
                }
            }
            Happening::Ping { client, slot, connection } => {
                // Browsers answer pings by themselves.
                if self.is_current(client, connection) && self.clients[client].running {
                    self.later(self.delays.socket, (0, connection.0), Happening::Pong { slot, connection });
                }
            }
            Happening::Pong { slot, connection } => {
                self.with_live_node(slot, |node, now| node.handle_pong(now, connection));
            }
            Happening::ClosedAtNode { slot, connection } => {
                self.owners.remove(&connection);
                self.with_live_node(slot, |node, now| node.handle_closed(now, connection));
            }
            Happening::ClosedAtClient { client, connection } => {
                if self.is_current(client, connection) {
                    self.clients[client].connection = None;
                    self.with_client(client, |machine, now| machine.handle_closed(now));
                }
            }
            Happening::Append { slot, node, entry } => self.apply(slot, node, entry),
            Happening::Applied { slot, node, entry, reply } => {
                self.with_node(slot, node, |machine, now| machine.handle_applied(now, &entry, reply));
            }
            Happening::LookUp { slot, node, lookup } => {
                let found = self.directory.look_up(&lookup);
                let happening = Happening::Found { slot, node, lookup, found };
                self.later(self.delays.directory, (3, node.0), happening);
            }
            Happening::Found { slot, node, lookup, found } => {
                self.with_node(slot, node, |machine, now| machine.handle_found(now, lookup, found));
            }
            Happening::Notice { node, notice } => {
                if let Some(slot) = self.slot_of(node) {
                    self.with_live_node(slot, |machine, now| machine.handle_notice(now, notice));
                }
            }
            Happening::Tell { node, message } => {
                if let Some(slot) = self.slot_of(node) {
                    self.with_live_node(slot, |machine, now| machine.handle_node_message(now, message));
                }
            }
            Happening::Verified { slot, node, connection, identity } => {
                self.with_node(slot, node, |machine, now| machine.handle_verified(now, connection, identity));
            }
            Happening::Answered { slot, node, purpose, answer } => {
                let answer = Ok((*answer).into());
                self.with_node(slot, node, |machine, now| machine.handle_answer(now, purpose, answer));
            }
            Happening::WakeClient(client) => {
                self.clients[client].wake_at = None;
                if self.clients[client].running {
                    self.with_client(client, |machine, now| machine.handle_timeout(now));
                }
            }
            Happening::WakeNode(slot, node) => {
                if let Some(known) = self.nodes[slot].as_mut().filter(|known| known.id == node) {
                    known.wake_at = None;
                    self.with_live_node(slot, |machine, now| machine.handle_timeout(now));
                }
            }
            Happening::WakeDirectory => self.wake_directory(),
        }
    }

    fn connected(&mut self, slot: usize, connection: ConnectionId, client: usize) {
        let address = format!("10.{}.{}.1", client / 256, client % 256).parse().unwrap();
        if self.nodes[slot].is_none() {
            self.later(Micros::ZERO, (1, connection.0), Happening::ClosedAtClient { client, connection });
            return;
        }
        self.owners.insert(connection, (client, slot));
        self.later(self.delays.socket, (1, connection.0), Happening::Opened { client, connection });
        self.with_live_node(slot, |node, now| node.handle_connected(now, connection, address));
    }

    fn wake_directory(&mut self) {
        self.directory_wake_at = None;
        let entry = LogEntry::new(Tick {});
        let reply = self.directory.apply(self.now, &entry);
        self.twin.take(self.now, &entry, &reply);
        self.drain_directory();
    }

    fn apply(&mut self, slot: usize, node: NodeId, entry: Box<LogEntry>) {
        let reply = self.directory.apply(self.now, &entry);
        self.checker.answered(self.now, &self.directory, &self.rules, &entry.command, &reply);
        self.twin.take(self.now, &entry, &reply);
        // In this order, as within one process; delays still differ per lane.
        self.drain_directory();
        let happening = Happening::Applied { slot, node, entry, reply };
        self.later(self.delays.directory, (3, node.0), happening);
    }

    fn drain_directory(&mut self) {
        while let Some((node, notice)) = self.directory.poll_notice() {
            self.checker.noticed(self.now, &self.directory, &self.rules, &notice);
            self.later(self.delays.directory, (4, node.0), Happening::Notice { node, notice });
        }
        while let Some(record) = self.directory.poll_record() {
            let (room, round) = (record.room, record.round);
            self.checker.recorded(record);
            let entry = LogEntry::new(MarkStored { room, round, verdict: None, ratings: Vec::new() });
            let reply = self.directory.apply(self.now, &entry);
            self.twin.take(self.now, &entry, &reply);
        }
        while let Some((node, notice)) = self.directory.poll_notice() {
            self.checker.noticed(self.now, &self.directory, &self.rules, &notice);
            self.later(self.delays.directory, (4, node.0), Happening::Notice { node, notice });
        }
        self.twin.compare(&self.directory);
        if let Some(at) = self.directory.poll_timeout()
            && self.directory_wake_at.is_none_or(|planned| at < planned)
        {
            let at = at.max(self.now);
            self.directory_wake_at = Some(at);
            self.at(at, Happening::WakeDirectory);
        }
    }

    /// Calls a node; messages to a crashed one are dropped.
    fn with_node(&mut self, slot: usize, id: NodeId, call: impl FnOnce(&mut Node, Micros)) {
        if self.slot_of(id) == Some(slot) {
            self.with_live_node(slot, call);
        }
    }

    fn with_live_node(&mut self, slot: usize, call: impl FnOnce(&mut Node, Micros)) {
        if let Some(node) = &mut self.nodes[slot] {
            call(&mut node.machine, self.now);
            self.drain_node(slot);
        }
    }

    fn drain_node(&mut self, slot: usize) {
        let Some(node) = &mut self.nodes[slot] else { return };
        let id = node.id;
        let mut outputs = VecDeque::new();
        while let Some(output) = node.machine.poll_output() {
            outputs.push_back(output);
        }
        let due = node.machine.poll_timeout();
        let wake_at =
            due.filter(|at| node.wake_at.is_none_or(|planned| *at < planned)).map(|at| at.max(self.now));
        node.wake_at = wake_at.or(node.wake_at);
        for output in outputs {
            let rude = match &output {
                NodeOutput::Send { connection, .. } | NodeOutput::Close { connection, .. } => {
                    self.rude_owners.get(connection).copied()
                }
                _ => None,
            };
            match (output, rude) {
                (NodeOutput::Send { text, .. }, Some(number)) => self.rude_hears(number, &text),
                (NodeOutput::Close { connection, .. }, Some(number)) => self.rude_closed(number, connection),
                (NodeOutput::Send { connection, text }, None) => {
                    if let Some(&(client, _)) = self.owners.get(&connection) {
                        let happening = Happening::ToClient { client, connection, text: text.to_string() };
                        self.later(self.delays.socket, (1, connection.0), happening);
                    }
                }
                (NodeOutput::Ping { connection }, _) => {
                    if let Some(&(client, slot)) = self.owners.get(&connection) {
                        let happening = Happening::Ping { client, slot, connection };
                        self.later(self.delays.socket, (1, connection.0), happening);
                    }
                }
                (NodeOutput::Close { connection, .. }, None) => {
                    if let Some((client, _)) = self.owners.remove(&connection) {
                        let happening = Happening::ClosedAtClient { client, connection };
                        self.later(self.delays.socket, (1, connection.0), happening);
                    }
                }
                (NodeOutput::Append(entry), _) => {
                    let happening = Happening::Append { slot, node: id, entry };
                    self.later(self.delays.directory, (2, id.0), happening);
                }
                (NodeOutput::LookUp(lookup), _) => {
                    let happening = Happening::LookUp { slot, node: id, lookup };
                    self.later(self.delays.directory, (2, id.0), happening);
                }
                (NodeOutput::Tell { node, message }, _) => {
                    self.later(self.delays.directory, (5, id.0), Happening::Tell { node, message });
                }
                (NodeOutput::Verify { connection, .. }, _) => self.verify(slot, id, connection),
                (NodeOutput::Query { purpose, query }, _) => self.query(slot, id, purpose, query),
                (NodeOutput::AuditRecord(_), _) => {}
            }
        }
        if let Some(at) = wake_at {
            self.at(at, Happening::WakeNode(slot, id));
        }
    }

    fn drain_client(&mut self, client: usize) {
        while let Some(output) = self.clients[client].machine.poll_output() {
            match output {
                ClientOutput::Connect => {
                    let up: Vec<usize> =
                        (0..self.nodes.len()).filter(|slot| self.nodes[*slot].is_some()).collect();
                    // With no node running, the attempt fails a moment later.
                    let slot = self.prng.pick(&up).copied().unwrap_or(0);
                    self.next_connection += 1;
                    let connection = ConnectionId(self.next_connection);
                    self.clients[client].connection = Some((slot, connection));
                    let happening = Happening::Connected { slot, connection, client };
                    self.later(self.delays.socket, (0, connection.0), happening);
                }
                ClientOutput::Send(text) => {
                    if let Some((slot, connection)) = self.clients[client].connection {
                        let happening = Happening::ToNode { slot, connection, text };
                        self.later(self.delays.socket, (0, connection.0), happening);
                    }
                }
                ClientOutput::Disconnect => {
                    if let Some((slot, connection)) = self.clients[client].connection.take() {
                        self.owners.remove(&connection);
                        let happening = Happening::ClosedAtNode { slot, connection };
                        self.later(self.delays.socket, (0, connection.0), happening);
                    }
                }
            }
        }
        while let Some(event) = self.clients[client].machine.poll_event() {
            self.checker.told(client, &self.clients[client].machine, &event);
            self.clients[client].events.push(event);
        }
        let due = self.clients[client].machine.poll_timeout();
        if let Some(at) = due
            && self.clients[client].wake_at.is_none_or(|planned| at < planned)
        {
            let at = at.max(self.now);
            self.clients[client].wake_at = Some(at);
            self.at(at, Happening::WakeClient(client));
        }
    }

    fn is_current(&self, client: usize, connection: ConnectionId) -> bool {
        let known = &self.clients[client];
        known.running && known.connection.is_some_and(|(_, current)| current == connection)
    }

    fn slot_of(&self, id: NodeId) -> Option<usize> {
        self.nodes.iter().position(|node| node.as_ref().is_some_and(|node| node.id == id))
    }

    fn later(&mut self, longest: Micros, lane: (u8, u64), happening: Happening) {
        let delay = Micros::new(u64::from(self.prng.below(longest.get() as u32 + 1)));
        let (from, to) = (lane.0.into(), lane.1 as usize);
        self.net.schedule(self.now + delay, from, to, Delivery::Ordered, happening);
    }

    fn at(&mut self, at: Micros, happening: Happening) {
        self.net.schedule(at, 0, 0, Delivery::Datagram, happening);
    }
}

/// Client settings derived from a number.
pub(crate) fn guest(number: usize) -> ClientConfig {
    ClientConfig {
        guest_key: Some(format!("key-of-guest-number-{number}")),
        display_name: Some(format!("Guest {number}")),
        ..ClientConfig::default()
    }
}

/// Rules without rate limits, because these clients are busy, and with few rooms per player, so
/// that exceeding that is noticed.
pub(crate) fn generous() -> Rules {
    let duel = ModeConfig { players_default: 2, players_max: 2, skill: true, ..ModeConfig::default() };
    let mut ranked = GameRules::default();
    ranked.modes.insert("duel".parse().unwrap(), duel);
    Rules {
        limits: Limits::unlimited(),
        connections_per_address_max: 1_000,
        rooms_per_player_max: 3,
        spectators_max: 4,
        games: BTreeMap::from([("ranked".parse().unwrap(), ranked)]),
        ..Rules::default()
    }
}
