//! `cargo xtask bench link [--json]`: cost of a link's packets, and delay that its transfers add to
//! a game beside them. Absent: games, servers.

mod instructions;
mod packets;
mod transfer;

use std::process::ExitCode;

use bench_report::{CountingAllocator, Report};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn main() -> ExitCode {
    if let Some(load) = instructions::asked_for() {
        load.run();
        return ExitCode::SUCCESS;
    }
    let mut report = Report::from_args();
    packets::rows(&mut report);
    instructions::rows(&mut report);
    transfer::rows(&mut report);
    report.finish()
}
