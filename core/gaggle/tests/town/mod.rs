//! A town in virtual time: houses with a room each, a real lobby in the middle, real links between them.
//!
//! Everything is the real machine; only sockets and clocks are made up. Links open only when both houses have heard of
//! each other through the lobby, as WebRTC's do.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use gaggle::{Event, LinksSetup, LobbyNews, Outside, Room, RoomConfig, Stage, State};
use gaggle_kit::{Micros, PeerId, Slot, state_hash};
use gaggle_link::sim::{Change, Conditions, SimCarrier, World};
use gaggle_link::{Busy, Carrier, CarrierEvent, Link, LinkConfig, Path};
use gaggle_lobby::client::ClientConfig;
use gaggle_lobby::directory::Directory;
use gaggle_lobby::node::{ConnectionId, NoIce, Node, NodeConfig, Output};
use gaggle_lobby::rules::{Rates, Rules};
use gaggle_lobby::{NodeId, TicketSigner};
use gaggle_timeline::{Game, Inputs};

/// 2027-01-15, so that tickets have believable times.
const EPOCH: Micros = Micros::from_secs(1_800_000_000);
/// How long a text to or from the lobby takes.
const LOBBY_DELAY: Micros = Micros::from_millis(20);
pub(crate) const FRAME: Micros = Micros::new(16_667);

/// Everybody has a counter that rises while they press.
#[derive(Debug, Clone, PartialEq, Eq, State)]
pub(crate) struct Presses {
    pub(crate) frame: u32,
    pub(crate) here: u64,
    pub(crate) counts: [u32; 4],
}

impl Game for Presses {
    type Input = u8;

    fn tick(&mut self, inputs: &Inputs<'_, u8>) {
        self.frame += 1;
        self.here = 0;
        for (index, count) in self.counts.iter_mut().enumerate() {
            if inputs.present(Slot::at(index)) {
                self.here |= 1 << index;
                *count += u32::from(inputs.get(Slot::at(index)));
            }
        }
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
    to_house: Vec<VecDeque<(Micros, LobbyNews)>>,
    /// Which house a name means. Names are the lobby's.
    houses: BTreeMap<PeerId, usize>,
    connected: BTreeSet<(usize, usize)>,
    /// How long a link takes to open, and those that are opening.
    link_delay: Micros,
    opening: Vec<(Micros, (usize, usize))>,
    /// No link ever opens to or from these.
    deaf: BTreeSet<usize>,
}

impl Shared {
    fn start_lobby(rules: &Rules, now: Micros) -> Node {
        let config = NodeConfig {
            id: NodeId(1),
            secret: [3; 32],
            signer: TicketSigner::from_secret(&[7; 32]),
            server_name: "town".into(),
            ice: Box::new(NoIce),
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
            self.to_house[house].push_back((self.now, LobbyNews::Closed));
        }
        self.to_node.clear();
        self.node = Shared::start_lobby(&self.rules, self.now);
        self.directory = Directory::new(self.rules.clone());
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
            let Some(output) = self.node.poll_output() else { break };
            match output {
                Output::Send { connection, text } => {
                    if let Some(house) = self.owners.get(&connection) {
                        let news = LobbyNews::Text(text.to_string());
                        self.to_house[*house].push_back((self.now + LOBBY_DELAY, news));
                    }
                }
                Output::Close { connection, .. } => {
                    if let Some(house) = self.owners.remove(&connection) {
                        self.to_house[house].push_back((self.now + LOBBY_DELAY, LobbyNews::Closed));
                    }
                }
                Output::Ping { connection } => self.node.handle_pong(now, connection),
                Output::Ask { ask, request } => {
                    let reply = self.directory.handle_request(now, *request);
                    self.node.handle_reply(now, ask, reply);
                }
                Output::Tell { .. } | Output::Verify { .. } | Output::Query { .. } => {}
            }
        }
    }
}

/// A carrier whose names are the lobby's.
pub(crate) struct Renamed {
    local: PeerId,
    inner: SimCarrier,
    shared: Rc<RefCell<Shared>>,
    ids: Rc<Vec<PeerId>>,
}

impl Renamed {
    fn inner_id(&self, peer: PeerId) -> Option<PeerId> {
        self.shared.borrow().houses.get(&peer).map(|house| self.ids[*house])
    }

    fn lobby_id(&self, inner: PeerId) -> Option<PeerId> {
        let house = self.ids.iter().position(|id| *id == inner)?;
        let shared = self.shared.borrow();
        shared.houses.iter().find(|(_, known)| **known == house).map(|(peer, _)| *peer)
    }
}

impl Carrier for Renamed {
    fn local_id(&self) -> PeerId {
        self.local
    }

    fn send(&mut self, now: Micros, to: PeerId, datagram: &[u8]) -> Result<(), Busy> {
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

/// A house's way into the world.
pub(crate) struct Doorstep {
    house: usize,
    shared: Rc<RefCell<Shared>>,
    world: Rc<RefCell<World>>,
    ids: Rc<Vec<PeerId>>,
    connection: Option<ConnectionId>,
    links: Option<Link<Renamed>>,
    signals: VecDeque<(PeerId, String)>,
}

impl std::fmt::Debug for Doorstep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Doorstep({})", self.house)
    }
}

impl Outside for Doorstep {
    type Links = Link<Renamed>;

    fn open_lobby(&mut self, _now: Micros) {
        let shared = &mut *self.shared.borrow_mut();
        let inbox = &mut shared.to_house[self.house];
        inbox.clear();
        if !shared.lobby_up {
            inbox.push_back((shared.now + LOBBY_DELAY, LobbyNews::Closed));
            return;
        }
        shared.next_connection += 1;
        let connection = ConnectionId(shared.next_connection);
        inbox.push_back((shared.now + LOBBY_DELAY, LobbyNews::Open));
        shared.owners.insert(connection, self.house);
        let address = format!("10.0.0.{}", self.house + 1).parse().expect("an address");
        shared.node.handle_connected(EPOCH + shared.now, connection, address);
        self.connection = Some(connection);
    }

    fn send_lobby(&mut self, _now: Micros, text: &str) {
        let shared = &mut *self.shared.borrow_mut();
        if let Some(connection) = self.connection.filter(|_| shared.lobby_up) {
            shared.to_node.push_back((shared.now + LOBBY_DELAY, connection, Some(text.to_string())));
        }
    }

    fn close_lobby(&mut self, _now: Micros) {
        let shared = &mut *self.shared.borrow_mut();
        if let Some(connection) = self.connection.take() {
            shared.owners.remove(&connection);
            shared.to_node.push_back((shared.now + LOBBY_DELAY, connection, None));
        }
    }

    fn poll_lobby(&mut self, _now: Micros) -> Option<LobbyNews> {
        let shared = &mut *self.shared.borrow_mut();
        let inbox = &mut shared.to_house[self.house];
        let is_due = inbox.front().is_some_and(|(at, _)| *at <= shared.now);
        if is_due { inbox.pop_front().map(|(_, news)| news) } else { None }
    }

    fn open_links(&mut self, _now: Micros, setup: &LinksSetup<'_>) {
        self.shared.borrow_mut().houses.retain(|_, house| *house != self.house);
        self.shared.borrow_mut().houses.insert(setup.local, self.house);
        let renamed = Renamed {
            local: setup.local,
            inner: self.world.borrow().restarted_carrier(self.house),
            shared: Rc::clone(&self.shared),
            ids: Rc::clone(&self.ids),
        };
        self.links = Some(Link::new(renamed, LinkConfig::default(), setup.seed));
    }

    fn links(&mut self) -> Option<&mut Link<Renamed>> {
        self.links.as_mut()
    }

    fn close_links(&mut self, _now: Micros) {
        self.links = None;
        let shared = &mut *self.shared.borrow_mut();
        let mine = |pair: &(usize, usize)| pair.0 == self.house || pair.1 == self.house;
        for (a, b) in shared.connected.iter().copied().filter(mine) {
            self.world.borrow().apply(&Change::Disconnect(a, b));
        }
        shared.connected.retain(|pair| !mine(pair));
    }

    fn connect(&mut self, _now: Micros, peer: PeerId) {
        self.signals.push_back((peer, "call".to_string()));
    }

    fn handle_signal(&mut self, _now: Micros, from: PeerId, text: &str) {
        assert_eq!(text, "call");
        let shared = &mut *self.shared.borrow_mut();
        let Some(&other) = shared.houses.get(&from) else { return };
        let pair = (self.house.min(other), self.house.max(other));
        let deaf = shared.deaf.contains(&pair.0) || shared.deaf.contains(&pair.1);
        if self.links.is_some() && !deaf && shared.connected.insert(pair) {
            shared.opening.push((shared.now + shared.link_delay, pair));
        }
    }

    fn next_signal(&mut self) -> Option<(PeerId, String)> {
        self.signals.pop_front()
    }

    fn path(&self, _peer: PeerId) -> Option<Path> {
        Some(Path::Direct)
    }
}

pub(crate) type House = Room<Presses, Doorstep>;

/// The whole town.
pub(crate) struct Town {
    shared: Rc<RefCell<Shared>>,
    world: Rc<RefCell<World>>,
    ids: Rc<Vec<PeerId>>,
    pub(crate) rooms: Vec<Option<House>>,
    /// What each house was told, in its present life.
    pub(crate) told: Vec<Vec<Event>>,
    lives: u64,
}

impl Town {
    pub(crate) fn of(houses: usize) -> Town {
        let rules = Rules { rates: Rates::unlimited(), ..Rules::default() };
        let world = World::unconnected(houses, 7);
        world.everywhere(Conditions::latency_ms(40));
        let ids = Rc::new((0..houses).map(|house| world.id(house)).collect());
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
            deaf: BTreeSet::new(),
        };
        Town {
            shared: Rc::new(RefCell::new(shared)),
            world: Rc::new(RefCell::new(world)),
            ids,
            rooms: (0..houses).map(|_| None).collect(),
            told: vec![Vec::new(); houses],
            lives: 0,
        }
    }

    pub(crate) fn config(house: usize) -> RoomConfig {
        let client = ClientConfig {
            key: Some(format!("key-of-house-number-{house}")),
            name: Some(format!("House {house}")),
            ..ClientConfig::default()
        };
        RoomConfig { client, ..RoomConfig::new("presses", 4).expect("a label") }
    }

    pub(crate) fn open(&mut self, house: usize) -> &mut Town {
        self.open_with(house, Town::config(house))
    }

    pub(crate) fn open_with(&mut self, house: usize, config: RoomConfig) -> &mut Town {
        self.lives += 1;
        let doorstep = Doorstep {
            house,
            shared: Rc::clone(&self.shared),
            world: Rc::clone(&self.world),
            ids: Rc::clone(&self.ids),
            connection: None,
            links: None,
            signals: VecDeque::new(),
        };
        let game = Presses { frame: 0, here: 0, counts: [0; 4] };
        let now = self.now();
        let room = Room::open(now, config, doorstep, game, self.lives).expect("settings that can be");
        self.rooms[house] = Some(room);
        self.told[house].clear();
        self
    }

    /// The house burns down: nobody hears a word of it, but the lobby's socket breaks.
    pub(crate) fn crash(&mut self, house: usize) -> &mut Town {
        self.rooms[house] = None;
        self.shared.borrow_mut().hang_up(house);
        self
    }

    pub(crate) fn now(&self) -> Micros {
        self.shared.borrow().now
    }

    pub(crate) fn room(&mut self, house: usize) -> &mut House {
        self.rooms[house].as_mut().expect("somebody lives there")
    }

    /// The lobby goes away, with everything it knew if it is a restart of the process.
    pub(crate) fn set_lobby_up(&mut self, up: bool) -> &mut Town {
        self.shared.borrow_mut().set_lobby_up(up);
        self
    }

    /// No link ever opens to or from this house.
    pub(crate) fn deafen(&mut self, house: usize) -> &mut Town {
        self.shared.borrow_mut().deaf.insert(house);
        self
    }

    /// Links take so long to open from now on.
    pub(crate) fn slow_links(&mut self, ms: u64) -> &mut Town {
        self.shared.borrow_mut().link_delay = Micros::from_millis(ms);
        self
    }

    /// One displayed frame of everybody. Everybody presses in every other frame, each in their own rhythm.
    pub(crate) fn step(&mut self) {
        let now = {
            let shared = &mut *self.shared.borrow_mut();
            shared.now += FRAME;
            if shared.lobby_up {
                shared.run_lobby();
            }
            shared.now
        };
        let opening = std::mem::take(&mut self.shared.borrow_mut().opening);
        let (due, later) = opening.into_iter().partition(|(at, _)| *at <= now);
        self.shared.borrow_mut().opening = later;
        for (_, (a, b)) in due {
            self.world.borrow().apply(&Change::Connect(a, b));
        }
        self.world.borrow().advance(FRAME);
        for (house, room) in self.rooms.iter_mut().enumerate() {
            let Some(room) = room else { continue };
            let beat = now.get() / FRAME.get() / (3 + house as u64);
            room.set_input(0, (beat % 2) as u8);
            room.update(now);
            while let Some(event) = room.next_event() {
                self.told[house].push(event);
            }
        }
    }

    pub(crate) fn run_ms(&mut self, ms: u64) -> &mut Town {
        for _ in 0..ms * 1_000 / FRAME.get() {
            self.step();
        }
        self
    }

    /// Runs until something is so, at most so long.
    pub(crate) fn run_until(&mut self, what: &str, ms: u64, so: impl Fn(&mut Town) -> bool) -> &mut Town {
        let until = self.now() + Micros::from_millis(ms);
        while !so(self) {
            assert!(self.now() < until, "{what}: not within {ms} ms\n{}", self.describe());
            self.step();
        }
        self
    }

    pub(crate) fn is_together(&mut self, house: usize) -> bool {
        self.room(house).stage() == Stage::Together
    }

    /// Everybody named plays the same match: the same confirmed states, and everybody is in it.
    pub(crate) fn expect_one_match(&mut self, houses: &[usize]) -> &mut Town {
        self.run_ms(500);
        for &house in houses {
            let (stage, here) = (self.room(house).stage(), self.room(house).game().here);
            let present = here.count_ones() as usize;
            assert!(
                stage == Stage::Together && present == houses.len(),
                "house {house}\n{}",
                self.describe()
            );
        }
        let frames: Vec<_> =
            houses.iter().map(|&house| self.room(house).session().confirmed_frame()).collect();
        let histories: BTreeSet<u64> =
            houses.iter().map(|&house| self.room(house).session().history()).collect();
        assert_eq!(histories.len(), 1, "{frames:?}\n{}", self.describe());
        let mut hashes: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
        for _ in 0..120 {
            for &house in houses {
                if let Some((_, game)) = self.room(house).confirmed_game() {
                    hashes.entry(game.frame).or_default().insert(state_hash(game));
                }
            }
            self.step();
        }
        let compared = hashes.len();
        assert!(hashes.values().all(|states| states.len() == 1), "states differ\n{}", self.describe());
        assert!(compared > 20, "only {compared} frames were compared\n{}", self.describe());
        self
    }

    pub(crate) fn describe(&mut self) -> String {
        let mut text = String::new();
        for (house, room) in self.rooms.iter_mut().enumerate() {
            let Some(room) = room else { continue };
            let people: Vec<_> =
                room.people().into_iter().map(|person| (person.name, person.slots)).collect();
            text += &format!(
                "house {house}: {:?}, {:?}, {:?} {:?} {:?}\n  people {people:?}\n  told {:?}\n",
                room.stage(),
                room.game(),
                room.session().roster(),
                room.session().confirmed_frame(),
                room.stats(),
                self.told[house],
            );
        }
        text
    }
}
