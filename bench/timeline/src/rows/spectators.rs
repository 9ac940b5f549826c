//! Cost of a hundred spectators for a player: its frame beside that of a player without them.
//!
//! All peers share the caches of one processor, so the spectators exist in both cases. Called by
//! `people.rs`. Absent: the peers (`crate::people`).

use bench_report::{CountedRun, Report, Row, median, parallel};

use super::people::STATE_BYTES;
use crate::people::{COUNTED, Measure, People};

const FLAG: &str = "--count-audience";
const SPECTATORS: usize = 100;
/// Players, which are the first peers.
const PLAYERS: usize = 2;
const LATENCY_MS: u64 = 20;
/// Seeds of timed runs, of which the median counts: a frame takes microseconds, in which other load
/// shows.
const TIMED_SEEDS: u64 = 11;
/// Seeds of counted runs, which take a hundred times as long and are exact.
const COUNTED_SEEDS: u64 = 3;
/// Largest ratio of a feeding player's frame to another's.
const FRAME_MOST: f64 = 1.1;

/// Links of spectators.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    /// Each to the peer that feeds it and to those it feeds.
    Chain,
    /// Also to the player, as a lobby links all members: it feeds as many as it may, and sends the
    /// time to all.
    WithPlayer,
}

impl Links {
    const ALL: [Links; 2] = [Links::Chain, Links::WithPlayer];

    fn name(self) -> &'static str {
        match self {
            Links::Chain => "chain",
            Links::WithPlayer => "with-player",
        }
    }
}

/// A hundred spectators of two players, of whom the first is measured.
#[derive(Clone, Copy)]
pub struct Audience {
    links: Links,
    /// Player that feeds the first spectator.
    by: usize,
    seed: u64,
}

impl Audience {
    /// The run that the command line asks for, if it is a counted one.
    pub fn asked_for() -> Option<Audience> {
        let arguments: Vec<String> = std::env::args().collect();
        let [_, flag, links, by, seed] = arguments.as_slice() else { return None };
        let links = Links::ALL.into_iter().find(|known| flag == FLAG && known.name() == links)?;
        Some(Audience { links, by: by.parse().ok()?, seed: seed.parse().ok()? })
    }

    /// Plays with the first player's frames under the name that is counted, and prints their
    /// number.
    pub fn run_counted(self) {
        let mut people = self.gathered();
        people.measure = Some(Measure::Instructions);
        println!("{}", frames_played(&mut people));
    }

    /// The match after all spectators have joined.
    fn gathered(self) -> People {
        let mut people = People::of(PLAYERS + SPECTATORS, PLAYERS, LATENCY_MS, STATE_BYTES, self.seed);
        people.run_ms(1_000);
        for nth in 0..SPECTATORS {
            // Each is fed by an earlier spectator, the first one by a player.
            let via = match (self.links, nth) {
                (_, 0) => vec![self.by],
                (Links::Chain, _) => vec![PLAYERS + (nth - 1) / 4],
                (Links::WithPlayer, _) => vec![self.by, PLAYERS + (nth - 1) / 4],
            };
            people.watch(PLAYERS + nth, &via);
            people.run_ms(if nth < 6 { 600 } else { 30 });
        }
        people.run_ms(3_000);
        people
    }

    /// CPU time of the first player's frame in microseconds, and frames by which the last spectator
    /// is behind.
    fn timed(self) -> (f64, f64) {
        let mut people = self.gathered();
        let playing = people.session(0).confirmed_frame();
        let shown = (0..SPECTATORS).map(|nth| people.session(PLAYERS + nth).current_frame());
        let behind_most = shown.map(|shown| playing.since(shown)).max().unwrap_or(0);
        people.measure = Some(Measure::Time);
        let frames = frames_played(&mut people);
        (people.cpu().as_secs_f64() * 1e6 / frames as f64, f64::from(behind_most))
    }

    /// Instructions of the first player's frame; none if valgrind is missing.
    fn instructions(self) -> Option<f64> {
        let Audience { links, by, seed } = self;
        let arguments = [FLAG.to_owned(), links.name().to_owned(), by.to_string(), seed.to_string()];
        let run = CountedRun::of(Some(COUNTED), &arguments)?;
        Some(run.instructions as f64 / run.printed.trim().parse::<f64>().ok()?)
    }
}

/// Runs for six seconds. Returns the frames of the first player.
fn frames_played(people: &mut People) -> u64 {
    let before = people.stats(0).frames;
    people.run_ms(6_000);
    people.stats(0).frames - before
}

/// Ratios of time and instructions, and delay of the last spectator.
pub(super) fn rows(report: &mut Report) {
    for links in Links::ALL {
        let (mut ratios, mut behind) = (Vec::new(), 0.0_f64);
        for seed in 1..=TIMED_SEEDS {
            let (with, behind_most) = Audience { links, by: 0, seed }.timed();
            let (without, _) = Audience { links, by: 1, seed }.timed();
            ratios.push(with / without);
            behind = behind.max(behind_most);
        }
        let what = match links {
            Links::Chain => "100 look on in a chain: its feeder's frame",
            Links::WithPlayer => "100 look on, all linked to a player: its frame",
        };
        let row = |how| Row::new(format!("{what}, {how}"), "×");
        let time = row("time").gaggle(median(&ratios));
        match instructions_ratio(links) {
            Some(ratio) => {
                report.row(judged(links, row("instructions").gaggle(ratio)));
                report.row(time);
            }
            None => {
                report.note("valgrind did not say how many instructions were run: time is judged instead");
                report.row(judged(links, time));
            }
        }
        report.row(Row::new("the last of them is behind by", "frames").gaggle(behind).at_most(120.0));
    }
}

/// Only the cost of feeding a chain is promised.
fn judged(links: Links, row: Row) -> Row {
    if links == Links::Chain { row.at_most(FRAME_MOST) } else { row }
}

/// Instructions of a feeding player's frame over those of another's, worst of all seeds.
fn instructions_ratio(links: Links) -> Option<f64> {
    let seeds = 1..=COUNTED_SEEDS;
    let runs = seeds.flat_map(|seed| [0, 1].map(|by| Audience { links, by, seed })).collect();
    let counted: Option<Vec<f64>> = parallel(runs, Audience::instructions).into_iter().collect();
    counted?.chunks_exact(2).map(|pair| pair[0] / pair[1]).reduce(f64::max)
}
