//! Rooms in virtual time, for tests of a game: a real lobby, links and sessions without sockets and
//! clocks.
//!
//! Tests make a [`SimLobby`] (feature `testing`): it owns time, the lobby and a network between
//! peers numbered from 0; [`SimLobby::platform`] is the platform of one. Absent: games, drawing.
//!
//! ```
//! use gaggle::link::sim::Conditions;
//! use gaggle::testing::SimLobby;
//! use gaggle::{Game, GameRoom, Inputs, Micros, Phase, RoomConfig, Slot, State};
//!
//! #[derive(Clone, State)]
//! struct Tally { counts: [u32; 2] }
//!
//! impl Game for Tally {
//!     type Input = u8;
//!     fn tick(&mut self, inputs: &Inputs<'_, u8>) {
//!         for nth in 0..2 {
//!             self.counts[nth] += u32::from(inputs.get(Slot::at(nth)));
//!         }
//!     }
//! }
//!
//! let mut net = SimLobby::new(2, 7, Conditions::latency_ms(80));
//! let mut rooms = [0, 1].map(|peer| {
//!     let mut config = RoomConfig::new("tally", 2).expect("a label").version("1");
//!     (config.lobby, config.record_replay) = (SimLobby::client_config(peer), true);
//!     let (platform, game) = (net.platform(peer), Tally { counts: [0; 2] });
//!     GameRoom::open(Micros::ZERO, config, platform, game, peer as u64).expect("in range")
//! });
//! net.run_for(Micros::from_secs(10), |peer, now| {
//!     rooms[peer].set_input(0, 1);
//!     rooms[peer].update(now);
//! });
//! assert!(rooms.iter().all(|room| room.phase() == Phase::Playing && room.members().len() == 2));
//! // Equal frames have equal states.
//! let [first, second] = rooms.each_ref().map(|room| room.checksums());
//! assert!(first.iter().filter(|sum| second.contains(sum)).count() > 2);
//! ```

mod lobby;
mod mesh;
mod platform;
#[cfg(feature = "seal")]
mod referee;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gaggle_kit::{Micros, PeerId};
#[cfg(feature = "seal")]
use gaggle_link::relay::HOST_PEER;
use gaggle_link::sim::{Conditions, NetChange, SimNet};
use gaggle_lobby::MatchRecord;
use gaggle_lobby::client::ClientConfig;
use gaggle_lobby::directory::Directory;
use gaggle_lobby::rules::{Limits, Rules};

use lobby::{Observed, Shared};

pub use lobby::ICE_TTL;
pub use mesh::SimMesh;
pub use platform::{SimPlatform, SimSocket};

/// Virtual time between two displayed frames.
pub const FRAME: Micros = Micros::new(16_667);

/// Value shared by the platforms of all peers. A room may move to another thread.
#[derive(Debug)]
struct Held<T>(Arc<Mutex<T>>);

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

/// A lobby and a network in virtual time: see the [module](self).
#[derive(Debug)]
pub struct SimLobby {
    shared: Held<Shared>,
    net: Held<SimNet>,
    ids: Arc<Vec<PeerId>>,
    peers: usize,
    #[cfg(feature = "seal")]
    referee: Option<referee::SimReferee>,
}

impl SimLobby {
    /// A lobby for `peers` peers, with these conditions between any two of them. The lobby has no
    /// limits and offers every game with drop-in; its players may sign in with the token `token of
    /// NAME`. See [`SimLobby::with_rules`].
    pub fn new(peers: usize, seed: u64, conditions: Conditions) -> SimLobby {
        SimLobby::with_servers(peers, 0, seed, conditions)
    }

    /// As [`SimLobby::new`], with a referee at the lobby's server for one room: its links have the
    /// same conditions.
    #[cfg(feature = "seal")]
    pub fn with_referee(peers: usize, seed: u64, conditions: Conditions) -> SimLobby {
        let mut lobby = SimLobby::with_servers(peers, 1, seed, conditions);
        lobby.shared.lock().peers.insert(HOST_PEER, peers);
        let (shared, ids) = (lobby.shared.clone(), Arc::clone(&lobby.ids));
        let carrier = lobby.net.lock().carrier(peers);
        lobby.referee = Some(referee::SimReferee::new(carrier, shared, ids));
        lobby
    }

    /// Stops the referee's server, or starts it again: from its journal, or without one from what
    /// the players hold.
    ///
    /// # Panics
    /// If the lobby was made without a referee.
    #[cfg(feature = "seal")]
    pub fn restart_referee(&mut self, with_journal: bool) {
        let (index, now) = (self.peers, self.now());
        let carrier = self.net.lock().restarted_carrier(index);
        let referee = self.referee.as_mut().expect("made by with_referee");
        referee.restart(now, carrier, with_journal);
        let mut shared = self.shared.lock();
        let pairs: Vec<_> = shared.connected.iter().copied().filter(|pair| pair.1 == index).collect();
        for pair in pairs {
            self.net.lock().apply(&NetChange::Disconnect(pair.0, pair.1));
            shared.opening.push((now + FRAME, pair));
        }
    }

    fn with_servers(peers: usize, servers: usize, seed: u64, conditions: Conditions) -> SimLobby {
        let rules = Rules { limits: Limits::unlimited(), ..Rules::default() };
        let net = SimNet::unconnected(peers + servers, seed);
        net.set_all(conditions);
        let ids = Arc::new((0..peers + servers).map(|peer| net.id(peer)).collect());
        let shared = Shared {
            now: Micros::ZERO,
            lobby_up: true,
            node: Shared::start_lobby(&rules, Micros::ZERO),
            directory: Directory::new(rules.clone()),
            rules,
            next_connection: 0,
            owners: BTreeMap::new(),
            to_node: VecDeque::new(),
            to_peer: (0..peers).map(|_| VecDeque::new()).collect(),
            peers: BTreeMap::new(),
            connected: BTreeSet::new(),
            link_delay: Micros::ZERO,
            opening: Vec::new(),
            closing: Vec::new(),
            deaf: BTreeSet::new(),
            in_vain: BTreeSet::new(),
            crashing: false,
            observed: Observed::default(),
            tickets: BTreeMap::new(),
        };
        SimLobby {
            shared: Held::new(shared),
            net: Held::new(net),
            ids,
            peers,
            #[cfg(feature = "seal")]
            referee: None,
        }
    }

    /// The same with other rules of the lobby: modes, matchmaking, times, limits. Call it before
    /// the first room is opened.
    #[must_use]
    pub fn with_rules(self, rules: Rules) -> SimLobby {
        self.shared.lock().restart_lobby(rules);
        self
    }

    /// The platform for a room of this peer. A room that is opened again needs a new one.
    pub fn platform(&self, peer: usize) -> SimPlatform {
        SimPlatform::new(peer, self.shared.clone(), self.net.clone(), Arc::clone(&self.ids))
    }

    /// A player of its own for each peer: key and display name for
    /// [`RoomConfig::lobby`](crate::RoomConfig::lobby).
    pub fn client_config(peer: usize) -> ClientConfig {
        ClientConfig {
            guest_key: Some(format!("guest-key-of-peer-{peer}")),
            display_name: Some(format!("Peer {peer}")),
            ..ClientConfig::default()
        }
    }

    /// Virtual time since the beginning.
    pub fn now(&self) -> Micros {
        self.shared.lock().now
    }

    /// Advances by one displayed frame: the lobby and the network do what is due. Then update the
    /// rooms.
    pub fn advance(&mut self) -> Micros {
        let (now, due, closed) = self.shared.lock().advance(FRAME);
        let net = self.net.lock();
        for (a, b) in closed {
            net.apply(&NetChange::Disconnect(a, b));
        }
        for (a, b) in due {
            net.apply(&NetChange::Connect(a, b));
        }
        net.advance(FRAME);
        drop(net);
        #[cfg(feature = "seal")]
        if let Some(referee) = &mut self.referee {
            referee.advance(now);
        }
        now
    }

    /// Advances time, and calls back for each peer in each displayed frame: update its room there.
    pub fn run_for(&mut self, time: Micros, mut update: impl FnMut(usize, Micros)) {
        let until = self.now() + time;
        while self.now() < until {
            let now = self.advance();
            (0..self.peers).for_each(|peer| update(peer, now));
        }
    }

    /// Drops a room as a crash does: no packet of it arrives any more, and its socket to the lobby
    /// breaks.
    pub fn crash<R>(&mut self, peer: usize, room: R) {
        self.shared.lock().crashing = true;
        drop(room);
        let mut shared = self.shared.lock();
        shared.crashing = false;
        shared.hang_up(peer);
    }

    /// Sets the conditions between any two peers from now on.
    pub fn set_conditions(&mut self, conditions: Conditions) {
        self.net.lock().set_all(conditions);
    }

    /// Sets the conditions between two peers from now on.
    pub fn set_conditions_between(&mut self, a: usize, b: usize, conditions: Conditions) {
        self.net.lock().set_both(a, b, conditions);
    }

    /// Sets how long a link takes to open.
    pub fn set_link_delay(&mut self, delay: Micros) {
        self.shared.lock().link_delay = delay;
    }

    /// Stops the lobby, which loses all its state, or starts it again.
    pub fn set_lobby_up(&mut self, up: bool) {
        self.shared.lock().set_lobby_up(up);
    }

    /// Sets whether links to and from this peer fail to open.
    pub fn set_isolated(&mut self, peer: usize, is_isolated: bool) {
        let mut shared = self.shared.lock();
        if is_isolated {
            shared.deaf.insert(peer);
        } else {
            shared.hear_again(peer);
        }
    }

    /// Matches the lobby has decided.
    pub fn records(&self) -> Vec<MatchRecord> {
        self.shared.lock().observed.records.clone()
    }

    /// Scores a peer sent to the lobby, with their times.
    pub fn scores(&self, peer: usize) -> Vec<(Micros, String)> {
        let shared = self.shared.lock();
        let told = shared.observed.scores.iter().filter(|(_, teller, _)| *teller == peer);
        told.map(|(at, _, text)| (*at, text.clone())).collect()
    }

    /// Age of the TURN credentials a peer would use now: at most [`ICE_TTL`].
    pub fn ice_age(&self, peer: usize) -> Option<Micros> {
        let shared = self.shared.lock();
        shared.observed.ice_made.get(&peer).map(|made| shared.now.since(*made))
    }

    /// Another peer takes this peer's place at the relay, with its ticket.
    pub fn steal_ticket(&mut self, peer: usize) {
        self.shared.lock().observed.robbed.insert(peer);
    }

    /// Number of newer tickets this peer has received.
    pub fn ticket_renewals(&self, peer: usize) -> usize {
        self.shared.lock().observed.renewed.get(&peer).copied().unwrap_or_default()
    }
}
