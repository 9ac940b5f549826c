//! A town in virtual time: houses with a room each, a real lobby in the middle, real links between
//! them.
//!
//! Everything is the real machine; only sockets and clocks are made up. Links open only when both
//! houses have heard of each other through the lobby, as WebRTC's do.

#![allow(dead_code, reason = "not every file of stories needs everything there is in a town")]

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gaggle::{MeshSetup, Phase, Platform, RoomEvent};
use gaggle_kit::{DecodeError, IceServer, Micros, PeerId};
use gaggle_link::sim::{Conditions, NetChange, SimCarrier, SimNet};
use gaggle_link::{
    Carrier, CarrierEvent, Channel, CloseCode, Endpoint, LinkConfig, LinkStats, Mesh, Path, SendError,
    Transport, TransportEvent, WouldBlock,
};
use gaggle_lobby::client::{ClientConfig, LobbySocket, SocketEvent};
use gaggle_lobby::directory::{Command, Directory};
use gaggle_lobby::node::{ConnectionId, IceProvider, Node, NodeConfig, NodeOutput};
use gaggle_lobby::rules::{Limits, Rules};
use gaggle_lobby::{MatchRecord, NodeId, PlayerId, TicketSigner};

/// 2027-01-15, so that tickets have believable times.
const EPOCH: Micros = Micros::from_secs(1_800_000_000);
/// How long a text to or from the lobby takes.
const LOBBY_DELAY: Micros = Micros::from_millis(20);
/// What was sent before a link was closed arrives within this time.
const UNDER_WAY: Micros = Micros::from_millis(100);
pub(crate) const FRAME: Micros = Micros::new(16_667);

/// What stands in a house: a room of one kind or the other.
pub(crate) trait Resident: Sized {
    type Config;

    fn house_config(house: usize) -> Self::Config;
    fn move_in(now: Micros, config: Self::Config, doorstep: SimPlatform, seed: u64) -> Self;
    /// One displayed frame, with whatever this house's player does.
    fn play(&mut self, now: Micros, house: usize);
    fn next_told(&mut self) -> Option<RoomEvent>;
    fn where_it_is(&self) -> Phase;
    fn describe(&mut self) -> String;
}

/// A TURN server whose credentials end soon. Their name is when they were made.
#[derive(Debug)]
struct TownIce;

/// How long credentials count.
pub(crate) const ICE_TTL: Micros = Micros::from_secs(80);

impl IceProvider for TownIce {
    fn servers(&self, now: Micros, _player: PlayerId) -> Vec<IceServer> {
        let made = (now - EPOCH).get().to_string();
        let urls = vec!["turn:town:3478".to_string()];
        vec![IceServer { urls, username: Some(made), credential: Some("secret".to_string()) }]
    }

    fn ttl_seconds(&self) -> u64 {
        ICE_TTL.get() / 1_000_000
    }
}

/// What all houses share.
struct Shared {
    now: Micros,
    lobby_up: bool,
    node: Node,
    directory: Directory,
    rules: Rules,
    next_connection: u64,
    /// Which house a connection belongs to.
    owners: BTreeMap<ConnectionId, usize>,
    to_node: VecDeque<(Micros, ConnectionId, Option<String>)>,
    to_house: Vec<VecDeque<(Micros, SocketEvent)>>,
    /// Which house a name means. Names are the lobby's.
    houses: BTreeMap<PeerId, usize>,
    connected: BTreeSet<(usize, usize)>,
    /// How long a link takes to open, and those that are opening.
    link_delay: Micros,
    opening: Vec<(Micros, (usize, usize))>,
    /// Links that were closed, until what is under way has arrived.
    closing: Vec<(Micros, (usize, usize))>,
    /// No link ever opens to or from these.
    deaf: BTreeSet<usize>,
    /// Links that did not open because of that.
    in_vain: BTreeSet<(usize, usize)>,
    /// What is dropped now is dropped without a word to anyone.
    crashing: bool,
    /// When the credentials each house would use were made.
    ice_made: BTreeMap<usize, Micros>,
    /// Houses whose place at a relay another machine took with their ticket, and the newer tickets
    /// they got.
    robbed: BTreeSet<usize>,
    renewed: BTreeMap<usize, usize>,
    /// Matches the lobby has decided.
    records: Vec<MatchRecord>,
    /// When each house told the lobby its own score, and in which words.
    scores: Vec<(Micros, usize, String)>,
}

impl Shared {
    fn start_lobby(rules: &Rules, now: Micros) -> Node {
        let config = NodeConfig {
            id: NodeId(1),
            secret: [3; 32],
            signer: TicketSigner::from_secret(&[7; 32]),
            server_name: "town".into(),
            ice: Box::new(TownIce),
            lease: Micros::MAX,
        };
        Node::new(EPOCH + now, rules.clone(), config)
    }

    fn hang_up(&mut self, house: usize) {
        let Some((&connection, _)) = self.owners.iter().find(|(_, owner)| **owner == house) else { return };
        self.owners.remove(&connection);
        self.to_node.push_back((self.now + LOBBY_DELAY, connection, None));
    }

    fn set_lobby_up(&mut self, up: bool) {
        self.lobby_up = up;
        if up {
            return;
        }
        for house in std::mem::take(&mut self.owners).into_values() {
            self.to_house[house].push_back((self.now, SocketEvent::Closed));
        }
        self.to_node.clear();
        self.node = Shared::start_lobby(&self.rules, self.now);
        self.directory = Directory::new(self.rules.clone());
    }

    fn hear_again(&mut self, house: usize) {
        self.deaf.remove(&house);
        for pair in std::mem::take(&mut self.in_vain) {
            if self.connected.insert(pair) {
                self.opening.push((self.now, pair));
            }
        }
    }

    /// Lets the lobby do what is due.
    fn run_lobby(&mut self) {
        let now = EPOCH + self.now;
        while self.to_node.front().is_some_and(|(at, ..)| *at <= self.now) {
            let Some((_, connection, text)) = self.to_node.pop_front() else { break };
            match text {
                Some(text) => self.node.handle_text(now, connection, &text),
                None => self.node.handle_closed(now, connection),
            }
        }
        self.node.handle_timeout(now);
        self.directory.handle_timeout(now);
        loop {
            while let Some((_, notice)) = self.directory.poll_notice() {
                self.node.handle_notice(now, notice);
            }
            while let Some(record) = self.directory.poll_record() {
                // Kept at once, as by a storage without ratings.
                let stored = Command::Stored {
                    room: record.room,
                    round: record.round,
                    verdict: None,
                    ratings: Vec::new(),
                };
                let _ = self.directory.handle_request(now, stored);
                self.records.push(record);
            }
            let Some(output) = self.node.poll_output() else { break };
            match output {
                NodeOutput::Send { connection, text } => {
                    if let Some(house) = self.owners.get(&connection) {
                        let news = SocketEvent::Text(text.to_string());
                        self.to_house[*house].push_back((self.now + LOBBY_DELAY, news));
                    }
                }
                NodeOutput::Close { connection, .. } => {
                    if let Some(house) = self.owners.remove(&connection) {
                        self.to_house[house].push_back((self.now + LOBBY_DELAY, SocketEvent::Closed));
                    }
                }
                NodeOutput::Ping { connection } => self.node.handle_pong(now, connection),
                NodeOutput::Ask { ask, request } => {
                    let reply = self.directory.handle_request(now, *request);
                    self.node.handle_reply(now, ask, reply);
                }
                NodeOutput::Tell { .. }
                | NodeOutput::Verify { .. }
                | NodeOutput::Query { .. }
                | NodeOutput::AuditRecord(_) => {}
            }
        }
    }
}

/// A carrier whose names are the lobby's.
pub(crate) struct Renamed {
    local: PeerId,
    inner: SimCarrier,
    shared: SharedTown,
    ids: Arc<Vec<PeerId>>,
}

impl Renamed {
    fn inner_id(&self, peer: PeerId) -> Option<PeerId> {
        self.shared.lock().houses.get(&peer).map(|house| self.ids[*house])
    }

    fn lobby_id(&self, inner: PeerId) -> Option<PeerId> {
        let house = self.ids.iter().position(|id| *id == inner)?;
        let shared = self.shared.lock();
        shared.houses.iter().find(|(_, known)| **known == house).map(|(peer, _)| *peer)
    }
}

impl Carrier for Renamed {
    fn local_id(&self) -> PeerId {
        self.local
    }

    fn send(&mut self, now: Micros, to: PeerId, datagram: &[u8]) -> Result<(), WouldBlock> {
        let Some(to) = self.inner_id(to) else { return Ok(()) };
        self.inner.send(now, to, datagram)
    }

    fn poll(&mut self, now: Micros, datagram: &mut Vec<u8>) -> Option<CarrierEvent> {
        let event = self.inner.poll(now, datagram)?;
        let name = |peer| self.lobby_id(peer).expect("only those with a seat have links");
        Some(match event {
            CarrierEvent::Opened { peer } => CarrierEvent::Opened { peer: name(peer) },
            CarrierEvent::Closed { peer } => CarrierEvent::Closed { peer: name(peer) },
            CarrierEvent::Rerouted { peer } => CarrierEvent::Rerouted { peer: name(peer) },
            CarrierEvent::Datagram { peer } => CarrierEvent::Datagram { peer: name(peer) },
        })
    }

    fn poll_timeout(&self) -> Micros {
        self.inner.poll_timeout()
    }

    fn close(&mut self, now: Micros, peer: PeerId) {
        if let Some(peer) = self.inner_id(peer) {
            self.inner.close(now, peer);
        }
    }
}

/// What all houses hold. A house may change threads.
pub(crate) struct Held<T>(Arc<Mutex<T>>);

type SharedTown = Held<Shared>;
type SharedWorld = Held<SimNet>;

impl<T> Held<T> {
    fn new(value: T) -> Held<T> {
        Held(Arc::new(Mutex::new(value)))
    }

    fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Clone for Held<T> {
    fn clone(&self) -> Held<T> {
        Held(Arc::clone(&self.0))
    }
}

/// A house's connection to the lobby.
pub(crate) struct TownSocket {
    house: usize,
    shared: SharedTown,
    connection: Option<ConnectionId>,
}

impl LobbySocket for TownSocket {
    fn connect(&mut self) {
        let shared = &mut *self.shared.lock();
        let inbox = &mut shared.to_house[self.house];
        inbox.clear();
        if !shared.lobby_up {
            inbox.push_back((shared.now + LOBBY_DELAY, SocketEvent::Closed));
            return;
        }
        shared.next_connection += 1;
        let connection = ConnectionId(shared.next_connection);
        inbox.push_back((shared.now + LOBBY_DELAY, SocketEvent::Opened));
        shared.owners.insert(connection, self.house);
        let address = format!("10.0.0.{}", self.house + 1).parse().expect("an address");
        shared.node.handle_connected(EPOCH + shared.now, connection, address);
        self.connection = Some(connection);
    }

    fn send(&mut self, text: &str) {
        let shared = &mut *self.shared.lock();
        if let Some(connection) = self.connection.filter(|_| shared.lobby_up) {
            if text.contains(r#""type":"score""#) {
                shared.scores.push((shared.now, self.house, text.to_string()));
            }
            shared.to_node.push_back((shared.now + LOBBY_DELAY, connection, Some(text.to_string())));
        }
    }

    fn disconnect(&mut self) {
        let shared = &mut *self.shared.lock();
        if let Some(connection) = self.connection.take() {
            shared.owners.remove(&connection);
            shared.to_node.push_back((shared.now + LOBBY_DELAY, connection, None));
        }
    }

    fn poll(&mut self) -> Option<SocketEvent> {
        let shared = &mut *self.shared.lock();
        let inbox = &mut shared.to_house[self.house];
        let is_due = inbox.front().is_some_and(|(at, _)| *at <= shared.now);
        if is_due { inbox.pop_front().map(|(_, event)| event) } else { None }
    }
}

/// A house's platform.
pub(crate) struct SimPlatform {
    socket: TownSocket,
    world: SharedWorld,
    ids: Arc<Vec<PeerId>>,
}

impl std::fmt::Debug for SimPlatform {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Doorstep({})", self.socket.house)
    }
}

impl Platform for SimPlatform {
    type Lobby = TownSocket;
    type Mesh = TownMesh;

    fn lobby(&mut self) -> &mut TownSocket {
        &mut self.socket
    }

    fn open_mesh(&mut self, _now: Micros, setup: &MeshSetup<'_>) -> TownMesh {
        let (house, shared) = (self.socket.house, self.socket.shared.clone());
        shared.lock().houses.retain(|_, owner| *owner != house);
        shared.lock().houses.insert(setup.local_id, house);
        let inner = self.world.lock().restarted_carrier(house);
        let (local, ids) = (setup.local_id, Arc::clone(&self.ids));
        let renamed = Renamed { local, inner, shared: shared.clone(), ids };
        let link = Endpoint::new(renamed, LinkConfig::default(), setup.seed);
        let world = self.world.clone();
        let mut mesh = TownMesh { house, shared, world, link, signals: VecDeque::new() };
        mesh.set_ice_servers(setup.ice_servers);
        mesh
    }
}

/// The links of a house, which open once both sides have heard of each other through the lobby.
pub(crate) struct TownMesh {
    house: usize,
    shared: SharedTown,
    world: SharedWorld,
    link: Endpoint<Renamed>,
    signals: VecDeque<(PeerId, String)>,
}

impl Drop for TownMesh {
    fn drop(&mut self) {
        let shared = &mut *self.shared.lock();
        if shared.crashing {
            return;
        }
        let mine = |pair: &(usize, usize)| pair.0 == self.house || pair.1 == self.house;
        let at = shared.now + UNDER_WAY;
        shared.closing.extend(shared.connected.iter().copied().filter(mine).map(|pair| (at, pair)));
        shared.connected.retain(|pair| !mine(pair));
    }
}

impl Transport for TownMesh {
    fn local_id(&self) -> PeerId {
        self.link.local_id()
    }

    fn peers(&self) -> &[PeerId] {
        self.link.peers()
    }

    fn send(&mut self, now: Micros, to: PeerId, channel: Channel, bytes: &[u8]) -> Result<(), SendError> {
        self.link.send(now, to, channel, bytes)
    }

    fn broadcast(&mut self, now: Micros, channel: Channel, bytes: &[u8]) -> Result<(), SendError> {
        self.link.broadcast(now, channel, bytes)
    }

    fn poll(&mut self, now: Micros) -> Option<TransportEvent<'_>> {
        self.link.poll(now)
    }

    fn poll_timeout(&self) -> Micros {
        self.link.poll_timeout()
    }

    fn disconnect(&mut self, now: Micros, peer: PeerId, goodbye: CloseCode) {
        self.link.disconnect(now, peer, goodbye);
    }

    fn stats(&self, peer: PeerId) -> Option<LinkStats> {
        self.link.stats(peer)
    }
}

impl Mesh for TownMesh {
    fn add_peer(&mut self, _now: Micros, peer: PeerId) {
        self.signals.push_back((peer, "call".to_string()));
    }

    fn remove_peer(&mut self, _now: Micros, peer: PeerId) {
        let shared = &mut *self.shared.lock();
        let Some(&other) = shared.houses.get(&peer) else { return };
        let pair = (self.house.min(other), self.house.max(other));
        if shared.connected.remove(&pair) {
            self.world.lock().apply(&NetChange::Disconnect(pair.0, pair.1));
        }
    }

    fn handle_signal(&mut self, _now: Micros, from: PeerId, text: &str) -> Result<(), DecodeError> {
        assert_eq!(text, "call");
        let shared = &mut *self.shared.lock();
        let Some(&other) = shared.houses.get(&from) else { return Ok(()) };
        let pair = (self.house.min(other), self.house.max(other));
        let deaf = shared.deaf.contains(&pair.0) || shared.deaf.contains(&pair.1);
        if deaf {
            shared.in_vain.insert(pair);
        } else if shared.connected.insert(pair) {
            shared.opening.push((shared.now + shared.link_delay, pair));
        }
        Ok(())
    }

    fn poll_signal(&mut self) -> Option<(PeerId, String)> {
        self.signals.pop_front()
    }

    fn set_ticket(&mut self, _now: Micros, _ticket: &str) {
        *self.shared.lock().renewed.entry(self.house).or_default() += 1;
    }

    fn wants_ticket(&mut self, _now: Micros) -> bool {
        self.shared.lock().robbed.remove(&self.house)
    }

    fn set_ice_servers(&mut self, servers: &[IceServer]) {
        let made = servers.iter().find_map(|server| server.username.as_ref()?.parse().ok());
        let made = Micros::new(made.expect("the lobby has a TURN server"));
        self.shared.lock().ice_made.insert(self.house, made);
    }

    fn path(&self, _peer: PeerId) -> Option<Path> {
        Some(Path::Direct)
    }
}

/// Whoever lives in a house is known to the lobby.
pub(crate) fn client_config(house: usize) -> ClientConfig {
    ClientConfig {
        guest_key: Some(format!("key-of-house-number-{house}")),
        display_name: Some(format!("House {house}")),
        ..ClientConfig::default()
    }
}

/// The whole town.
pub(crate) struct Cluster<R> {
    shared: SharedTown,
    world: SharedWorld,
    ids: Arc<Vec<PeerId>>,
    pub(crate) rooms: Vec<Option<R>>,
    /// What each house was told, in its present life.
    pub(crate) told: Vec<Vec<RoomEvent>>,
    /// Houses where nothing happens, though everything is there.
    asleep: BTreeSet<usize>,
    /// Houses that are looked after once in so many frames, as a browser does with a hidden page.
    throttled: BTreeMap<usize, u64>,
    lives: u64,
}

impl<R: Resident> Cluster<R> {
    pub(crate) fn of(houses: usize) -> Cluster<R> {
        let rules = Rules { limits: Limits::unlimited(), ..Rules::default() };
        let world = SimNet::unconnected(houses, 7);
        world.set_all(Conditions::latency_ms(40));
        let ids = Arc::new((0..houses).map(|house| world.id(house)).collect());
        let shared = Shared {
            now: Micros::ZERO,
            lobby_up: true,
            node: Shared::start_lobby(&rules, Micros::ZERO),
            directory: Directory::new(rules.clone()),
            rules,
            next_connection: 0,
            owners: BTreeMap::new(),
            to_node: VecDeque::new(),
            to_house: (0..houses).map(|_| VecDeque::new()).collect(),
            houses: BTreeMap::new(),
            connected: BTreeSet::new(),
            link_delay: Micros::ZERO,
            opening: Vec::new(),
            closing: Vec::new(),
            deaf: BTreeSet::new(),
            in_vain: BTreeSet::new(),
            crashing: false,
            ice_made: BTreeMap::new(),
            robbed: BTreeSet::new(),
            renewed: BTreeMap::new(),
            records: Vec::new(),
            scores: Vec::new(),
        };
        Cluster {
            shared: SharedTown::new(shared),
            world: SharedWorld::new(world),
            ids,
            rooms: (0..houses).map(|_| None).collect(),
            told: vec![Vec::new(); houses],
            asleep: BTreeSet::new(),
            throttled: BTreeMap::new(),
            lives: 0,
        }
    }

    pub(crate) fn open(&mut self, house: usize) -> &mut Cluster<R> {
        self.open_with(house, R::house_config(house))
    }

    pub(crate) fn open_with(&mut self, house: usize, config: R::Config) -> &mut Cluster<R> {
        self.lives += 1;
        let socket = TownSocket { house, shared: self.shared.clone(), connection: None };
        let doorstep = SimPlatform { socket, world: self.world.clone(), ids: Arc::clone(&self.ids) };
        self.rooms[house] = Some(R::move_in(self.now(), config, doorstep, self.lives));
        self.told[house].clear();
        self
    }

    /// The house burns down: nobody hears a word of it, but the lobby's socket breaks.
    pub(crate) fn crash(&mut self, house: usize) -> &mut Cluster<R> {
        self.shared.lock().crashing = true;
        self.rooms[house] = None;
        self.shared.lock().crashing = false;
        self.shared.lock().hang_up(house);
        self
    }

    /// The system lets a house sleep, without a word to it, or wakes it up.
    pub(crate) fn sleep(&mut self, house: usize, sleeps: bool) -> &mut Cluster<R> {
        if sleeps {
            self.asleep.insert(house)
        } else {
            self.asleep.remove(&house)
        };
        self
    }

    /// Looks after a house once in so many frames only, as a browser does with a hidden page; every
    /// frame with 1.
    pub(crate) fn throttle(&mut self, house: usize, every: u64) -> &mut Cluster<R> {
        self.throttled.insert(house, every);
        self
    }

    /// When a house told the lobby its own score, and in which words.
    pub(crate) fn scores(&self, house: usize) -> Vec<(Micros, String)> {
        let shared = self.shared.lock();
        let told = shared.scores.iter().filter(|(_, teller, _)| *teller == house);
        told.map(|(at, _, text)| (*at, text.clone())).collect()
    }

    /// The matches the lobby has decided.
    pub(crate) fn records(&self) -> Vec<MatchRecord> {
        self.shared.lock().records.clone()
    }

    pub(crate) fn now(&self) -> Micros {
        self.shared.lock().now
    }

    pub(crate) fn room(&mut self, house: usize) -> &mut R {
        self.rooms[house].as_mut().expect("somebody lives there")
    }

    /// The lobby goes away, with everything it knew if it is a restart of the process.
    pub(crate) fn set_lobby_up(&mut self, up: bool) -> &mut Cluster<R> {
        self.shared.lock().set_lobby_up(up);
        self
    }

    /// How old the credentials are with which a house would look for a way now.
    pub(crate) fn ice_age(&self, house: usize) -> Micros {
        let shared = self.shared.lock();
        shared.now.since(shared.ice_made[&house])
    }

    /// Another machine takes the place of a house at its relay, with its ticket.
    pub(crate) fn rob(&mut self, house: usize) -> &mut Cluster<R> {
        self.shared.lock().robbed.insert(house);
        self
    }

    /// How many newer tickets a house got.
    pub(crate) fn tickets_renewed(&self, house: usize) -> usize {
        self.shared.lock().renewed.get(&house).copied().unwrap_or(0)
    }

    /// No link ever opens to or from this house.
    pub(crate) fn deafen(&mut self, house: usize) -> &mut Cluster<R> {
        self.shared.lock().deaf.insert(house);
        self
    }

    /// Links open again: whoever asked in vain asks once more.
    pub(crate) fn hear_again(&mut self, house: usize) -> &mut Cluster<R> {
        self.shared.lock().hear_again(house);
        self
    }

    /// Links take so long to open from now on.
    pub(crate) fn slow_links(&mut self, ms: u64) -> &mut Cluster<R> {
        self.shared.lock().link_delay = Micros::from_millis(ms);
        self
    }

    /// The lines between all houses are like this from now on.
    pub(crate) fn weather(&mut self, conditions: Conditions) -> &mut Cluster<R> {
        self.world.lock().set_all(conditions);
        self
    }

    /// One displayed frame of everybody.
    pub(crate) fn step(&mut self) {
        let now = {
            let shared = &mut *self.shared.lock();
            shared.now += FRAME;
            if shared.lobby_up {
                shared.run_lobby();
            }
            shared.now
        };
        let opening = std::mem::take(&mut self.shared.lock().opening);
        let (due, later): (Vec<_>, Vec<_>) = opening.into_iter().partition(|(at, _)| *at <= now);
        self.shared.lock().opening = later;
        let is_new = |pair| due.iter().any(|(_, opened)| *opened == pair);
        let closing = std::mem::take(&mut self.shared.lock().closing);
        let (closed, later): (Vec<_>, Vec<_>) =
            closing.into_iter().partition(|(at, pair)| *at <= now || is_new(*pair));
        self.shared.lock().closing = later;
        for (_, (a, b)) in closed {
            self.world.lock().apply(&NetChange::Disconnect(a, b));
        }
        for (_, (a, b)) in due {
            self.world.lock().apply(&NetChange::Connect(a, b));
        }
        self.world.lock().advance(FRAME);
        for (house, room) in self.rooms.iter_mut().enumerate() {
            let every = self.throttled.get(&house).copied().unwrap_or(1);
            let is_due = (now.get() / FRAME.get()).is_multiple_of(every);
            let Some(room) = room.as_mut().filter(|_| is_due && !self.asleep.contains(&house)) else {
                continue;
            };
            room.play(now, house);
            while let Some(event) = room.next_told() {
                self.told[house].push(event);
            }
        }
    }

    pub(crate) fn run_ms(&mut self, ms: u64) -> &mut Cluster<R> {
        for _ in 0..ms * 1_000 / FRAME.get() {
            self.step();
        }
        self
    }

    /// Runs until something is so, at most so long.
    pub(crate) fn run_until(
        &mut self,
        what: &str,
        ms: u64,
        so: impl Fn(&mut Cluster<R>) -> bool,
    ) -> &mut Cluster<R> {
        let until = self.now() + Micros::from_millis(ms);
        while !so(self) {
            assert!(self.now() < until, "{what}: not within {ms} ms\n{}", self.describe());
            self.step();
        }
        self
    }

    pub(crate) fn is_together(&mut self, house: usize) -> bool {
        self.room(house).where_it_is() == Phase::Playing
    }

    pub(crate) fn describe(&mut self) -> String {
        let mut text = String::new();
        for (house, room) in self.rooms.iter_mut().enumerate() {
            let Some(room) = room else { continue };
            text += &format!(
                "house {house}: {:?}, {}\n  told {:?}\n",
                room.where_it_is(),
                room.describe(),
                self.told[house]
            );
        }
        text
    }
}
