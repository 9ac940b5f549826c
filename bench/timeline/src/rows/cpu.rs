//! CPU time and allocations of a frame, net of the game.
//!
//! Called by `main.rs`. Absent: measurement (`cost.rs`).

use bench_report::{Report, Row};

use crate::contest::Setup;
use crate::cost::{Course, Meter, in_turn};
use crate::fortress::Fortress;
use crate::gaggle::Gaggle;
use crate::game::{Arena, Game, Large, Tiny, TinyStick};
use crate::ggrs::Ggrs;
use crate::network::NetConditions;

/// Measurements of each: many short ones, so that the median excludes busy moments.
const LAPS: u64 = 15;

/// Frames per measurement and library, fewer with more peers.
const PEER_FRAMES: u64 = 4_800;

/// Gaggle takes less time for a frame, so it plays more, to make a measurement last milliseconds.
const GAGGLE_TIMES: u64 = 4;

/// Largest cost of a frame, as a share of ggrs's.
fn target(players: usize) -> f64 {
    if players <= 4 { 1.0 / 10.0 } else { 1.0 / 15.0 }
}

/// Game of the published figures, and states of other sizes.
pub fn rows(report: &mut Report) {
    report.section("CPU per frame and peer, net of the game's calls");
    for players in [2, 4, 8, 16] {
        let covered = Setup::players(players).delay(2);
        compare::<Arena>(report, "no rollback", &covered, NetConditions::latency(1), Some(target(players)));
        let guessing = Setup::players(players);
        compare::<Arena>(report, "rollback", &guessing, NetConditions::latency(4), Some(target(players)));
    }
    for players in [2, 4, 8, 16] {
        let setup = Setup::players(players);
        compare::<Tiny>(
            report,
            "rollback, 64 B state",
            &setup,
            NetConditions::latency(4),
            Some(target(players)),
        );
    }
    for players in [2, 8] {
        let setup = Setup::players(players);
        compare::<TinyStick>(report, "rollback, 8 B input", &setup, NetConditions::latency(4), None);
    }
    compare::<Large>(report, "rollback, 100 KB state", &Setup::players(2), NetConditions::latency(4), None);
}

fn compare<G: Game>(
    report: &mut Report,
    what: &str,
    setup: &Setup,
    weather: NetConditions,
    target: Option<f64>,
) {
    let frames = PEER_FRAMES / (setup.players * setup.players) as u64 * 2;
    let frames = frames.min(PEER_FRAMES / 4);
    let meters: [Box<dyn Meter>; 4] = [
        Course::<Gaggle<G>>::meter(setup, weather, frames * GAGGLE_TIMES),
        Course::<Ggrs<G>>::meter(setup, weather, frames),
        Course::<Fortress<G>>::meter(setup, weather, frames),
        Course::<Ggrs<G>>::meter(&setup.clone().encoded(), weather, frames),
    ];
    let costs = in_turn(&meters, LAPS);
    let (gaggle, ggrs, fortress, encoded) = (costs[0], costs[1], costs[2], costs[3]);
    let players = setup.players;
    let metric = |figure: &str| format!("{figure}, {what}, {players} players");
    let net = || Row::new(metric("net"), "ns").gaggle(gaggle.net_ns);
    let against_ggrs = net().other("ggrs", ggrs.net_ns);
    report.row(match target {
        Some(part) => against_ggrs.ratio_at_most(part),
        None => against_ggrs,
    });
    report.row(net().other("ggrs, encoding", encoded.net_ns));
    report.row(net().other("fortress", fortress.net_ns).ratio_at_most(1.0));
    report.row(Row::new(metric("with the game"), "ns").gaggle(gaggle.total_ns).other("ggrs", ggrs.total_ns));
    report.row(
        Row::new(metric("allocations"), "/frame")
            .gaggle(gaggle.allocations)
            .other("ggrs", ggrs.allocations)
            .at_most(0.0),
    );
}
