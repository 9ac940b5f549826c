//! What a library has to offer to be measured.

use std::cell::RefCell;
use std::rc::Rc;

use gaggle_kit::State;

use crate::game::Game;
use crate::network::Socket;

/// One peer of a match, played through one library.
pub trait Contestant: Sized {
    /// The library, as the report names it.
    const NAME: &'static str;

    /// What is played.
    type Game: Game;

    /// What the library gives to its socket.
    type Packet;

    /// Takes a seat. Peer `me` has the player of the same number.
    fn join(setup: &Setup, me: usize, socket: Socket<Self::Packet>) -> Self;

    /// Works on the handshake, if the library has one; true once the match can begin.
    fn ready(&mut self) -> bool;

    /// One frame: receive, give the sample, simulate, send. A stalled peer gets the same sample
    /// again next time.
    fn step(&mut self, sample: <Self::Game as Game>::Input) -> Step;

    /// The game and what was done with it.
    fn stage(&self) -> &Stage<Self::Game>;

    /// A snapshot, as the library has it made.
    fn keep(snapshot: &mut Self::Game, game: &Self::Game) {
        snapshot.copy_from(game);
    }
}

/// What all peers of a match have in common.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Players, each on a peer of its own.
    pub players: usize,
    /// The library's setting for its prediction window.
    pub window: usize,
    /// Input delay in frames.
    pub delay: usize,
    /// Inputs, losses and whatever the library draws.
    pub seed: u64,
    /// Whether messages are encoded to bytes on their way, where a library leaves that to its
    /// socket.
    pub encoded: bool,
    /// Log of the game's calls, if they are to be recorded.
    pub log: Option<Log>,
}

impl Setup {
    /// Window 8, no delay.
    pub fn players(players: usize) -> Setup {
        Setup { players, window: 8, delay: 0, seed: 1, encoded: false, log: None }
    }

    /// With this window.
    #[must_use]
    pub fn window(self, window: usize) -> Setup {
        Setup { window, ..self }
    }

    /// With this input delay.
    #[must_use]
    pub fn delay(self, delay: usize) -> Setup {
        Setup { delay, ..self }
    }

    /// With this seed.
    #[must_use]
    pub fn seed(self, seed: u64) -> Setup {
        Setup { seed, ..self }
    }

    /// With messages encoded to bytes.
    #[must_use]
    pub fn encoded(self) -> Setup {
        Setup { encoded: true, ..self }
    }
}

/// What became of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The library waits for a peer's input.
    Stalled,
    /// The match is one frame further.
    Advanced,
}

/// How often the game was called.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Calls {
    /// Frames simulated, again or for the first time.
    pub ticks: u64,
    /// Number of snapshots taken.
    pub saves: u64,
    /// Snapshots returned to.
    pub loads: u64,
}

impl Calls {
    /// What was added since an earlier moment.
    #[must_use]
    pub fn since(self, earlier: Calls) -> Calls {
        Calls {
            ticks: self.ticks - earlier.ticks,
            saves: self.saves - earlier.saves,
            loads: self.loads - earlier.loads,
        }
    }
}

/// One call of the game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    /// A frame was simulated.
    Tick,
    /// The state before this frame was kept.
    Save(u32),
    /// The state before this frame was restored.
    Load(u32),
    /// The kept state before this frame was hashed.
    Hash(u32),
}

/// Calls of all peers' games in the order they happened.
pub type Log = Rc<RefCell<Vec<(usize, Call)>>>;

/// A peer's game, with its calls counted.
#[derive(Debug)]
pub struct Stage<G> {
    /// Game that the library runs.
    pub game: G,
    calls: Calls,
    me: usize,
    log: Option<Log>,
}

impl<G: Game> Stage<G> {
    /// A new game for this peer.
    pub fn new(setup: &Setup, me: usize) -> Stage<G> {
        Stage { game: G::new(), calls: Calls::default(), me, log: setup.log.clone() }
    }

    /// Calls so far.
    pub fn calls(&self) -> Calls {
        self.calls
    }

    /// Simulates a frame.
    pub fn tick(&mut self, inputs: impl Iterator<Item = G::Input>) {
        self.calls.ticks += 1;
        self.note(Call::Tick);
        self.game.tick(inputs);
    }

    /// Says that the library has a snapshot taken.
    pub fn saved(&mut self, frame: u32) {
        self.calls.saves += 1;
        self.note(Call::Save(frame));
    }

    /// Says that the library has a snapshot restored.
    pub fn loaded(&mut self, frame: u32) {
        self.calls.loads += 1;
        self.note(Call::Load(frame));
    }

    /// Says that the library has a snapshot hashed.
    pub fn hashed(&mut self, frame: u32) {
        self.note(Call::Hash(frame));
    }

    fn note(&self, call: Call) {
        if let Some(log) = &self.log {
            log.borrow_mut().push((self.me, call));
        }
    }
}
