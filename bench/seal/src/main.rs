//! `cargo xtask bench seal [--json]`: cost of a referee, in bytes to its players and in CPU time.
//! Absent: players' clients, whose packets are recorded first.

mod rates;
mod rooms;

#[path = "../../../core/gaggle-seal/tests/room/mod.rs"]
pub mod room;

use std::process::ExitCode;

use bench_report::{CountingAllocator, Report};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn main() -> ExitCode {
    let mut report = Report::from_args();
    rates::rows(&mut report);
    rooms::rows(&mut report);
    report.finish()
}
