//! Cost of a frame by players and by window: the table of the documentation.
//!
//! Called by `main.rs`. Absent: measurement (`cost.rs`).

use bench_report::{Report, Row};

use crate::contest::Setup;
use crate::cost::{Course, Meter, in_turn};
use crate::gaggle::Gaggle;
use crate::game::Tiny;
use crate::ggrs::Ggrs;
use crate::network::NetConditions;

/// Measurements of each, of which the median counts.
const LAPS: u64 = 5;

/// A state of 64 B at latency 4, so that nearly all cost is the library's.
pub fn rows(report: &mut Report) {
    report.section("Net CPU per frame and peer by players, window 8, 64 B state, latency 4");
    for players in [2, 4, 8, 16, 32, 64] {
        let setup = Setup::players(players);
        let frames = (40_000 / (players * players) as u64).clamp(200, 4_000);
        let mut meters = vec![Course::<Gaggle<Tiny>>::meter(&setup, NetConditions::latency(4), frames)];
        // ggrs is not made for more players than this.
        if players <= 16 {
            meters.push(Course::<Ggrs<Tiny>>::meter(&setup, NetConditions::latency(4), frames.min(1_000)));
        }
        row(report, &format!("{players} players"), &meters);
    }
    report.section("Net CPU per frame and peer by window, 4 players, 64 B state, latency 4");
    for window in [8, 15, 30, 60] {
        let setup = Setup::players(4).window(window);
        let meters = [
            Course::<Gaggle<Tiny>>::meter(&setup, NetConditions::latency(4), 2_000),
            Course::<Ggrs<Tiny>>::meter(&setup, NetConditions::latency(4), 500),
        ];
        row(report, &format!("window {window}"), &meters);
    }
}

fn row(report: &mut Report, metric: &str, meters: &[Box<dyn Meter>]) {
    let costs = in_turn(meters, LAPS);
    let row = Row::new(metric, "ns").gaggle(costs[0].net_ns);
    report.row(match costs.get(1) {
        Some(ggrs) => row.other("ggrs", ggrs.net_ns),
        None => row,
    });
}
