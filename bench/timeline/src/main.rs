//! `cargo xtask bench timeline [--json]`: the timeline beside ggrs and fortress-rollback.

use std::process::ExitCode;

use bench_report::{CountingAllocator, Report};
use bench_timeline::rows;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn main() -> ExitCode {
    let mut report = Report::from_args();
    rows::cpu::rows(&mut report);
    rows::traffic::rows(&mut report);
    report.finish()
}
