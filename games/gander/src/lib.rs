//! Knights on geese: rules, pictures and bots of the game.
//!
#![doc = include_str!("../README.md")]

pub mod arena;
pub mod attract;
pub mod bots;
pub mod clutch;
pub mod cue;
pub mod egg;
pub mod flow;
mod game;
mod glide;
pub mod hern;
pub mod howto;
mod joust;
pub mod ledges;
pub mod mind;
pub mod mover;
pub mod pad;
mod pilot;
pub mod pits;
pub mod player;
pub mod rider;
mod roster;
pub mod score;
mod spawn;
pub mod stage;
mod tick;
pub mod waves;

use gaggle_kit::{Prng, State};

pub use clutch::Clutch;
pub use egg::Egg;
pub use flow::{Phase, Wave};
pub use hern::Hern;
pub use ledges::Ledges;
pub use mover::Mover;
pub use pad::Pad;
pub use pits::Bridges;
pub use player::{Player, SEATS, Seat};
pub use rider::{Class, Rider};
pub use waves::WaveKind;

use cue::{Mark, Marks, Murmurs};

/// Which rules these are: the hash a fixed minute of play comes to. A replay or a peer with another
/// number plays another game. `examples/golden.rs` has the minute; a test fails when the rules
/// change and this does not.
pub const FINGERPRINT: u64 = 0xf353_ecf6_e87b_cec3;

/// Whether knights can unseat each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub enum Mode {
    /// They bounce off each other.
    #[default]
    Team,
    /// They can, as in 1982.
    Versus,
}

/// What is settled before a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Setup {
    /// Whether knights can unseat each other.
    pub mode: Mode,
    /// Geese each begins with; [`score::ENDLESS`] never run out.
    pub mounts: u8,
    /// The wave to begin with.
    pub first_wave: u16,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup { mode: Mode::Team, mounts: 5, first_wave: 1 }
    }
}

/// A whole match at one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Gander {
    /// What was settled beforehand.
    pub setup: Setup,
    /// The frame this is the state of.
    pub frame: u32,
    /// All chance of the match.
    pub random: Prng,
    /// Where the match stands.
    pub wave: Wave,
    /// Which ledges are there.
    pub ledges: Ledges,
    /// What is left of the bridges.
    pub bridges: Bridges,
    /// Players by slot.
    pub players: [Player; SEATS],
    /// Riders in the saddle.
    pub riders: [Rider; rider::RIDERS],
    /// Riders out of it.
    pub eggs: [Egg; egg::EGGS],
    /// The hunters of the skies.
    pub herns: [Hern; hern::HERNS],
    /// The hand in the fire.
    pub clutch: Clutch,
    /// What is worth seeing and hearing.
    pub marks: Marks,
    /// Quiet sounds of the frame.
    pub murmurs: Murmurs,
}

impl Gander {
    /// An empty fen. A match begins when somebody sits down.
    pub fn new(setup: Setup, seed: u64) -> Gander {
        Gander {
            setup,
            frame: 0,
            random: Prng::new(seed),
            wave: Wave::default(),
            ledges: Ledges::default(),
            bridges: Bridges::default(),
            players: Default::default(),
            riders: Default::default(),
            eggs: Default::default(),
            herns: Default::default(),
            clutch: Clutch::default(),
            marks: Marks::default(),
            murmurs: Murmurs::default(),
        }
    }

    pub(crate) fn mark(&mut self, mark: Mark) {
        self.marks.push(Mark { frame: self.frame, ..mark });
    }
}
