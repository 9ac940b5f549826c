//! Stalls: steps in which a peer gets no new frame.
//!
//! Called by `main.rs`. Absent: matches (`matches.rs`).

use bench_report::{Report, Row, Spread, parallel};

use crate::contest::{Contestant, Setup};
use crate::gaggle::Gaggle;
use crate::game::Tiny;
use crate::ggrs::Ggrs;
use crate::matches::{Match, Tally};
use crate::network::NetConditions;

/// Seeds per cell of the loss table: enough that one unlucky loss does not decide where hardly
/// anything stalls.
const SEEDS: u64 = 10;

/// Steps of all peers per seed.
const PEER_STEPS: u64 = 40_000;

/// Share of a single stalled step of one seed, in percent.
const ONE_STEP_PERCENT: f64 = 100.0 / PEER_STEPS as f64;

/// Share of a single stalled step of all seeds, in percent.
const ONE_STEP_OF_ALL_PERCENT: f64 = ONE_STEP_PERCENT / SEEDS as f64;

/// Frames at which a blackout starts: two periods of ggrs's timer.
const PHASES: u64 = 26;

/// Lockstep, blackouts, the edge of the window, and loss.
pub fn rows(report: &mut Report) {
    lockstep(report);
    blackouts(report);
    window_edge(report);
    loss_table(report);
}

fn lockstep(report: &mut Report) {
    report.section("Stalled steps, lockstep");
    for (players, latency, delay) in [(2, 3, 3), (2, 3, 4), (2, 3, 5), (4, 4, 4)] {
        let setup = Setup::players(players).window(0).delay(delay);
        let weather = NetConditions::latency(latency);
        let (gaggle, ggrs) = (calm::<Gaggle<Tiny>>(&setup, weather), calm::<Ggrs<Tiny>>(&setup, weather));
        report.row(
            Row::new(format!("lockstep, {players} players, latency {latency}, delay {delay}"), "%")
                .gaggle(gaggle.stalled_percent())
                .other("ggrs", ggrs.stalled_percent())
                .at_most(0.0),
        );
    }
}

fn blackouts(report: &mut Report) {
    report.section("Stalled frames after a blackout, window 8");
    let (window, latency) = (8, 3);
    for frames in [10, 20, 30] {
        report.row(
            Row::new(format!("blackout of {frames} frames, latency {latency}, worst"), "frames")
                .gaggle(worst_blackout::<Gaggle<Tiny>>(frames) as f64)
                .other("ggrs", worst_blackout::<Ggrs<Tiny>>(frames) as f64)
                .at_most((frames - window + latency + 1) as f64),
        );
    }
}

fn window_edge(report: &mut Report) {
    report.section("Stalled steps, lossless, latency at the window's edge");
    for latency in [6, 7, 8] {
        let (setup, weather) = (Setup::players(4), NetConditions::latency(latency));
        report.row(
            Row::new(format!("lossless, 4 players, latency {latency}, window 8"), "%")
                .gaggle(calm::<Gaggle<Tiny>>(&setup, weather).stalled_percent())
                .other("ggrs", calm::<Ggrs<Tiny>>(&setup, weather).stalled_percent())
                .at_most(0.0),
        );
    }
}

/// One cell of the loss table.
struct Cell {
    metric: String,
    players: usize,
    weather: NetConditions,
}

fn loss_table(report: &mut Report) {
    report.section("Stalled steps under loss");
    let cells = [(2, 3), (4, 3), (2, 6), (4, 6)].into_iter().flat_map(|(players, latency)| {
        weathers(latency).into_iter().map(move |(kind, weather)| {
            let metric = format!("{kind}, {players} players, latency {latency}");
            Cell { metric, players, weather }
        })
    });
    let table = parallel(cells.collect(), |cell| {
        let Cell { metric, players, weather } = cell;
        let setup = Setup::players(players);
        let ggrs = Spread::of(&lossy::<Ggrs<Tiny>>(&setup, weather));
        let same = Spread::of(&lossy::<Gaggle<Tiny>>(&setup, weather));
        let fewer = Spread::of(&lossy::<Gaggle<Tiny>>(&setup.window(7), weather));
        (metric, ggrs, same, fewer)
    });
    for (metric, ggrs, same, fewer) in table {
        // One step among all is chance: it is allowed where ggrs has none.
        let (library, allowed) = match ggrs.mean {
            mean if mean < ONE_STEP_OF_ALL_PERCENT => ("ggrs none, one", ONE_STEP_OF_ALL_PERCENT),
            mean => ("ggrs", mean),
        };
        report.row(
            Row::new(format!("{metric}, both set to 8"), "%")
                .gaggle(same.mean)
                .other(library, allowed)
                .ratio_at_most(1.0),
        );
        report.note(&format!(
            "by seed: gaggle {:.4} to {:.4} %, with 7 {:.4} to {:.4} %, ggrs {:.4} to {:.4} %",
            same.min, same.max, fewer.min, fewer.max, ggrs.min, ggrs.max
        ));
        // ggrs set to 8 predicts at most 7 frames, so this compares the same setting. Chance
        // decides which is ahead: means must be equal within the scatter of ggrs, one stalled step
        // included.
        report.row(
            Row::new(format!("{metric}, 7 against 8"), "%")
                .gaggle(fewer.mean)
                .other("ggrs, worst seed", ggrs.max.max(ONE_STEP_PERCENT))
                .ratio_at_most(1.0),
        );
    }
}

fn weathers(latency: u64) -> Vec<(String, NetConditions)> {
    let calm = NetConditions::latency(latency);
    let random =
        [5, 10, 20].map(|percent| (format!("loss {percent} %"), calm.loss(f64::from(percent) / 100.0)));
    let bursts =
        [5, 10, 20].map(|percent| (format!("bursts {percent} %"), calm.bursts(f64::from(percent) / 100.0)));
    random.into_iter().chain(bursts).collect()
}

/// A minute without loss, after two seconds.
fn calm<C: Contestant>(setup: &Setup, weather: NetConditions) -> Tally {
    let mut game = Match::<C>::new(setup, weather);
    game.run(120);
    game.mark();
    game.run(3_600);
    Tally::sum(&game.tallies())
}

/// Percentage of stalled steps over all peers, for each seed.
fn lossy<C: Contestant>(setup: &Setup, weather: NetConditions) -> Vec<f64> {
    (1..=SEEDS)
        .map(|seed| {
            let mut game = Match::<C>::new(&setup.clone().seed(seed), weather);
            game.run(120);
            game.mark();
            game.run(PEER_STEPS / setup.players as u64);
            Tally::sum(&game.tallies()).stalled_percent()
        })
        .collect()
}

/// Longest stall of any peer, over all frames at which the blackout may start, each with new
/// sessions, because a blackout leaves peers a frame apart.
fn worst_blackout<C: Contestant>(frames: u64) -> u64 {
    (0..PHASES).map(|phase| blackout::<C>(frames, phase)).max().unwrap_or_default()
}

fn blackout<C: Contestant>(frames: u64, phase: u64) -> u64 {
    let mut game = Match::<C>::new(&Setup::players(2), NetConditions::latency(3));
    game.run(120 + phase);
    game.mark();
    game.network().set_blackout(true);
    game.run(frames);
    game.network().set_blackout(false);
    game.run(120);
    game.tallies().iter().map(|tally| tally.stalled).max().unwrap_or_default()
}
