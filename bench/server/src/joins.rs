//! Cost of a join: from the TCP connection to the ticket.
//!
//! `main` calls it, `idle` and `nodes` join with it. Absent: the client's messages.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use bench_report::{Report, Row, median};

use crate::gaggle::Member;
use crate::process::Process;
use crate::{RUNS, foreign, gaggle};

const JOINS: usize = 2_000;
/// Joins before the measured ones.
const WARM_UP: usize = 400;
const LANES: usize = 16;
/// Joins per second of the paced run.
const PACE_PER_SECOND: usize = 1_000;
const PACED: usize = 4_000;

pub(crate) fn rows(report: &mut Report, node: &Path) -> Result<(), String> {
    let (mut ours, mut theirs, mut spare) = (Vec::new(), Vec::new(), 0.0);
    for _ in 0..RUNS {
        let (cpu, rooms) = of_ours()?;
        ours.push(cpu);
        spare = rooms as f64 - ((WARM_UP + JOINS) / 4) as f64;
        theirs.push(of_colyseus(node)?);
    }
    let row = Row::new("find or create, CPU of the server", "µs").gaggle(median(&ours));
    report.row(row.other("Colyseus 0.18", median(&theirs)).ratio_at_most(1.0 / 8.0));
    let name = format!("rooms of 4 too many after {} joins", WARM_UP + JOINS);
    report.row(Row::new(name, "rooms").gaggle(spare).at_most(0.0));

    let server = gaggle::start()?;
    let mut times = paced(&server)?;
    times.sort_unstable();
    let p99 = times[times.len() * 99 / 100].as_secs_f64() * 1_000.0;
    report.row(Row::new("joining at 1,000 joins/s, 99th percentile", "ms").gaggle(p99).at_most(20.0));
    Ok(())
}

/// CPU of a join at Gaggle's server, in microseconds, and the number of rooms at the end.
fn of_ours() -> Result<(f64, usize), String> {
    let server = gaggle::start()?;
    let mut members = join_in_lanes(&server, WARM_UP, LANES)?;
    server.settle();
    let before = server.cpu();
    members.extend(join_from(&[server.address], WARM_UP, JOINS, LANES)?);
    let cpu = micros_each(server.cpu() - before, JOINS);
    let rooms: BTreeSet<&str> = members.iter().map(|member| member.room.as_str()).collect();
    Ok((cpu, rooms.len()))
}

/// CPU of a join at Colyseus, in microseconds.
fn of_colyseus(folder: &Path) -> Result<f64, String> {
    let server = foreign::start(folder, "colyseus.js")?;
    colyseus(folder, server.address.port(), WARM_UP)?;
    server.settle();
    let before = server.cpu();
    colyseus(folder, server.address.port(), JOINS)?;
    Ok(micros_each(server.cpu() - before, JOINS))
}

/// Joins in `lanes` threads, each as fast as possible.
pub(crate) fn join_in_lanes(server: &Process, joins: usize, lanes: usize) -> Result<Vec<Member>, String> {
    join_at(&[server.address], joins, lanes)
}

/// The same, each join at the next of these addresses.
pub(crate) fn join_at(addresses: &[SocketAddr], joins: usize, lanes: usize) -> Result<Vec<Member>, String> {
    join_from(addresses, 0, joins, lanes)
}

/// The same, with guests numbered from `first`.
fn join_from(
    addresses: &[SocketAddr],
    first: usize,
    joins: usize,
    lanes: usize,
) -> Result<Vec<Member>, String> {
    std::thread::scope(|scope| {
        let lane = |lane: usize| {
            let numbers = (first + lane..first + joins).step_by(lanes);
            scope.spawn(move || {
                numbers
                    .map(|number| Member::join(addresses[number % addresses.len()], number))
                    .collect::<Result<Vec<_>, _>>()
            })
        };
        let lanes: Vec<_> = (0..lanes).map(lane).collect();
        let mut members = Vec::new();
        for lane in lanes {
            members.extend(lane.join().map_err(|_| "a lane panicked")??);
        }
        Ok(members)
    })
}

/// One join every millisecond, also if earlier ones are not done: a late start counts as waiting.
fn paced(server: &Process) -> Result<Vec<Duration>, String> {
    let (address, begin) = (server.address, Instant::now() + Duration::from_millis(50));
    let lanes = 32;
    std::thread::scope(|scope| {
        let lane = |lane: usize| {
            scope.spawn(move || {
                let (mut times, mut members) = (Vec::new(), Vec::new());
                for number in (lane..PACED).step_by(lanes) {
                    let due = begin + Duration::from_secs(1) * number as u32 / PACE_PER_SECOND as u32;
                    std::thread::sleep(due.saturating_duration_since(Instant::now()));
                    members.push(Member::join(address, number)?);
                    times.push(due.elapsed());
                }
                Ok::<_, String>((times, members))
            })
        };
        let lanes: Vec<_> = (0..lanes).map(lane).collect();
        let (mut times, mut all) = (Vec::new(), Vec::new());
        for lane in lanes {
            let (lane_times, members) = lane.join().map_err(|_| "a lane panicked")??;
            times.extend(lane_times);
            all.push(members);
        }
        Ok(times)
    })
}

fn colyseus(folder: &Path, port: u16, joins: usize) -> Result<(), String> {
    let arguments = [port.to_string(), joins.to_string(), LANES.to_string()];
    let output = foreign::node(folder, "colyseus_join.js").args(arguments).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn micros_each(cpu: Duration, count: usize) -> f64 {
    cpu.as_secs_f64() * 1e6 / count as f64
}
