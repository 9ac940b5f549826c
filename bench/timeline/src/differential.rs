//! The same inputs over the same bad network through a library and in a straight run: the states at
//! one frame must be equal.
//!
//! That state is noted inside the state, so rollback corrects it too; on a good network it becomes
//! final. The differential test and `rows::agreement` play it. Absent: cost.

use std::fmt;

use gaggle_kit::State;

use crate::chance::{draw, unit};
use crate::contest::{Contestant, Setup};
use crate::game::{Game, Tiny, straight_run};
use crate::matches::{Match, Tally};
use crate::network::{NetConditions, frame_us};

/// Frame whose state is compared: three seconds into the match.
const NOTED_FRAME: u32 = 180;

/// Steps on the bad network at most.
const STORM_STEPS: u64 = 360;

/// Steps on a good network, for all peers to confirm the noted frame.
const CLEAR_STEPS: u64 = 180;

/// The game with a note of its state at one frame.
#[derive(Clone, PartialEq, Eq, Debug, State)]
pub struct Diary {
    frame: u32,
    noted: Option<u64>,
    game: Tiny,
}

impl Game for Diary {
    type Input = u8;

    fn new() -> Diary {
        Diary { frame: 0, noted: None, game: Tiny::new() }
    }

    fn tick(&mut self, inputs: impl Iterator<Item = u8>) {
        self.frame += 1;
        self.game.tick(inputs);
        if self.frame == NOTED_FRAME {
            self.noted = Some(self.game.digest());
        }
    }

    fn digest(&self) -> u64 {
        self.noted.unwrap_or_default() ^ self.game.digest()
    }
}

/// Players, window, delay and network of a match, drawn from a seed.
#[derive(Clone, Debug)]
pub struct Trial {
    setup: Setup,
    directions: Vec<NetConditions>,
    blackout: Option<(u64, u64)>,
}

impl Trial {
    /// Draws the trial of this seed.
    pub fn draw(seed: u64) -> Trial {
        let mut draws = 0;
        let mut below = |limit: u64| {
            draws += 1;
            draw(seed, [draws, 0, 0]) % limit
        };
        let players = 2 + below(3) as usize;
        // Lockstep in one of eight. Window 1 is left out: ggrs takes it for no prediction but with
        // rollback, which stalls at any latency.
        let window = if below(8) == 0 { 0 } else { 2 + below(11) as usize };
        let delay = below(4) as usize;
        let setup = Setup::players(players).window(window).delay(delay).seed(seed);
        let rough = below(3);
        let directions = (0..players * players)
            .map(|_| NetConditions {
                latency_us: below(frame_us(6)),
                jitter_us: below(frame_us(3)) * rough.min(1),
                loss: unit(below(u64::MAX)) * 0.2 * rough.min(1) as f64,
                burst_loss: unit(below(u64::MAX)) * 0.1 * (rough / 2) as f64,
            })
            .collect();
        let blackout = (below(4) == 0).then(|| (60 + below(60), below(40)));
        Trial { setup, directions, blackout }
    }

    /// Plays the trial through a library.
    ///
    /// # Errors
    /// If a peer's state differs from the straight run.
    pub fn play<C: Contestant<Game = Diary>>(&self) -> Result<Tally, Mismatch> {
        let mut game = Match::<C>::new(&self.setup, NetConditions::latency(1));
        let players = self.setup.players;
        for (at, &weather) in self.directions.iter().enumerate() {
            game.network().set_weather_between(at / players, at % players, weather);
        }
        for step in 0..STORM_STEPS {
            if let Some((begin, length)) = self.blackout {
                game.network().set_blackout((begin..begin + length).contains(&step));
            }
            game.step();
        }
        game.network().set_weather(NetConditions::latency(2));
        let mut left = CLEAR_STEPS;
        // A lockstep match may be slow on a bad network: wait until all peers are past the frame.
        while left > 0 || game.peers().iter().any(|peer| peer.stage().game.frame <= NOTED_FRAME) {
            game.step();
            left = left.saturating_sub(1);
            assert!(game.steps() < 100_000, "{} makes no progress: {self:?}", C::NAME);
        }
        let straight: Diary = straight_run(game.presses(), self.setup.delay, NOTED_FRAME as usize);
        for (peer, contestant) in game.peers().iter().enumerate() {
            let noted = contestant.stage().game.noted;
            if noted != straight.noted {
                return Err(Mismatch { library: C::NAME, peer, trial: self.clone() });
            }
        }
        Ok(Tally::sum(&game.tallies()))
    }
}

/// A library whose state differs from the straight run.
#[derive(Clone, Debug)]
pub struct Mismatch {
    library: &'static str,
    peer: usize,
    trial: Trial,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mismatch { library, peer, trial } = self;
        write!(f, "{library}: peer {peer} differs from the straight run in {trial:?}")
    }
}
