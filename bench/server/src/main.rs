//! `cargo xtask bench server [--json] [joins|signals|idle|nodes]`: CPU and memory of the server
//! beside Colyseus, PeerJS and matchbox_server on the same machine.
//!
//! Servers are processes; what counts is the CPU time the system reports. Compared servers are
//! started, warmed up and measured in turns, and the median counts. Absent: games, links.

mod foreign;
mod gaggle;
mod idle;
mod joins;
mod matchbox;
mod nodes;
mod process;
mod signals;

use std::process::ExitCode;

use bench_report::Report;

fn main() -> ExitCode {
    let mut report = Report::from_args();
    if let Err(why) = measure(&mut report) {
        eprintln!("the bench cannot be run: {why}");
        return ExitCode::FAILURE;
    }
    report.finish()
}

/// Runs of each compared measurement.
pub(crate) const RUNS: usize = 3;

fn measure(report: &mut Report) -> Result<(), String> {
    process::allow_many_sockets();
    let parts: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let wanted = |part: &str| parts.is_empty() || parts.iter().any(|word| word == part);
    if wanted("joins") {
        joins::rows(report, &foreign::install()?)?;
    }
    if wanted("signals") {
        signals::rows(report, &foreign::install()?, &matchbox::install()?)?;
    }
    if wanted("idle") {
        idle::rows(report)?;
    }
    if wanted("nodes") {
        nodes::rows(report)?;
    }
    Ok(())
}
