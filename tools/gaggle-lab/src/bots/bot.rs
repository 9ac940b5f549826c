//! One bot of gander in a room of a server.
//!
//! It reads only what its own screen shows. Called by `bots.rs`. Absent: figures of all bots
//! (`tally.rs`).

use std::path::Path;
use std::time::Instant;

use gaggle::{GameRoom, JoinTarget, OnlineConfig, Phase, RoomConfig};
use gaggle_native::{Clock, NativePlatform, platform_with, random_seed};
use gander::bots::{Bot, Strength};
use gander::{Gander, SEATS, Setup};

use super::tally::Told;
use super::{Options, Player};

/// A bot and its room.
pub(super) struct Flyer {
    number: usize,
    clock: Clock,
    came: Instant,
    seed: u64,
    room: GameRoom<Gander, NativePlatform>,
    /// Bot that plays the slot the room gave.
    bot: Option<Bot>,
    told: Told,
}

impl Flyer {
    /// Starts solo at once and searches a room.
    pub(super) fn come(options: &Options, number: usize) -> Result<Flyer, String> {
        let seed = random_seed().map_err(|error| error.to_string())?;
        let mut config =
            RoomConfig::new("gander", options.players as u8).map_err(|error| error.to_string())?;
        config.engine.slot_count = SEATS;
        config.engine.game_fingerprint = gander::FINGERPRINT;
        config.record_replay = true;
        config.mode = options.mode.clone();
        if let Some(code) = options.room {
            config.join = JoinTarget::Code(code);
        }
        config.lobby.display_name = Some(format!("Auk {number}"));
        let outside = platform_with(
            &options.server,
            OnlineConfig { only_path: options.path, ..OnlineConfig::default() },
        );
        let outside = outside.map_err(|error| error.to_string())?;
        let clock = Clock::start();
        let game = Gander::new(Setup::default(), seed);
        let room =
            GameRoom::open(clock.now(), config, outside, game, seed).map_err(|error| error.to_string())?;
        let (came, told) = (Instant::now(), Told::default());
        Ok(Flyer { number, clock, came, seed, room, bot: None, told })
    }
}

/// Writes a desync bundle for `gaggle-lab desync`. Returns its path, or why it was not written.
fn keep(folder: &Path, name: &str, bundle: &[u8]) -> String {
    let file = folder.join(format!("{name}.desync"));
    match std::fs::write(&file, bundle) {
        Ok(()) => file.display().to_string(),
        Err(error) => format!("(not written: {}: {error})", file.display()),
    }
}

impl Player for Flyer {
    fn play(&mut self) {
        if let Some(slot) = self.room.local_slots().iter().next() {
            let seat = slot.index();
            let bot = match &mut self.bot {
                Some(bot) if bot.seat() == seat => bot,
                other => other.insert(Bot::new(seat, Strength::Steady, self.seed)),
            };
            let pad = bot.play(self.room.game());
            self.room.set_input(0, pad);
        }
        self.told.frames += u64::from(self.room.update(self.clock.now()));
        while let Some(event) = self.room.poll_event() {
            match event {
                gaggle::RoomEvent::RoomJoined { code, .. } => self.told.code = Some(code),
                gaggle::RoomEvent::RequestRejected { rejection: refusal, .. } => {
                    self.told.refused = Some(refusal.text);
                }
                gaggle::RoomEvent::DesyncDetected { .. } => self.told.desyncs += 1,
                gaggle::RoomEvent::LobbyDisconnected => self.told.servers_lost += 1,
                _ => {}
            }
        }
        while let Some(bundle) = self.room.take_desync_bundle() {
            let name =
                format!("gander-{}-bot{}-{}", std::process::id(), self.number, self.told.bundles.len());
            self.told.bundles.push(keep(&std::env::temp_dir(), &name, &bundle.encode()));
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
        self.told.history = self.room.session().branch_id();
        self.told.marks = self.room.checksums();
        let stats = self.room.stats();
        (self.told.rollbacks, self.told.stalled) = (stats.rollbacks, stats.stalled_ticks);
        self.told.clone()
    }

    fn leave(&mut self) {
        self.room.leave();
        self.room.update(self.clock.now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn desync_bundle_is_written_where_reported() {
        let folder = std::env::temp_dir().join(format!("gaggle-bundles-{}", std::process::id()));
        assert!(keep(&folder, "first", &[7]).contains("not written"), "there is no such folder");
        std::fs::create_dir_all(&folder).expect("a folder for tests");
        let file = keep(&folder, "first", &[7]);
        assert_eq!(std::fs::read(&file).expect("it was written"), [7], "{file}");
        let _ = std::fs::remove_dir_all(folder);
    }
}
