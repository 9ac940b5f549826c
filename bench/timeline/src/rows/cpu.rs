//! What a frame costs, net of the game: CPU time and allocations.

use bench_report::{Report, Row};

use crate::contest::Setup;
use crate::cost::{Course, Meter, in_turn};
use crate::fortress::Fortress;
use crate::game::{Arena, Game, Tiny, TinyStick};
use crate::ggrs::Ggrs;
use crate::network::Weather;

/// Measurements of each: medians need an odd number.
const LAPS: u64 = 7;

/// Frames per measurement, fewer where a frame has more peers in it.
fn frames(players: usize) -> u64 {
    4_800 / players as u64
}

/// The game of the published figures, and states of other sizes.
pub fn rows(report: &mut Report) {
    report.section("CPU per frame and peer, net of the game's own ticks, saves and loads");
    for players in [2, 4, 8, 16] {
        let covered = Setup::players(players).delay(2);
        row::<Arena>(report, "no rollback", &covered, Weather::latency(1));
        let guessing = Setup::players(players);
        row::<Arena>(report, "latency 4", &guessing, Weather::latency(4));
    }
    for players in [2, 4, 8, 16] {
        row::<Tiny>(report, "latency 4, 64 B state", &Setup::players(players), Weather::latency(4));
    }
    for players in [2, 8] {
        let setup = Setup::players(players);
        row::<TinyStick>(report, "latency 4, 8 B input every frame", &setup, Weather::latency(4));
    }
}

fn row<G: Game>(report: &mut Report, what: &str, setup: &Setup, weather: Weather) {
    let players = setup.players;
    let few = frames(players) / 4;
    let meters: [Box<dyn Meter>; 2] =
        [Course::<Ggrs<G>>::meter(setup, weather, few), Course::<Fortress<G>>::meter(setup, weather, few)];
    let costs = in_turn(&meters, LAPS);
    let metric = |figure: &str| format!("{figure}, {what}, {players} players");
    for (library, cost) in [("ggrs", costs[0]), ("fortress", costs[1])] {
        report.row(Row::new(metric("net CPU"), "ns").other(library, cost.net_ns));
        report.row(Row::new(metric("allocations"), "/frame").other(library, cost.allocations));
    }
}
