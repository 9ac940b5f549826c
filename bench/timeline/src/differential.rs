//! Matches that two libraries and a straight run without one must end in the same state.
//!
//! The state at one frame is noted inside the state, so that rollback corrects the note too; after
//! enough time on a good network it is final. Called by `rows/agreement.rs` and tests. Absent:
//! measurement.

use std::fmt;

use gaggle_kit::State;

use crate::chance::{draw, unit};
use crate::contest::{Contestant, Setup};
use crate::game::{Game, Tiny, straight_run};
use crate::matches::{Match, Tally};
use crate::network::{NetConditions, frame_us};

/// Frame whose state is compared: three seconds into the match.
const NOTED_FRAME: u32 = 180;

/// Steps on the bad network.
const STORM_STEPS: u64 = 360;

/// Least steps on the good network, in which all peers confirm the noted frame.
const CLEAR_STEPS: u64 = 180;

/// A game that notes its hash at one frame.
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

/// A match drawn from a seed: players, window, delay, network.
#[derive(Clone, Debug)]
pub struct Trial {
    setup: Setup,
    directions: Vec<NetConditions>,
    blackout: Option<(u64, u64)>,
}

impl Trial {
    /// Trial of this seed.
    pub fn draw(seed: u64) -> Trial {
        let mut draws = 0;
        let mut below = |limit: u64| {
            draws += 1;
            draw(seed, [draws, 0, 0]) % limit
        };
        let players = 2 + below(3) as usize;
        // Lockstep in one of eight. Window 1 of ggrs predicts nothing but rolls back, and stalls
        // with any latency.
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
        // Lockstep on a bad network may be slow: waits until all peers are past the frame.
        while left > 0 || game.peers().iter().any(|peer| peer.stage().game.frame <= NOTED_FRAME) {
            game.step();
            left = left.saturating_sub(1);
            assert!(game.steps() < 100_000, "{} takes more than 100,000 steps: {self:?}", C::NAME);
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

/// A library that ended in another state than the straight run.
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
