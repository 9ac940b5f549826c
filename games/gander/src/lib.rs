//! Rules, pictures and bots of gander, an arcade game of knights on geese.
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

/// Identity of the rules: the state hash after one fixed minute of play (`examples/golden.rs`).
/// Replays and peers with another number are incompatible; a test fails when the rules change and
/// this does not.
pub const FINGERPRINT: u64 = 0xf353_ecf6_e87b_cec3;

/// Whether knights can unseat each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub enum Mode {
    /// Knights bounce off each other.
    #[default]
    Team,
    /// The higher lance unseats the other knight, as in the arcade game of 1982.
    Versus,
}

/// Options fixed before the match starts; every peer must have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Setup {
    /// Decides what happens when two knights meet.
    pub mode: Mode,
    /// Geese each player starts with; [`score::ENDLESS`] never run out.
    pub mounts: u8,
    /// Wave the match starts with, from 1.
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
    /// Options the match started with.
    pub setup: Setup,
    /// Number of this frame; wraps.
    pub frame: u32,
    /// Random numbers of the rules, seeded once per match.
    pub random: Prng,
    /// Current wave, and the phase of the match.
    pub wave: Wave,
    /// Phase of each ledge.
    pub ledges: Ledges,
    /// Progress of the fire on the bridges.
    pub bridges: Bridges,
    /// Players and their knights, by slot.
    pub players: [Player; SEATS],
    /// Riders on geese; a free place has `live` unset.
    pub riders: [Rider; rider::RIDERS],
    /// Eggs of unseated riders, and hatchlings.
    pub eggs: [Egg; egg::EGGS],
    /// Hunters that hurry a slow wave along.
    pub herns: [Hern; hern::HERNS],
    /// Hand in the fire, which grips geese that fly too low.
    pub clutch: Clutch,
    /// Recent events that the picture shows.
    pub marks: Marks,
    /// Recent quiet sounds.
    pub murmurs: Murmurs,
}

impl Gander {
    /// A fen without players. A match starts when the first player arrives.
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
