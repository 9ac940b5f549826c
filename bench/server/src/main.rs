//! `cargo xtask bench server [--json] [joins|signals|idle|nodes]`: what the server costs, beside Colyseus, PeerJS and matchbox_server on the same machine.
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
    let parts: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let wanted = |part: &str| parts.is_empty() || parts.iter().any(|word| word == part);
    if wanted("joins") {
        joins::rows(report, node.as_deref())?;
    }
    if wanted("signals") {
        signals::rows(report, node.as_deref())?;
    }
    if wanted("idle") {
        idle::rows(report)?;
    }
    if wanted("nodes") {
        nodes::rows(report)?;
    }
    Ok(())
}
