//! Report of `cargo xtask bench timeline [--json]`: the timeline beside ggrs and fortress-rollback.
//!
//! Runs all parts, those named on the command line, or a counted run for valgrind. Absent: figures
//! (`rows/`).

use std::process::ExitCode;

use bench_report::{CountingAllocator, Report};
use bench_timeline::rows;
use bench_timeline::rows::instructions::Counted;
use bench_timeline::rows::spectators::Audience;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// A part of the report.
type Rows = fn(&mut Report);

const PARTS: [(&str, Rows); 11] = [
    ("cpu", rows::cpu::rows),
    ("instructions", rows::instructions::rows),
    ("traffic", rows::traffic::rows),
    ("stalls", rows::stalls::rows),
    ("questions", rows::questions::rows),
    ("time", rows::time::rows),
    ("memory", rows::memory::rows),
    ("scale", rows::scale::rows),
    ("people", rows::people::rows),
    ("agreement", rows::agreement::rows),
    ("chaos", rows::chaos::rows),
];

fn main() -> ExitCode {
    if let Some(counted) = Counted::asked_for() {
        counted.run();
        return ExitCode::SUCCESS;
    }
    if let Some(audience) = Audience::asked_for() {
        audience.run_counted();
        return ExitCode::SUCCESS;
    }
    let mut report = Report::from_args();
    // Named parts run alone: `timeline stalls traffic`.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    for (name, rows) in PARTS {
        if wanted.is_empty() || wanted.iter().any(|word| word == name) {
            rows(&mut report);
        }
    }
    report.finish()
}
