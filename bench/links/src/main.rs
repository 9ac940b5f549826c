//! `cargo xtask bench links [--json]`: cost of links and relay, beside Colyseus' relay over
//! unencrypted WebSockets.
//!
//! The loads are `shell/gaggle-relay/examples/links_load` and
//! `shell/gaggle-native/examples/back_load`; this program judges their CPU time. Absent: games.

mod colyseus;
#[path = "../../server/src/foreign.rs"]
mod foreign;
mod page;
#[path = "../../server/src/process.rs"]
#[allow(dead_code, reason = "only another bench measures a server's memory")]
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
    build("gaggle-relay", "links_load", &["--features", "loopback"])?;
    build("gaggle-native", "back_load", &[])?;
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
    report.section("4 rooms of 4 through the relay, undisturbed");
    report.row(Row::new("one way, p50", "ms").gaggle(said["quiet_p50_ms"]));
    report.row(Row::new("one way, p99", "ms").gaggle(said["quiet_p99_ms"]));
    report.section("the same, and 5,000 datagrams a second of strangers");
    attacked(report, &said, "attacked", "datagrams of strangers", 10_000.0);
    report.section("the same, and strangers who come with tickets they signed themselves");
    attacked(report, &said, "forged", "forged tickets", 500.0);
    report
        .section("the same, and eight members of another network who offer the relay channels all the time");
    attacked(report, &said, "offered", "offers", 10_000.0);
    report.section("the same, and three members of another network who send one room all they can");
    attacked(report, &said, "flooded", "their datagrams", 10_000.0);
    report.row(Row::new("one way, p99, that room among them", "ms").gaggle(said["flooded_all_p99_ms"]));
    // Two in a hundred datagrams of four rooms for eight seconds: the flooded room shares the
    // queue.
    report.row(
        Row::new("lost, that room's among them", "messages").gaggle(said["flooded_all_lost"]).at_most(460.0),
    );
    report.section("back");
    let said = load(&["back"])?;
    ms(
        report,
        "both hear each other, from when the relay is there again",
        said["back_after_restart_ms"],
        10_000.0,
    );
    let said = run("back_load", &[])?;
    let server = said["back_after_server_restart_ms"];
    ms(report, "seat and match, from when the whole server is there again", server, 10_000.0);
    match said.get("back_after_move_ms") {
        Some(moved) => ms(report, "seat and match, from when one moved to another address", *moved, 10_000.0),
        None => eprintln!("without a move to another address: only root can make network namespaces"),
    }
    report.section("page");
    report.row(
        Row::new("a page with the transport, gzipped", "kB").gaggle(page::kilobytes(&root())?).at_most(80.0),
    );
    Ok(())
}

/// Figures of rooms that are not attacked, which must barely change while the attack arrives.
fn attacked(report: &mut Report, said: &BTreeMap<String, f64>, name: &str, what: &str, at_least: f64) {
    let of = |figure: &str| said[&format!("{name}_{figure}")];
    report.row(Row::new(format!("{what} turned away"), "").gaggle(of("repelled")).at_least(at_least));
    ms(report, "one way for the others, p50", of("p50_ms"), 1.0_f64.max(2.0 * said["quiet_p50_ms"]));
    ms(report, "one way for the others, p99", of("p99_ms"), 5.0_f64.max(2.0 * said["quiet_p99_ms"]));
    report.row(Row::new("lost by the others", "messages").gaggle(of("lost")).at_most(0.0));
    report.row(Row::new("a look of the generator at its members, p99", "ms").gaggle(of("round_p99_ms")));
    report.row(Row::new("of one core", "%").gaggle(of("cpu_percent")));
}

fn ms(report: &mut Report, name: &str, value: f64, at_most: f64) {
    report.row(Row::new(name, "ms").gaggle(value).at_most(at_most));
}

fn per_cpu(report: &mut Report, name: &str, value: f64, other: Option<f64>, at_least: f64) {
    let row = Row::new(format!("{name}, per CPU-second"), "1/s").gaggle(value);
    report.row(other.map_or(row.clone(), |other| row.other("Colyseus 0.18", other)).at_least(at_least));
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn build(package: &str, example: &str, more: &[&str]) -> Result<(), String> {
    let arguments = ["build", "--quiet", "--release", "--package", package, "--example", example];
    let built = cargo().args(arguments).args(more).current_dir(root()).status();
    if built.is_ok_and(|status| status.success()) { Ok(()) } else { Err(format!("{example} does not build")) }
}

fn load(parts: &[&str]) -> Result<BTreeMap<String, f64>, String> {
    run("links_load", parts)
}

/// Runs a load and reads the figures it prints, by name.
fn run(example: &str, parts: &[&str]) -> Result<BTreeMap<String, f64>, String> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root().join("target"), Into::into);
    let mut command = Command::new(target.join("release/examples").join(example));
    let mut child =
        command.args(parts).stdout(Stdio::piped()).spawn().map_err(|error| format!("{example}: {error}"))?;
    let output = child.stdout.take().ok_or("no output")?;
    let lines = BufReader::new(output).lines().map_while(Result::ok);
    let said = lines.filter_map(|line| {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_string(), value.parse().ok()?))
    });
    let said = said.collect();
    let ended = child.wait().map_err(|error| error.to_string())?;
    if ended.success() { Ok(said) } else { Err(format!("{example} {parts:?} failed")) }
}
