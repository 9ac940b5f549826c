//! The interface of a measured library, and the counted game it drives.
//!
//! Each library implements [`Contestant`]; `matches` and `cost` call it. Absent: any one library.

use std::cell::RefCell;
use std::rc::Rc;

use gaggle_kit::State;

use crate::game::Game;
use crate::network::Socket;

/// One peer of a match in one library.
pub trait Contestant: Sized {
    /// Name of the library in the report.
    const NAME: &'static str;

    /// Game of the match.
    type Game: Game;

    /// Type the library sends through its socket.
    type Packet;

    /// A peer with the player of the same number.
    fn join(setup: &Setup, me: usize, socket: Socket<Self::Packet>) -> Self;

    /// Continues the handshake, if the library has one; true once the match can begin.
    fn ready(&mut self) -> bool;

    /// One frame: receive, submit the input, simulate, send. A stalled peer gets the same input
    /// again in the next step.
    fn step(&mut self, sample: <Self::Game as Game>::Input) -> Step;

    /// The game and the calls made to it.
    fn stage(&self) -> &Stage<Self::Game>;

    /// Takes a snapshot in the way the library does.
    fn keep(snapshot: &mut Self::Game, game: &Self::Game) {
        snapshot.copy_from(game);
    }
}

/// Settings shared by all peers of a match.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Players, each at a peer of its own.
    pub players: usize,
    /// Prediction window, in the unit of the library.
    pub window: usize,
    /// Input delay in frames.
    pub delay: usize,
    /// Seed of inputs, losses and the library's own randomness.
    pub seed: u64,
    /// Whether messages are encoded to bytes, for libraries that leave this to their socket.
    pub encoded: bool,
    /// Log of the game's calls, if it is recorded.
    pub log: Option<Log>,
}

impl Setup {
    /// Window 8 and no input delay.
    pub fn players(players: usize) -> Setup {
        Setup { players, window: 8, delay: 0, seed: 1, encoded: false, log: None }
    }

    /// Sets the prediction window.
    #[must_use]
    pub fn window(self, window: usize) -> Setup {
        Setup { window, ..self }
    }

    /// Sets the input delay.
    #[must_use]
    pub fn delay(self, delay: usize) -> Setup {
        Setup { delay, ..self }
    }

    /// Sets the seed.
    #[must_use]
    pub fn seed(self, seed: u64) -> Setup {
        Setup { seed, ..self }
    }

    /// Lets messages be encoded to bytes.
    #[must_use]
    pub fn encoded(self) -> Setup {
        Setup { encoded: true, ..self }
    }
}

/// Result of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The library waits for input of a peer.
    Stalled,
    /// The match advanced by one frame.
    Advanced,
}

/// Counts of the calls to the game.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Calls {
    /// Frames simulated, resimulated ones included.
    pub ticks: u64,
    /// Snapshots taken by the library.
    pub saves: u64,
    /// Number of snapshots loaded.
    pub loads: u64,
}

impl Calls {
    /// Difference to an earlier count.
    #[must_use]
    pub fn since(self, earlier: Calls) -> Calls {
        Calls {
            ticks: self.ticks - earlier.ticks,
            saves: self.saves - earlier.saves,
            loads: self.loads - earlier.loads,
        }
    }
}

/// One call to the game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    /// Simulated a frame.
    Tick,
    /// The state before this frame was saved.
    Save(u32),
    /// The state before this frame was loaded.
    Load(u32),
    /// The saved state before this frame was hashed.
    Hash(u32),
}

/// Calls to the games of all peers, in order, with the peer.
pub type Log = Rc<RefCell<Vec<(usize, Call)>>>;

/// A peer's game with counted calls.
#[derive(Debug)]
pub struct Stage<G> {
    /// Game that the library drives.
    pub game: G,
    calls: Calls,
    me: usize,
    log: Option<Log>,
}

impl<G: Game> Stage<G> {
    /// A new game of this peer.
    pub fn new(setup: &Setup, me: usize) -> Stage<G> {
        Stage { game: G::new(), calls: Calls::default(), me, log: setup.log.clone() }
    }

    /// Counts so far.
    pub fn calls(&self) -> Calls {
        self.calls
    }

    /// Simulates a frame and counts it.
    pub fn tick(&mut self, inputs: impl Iterator<Item = G::Input>) {
        self.calls.ticks += 1;
        self.note(Call::Tick);
        self.game.tick(inputs);
    }

    /// Records that the library saved a snapshot.
    pub fn saved(&mut self, frame: u32) {
        self.calls.saves += 1;
        self.note(Call::Save(frame));
    }

    /// Records that the library loaded a snapshot.
    pub fn loaded(&mut self, frame: u32) {
        self.calls.loads += 1;
        self.note(Call::Load(frame));
    }

    /// Records that the library hashed a snapshot.
    pub fn hashed(&mut self, frame: u32) {
        self.note(Call::Hash(frame));
    }

    fn note(&self, call: Call) {
        if let Some(log) = &self.log {
            log.borrow_mut().push((self.me, call));
        }
    }
}
