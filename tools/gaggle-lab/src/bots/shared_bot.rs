//! One bot of a replica game in a room of a server.
//!
//! It reads only what its own screen shows. Called by `bots.rs`. Absent: figures of all bots
//! (`tally.rs`).

use std::time::Instant;

use arcade::cabinets::drake::Brawl;
use arcade::cabinets::millpond::Shore;
use drake::net::Coop;
use gaggle::{JoinTarget, OnlineConfig, Phase, World, WorldConfig, WorldRoom};
use gaggle_native::{Clock, NativePlatform, platform_with, random_seed};
use millpond::net::Mill;

use super::tally::Told;
use super::{Options, Player};

/// Bot of a game, with the world and settings of its room.
pub(super) trait Hands {
    type World: World;
    fn config() -> WorldConfig;
    fn world(seed: u64) -> Self::World;
    fn new(seat: usize, seed: u64) -> Self;
    /// Input of its next frame.
    fn play(&mut self, world: &Self::World) -> <Self::World as World>::Input;
}

/// Bot that plays drake.
pub(super) struct Brawler(drake::bots::Bot);

impl Hands for Brawler {
    type World = Brawl;

    fn config() -> WorldConfig {
        Brawl::room()
    }

    fn world(seed: u64) -> Brawl {
        Brawl(Coop::new(drake::Setup::default(), seed))
    }

    fn new(seat: usize, seed: u64) -> Brawler {
        Brawler(drake::bots::Bot::new(seat, drake::bots::Strength::Steady, seed))
    }

    fn play(&mut self, world: &Brawl) -> drake::Pad {
        self.0.play(world.0.game())
    }
}

/// Bot that plays millpond.
pub(super) struct Rower(millpond::bots::Bot);

impl Hands for Rower {
    type World = Shore;

    fn config() -> WorldConfig {
        Shore::room()
    }

    fn world(seed: u64) -> Shore {
        Shore(Mill::new(seed))
    }

    fn new(seat: usize, seed: u64) -> Rower {
        Rower(millpond::bots::Bot::new(seat, seed))
    }

    fn play(&mut self, world: &Shore) -> millpond::Pad {
        self.0.play(world.0.pond())
    }
}

/// A bot and its room.
pub(super) struct Shared<H: Hands> {
    clock: Clock,
    came: Instant,
    seed: u64,
    room: WorldRoom<H::World, NativePlatform>,
    /// Slot and bot that plays it.
    hands: (usize, H),
    told: Told,
}

impl<H: Hands> Shared<H> {
    /// Starts solo at once and searches a room.
    pub(super) fn come(options: &Options, number: usize) -> Result<Shared<H>, String> {
        let seed = random_seed().map_err(|error| error.to_string())?;
        let mut config = H::config();
        config.mode = options.mode.clone();
        config.lobby.display_name = Some(format!("Auk {number}"));
        if let Some(code) = options.room {
            config.join = JoinTarget::Code(code);
        } else {
            config.max_players = options.players as u8;
        }
        let only = options.path;
        let outside =
            platform_with(&options.server, OnlineConfig { only_path: only, ..OnlineConfig::default() });
        let outside = outside.map_err(|error| error.to_string())?;
        let clock = Clock::start();
        let room = WorldRoom::open(clock.now(), config, outside, H::world(seed), seed);
        let room = room.map_err(|error| error.to_string())?;
        let (came, told) = (Instant::now(), Told::default());
        Ok(Shared { clock, came, seed, room, hands: (0, H::new(0, seed)), told })
    }
}

impl<H: Hands> Player for Shared<H> {
    fn play(&mut self) {
        let seat = self.room.local_slot().index();
        if self.hands.0 != seat {
            self.hands = (seat, H::new(seat, self.seed));
        }
        let input = self.hands.1.play(self.room.world());
        self.room.set_input(0, input);
        self.told.frames += u64::from(self.room.update(self.clock.now()));
        while let Some(event) = self.room.poll_event() {
            match event {
                gaggle::RoomEvent::RoomJoined { code, .. } => self.told.code = Some(code),
                gaggle::RoomEvent::RequestRejected { rejection: refusal, .. } => {
                    self.told.refused = Some(refusal.text);
                }
                gaggle::RoomEvent::LobbyDisconnected => self.told.servers_lost += 1,
                _ => {}
            }
        }
    }

    fn told(&mut self) -> Told {
        let people = self.room.members();
        let is_together = self.room.phase() == Phase::Playing;
        let present = people.iter().filter(|person| !person.slots.is_empty()).count();
        self.told.present = if is_together { present } else { 0 };
        if self.told.present > 1 && self.told.met_after.is_none() {
            self.told.met_after = Some(self.came.elapsed());
        }
        self.told.paths = people.iter().filter_map(|person| person.path).collect();
        self.told.rtts = people.iter().filter_map(|person| person.link_stats?.rtt).collect();
        self.told.updates = self.room.stats().updates_received;
        self.told.clone()
    }

    fn leave(&mut self) {
        self.room.leave();
        self.room.update(self.clock.now());
    }
}
