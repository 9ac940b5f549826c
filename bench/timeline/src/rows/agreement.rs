//! Count of matches that end in another state than a straight run of their inputs.
//!
//! Called by `main.rs`. Absent: the matches (`differential.rs`).

use bench_report::{Report, Row, parallel};

use crate::contest::Contestant;
use crate::differential::{Diary, Trial};
use crate::gaggle::Gaggle;
use crate::ggrs::Ggrs;

/// Matches, each with its own players, window, delay and network.
const SEEDS: u64 = 1_000;

/// Wrong matches of Gaggle and of ggrs.
pub fn rows(report: &mut Report) {
    report.section("Matches of 2 to 4 players on bad networks that end in another state than a straight run");
    report.row(
        Row::new(format!("of {SEEDS}"), "matches")
            .gaggle(wrong::<Gaggle<Diary>>() as f64)
            .other("ggrs", wrong::<Ggrs<Diary>>() as f64)
            .at_most(0.0),
    );
}

fn wrong<C: Contestant<Game = Diary>>() -> usize {
    let complaints = parallel((0..SEEDS).collect(), |seed| {
        Trial::draw(seed).play::<C>().err().map(|mismatch| mismatch.to_string())
    });
    complaints.iter().flatten().inspect(|complaint| eprintln!("{complaint}")).count()
}
