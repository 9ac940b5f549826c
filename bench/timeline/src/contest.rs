//! Interface of a library under measurement.
//!
//! Implemented in one file per library. Absent: the network, the game, how a match runs
//! (`matches.rs`).

use std::cell::RefCell;
use std::rc::Rc;

use gaggle_kit::State;

use crate::game::Game;
use crate::network::Socket;

/// One peer of a match, played through one library.
pub trait Contestant: Sized {
    /// Name of the library in the report.
    const NAME: &'static str;

    /// Game of the match.
    type Game: Game;

    /// What the library hands to its socket.
    type Packet;

    /// Creates peer `me`, which has the player of the same number.
    fn join(setup: &Setup, me: usize, socket: Socket<Self::Packet>) -> Self;

    /// Advances the handshake, if the library has one. True once the match can start.
    fn ready(&mut self) -> bool;

    /// One frame: receive, add the sample, simulate, send. A stalled peer gets the same sample
    /// again in its next step.
    fn step(&mut self, sample: <Self::Game as Game>::Input) -> Step;

    /// The game, and the calls it got.
    fn stage(&self) -> &Stage<Self::Game>;

    /// Takes a snapshot, in the way the library makes the game do it.
    fn keep(snapshot: &mut Self::Game, game: &Self::Game) {
        snapshot.copy_from(game);
    }
}

/// Settings that all peers of a match share.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Players, each on a peer of its own.
    pub players: usize,
    /// Prediction window, as the library counts it.
    pub window: usize,
    /// Input delay in frames.
    pub delay: usize,
    /// Seed of inputs, losses and random numbers of the library.
    pub seed: u64,
    /// Whether messages are encoded to bytes, where a library leaves that to its socket.
    pub encoded: bool,
    /// Log of the game's calls, if they are recorded.
    pub log: Option<Log>,
}

impl Setup {
    /// Window 8, no input delay, seed 1.
    pub fn players(players: usize) -> Setup {
        Setup { players, window: 8, delay: 0, seed: 1, encoded: false, log: None }
    }

    /// The same with another prediction window.
    #[must_use]
    pub fn window(self, window: usize) -> Setup {
        Setup { window, ..self }
    }

    /// The same with another input delay.
    #[must_use]
    pub fn delay(self, delay: usize) -> Setup {
        Setup { delay, ..self }
    }

    /// The same with another seed.
    #[must_use]
    pub fn seed(self, seed: u64) -> Setup {
        Setup { seed, ..self }
    }

    /// The same with messages encoded to bytes.
    #[must_use]
    pub fn encoded(self) -> Setup {
        Setup { encoded: true, ..self }
    }
}

/// Outcome of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// No new frame: the library waits for a peer's input.
    Stalled,
    /// The match is one frame further.
    Advanced,
}

/// Numbers of calls of a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Calls {
    /// Frames simulated, resimulated ones included.
    pub ticks: u64,
    /// Snapshots taken by the library.
    pub saves: u64,
    /// Snapshots restored by the library.
    pub loads: u64,
}

impl Calls {
    /// Calls made since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Calls) -> Calls {
        Calls {
            ticks: self.ticks - earlier.ticks,
            saves: self.saves - earlier.saves,
            loads: self.loads - earlier.loads,
        }
    }
}

/// One call of a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    /// Simulated a frame.
    Tick,
    /// Took a snapshot before this frame.
    Save(u32),
    /// Restored the snapshot before this frame.
    Load(u32),
    /// Hashed the snapshot before this frame.
    Hash(u32),
}

/// Calls of all games, with the number of the peer, in order of time.
pub type Log = Rc<RefCell<Vec<(usize, Call)>>>;

/// A peer's game, whose calls are counted.
#[derive(Debug)]
pub struct Stage<G> {
    /// Game that the library drives.
    pub game: G,
    calls: Calls,
    me: usize,
    log: Option<Log>,
}

impl<G: Game> Stage<G> {
    /// A new game for peer `me`.
    pub fn new(setup: &Setup, me: usize) -> Stage<G> {
        Stage { game: G::new(), calls: Calls::default(), me, log: setup.log.clone() }
    }

    /// Numbers of calls so far.
    pub fn calls(&self) -> Calls {
        self.calls
    }

    /// Simulates a frame and counts it.
    pub fn tick(&mut self, inputs: impl Iterator<Item = G::Input>) {
        self.calls.ticks += 1;
        self.note(Call::Tick);
        self.game.tick(inputs);
    }

    /// Counts a snapshot taken before `frame`.
    pub fn saved(&mut self, frame: u32) {
        self.calls.saves += 1;
        self.note(Call::Save(frame));
    }

    /// Counts a snapshot restored from before `frame`.
    pub fn loaded(&mut self, frame: u32) {
        self.calls.loads += 1;
        self.note(Call::Load(frame));
    }

    /// Records a hash of the snapshot before `frame`.
    pub fn hashed(&mut self, frame: u32) {
        self.note(Call::Hash(frame));
    }

    fn note(&self, call: Call) {
        if let Some(log) = &self.log {
            log.borrow_mut().push((self.me, call));
        }
    }
}
