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
pub use lockstep::timeline_config;
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

/// Spare geese as usual: two, and one for each player.
pub const SPARES_USUAL: u8 = u8::MAX;

/// What is settled before a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Setup {
    /// How the run ends.
    pub mode: Mode,
    /// Spare geese at the beginning, or [`SPARES_USUAL`].
    pub spares: u8,
    /// The stage to begin with, 1 to 5.
    #[state(range = 1..=5)]
    pub stage: u8,
    /// The wave to begin with, 0 to 7; 8 is the boss.
    #[state(range = 0..=8)]
    pub wave: u8,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup { mode: Mode::Flight, spares: SPARES_USUAL, stage: 1, wave: 0 }
    }
}

/// A whole run at one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Skein {
    /// What was settled beforehand.
    pub setup: Setup,
    /// The frame this is the state of.
    pub frame: u32,
    /// All chance of the run.
    pub random: Prng,
    /// How far the run is.
    pub course: Course,
    /// The flock: the players' geese by slot, then the young ones.
    pub geese: [Goose; FLOCK],
    /// What flies towards the geese.
    pub embers: ember::Embers,
    /// What the geese throw.
    pub quills: quill::Quills,
    /// The enemies in the air.
    pub enemies: enemy::Enemies,
    /// Points in the air.
    pub crumbs: crumb::Crumbs,
    /// Lightning, marked or striking.
    pub bolts: [bolt::Bolt; bolt::BOLTS],
    /// The boss of the stage.
    pub boss: boss::Boss,
    /// What is to be seen and heard.
    pub marks: Marks,
}

impl Skein {
    /// An empty sky. The run begins with the first player.
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

    /// One frame. `present` says which slots have a player, `pads` what they hold; the pad of an
    /// empty slot is ignored.
    pub fn step(&mut self, pads: &[Pad; SEATS], present: [bool; SEATS]) {
        tick::step(self, pads, present);
    }

    /// Players who are here.
    pub fn persons(&self) -> usize {
        self.geese.iter().filter(|goose| goose.is_person()).count()
    }

    pub(crate) fn mark(&mut self, mark: Mark) {
        self.marks.push(Mark { frame: self.frame, ..mark });
    }
}
