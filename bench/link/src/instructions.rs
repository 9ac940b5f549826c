//! Instructions per packet, which do not depend on other load. Valgrind runs this program again
//! with one load and two lengths; the difference is the cost of the packets.
//!
//! `main` calls it. Absent: what the loads send.

use bench_report::{CountedRun, Report, Row};

use crate::packets::{Load, Pair};

const FLAG: &str = "--count-instructions";
const MESSAGES: u64 = 100_000;

/// Load and length of a counted run.
pub(crate) struct Counted {
    load: Load,
    messages: u64,
}

impl Counted {
    pub(crate) fn run(&self) {
        Pair::new(self.load).run(self.messages);
    }
}

/// The counted run the command line asks for, if any.
pub(crate) fn asked_for() -> Option<Counted> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, flag, load, messages] = arguments.as_slice() else { return None };
    let load = Load::ALL.into_iter().find(|known| flag == FLAG && known.name() == load)?;
    Some(Counted { load, messages: messages.parse().ok()? })
}

pub(crate) fn rows(report: &mut Report) {
    for load in Load::ALL {
        let row = Row::new(format!("instructions per {} message", load.name()), "");
        let counted = count(load, 2 * MESSAGES).and_then(|long| long.checked_sub(count(load, MESSAGES)?));
        match counted {
            Some(instructions) => report.row(row.gaggle(instructions as f64 / MESSAGES as f64)),
            None => report.note("valgrind did not say how many instructions were run"),
        }
    }
}

fn count(load: Load, messages: u64) -> Option<u64> {
    let arguments = [FLAG, load.name(), &messages.to_string()].map(str::to_owned);
    Some(CountedRun::of(None, &arguments)?.instructions)
}
