//! `cargo xtask bench server [--json]`: what the server costs, beside Colyseus, PeerJS and matchbox_server on the same machine.
//!
//! Servers are processes of their own, and what counts is the CPU time the system says they used; the generator
//! runs beside them. Foreign servers are installed by npm and cargo into `target/`, and left out with a word if that fails.

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

fn measure(report: &mut Report) -> Result<(), String> {
    process::allow_many_sockets();
    let node = foreign::install();
    if let Err(why) = &node {
        eprintln!("without Colyseus and PeerJS: {why}");
    }
    let node = node.ok();
    joins::rows(report, node.as_deref())?;
    signals::rows(report, node.as_deref())?;
    idle::rows(report)?;
    nodes::rows(report)
}
