//! Peers in virtual time with a room each, on [`SimLobby`]. Only sockets and clocks are simulated.

#![allow(dead_code, reason = "not every file of stories needs every helper")]

use std::collections::{BTreeMap, BTreeSet};

use gaggle::testing::SimLobby;
use gaggle::{AnyRoom, Phase, RoomEvent};
use gaggle_kit::Micros;
use gaggle_link::sim::Conditions;
use gaggle_lobby::MatchRecord;
use gaggle_lobby::client::ClientConfig;

pub(crate) use gaggle::testing::{FRAME, SimPlatform};

/// Program of a peer: a room, or code around one.
pub(crate) trait Subject: Sized {
    type Config;

    fn peer_config(index: usize) -> Self::Config;
    fn open_peer(now: Micros, config: Self::Config, platform: SimPlatform, seed: u64) -> Self;
    /// Updates one displayed frame, with this peer's input. Returns the room's events.
    fn update_peer(&mut self, now: Micros, index: usize) -> Vec<RoomEvent>;
    fn any_room(&self) -> &dyn AnyRoom;
    fn describe(&mut self) -> String;
}

/// A different player for each peer.
pub(crate) fn client_config(index: usize) -> ClientConfig {
    SimLobby::client_config(index)
}

/// All peers and their lobby.
pub(crate) struct Cluster<R> {
    lobby: SimLobby,
    pub(crate) rooms: Vec<Option<R>>,
    /// Events of each peer since its room was opened.
    pub(crate) told: Vec<Vec<RoomEvent>>,
    /// Peers that are not updated, though their links and sockets stay open.
    asleep: BTreeSet<usize>,
    /// Peers that are updated once in this many frames, as a browser does with a hidden page.
    throttled: BTreeMap<usize, u64>,
    lives: u64,
}

impl<R: Subject> Cluster<R> {
    pub(crate) fn of(count: usize) -> Cluster<R> {
        Cluster {
            lobby: SimLobby::new(count, 7, Conditions::latency_ms(40)),
            rooms: (0..count).map(|_| None).collect(),
            told: vec![Vec::new(); count],
            asleep: BTreeSet::new(),
            throttled: BTreeMap::new(),
            lives: 0,
        }
    }

    pub(crate) fn open(&mut self, index: usize) -> &mut Cluster<R> {
        self.open_with(index, R::peer_config(index))
    }

    pub(crate) fn open_with(&mut self, index: usize, config: R::Config) -> &mut Cluster<R> {
        self.lives += 1;
        let platform = self.lobby.platform(index);
        self.rooms[index] = Some(R::open_peer(self.now(), config, platform, self.lives));
        self.told[index].clear();
        self
    }

    /// Ends a peer as a crash does: no packet of it arrives any more.
    pub(crate) fn crash(&mut self, index: usize) -> &mut Cluster<R> {
        self.lobby.crash(index, self.rooms[index].take());
        self
    }

    /// Suspends a peer without notice, or wakes it up.
    pub(crate) fn sleep(&mut self, index: usize, sleeps: bool) -> &mut Cluster<R> {
        if sleeps {
            self.asleep.insert(index)
        } else {
            self.asleep.remove(&index)
        };
        self
    }

    /// Updates a peer once in this many frames only, as a browser does with a hidden page; every
    /// frame with 1.
    pub(crate) fn throttle(&mut self, index: usize, every: u64) -> &mut Cluster<R> {
        self.throttled.insert(index, every);
        self
    }

    /// Scores that a peer sent to the lobby: time and message.
    pub(crate) fn scores(&self, index: usize) -> Vec<(Micros, String)> {
        self.lobby.scores(index)
    }

    /// Matches that the lobby has decided.
    pub(crate) fn records(&self) -> Vec<MatchRecord> {
        self.lobby.records()
    }

    pub(crate) fn now(&self) -> Micros {
        self.lobby.now()
    }

    pub(crate) fn room(&mut self, index: usize) -> &mut R {
        self.rooms[index].as_mut().expect("the room is open")
    }

    /// Stops the lobby, which loses all its state, or starts it again.
    pub(crate) fn set_lobby_up(&mut self, up: bool) -> &mut Cluster<R> {
        self.lobby.set_lobby_up(up);
        self
    }

    /// Age of the TURN credentials that a peer would use now.
    pub(crate) fn ice_age(&self, index: usize) -> Micros {
        self.lobby.ice_age(index).expect("the lobby has a TURN server")
    }

    /// Another process takes the place of a peer at its relay, with its ticket.
    pub(crate) fn rob(&mut self, index: usize) -> &mut Cluster<R> {
        self.lobby.steal_ticket(index);
        self
    }

    /// Number of newer tickets that a peer received.
    pub(crate) fn tickets_renewed(&self, index: usize) -> usize {
        self.lobby.ticket_renewals(index)
    }

    /// Prevents links to and from this peer from opening.
    pub(crate) fn deafen(&mut self, index: usize) -> &mut Cluster<R> {
        self.lobby.set_isolated(index, true);
        self
    }

    /// Links open again, and those that failed are tried once more.
    pub(crate) fn hear_again(&mut self, index: usize) -> &mut Cluster<R> {
        self.lobby.set_isolated(index, false);
        self
    }

    /// Time that links take to open from now on.
    pub(crate) fn slow_links(&mut self, ms: u64) -> &mut Cluster<R> {
        self.lobby.set_link_delay(Micros::from_millis(ms));
        self
    }

    /// Conditions between all peers from now on.
    pub(crate) fn weather(&mut self, conditions: Conditions) -> &mut Cluster<R> {
        self.lobby.set_conditions(conditions);
        self
    }

    /// Conditions between two peers from now on.
    pub(crate) fn weather_between(&mut self, a: usize, b: usize, conditions: Conditions) -> &mut Cluster<R> {
        self.lobby.set_conditions_between(a, b, conditions);
        self
    }

    /// One displayed frame of all peers.
    pub(crate) fn step(&mut self) {
        let now = self.lobby.advance();
        for (index, room) in self.rooms.iter_mut().enumerate() {
            let every = self.throttled.get(&index).copied().unwrap_or(1);
            let is_due = (now.get() / FRAME.get()).is_multiple_of(every);
            let Some(room) = room.as_mut().filter(|_| is_due && !self.asleep.contains(&index)) else {
                continue;
            };
            self.told[index].append(&mut room.update_peer(now, index));
        }
    }

    pub(crate) fn run_ms(&mut self, ms: u64) -> &mut Cluster<R> {
        for _ in 0..ms * 1_000 / FRAME.get() {
            self.step();
        }
        self
    }

    /// Runs until a condition holds, at most for the given time.
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

    pub(crate) fn is_together(&mut self, index: usize) -> bool {
        self.room(index).any_room().phase() == Phase::Playing
    }

    pub(crate) fn describe(&mut self) -> String {
        let mut text = String::new();
        for (index, room) in self.rooms.iter_mut().enumerate() {
            let Some(room) = room else { continue };
            text += &format!(
                "peer {index}: {:?}, {}\n  told {:?}\n",
                room.any_room().phase(),
                room.describe(),
                self.told[index]
            );
        }
        text
    }
}
