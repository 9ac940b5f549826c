//! Growth of memory over a long match.
//!
//! Called by `main.rs`. Absent: allocations per frame (`cpu.rs`).

use bench_report::{Allocations, Report, Row};

use crate::contest::{Contestant, Setup};
use crate::gaggle::Gaggle;
use crate::game::Arena;
use crate::matches::Match;
use crate::network::NetConditions;

/// Frame from which memory must not grow.
const SETTLED_FRAME: u64 = 1_000;
const LAST_FRAME: u64 = 10_000;

/// A long match with loss, beside one in which every state is kept.
pub fn rows(report: &mut Report) {
    report.section("Memory of a 4-player match with a 2.2 KB state, frames 1,000 to 10,000");
    report.row(
        Row::new("bytes held more, latency 4, loss 5 %", "B")
            .gaggle(growth(false) as f64)
            .other("keeping all", growth(true) as f64)
            .at_most(0.0),
    );
}

/// Most memory held after the settled frame, above what was held then.
fn growth(keep_all: bool) -> i64 {
    let mut game = Match::<Gaggle<Arena>>::new(&Setup::players(4), NetConditions::latency(4).loss(0.05));
    let mut kept = Vec::new();
    game.run(SETTLED_FRAME);
    let settled = Allocations::now();
    let mut most = 0;
    for _ in SETTLED_FRAME..LAST_FRAME {
        game.step();
        if keep_all {
            kept.extend(game.peers().iter().map(|peer| peer.stage().game.clone()));
        }
        most = most.max(Allocations::now().since(settled).live_bytes);
    }
    most
}
