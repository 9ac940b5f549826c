//! What is given to the socket: every byte, link framing included.

use bench_report::{Report, Row};

use crate::contest::{Contestant, Setup};
use crate::game::{Tiny, TinyStick};
use crate::ggrs::Ggrs;
use crate::matches::{Match, Tally};
use crate::network::Weather;

/// Half a minute, after two seconds.
const FRAMES: u64 = 1_800;

/// Bytes and packets per second and peer.
pub fn rows(report: &mut Report) {
    report.section("Given to the socket per second and peer, latency 4");
    for players in [2, 4, 8, 16] {
        let setup = Setup::players(players);
        let calm = Weather::latency(4);
        let ggrs = play::<Ggrs<Tiny>>(&setup, calm);
        report
            .row(Row::new(format!("bytes, {players} players"), "B/s").other("ggrs", ggrs.bytes_per_second()));
        report.row(
            Row::new(format!("packets, {players} players"), "/s").other("ggrs", ggrs.packets_per_second()),
        );
        let ggrs = play::<Ggrs<Tiny>>(&setup, calm.loss(0.05));
        report.row(
            Row::new(format!("packets, 5 % loss, {players} players"), "/s")
                .other("ggrs", ggrs.packets_per_second()),
        );
    }
    let ggrs = play::<Ggrs<TinyStick>>(&Setup::players(2), Weather::latency(4));
    report.row(
        Row::new("bytes, 8 B input every frame, 2 players", "B/s").other("ggrs", ggrs.bytes_per_second()),
    );
}

fn play<C: Contestant>(setup: &Setup, weather: Weather) -> Tally {
    let mut game = Match::<C>::new(&setup.clone().encoded(), weather);
    game.run(120);
    game.mark();
    game.run(FRAMES);
    game.tallies()[0]
}
