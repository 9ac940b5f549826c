//! `cargo xtask bench gosling [--json]`: cost of a frame with 64 goslings and 18 pikes, of a maze,
//! and the frames simulated again with questions and with `get`.
//!
//! Matches last three minutes of virtual time; depths are what the twin's rollbacks go back on
//! average, because every late wish is one of them. Absent: rooms, loss.

mod busy;

use std::hint::black_box;
use std::process::ExitCode;

use bench_report::{CountingAllocator, Report, Row, cpu_time, median, parallel};
use gaggle_kit::{Frame, Micros, SlotSet, State, encode_state, state_hash};
use gaggle_timeline::{Game, Inputs};
use gosling::press::Manner;
use gosling::twin::{Play, compare};
use gosling::{Gosling, Mode, Reed, SEATS, Wish};

use busy::Moment;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// States that are measured; a figure takes several laps through them.
const STATES: usize = 64;
const LAPS: usize = 51;
/// Mazes that are made.
const MAZES: u32 = 64;
/// Virtual time of a match.
const SPAN: Micros = Micros::from_secs(180);
/// Share of the twin's frames that the asking game may simulate again: the target, and where it is
/// missed, with 64 players at three frames, what must not get worse.
const SHARE: Option<f64> = Some(1.0 / 8.0);
const SHARE_MISSED: Option<f64> = Some(1.0 / 6.0);

fn main() -> ExitCode {
    let mut report = Report::from_args();
    cost(&mut report, &busy::moments(STATES));
    mazes(&mut report);
    questions(&mut report);
    report.finish()
}

/// Median over laps of the CPU nanoseconds per item, if `work` does `per` items.
fn nanoseconds(per: usize, laps: usize, mut work: impl FnMut()) -> f64 {
    let laps: Vec<f64> = (0..laps)
        .map(|_| {
            let before = cpu_time();
            work();
            (cpu_time() - before).as_nanos() as f64 / per as f64
        })
        .collect();
    median(&laps)
}

fn tick(game: &mut Gosling, wishes: &[Wish; SEATS]) {
    game.tick(&Inputs::confirmed(Frame::new(1), wishes, SlotSet::first(SEATS)));
}

fn cost(report: &mut Report, moments: &[Moment]) {
    report.section("One frame with 64 goslings and 18 pikes");
    let mut game = moments[0].game.clone();
    let save = nanoseconds(STATES, LAPS, || {
        moments.iter().for_each(|moment| black_box(&mut game).copy_from(black_box(&moment.game)));
    });
    let full = nanoseconds(STATES, LAPS, || {
        for moment in moments {
            game.copy_from(&moment.game);
            tick(&mut game, &moment.wishes);
            black_box(&game);
        }
    });
    report.row(Row::new("tick", "µs").gaggle((full - save) / 1e3).at_most(20.0));
    report.row(Row::new("save or load", "µs").gaggle(save / 1e3));
    let hash = nanoseconds(STATES, LAPS, || {
        moments.iter().for_each(|moment| {
            black_box(state_hash(&moment.game));
        });
    });
    report.row(Row::new("hash", "µs").gaggle(hash / 1e3));
    let largest = moments.iter().map(|moment| encode_state(&moment.game).len()).max().unwrap_or(0);
    report.row(Row::new("state on the wire", "B").gaggle(largest as f64).at_most(4_096.0));
}

fn mazes(report: &mut Report) {
    report.section("A new reed bed with its tables of distances");
    for (name, mode) in [("common reed", Mode::Broods), ("great reed", Mode::Great)] {
        let mut seeds = 0..;
        let made = nanoseconds(MAZES as usize, 3, || {
            for seed in seeds.by_ref().take(MAZES as usize) {
                black_box(Reed::new(seed, mode));
            }
        });
        report.row(Row::new(name, "ms").gaggle(made / 1e6).at_most(10.0));
    }
}

/// A match to compare: its name, mode, machines, manner, latency in milliseconds, and the
/// share that is its target.
type Match = (&'static str, Mode, usize, Manner, u64, Option<f64>);

const MATCHES: [Match; 9] = [
    ("usual, 67 ms", Mode::Broods, 16, Manner::USUAL, 67, SHARE),
    ("usual, 100 ms", Mode::Broods, 16, Manner::USUAL, 100, SHARE),
    ("usual, 117 ms", Mode::Broods, 16, Manner::USUAL, 117, SHARE),
    ("usual, 200 ms", Mode::Broods, 16, Manner::USUAL, 200, None),
    ("calm, 117 ms", Mode::Broods, 16, Manner::CALM, 117, None),
    ("frantic, 117 ms", Mode::Broods, 16, Manner::FRANTIC, 117, None),
    ("usual, 50 ms", Mode::Great, 64, Manner::USUAL, 50, SHARE),
    ("usual, 67 ms", Mode::Great, 64, Manner::USUAL, 67, SHARE),
    ("usual, 78 ms", Mode::Great, 64, Manner::USUAL, 78, SHARE_MISSED),
];

fn questions(report: &mut Report) {
    report.section("Frames simulated again in a thousand, beside `get` in every frame");
    let played = parallel(MATCHES.to_vec(), |(name, mode, machines, manner, latency, share)| {
        let latency = Micros::from_millis(latency);
        let play = Play { mode, machines, manner, delay: 0, latency, span: SPAN, seed: 3 };
        (format!("{machines} players, {name}"), compare(play), share)
    });
    for (name, [asks, reads], share) in played {
        assert!(asks.confirmed == reads.confirmed, "{name}: the twin's confirmed states differ");
        assert!(asks.confirmed.values().all(|hashes| hashes.len() == 1), "{name}: machines differ");
        assert!(asks.rollbacks > 0 && reads.rollbacks > 0, "{name}: nothing was late");
        report.note(&format!(
            "{name}: the twin goes back {:.1} frames on average; {} rollbacks by asking, {} by reading, \
             {} corrections changed no answer",
            reads.depth_permille() as f64 / 1e3,
            asks.rollbacks,
            reads.rollbacks,
            asks.harmless,
        ));
        let row = Row::new(name, "").gaggle(asks.again_permille() as f64);
        let row = row.other("reading all", reads.again_permille() as f64);
        report.row(match share {
            Some(share) => row.ratio_at_most(share),
            None => row,
        });
    }
}
