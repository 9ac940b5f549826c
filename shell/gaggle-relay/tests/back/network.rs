//! Two peers and a relay in virtual time: sockets and channels deliver with a delay, and any of
//! them can fall silent.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use gaggle_kit::{Micros, PeerId};
use gaggle_link::relay::{RelayCarrier, RelayClient, RelayFrame, RelayLeg, RelaySocket, RelaySocketEvent};
use gaggle_link::{
    Channel, Mesh, MeshConfig, MultipathMesh, NoDirect, Path, PathConfig, PlatformCarriers, Transport,
    TransportEvent, WouldBlock,
};
use gaggle_lobby::{Claims, TicketSigner};
use gaggle_relay::{ConnectionId, Outbound, Relay, RelayConfig, Request};

/// Step of virtual time.
pub(crate) const TICK: Micros = Micros::from_millis(4);
/// One-way delay between a peer and the relay.
const HOP: Micros = Micros::from_millis(60);
/// Ticks between two messages.
const EVERY_TICKS: u64 = 4;
const RELAY_EVERY_TICKS: u64 = 25;
const UNIX_SECONDS: u64 = 1_000;
const IDS: [PeerId; 2] = [PeerId::from_u128(1), PeerId::from_u128(2)];

/// A packet in flight on a connection.
enum Packet {
    /// A peer opens a socket.
    Knock,
    /// A peer opens the channel negotiated over this socket.
    Attach { socket: ConnectionId },
    /// A frame from a peer.
    Frame(Vec<u8>),
    /// An event or frame for a peer.
    Told(RelaySocketEvent, Vec<u8>),
}

/// Connections of one peer, as it sees them.
#[derive(Default)]
struct PeerState {
    socket: Option<ConnectionId>,
    channel: Option<ConnectionId>,
    told: VecDeque<(ConnectionId, RelaySocketEvent, Vec<u8>)>,
    is_cut_off: bool,
}

/// Network between peers and relay.
struct TestNet {
    signer: TicketSigner,
    relay: Option<Relay>,
    lives: u64,
    now: Micros,
    letters: BTreeMap<(Micros, u64), (ConnectionId, Packet)>,
    count: u64,
    machines: [PeerState; 2],
    /// Peer and leg of each connection.
    owners: BTreeMap<ConnectionId, (usize, RelayLeg)>,
    /// Connections the relay has accepted.
    known: BTreeSet<ConnectionId>,
    /// Connections that lose everything without notice.
    silent: BTreeSet<ConnectionId>,
}

impl TestNet {
    fn connection(&mut self, machine: usize, leg: RelayLeg) -> ConnectionId {
        self.count += 1;
        let id = ConnectionId(self.count);
        self.owners.insert(id, (machine, leg));
        id
    }

    fn is_lost(&self, id: ConnectionId) -> bool {
        self.silent.contains(&id) || self.machines[self.owners[&id].0].is_cut_off
    }

    fn post(&mut self, id: ConnectionId, letter: Packet) {
        self.count += 1;
        if !self.is_lost(id) {
            self.letters.insert((self.now + HOP, self.count), (id, letter));
        }
    }

    fn tell(&mut self, id: ConnectionId, event: RelaySocketEvent) {
        self.post(id, Packet::Told(event, Vec::new()));
    }

    fn end(&mut self, id: ConnectionId) {
        let ended = match self.owners[&id].1 {
            RelayLeg::WebSocket => RelaySocketEvent::Closed,
            RelayLeg::Datagram => RelaySocketEvent::ChannelClosed,
        };
        if self.known.remove(&id) {
            self.tell(id, ended);
        }
    }

    fn pass(&mut self) {
        self.now += TICK;
        while let Some(entry) = self.letters.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let (id, letter) = entry.remove();
            if !self.is_lost(id) {
                self.deliver(id, letter);
            }
        }
        let now = self.now;
        if (now.get() / TICK.get()).is_multiple_of(RELAY_EVERY_TICKS) {
            self.with_relay(|relay, out| relay.handle_timeout(now, UNIX_SECONDS, out));
        }
    }

    fn deliver(&mut self, id: ConnectionId, letter: Packet) {
        let now = self.now;
        let (machine, leg) = self.owners[&id];
        match letter {
            Packet::Told(event, bytes) => {
                let machine = &mut self.machines[machine];
                if [machine.socket, machine.channel].contains(&Some(id)) {
                    machine.told.push_back((id, event, bytes));
                }
            }
            Packet::Knock => {
                let from = [10, 0, 0, machine as u8].into();
                let is_open = self.relay.as_mut().is_some_and(|relay| relay.socket_opened(now, id, from));
                self.tell(id, if is_open { RelaySocketEvent::Opened } else { RelaySocketEvent::Closed });
                if is_open {
                    self.known.insert(id);
                }
            }
            Packet::Attach { socket } => {
                let opened = self.with_relay(|relay, out| relay.channel_opened(now, socket, id, out));
                if opened == Some(true) {
                    self.known.insert(id);
                    self.tell(id, RelaySocketEvent::ChannelOpened);
                }
            }
            Packet::Frame(_) if !self.known.contains(&id) => {}
            Packet::Frame(frame) if leg == RelayLeg::Datagram => {
                self.with_relay(|relay, out| relay.handle_channel(now, id, &frame, out));
            }
            Packet::Frame(frame) => {
                let asked =
                    self.with_relay(|relay, out| relay.handle_socket(now, UNIX_SECONDS, id, &frame, out));
                if let Some(Some(Request::Channel(description))) = asked {
                    let answer = RelayFrame::Answer { description: &description }.to_bytes();
                    self.post(id, Packet::Told(RelaySocketEvent::Frame(RelayLeg::WebSocket), answer));
                }
            }
        }
    }

    fn with_relay<T>(
        &mut self,
        act: impl FnOnce(&mut Relay, &mut dyn FnMut(ConnectionId, Outbound<'_>)) -> T,
    ) -> Option<T> {
        let mut said = Vec::new();
        let result = act(self.relay.as_mut()?, &mut |id, out| {
            said.push((
                id,
                match out {
                    Outbound::Data(frame) | Outbound::Control(frame) => Some(frame.to_vec()),
                    Outbound::Close => None,
                },
            ));
        });
        for (id, frame) in said {
            let leg = self.owners[&id].1;
            match frame {
                Some(frame) => self.post(id, Packet::Told(RelaySocketEvent::Frame(leg), frame)),
                None => self.end(id),
            }
        }
        Some(result)
    }
}

/// Relay socket of one peer.
struct TestSocket {
    network: Rc<RefCell<TestNet>>,
    machine: usize,
}

impl RelaySocket for TestSocket {
    fn open(&mut self, _: Micros) {
        let mut network = self.network.borrow_mut();
        let id = network.connection(self.machine, RelayLeg::WebSocket);
        network.machines[self.machine].socket = Some(id);
        network.post(id, Packet::Knock);
    }

    fn close(&mut self) {
        self.network.borrow_mut().machines[self.machine].socket = None;
    }

    fn send_control(&mut self, frame: &[u8]) {
        let _ = self.send(Micros::ZERO, RelayLeg::WebSocket, frame);
    }

    fn send(&mut self, _: Micros, leg: RelayLeg, frame: &[u8]) -> Result<(), WouldBlock> {
        let mut network = self.network.borrow_mut();
        let machine = &network.machines[self.machine];
        let id = if leg == RelayLeg::WebSocket { machine.socket } else { machine.channel };
        id.into_iter().for_each(|id| network.post(id, Packet::Frame(frame.to_vec())));
        Ok(())
    }

    fn offer(&mut self, _: Micros) {
        let mut network = self.network.borrow_mut();
        let id = network.connection(self.machine, RelayLeg::Datagram);
        let machine = &mut network.machines[self.machine];
        machine.channel = Some(id);
        machine.told.push_back((id, RelaySocketEvent::Described("a channel".to_string()), Vec::new()));
    }

    fn accept(&mut self, _: Micros, _: &str) {
        let mut network = self.network.borrow_mut();
        let machine = &network.machines[self.machine];
        if let (Some(socket), Some(id)) = (machine.socket, machine.channel) {
            network.post(id, Packet::Attach { socket });
        }
    }

    fn drop_channel(&mut self) {
        self.network.borrow_mut().machines[self.machine].channel = None;
    }

    fn poll(&mut self, _: Micros, frame: &mut Vec<u8>) -> Option<RelaySocketEvent> {
        let machine = &mut self.network.borrow_mut().machines[self.machine];
        loop {
            let (id, event, bytes) = machine.told.pop_front()?;
            if ![machine.socket, machine.channel].contains(&Some(id)) {
                continue;
            }
            match event {
                RelaySocketEvent::Closed => machine.socket = None,
                RelaySocketEvent::ChannelClosed => machine.channel = None,
                _ => *frame = bytes,
            }
            return Some(event);
        }
    }

    fn poll_timeout(&self) -> Micros {
        Micros::MAX
    }
}

/// Two peers that exchange messages.
pub(crate) struct Cluster {
    network: Rc<RefCell<TestNet>>,
    links: [MultipathMesh<NoDirect, TestSocket>; 2],
    asleep: [bool; 2],
    /// Send time of the newest message each received.
    heard: [Micros; 2],
}

impl Cluster {
    /// Two peers that may use this path and the worse ones.
    pub(crate) fn of(best: Path) -> Cluster {
        let network = Rc::new(RefCell::new(TestNet {
            signer: TicketSigner::from_secret(&[7; 32]),
            relay: None,
            lives: 0,
            now: Micros::from_secs(100),
            letters: BTreeMap::new(),
            count: 0,
            machines: Default::default(),
            owners: BTreeMap::new(),
            known: BTreeSet::new(),
            silent: BTreeSet::new(),
        }));
        let allowed: Vec<Path> = Path::ALL.into_iter().filter(|path| *path >= best).collect();
        let legs: Vec<RelayLeg> = RelayLeg::ALL
            .into_iter()
            .filter(|leg| *leg == RelayLeg::WebSocket || best == Path::Relay)
            .collect();
        let links = [0, 1].map(|machine| {
            let me = IDS[machine];
            let ticket = network.borrow().signer.sign(&Claims::bare(1, me, 1, UNIX_SECONDS + 7_200));
            let line = TestSocket { network: Rc::clone(&network), machine };
            let relay = RelayCarrier::new(RelayClient::new(me, &ticket, &legs), line);
            let paths = PathConfig { allowed_paths: allowed.clone(), ..PathConfig::default() };
            let config = MeshConfig { paths, ..MeshConfig::default() };
            MultipathMesh::new(
                me,
                config,
                machine as u64,
                PlatformCarriers { direct: None, relay: Some(relay) },
            )
        });
        let mut company = Cluster { network, links, asleep: [false; 2], heard: [Micros::ZERO; 2] };
        company.start_relay();
        for machine in 0..2 {
            let now = company.now();
            company.links[machine].add_peer(now, IDS[1 - machine]);
        }
        company
    }

    pub(crate) fn now(&self) -> Micros {
        self.network.borrow().now
    }

    pub(crate) fn paths(&self) -> [Option<Path>; 2] {
        [0, 1].map(|machine| self.links[machine].path(IDS[1 - machine]))
    }

    /// Whether each received a message sent after `since`.
    pub(crate) fn have_heard_since(&self, since: Micros) -> bool {
        self.heard.iter().all(|heard| *heard > since)
    }

    /// Connections opened so far.
    pub(crate) fn connections(&self) -> usize {
        self.network.borrow().owners.len()
    }

    /// Advances virtual time.
    pub(crate) fn run(&mut self, span: Micros) {
        let end = self.now() + span;
        while self.now() < end {
            self.network.borrow_mut().pass();
            let now = self.now();
            for machine in (0..2).filter(|machine| !self.asleep[*machine]) {
                let links = &mut self.links[machine];
                while let Some(event) = links.poll(now) {
                    if let TransportEvent::Message { bytes, .. } = event {
                        let said = Micros::new(u64::from_le_bytes(bytes.try_into().unwrap()));
                        self.heard[machine] = self.heard[machine].max(said);
                    }
                }
                while links.poll_signal().is_some() {}
                if (now.get() / TICK.get()).is_multiple_of(EVERY_TICKS) {
                    let message = now.get().to_le_bytes();
                    let _ = links.send(now, IDS[1 - machine], Channel::Unreliable, &message);
                }
            }
        }
    }

    /// Stops the relay. Sockets are closed, as by a kernel after a process ended; channels are not.
    pub(crate) fn stop_relay(&mut self) {
        let mut network = self.network.borrow_mut();
        network.relay = None;
        let known: Vec<ConnectionId> = network.known.iter().copied().collect();
        for id in known {
            if network.owners[&id].1 == RelayLeg::Datagram {
                network.silent.insert(id);
            }
            network.end(id);
        }
    }

    /// Starts a relay without state of an earlier one.
    pub(crate) fn start_relay(&mut self) {
        let mut network = self.network.borrow_mut();
        network.lives += 1;
        network.relay = Some(Relay::new(network.signer.key(), RelayConfig::default(), network.lives, true));
    }

    /// Silences all open connections of a peer without notice.
    pub(crate) fn silence_connections(&mut self, machine: usize) {
        let mut network = self.network.borrow_mut();
        let theirs: Vec<ConnectionId> =
            network.owners.iter().filter(|(_, owner)| owner.0 == machine).map(|(id, _)| *id).collect();
        network.silent.extend(theirs);
    }

    /// Cuts a peer off from the network.
    pub(crate) fn cut_off(&mut self, machine: usize, is_cut_off: bool) {
        self.network.borrow_mut().machines[machine].is_cut_off = is_cut_off;
    }

    /// Suspends a peer; packets for it wait.
    pub(crate) fn sleep(&mut self, machine: usize, is_asleep: bool) {
        self.asleep[machine] = is_asleep;
    }
}
