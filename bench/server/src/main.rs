//! `cargo xtask bench server [--json] [joins|signals|idle|nodes]`: what the server costs, beside
//! Colyseus, PeerJS and matchbox_server on the same machine.
//!
//! Servers are processes of their own, and what counts is the CPU time the system says they used;
//! the generator runs beside them. Foreign servers are installed by npm and cargo into `target/`;
//! if that fails so does the bench, because a promise about others cannot be kept without them.
//! Whatever is compared is measured in turns, each time with a server that was started and warmed
//! up for it, and the middle of the runs counts.

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

/// Runs of everything that is compared.
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
