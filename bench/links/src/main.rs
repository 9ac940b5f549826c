//! `cargo xtask bench links [--json]`: what links and the relay cost, beside Colyseus' relay over unencrypted WebSockets.
//!
//! The load itself is made by `shell/gaggle-relay/examples/links_load`, built here as the project builds it; this program
//! judges what it says. Relays are processes of their own, and what counts is the CPU time the system says they used.

mod colyseus;
#[path = "../../server/src/foreign.rs"]
mod foreign;
mod page;
#[path = "../../server/src/process.rs"]
#[allow(dead_code, reason = "what a server's memory is asked about is another bench's")]
mod process;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use bench_report::{Report, Row};

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
        eprintln!("without Colyseus: {why}");
    }
    build()?;
    report.section("meeting");
    let said = load(&["meeting"])?;
    ms(report, "both in a room to a first message, direct, p50 of 20", said["first_packet_direct_ms"], 600.0);
    ms(report, "the same by relay, the direct way failing", said["first_packet_relay_ms"], 3_800.0);
    report.section("one way");
    let said = load(&["latency"])?;
    ms(report, "added to bare UDP by a direct link, p50", said["added_direct_us"] / 1_000.0, 0.2);
    ms(report, "added to bare UDP by the relay, p50", said["added_relay_us"] / 1_000.0, 0.4);
    report.section("relay, 100 B");
    let said = load(&["single"])?;
    per_cpu(report, "forwards, one message a datagram", said["relay_single_per_cpu_second"], None, 15_000.0);
    let said = load(&["rooms"])?;
    for (name, key, in_phase, target) in [
        ("deliveries, rooms of 8 at 60 Hz in phase", "relay_in_phase_per_cpu_second", true, 60_000.0),
        (
            "deliveries, rooms of 8 at 60 Hz at random phases",
            "relay_random_phase_per_cpu_second",
            false,
            25_000.0,
        ),
    ] {
        let other = node.as_ref().ok().map(|folder| colyseus::deliveries_per_cpu_second(folder, in_phase));
        per_cpu(report, name, said[key], other.transpose()?, target);
    }
    let said = load(&["held"])?;
    report.section("12 rooms of 4 at 60 Hz through the relay for 60 s");
    report.row(Row::new("one way, p50", "ms").gaggle(said["held_p50_ms"]));
    ms(report, "one way, p99", said["held_p99_ms"], 5.0);
    report
        .row(Row::new("a look of the generator at its members, p99", "ms").gaggle(said["held_round_p99_ms"]));
    report.row(Row::new("lost", "messages").gaggle(said["held_lost"]).at_most(0.0));
    report.row(
        Row::new("memory the relay gained", "KB").gaggle(said["held_memory_growth_kb"]).at_most(1_024.0),
    );
    report.row(Row::new("of one core", "%").gaggle(said["held_cpu_percent"]));
    let said = load(&["attack"])?;
    report.section("4 rooms of 4 through the relay, and 5,000 datagrams a second of strangers");
    report.row(Row::new("one way, p50, undisturbed", "ms").gaggle(said["quiet_p50_ms"]));
    report.row(Row::new("one way, p50, attacked", "ms").gaggle(said["attacked_p50_ms"]));
    report.row(Row::new("one way, p99, undisturbed", "ms").gaggle(said["quiet_p99_ms"]));
    ms(report, "one way, p99, attacked", said["attacked_p99_ms"], 5.0_f64.max(2.0 * said["quiet_p99_ms"]));
    report.row(Row::new("lost while attacked", "messages").gaggle(said["attacked_lost"]).at_most(0.0));
    report.section("the same, and three members of another network who send one room all they can");
    report.row(Row::new("one way, p50", "ms").gaggle(said["flooded_p50_ms"]));
    report.row(Row::new("one way, p99", "ms").gaggle(said["flooded_p99_ms"]));
    // Two datagrams in a hundred of four rooms for eight seconds: the flooded room shares what may wait for it.
    report.row(Row::new("lost", "messages").gaggle(said["flooded_lost"]).at_most(460.0));
    report.section("back");
    let said = load(&["back"])?;
    ms(
        report,
        "both hear each other, from when the relay is there again",
        said["back_after_restart_ms"],
        10_000.0,
    );
    report.section("page");
    report.row(
        Row::new("a page with the transport, gzipped", "kB").gaggle(page::kilobytes(&root())?).at_most(80.0),
    );
    Ok(())
}

fn ms(report: &mut Report, name: &str, value: f64, at_most: f64) {
    report.row(Row::new(name, "ms").gaggle(value).at_most(at_most));
}

fn per_cpu(report: &mut Report, name: &str, value: f64, other: Option<f64>, at_least: f64) {
    let row = Row::new(format!("{name}, per CPU-second"), "1/s").gaggle(value);
    report.row(other.map_or(row.clone(), |other| row.other("Colyseus 0.17", other)).at_least(at_least));
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn build() -> Result<(), String> {
    let arguments = ["build", "--quiet", "--release", "--package", "gaggle-relay", "--features", "loopback"];
    let built = cargo().args(arguments).args(["--example", "links_load"]).current_dir(root()).status();
    if built.is_ok_and(|status| status.success()) { Ok(()) } else { Err("links_load does not build".into()) }
}

/// Lets the load run and takes what it says, name by name.
fn load(parts: &[&str]) -> Result<BTreeMap<String, f64>, String> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root().join("target"), Into::into);
    let mut command = Command::new(target.join("release/examples/links_load"));
    let mut child =
        command.args(parts).stdout(Stdio::piped()).spawn().map_err(|error| format!("links_load: {error}"))?;
    let output = child.stdout.take().ok_or("no output")?;
    let lines = BufReader::new(output).lines().map_while(Result::ok);
    let said = lines.filter_map(|line| {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_string(), value.parse().ok()?))
    });
    let said = said.collect();
    let ended = child.wait().map_err(|error| error.to_string())?;
    if ended.success() { Ok(said) } else { Err(format!("links_load {parts:?} failed")) }
}
