//! A town in virtual time: houses with a room each, on [`SimLobby`].
//!
//! Everything is the real machine; only sockets and clocks are simulated.

#![allow(dead_code, reason = "not every file of stories needs everything there is in a town")]

use std::collections::{BTreeMap, BTreeSet};

use gaggle::testing::SimLobby;
use gaggle::{Phase, RoomEvent};
use gaggle_kit::Micros;
use gaggle_link::sim::Conditions;
use gaggle_lobby::MatchRecord;
use gaggle_lobby::client::ClientConfig;

pub(crate) use gaggle::testing::{FRAME, SimPlatform};

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

/// A person of its own for each house.
pub(crate) fn client_config(house: usize) -> ClientConfig {
    SimLobby::client_config(house)
}

/// The whole town.
pub(crate) struct Cluster<R> {
    lobby: SimLobby,
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
        Cluster {
            lobby: SimLobby::new(houses, 7, Conditions::latency_ms(40)),
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
        let platform = self.lobby.platform(house);
        self.rooms[house] = Some(R::move_in(self.now(), config, platform, self.lives));
        self.told[house].clear();
        self
    }

    /// Ends a house as a crash does: its peers hear nothing of it.
    pub(crate) fn crash(&mut self, house: usize) -> &mut Cluster<R> {
        self.lobby.crash(house, self.rooms[house].take());
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
        self.lobby.scores(house)
    }

    /// The matches the lobby has decided.
    pub(crate) fn records(&self) -> Vec<MatchRecord> {
        self.lobby.records()
    }

    pub(crate) fn now(&self) -> Micros {
        self.lobby.now()
    }

    pub(crate) fn room(&mut self, house: usize) -> &mut R {
        self.rooms[house].as_mut().expect("somebody lives there")
    }

    /// The lobby goes away, with everything it knew if it is a restart of the process.
    pub(crate) fn set_lobby_up(&mut self, up: bool) -> &mut Cluster<R> {
        self.lobby.set_lobby_up(up);
        self
    }

    /// How old the credentials are with which a house would look for a way now.
    pub(crate) fn ice_age(&self, house: usize) -> Micros {
        self.lobby.ice_age(house).expect("the lobby has a TURN server")
    }

    /// Another machine takes the place of a house at its relay, with its ticket.
    pub(crate) fn rob(&mut self, house: usize) -> &mut Cluster<R> {
        self.lobby.steal_ticket(house);
        self
    }

    /// How many newer tickets a house got.
    pub(crate) fn tickets_renewed(&self, house: usize) -> usize {
        self.lobby.ticket_renewals(house)
    }

    /// No link ever opens to or from this house.
    pub(crate) fn deafen(&mut self, house: usize) -> &mut Cluster<R> {
        self.lobby.set_isolated(house, true);
        self
    }

    /// Links open again: whoever asked in vain asks once more.
    pub(crate) fn hear_again(&mut self, house: usize) -> &mut Cluster<R> {
        self.lobby.set_isolated(house, false);
        self
    }

    /// Links take so long to open from now on.
    pub(crate) fn slow_links(&mut self, ms: u64) -> &mut Cluster<R> {
        self.lobby.set_link_delay(Micros::from_millis(ms));
        self
    }

    /// The lines between all houses are like this from now on.
    pub(crate) fn weather(&mut self, conditions: Conditions) -> &mut Cluster<R> {
        self.lobby.set_conditions(conditions);
        self
    }

    /// One displayed frame of everybody.
    pub(crate) fn step(&mut self) {
        let now = self.lobby.advance();
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
