//! CPU time and allocations per frame and peer, net of the game.
//!
//! The game's part is measured: one match records every tick, save, load and hash; the same calls
//! are then made on games alone and timed. The rest is the library's, its socket in memory
//! included. Only Gaggle asks for hashes. Called by `rows/`. Absent: which setups are compared.

use std::cell::RefCell;
use std::hint::black_box;
use std::marker::PhantomData;
use std::rc::Rc;

use bench_report::{Allocations, cpu_time, median};
use gaggle_kit::state_hash;

use crate::contest::{Call, Contestant, Setup};
use crate::game::{Game, Pressed};
use crate::matches::Match;
use crate::network::NetConditions;

/// Frames played before measurement, in which buffers grow.
const WARM_UP_FRAMES: u64 = 240;

/// Cost of a frame for one peer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// CPU time of the thread, the game included, in nanoseconds.
    pub total_ns: f64,
    /// CPU time without the game's ticks, saves and loads, in nanoseconds.
    pub net_ns: f64,
    /// Heap allocations, those of the game included.
    pub allocations: f64,
    /// Frames simulated; 1 without rollback.
    pub ticks: f64,
}

/// A measurement that is repeated, in turn with others.
pub trait Meter {
    /// One measurement with this seed.
    fn lap(&self, seed: u64) -> Cost;

    /// Plays `frames` frames after the warm-up, then makes their game calls `replays` times without
    /// a library, for profilers that count from outside.
    fn exercise(&self, frames: u64, replays: u64);
}

/// Measures all in turn, so that other load on the machine affects all alike. Medians, in order of
/// `meters`.
pub fn in_turn(meters: &[Box<dyn Meter>], laps: u64) -> Vec<Cost> {
    let mut measured = vec![Vec::new(); meters.len()];
    for seed in 1..=laps {
        for (meter, costs) in meters.iter().zip(&mut measured) {
            costs.push(meter.lap(seed));
        }
    }
    measured.iter().map(|costs| middle(costs)).collect()
}

fn middle(costs: &[Cost]) -> Cost {
    let of = |figure: fn(&Cost) -> f64| median(&costs.iter().map(figure).collect::<Vec<_>>());
    Cost {
        total_ns: of(|cost| cost.total_ns),
        net_ns: of(|cost| cost.net_ns),
        allocations: of(|cost| cost.allocations),
        ticks: of(|cost| cost.ticks),
    }
}

/// Matches of one library with one setup.
pub struct Course<C> {
    setup: Setup,
    weather: NetConditions,
    frames: u64,
    contestant: PhantomData<C>,
}

impl<C: Contestant + 'static> Course<C> {
    /// A meter of matches of `frames` frames.
    pub fn meter(setup: &Setup, weather: NetConditions, frames: u64) -> Box<dyn Meter> {
        let setup = setup.clone();
        Box::new(Course::<C> { setup, weather, frames, contestant: PhantomData })
    }
}

impl<C: Contestant> Meter for Course<C> {
    fn lap(&self, seed: u64) -> Cost {
        let setup = self.setup.clone().seed(seed);
        let (log, warm_up) = calls::<C>(&setup, self.weather, self.frames);

        let mut game = Match::<C>::new(&setup, self.weather);
        game.run(WARM_UP_FRAMES);
        game.mark();
        let heap = Allocations::now();
        let start = cpu_time();
        game.run(self.frames);
        let total_ns = (cpu_time() - start).as_nanos() as f64;
        let allocations = Allocations::now().since(heap).count as f64;

        let tallies = game.tallies();
        let ticks = tallies.iter().map(|tally| tally.calls.ticks).sum::<u64>() as f64;
        // Per frame of the match, so that a library that stalls pays for waiting.
        let advanced = tallies.iter().map(|tally| tally.advanced).sum::<u64>() as f64;
        let mut alone = Alone::<C>::new(&setup);
        alone.play(&log[..warm_up]);
        let start = cpu_time();
        alone.play(&log[warm_up..]);
        let game_ns = (cpu_time() - start).as_nanos() as f64;
        Cost {
            total_ns: total_ns / advanced,
            net_ns: (total_ns - game_ns) / advanced,
            allocations: allocations / advanced,
            ticks: ticks / advanced,
        }
    }

    fn exercise(&self, frames: u64, replays: u64) {
        if replays == 0 {
            let mut game = Match::<C>::new(&self.setup, self.weather);
            game.run(WARM_UP_FRAMES + frames);
            return;
        }
        let (log, warm_up) = calls::<C>(&self.setup, self.weather, frames);
        let mut alone = Alone::<C>::new(&self.setup);
        for _ in 0..replays {
            // Only what follows the warm-up, which is what two matches of different length differ
            // by.
            alone.play(&log[warm_up..]);
        }
    }
}

/// Game calls of a match, and how many of them belong to the warm-up.
fn calls<C: Contestant>(setup: &Setup, weather: NetConditions, frames: u64) -> (Vec<(usize, Call)>, usize) {
    let log = Rc::new(RefCell::new(Vec::new()));
    let logged = Setup { log: Some(Rc::clone(&log)), ..setup.clone() };
    let mut game = Match::<C>::new(&logged, weather);
    game.run(WARM_UP_FRAMES);
    let warm_up = log.borrow().len();
    game.run(frames);
    (log.take(), warm_up)
}

/// Games without a library, on which the calls of a match are repeated.
struct Alone<C: Contestant> {
    games: Vec<C::Game>,
    kept: Vec<Vec<C::Game>>,
    inputs: Vec<<C::Game as Game>::Input>,
}

impl<C: Contestant> Alone<C> {
    fn new(setup: &Setup) -> Alone<C> {
        Alone {
            games: (0..setup.players).map(|_| C::Game::new()).collect(),
            kept: (0..setup.players).map(|_| vec![C::Game::new(); setup.window + 2]).collect(),
            inputs: (0..setup.players as u64).map(Pressed::from_number).collect(),
        }
    }

    fn play(&mut self, calls: &[(usize, Call)]) {
        for &(peer, call) in calls {
            let (game, kept) = (&mut self.games[peer], &mut self.kept[peer]);
            let snapshots = kept.len();
            match call {
                Call::Tick => game.tick(black_box(&self.inputs).iter().copied()),
                Call::Save(frame) => C::keep(&mut kept[frame as usize % snapshots], game),
                Call::Load(frame) => game.clone_from(&kept[frame as usize % snapshots]),
                Call::Hash(frame) => {
                    black_box(state_hash(&kept[frame as usize % snapshots]));
                }
            }
        }
        black_box(&self.games);
    }
}
