//! Broods of goslings in a maze of reeds: rules, pictures and bots of the game.
//!
#![doc = include_str!("../README.md")]

pub mod attract;
pub mod bots;
pub mod chick;
pub mod crumb;
pub mod cue;
pub mod feather;
mod game;
pub mod howto;
pub mod maze;
mod meet;
pub mod pike;
pub mod press;
pub mod reed;
pub mod rollback;
mod roster;
pub mod round;
pub mod stage;
mod tick;
pub mod trial;
pub mod twin;
pub mod water;
pub mod wish;

use std::sync::Arc;

use gaggle_kit::{Prng, State};

pub use bots::Strength;
pub use chick::{Chick, SEATS, Seat, Swim};
pub use pike::{PIKES, Pike};
pub use reed::Reed;
pub use rollback::timeline_config;
pub use round::{Clock, Phase};
pub use tick::foresee;
pub use water::EDGE;
pub use wish::Wish;

use crumb::Crumbs;
use cue::{Mark, Marks};
use feather::Feathers;
use reed::NESTS;

/// Hash of the state after a fixed minute of play: peers and replays with another number play by
/// other rules. `examples/gosling_golden.rs` has the minute.
pub const FINGERPRINT: u64 = 0x3277_59ca_0e77_06cb;

/// Which reed bed (maze) is played, and who wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub enum Mode {
    /// Two broods in the common reed: the brood with most crumbs banked wins.
    #[default]
    Broods,
    /// Each for itself in the common reed, four nests for all.
    Free,
    /// Four broods in the great reed.
    Great,
}

impl Mode {
    /// Cells across and down, and whether the lower half mirrors the upper.
    pub const fn cells(self) -> (usize, usize, bool) {
        match self {
            Mode::Broods | Mode::Free => (24, 16, false),
            Mode::Great => (40, 24, true),
        }
    }

    /// Cells of the nests.
    pub const fn nests(self) -> &'static [(usize, usize)] {
        match self {
            Mode::Broods => &[(1, 8), (22, 8)],
            Mode::Free => &[(1, 3), (22, 3), (1, 12), (22, 12)],
            Mode::Great => &[(1, 5), (38, 5), (1, 18), (38, 18)],
        }
    }

    /// Slots for players.
    pub const fn seats(self) -> usize {
        if matches!(self, Mode::Great) { SEATS } else { 16 }
    }

    /// Broods that play against each other; in `Free`, where each gosling plays for itself, one.
    pub const fn broods(self) -> usize {
        match self {
            Mode::Broods => 2,
            Mode::Free => 1,
            Mode::Great => 4,
        }
    }

    /// Number of goslings that there are at least, with bots.
    pub const fn fill(self) -> u8 {
        if matches!(self, Mode::Great) { 32 } else { 12 }
    }

    /// Feathers in the reed.
    pub const fn feathers(self) -> usize {
        if matches!(self, Mode::Great) { 6 } else { 2 }
    }
}

/// What is fixed before a match begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Setup {
    /// Which reed is played.
    pub mode: Mode,
    /// Number of goslings that there are at least, with bots; 0 for no bots.
    #[state(range = 0..=64)]
    pub fill: u8,
    /// How good the bots are; none for all three in turn.
    pub strength: Option<Strength>,
    /// Frames of a round.
    #[state(range = 60..=5_400)]
    pub round_frames: u16,
}

impl Setup {
    /// The usual match of a mode.
    pub const fn of(mode: Mode) -> Setup {
        Setup { mode, fill: mode.fill(), strength: None, round_frames: round::FRAMES }
    }
}

impl Default for Setup {
    fn default() -> Setup {
        Setup::of(Mode::Broods)
    }
}

/// A whole match at one frame.
#[derive(Debug, Clone, State)]
pub struct Gosling {
    /// What was fixed before the match began.
    pub setup: Setup,
    /// Number of the frame that made this state.
    pub frame: u32,
    /// Random numbers of all parts but the mazes, which have a seed.
    pub random: Prng,
    /// Seed of the maze.
    pub seed: u32,
    /// Phase, time left, number and leader of the round.
    pub clock: Clock,
    /// Points of the broods.
    pub scores: [u16; NESTS],
    /// Frames until each nest takes crumbs again, in `Mode::Free`.
    pub rests: [u8; NESTS],
    /// A gosling per slot.
    pub chicks: [Chick; SEATS],
    /// The pikes, some of which wait in the den.
    pub pikes: [Pike; PIKES],
    /// Crumbs that lie in the reed.
    pub crumbs: Crumbs,
    /// Feathers that wait or are worn.
    pub feathers: Feathers,
    /// What happened lately, to be seen and heard.
    pub marks: Marks,
    /// The maze of `seed` and, while a result is shown, the next one.
    #[state(skip)]
    reeds: Reeds,
    /// Questions asked so far, for tests and tables.
    #[state(skip)]
    pub questions: u32,
}

/// Cache of mazes: neither saved nor sent, made again from the seed when missing.
#[derive(Debug, Clone, Default)]
struct Reeds {
    here: Option<Arc<Reed>>,
    next: Option<Arc<Reed>>,
}

impl Gosling {
    /// The first round, in which bots wait for players.
    pub fn new(setup: Setup, seed: u64) -> Gosling {
        let mut random = Prng::new(seed);
        let maze = random.next_u32();
        let mut game = Gosling {
            setup,
            frame: 0,
            random,
            seed: maze,
            clock: Clock::default(),
            scores: [0; NESTS],
            rests: [0; NESTS],
            chicks: [Chick::default(); SEATS],
            pikes: [Pike::default(); PIKES],
            crumbs: Crumbs::default(),
            feathers: Feathers::default(),
            marks: Marks::default(),
            reeds: Reeds::default(),
            questions: 0,
        };
        roster::fill_at_start(&mut game);
        round::begin(&mut game);
        game
    }

    /// The reed bed of this round, for pictures and bots.
    pub fn reed(&self) -> Arc<Reed> {
        match &self.reeds.here {
            Some(reed) if reed.is_of(self.seed, self.setup.mode) => Arc::clone(reed),
            _ => Arc::new(Reed::new(self.seed, self.setup.mode)),
        }
    }

    /// The reed bed of this round, cached for the next call.
    fn keep_reed(&mut self) -> Arc<Reed> {
        let is_next = |reed: &Arc<Reed>| reed.is_of(self.seed, self.setup.mode);
        if !self.reeds.here.as_ref().is_some_and(is_next) {
            self.reeds.here = match self.reeds.next.take_if(|reed| reed.is_of(self.seed, self.setup.mode)) {
                Some(next) => Some(next),
                None => Some(Arc::new(Reed::new(self.seed, self.setup.mode))),
            };
        }
        self.reed()
    }

    /// Makes the maze of the next round while the result is shown.
    fn prepare(&mut self, seed: u32) {
        if !self.reeds.next.as_ref().is_some_and(|reed| reed.is_of(seed, self.setup.mode)) {
            self.reeds.next = Some(Arc::new(Reed::new(seed, self.setup.mode)));
        }
    }

    /// Number of goslings, bots included.
    pub fn swimmers(&self) -> usize {
        self.chicks.iter().filter(|chick| chick.is_here()).count()
    }

    /// Number of goslings that players control.
    pub fn persons(&self) -> usize {
        self.chicks.iter().filter(|chick| chick.is_person()).count()
    }

    /// Whether two goslings play against each other.
    pub fn are_rivals(&self, one: usize, other: usize) -> bool {
        one != other && (self.setup.mode == Mode::Free || self.chicks[one].brood != self.chicks[other].brood)
    }

    pub(crate) fn mark(&mut self, mark: Mark) {
        self.marks.push(Mark { frame: self.frame, ..mark });
    }
}
