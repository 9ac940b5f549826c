//! A flight of geese from dusk to dawn: rules, pictures and bots of the game.
//!
#![doc = include_str!("../README.md")]

pub mod attract;
pub mod bolt;
pub mod boss;
pub mod bots;
pub mod course;
pub mod crumb;
pub mod cue;
pub mod difficulty;
pub mod ember;
pub mod enemy;
mod fall;
mod game;
pub mod goose;
mod honk;
pub mod howto;
mod lockstep;
pub mod pad;
mod pilot;
pub mod quill;
pub mod results;
mod roster;
mod score;
pub mod script;
pub mod sky;
pub mod stage;
mod tick;
pub mod trial;
pub mod wake;

use gaggle_kit::{Prng, State};

pub use course::{Course, Lead, Phase};
pub use goose::{FLOCK, Flight, Goose, SEATS, Seat};
pub use honk::{COST as HONK_COST, radius as ring_radius};
pub use lockstep::{LOOSEN_FRAMES, timeline_config};
pub use pad::Pad;

use cue::{Mark, Marks};

/// Hash of the state after a fixed minute of play: peers and replays with another number play by
/// other rules. `examples/skein_golden.rs` has the minute.
pub const FINGERPRINT: u64 = 0x78ed_57b9_43b7_a85d;

/// How a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub enum Mode {
    /// At dawn, after five stages.
    #[default]
    Flight,
    /// Never: after dawn the first stage begins again, with quicker embers.
    Long,
}

/// Value of [`Setup::spares`] for the usual number: two, and one per player.
pub const SPARES_USUAL: u8 = u8::MAX;

/// Settings of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Setup {
    /// How the run ends.
    pub mode: Mode,
    /// Spare geese at the start, or [`SPARES_USUAL`].
    pub spares: u8,
    /// Stage to begin with, 1 to 5.
    #[state(range = 1..=5)]
    pub stage: u8,
    /// Wave to begin with, 0 to 7; 8 is the boss.
    #[state(range = 0..=8)]
    pub wave: u8,
}

impl Setup {
    /// The setup of a match that starts in a room with these settings: a JSON object of its host,
    /// whose word `long` names the mode. Without it, one flight.
    pub fn of(settings: &str) -> Setup {
        const LONG: &[u8] = br#""long""#;
        let is_long = settings.as_bytes().windows(LONG.len()).any(|part| part == LONG);
        Setup { mode: if is_long { Mode::Long } else { Mode::Flight }, ..Setup::default() }
    }
}

impl Default for Setup {
    fn default() -> Setup {
        Setup { mode: Mode::Flight, spares: SPARES_USUAL, stage: 1, wave: 0 }
    }
}

/// State of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Skein {
    /// Settings of the run.
    pub setup: Setup,
    /// Frame of this state.
    pub frame: u32,
    /// Random numbers of the run.
    pub random: Prng,
    /// Progress of the run.
    pub course: Course,
    /// The flock: geese of players by slot, then young ones.
    pub geese: [Goose; FLOCK],
    /// Shots of enemies.
    pub embers: ember::Embers,
    /// Shots of geese.
    pub quills: quill::Quills,
    /// The enemies in the air.
    pub enemies: enemy::Enemies,
    /// Pickups in the air.
    pub crumbs: crumb::Crumbs,
    /// Lightning, marked or striking.
    pub bolts: [bolt::Bolt; bolt::BOLTS],
    /// The boss of the stage.
    pub boss: boss::Boss,
    /// Game events, for pictures and sounds.
    pub marks: Marks,
}

impl Skein {
    /// An empty sky. The run starts with the first player.
    pub fn new(setup: Setup, seed: u64) -> Skein {
        Skein {
            setup,
            frame: 0,
            random: Prng::new(seed),
            course: Course::default(),
            geese: [Goose::default(); FLOCK],
            embers: ember::Embers::default(),
            quills: quill::Quills::default(),
            enemies: enemy::Enemies::default(),
            crumbs: crumb::Crumbs::default(),
            bolts: [bolt::Bolt::default(); bolt::BOLTS],
            boss: boss::Boss::default(),
            marks: Marks::default(),
        }
    }

    /// Runs one frame. `present` are the slots with a player, `pads` their buttons; the pad of an
    /// empty slot is ignored.
    pub fn step(&mut self, pads: &[Pad; SEATS], present: [bool; SEATS]) {
        tick::step(self, pads, present);
    }

    /// Number of players present.
    pub fn persons(&self) -> usize {
        self.geese.iter().filter(|goose| goose.is_person()).count()
    }

    pub(crate) fn mark(&mut self, mark: Mark) {
        self.marks.push(Mark { frame: self.frame, ..mark });
    }
}
