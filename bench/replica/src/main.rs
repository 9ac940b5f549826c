//! `cargo xtask bench replica [--json] [parts]`: the replica engine beside bevy_replicon. Absent:
//! how a row is measured.

mod ages;
#[path = "../../../core/gaggle-replica/tests/stories/bodies/mod.rs"]
mod bodies;
mod course;
mod gaggle;
mod post;
mod replicon;
mod rows;

use std::process::ExitCode;

use bench_report::{CountingAllocator, Report};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// A part of the report.
type Rows = fn(&mut Report);

const PARTS: [(&str, Rows); 5] = [
    ("moving", rows::moving),
    ("mostly-resting", rows::mostly_resting),
    ("rest", rows::rest),
    ("budget", rows::budget),
    ("scale", rows::scale),
];

/// Parts that run only if named: those that take minutes and gigabytes, and one for counting
/// instructions:
/// `valgrind --tool=callgrind --toggle-collect='*sender_tick*' target/release/replica alone`.
const NAMED_PARTS: [(&str, Rows); 2] = [("scale-all", rows::scale_all), ("alone", rows::alone)];

fn main() -> ExitCode {
    let mut report = Report::from_args();
    // Only the named parts: `replica moving rest`.
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some(file) = words.iter().find_map(|word| word.strip_prefix("--plot=")) {
        return ages::plot(file);
    }
    let wanted: Vec<&String> = words.iter().filter(|word| !word.starts_with("--")).collect();
    for (name, rows) in PARTS {
        if wanted.is_empty() || wanted.iter().any(|word| *word == name) {
            rows(&mut report);
        }
    }
    for (name, rows) in NAMED_PARTS {
        if wanted.iter().any(|word| *word == name) {
            rows(&mut report);
        }
    }
    report.finish()
}
