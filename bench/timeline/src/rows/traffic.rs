//! Traffic given to the socket: all bytes, link framing included.
//!
//! Called by `main.rs`. Absent: headers of IP and UDP.

use bench_report::{Report, Row};

use crate::contest::{Contestant, Setup};
use crate::gaggle::Gaggle;
use crate::game::{Game, Tiny, TinyStick};
use crate::ggrs::Ggrs;
use crate::matches::{Match, Tally};
use crate::network::NetConditions;

/// Frames of a minute, after two seconds.
const FRAMES: u64 = 3_600;

/// Bytes and packets per second and peer.
pub fn rows(report: &mut Report) {
    report.section("Given to the socket per second and peer, latency 4");
    let calm = NetConditions::latency(4);
    for (players, bytes) in [(2, 1.0 / 9.0), (4, 1.0 / 10.0), (8, 1.0 / 12.0), (16, 1.0 / 16.0)] {
        let targets = Targets { bytes: Some(bytes), packets: Some(1.0 / 3.5) };
        compare::<Tiny>(report, &format!("{players} players"), players, calm, targets);
    }
    for players in [2, 4, 8, 16] {
        let what = format!("5 % loss, {players} players");
        let targets = Targets { bytes: None, packets: Some(1.0 / 2.0) };
        compare::<Tiny>(report, &what, players, calm.loss(0.05), targets);
    }
    for players in [2, 8] {
        let what = format!("8 B input every frame, {players} players");
        let targets = Targets { bytes: Some(1.0 / 1.8), packets: None };
        compare::<TinyStick>(report, &what, players, calm, targets);
    }
}

#[derive(Clone, Copy)]
struct Targets {
    bytes: Option<f64>,
    packets: Option<f64>,
}

fn compare<G: Game>(
    report: &mut Report,
    what: &str,
    players: usize,
    weather: NetConditions,
    targets: Targets,
) {
    let setup = Setup::players(players).encoded();
    let gaggle = play::<Gaggle<G>>(&setup, weather);
    let ggrs = play::<Ggrs<G>>(&setup, weather);
    let mut row = |figure: &str, unit, of: fn(&Tally) -> f64, target: Option<f64>| {
        let row = Row::new(format!("{figure}, {what}"), unit).gaggle(of(&gaggle)).other("ggrs", of(&ggrs));
        report.row(match target {
            Some(part) => row.ratio_at_most(part),
            None => row,
        });
    };
    row("bytes", "B/s", Tally::bytes_per_second, targets.bytes);
    row("packets", "/s", Tally::packets_per_second, targets.packets);
}

/// Mean over all peers.
fn play<C: Contestant>(setup: &Setup, weather: NetConditions) -> Tally {
    let mut game = Match::<C>::new(setup, weather);
    game.run(120);
    game.mark();
    game.run(FRAMES);
    Tally::sum(&game.tallies())
}
