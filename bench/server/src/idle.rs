//! Cost of idle members: memory of each, and delay of the joins beside them.
//!
//! `main` calls it. Absent: how a join works.

use std::net::SocketAddr;
use std::time::Instant;

use bench_report::{Report, Row};

use crate::gaggle::{self, Member};
use crate::joins::join_at;
use crate::process::Process;

const MEMBERS: usize = 15_000;
const AFTERWARDS: usize = 500;

pub(crate) fn rows(report: &mut Report) -> Result<(), String> {
    // On a server of its own, because a member that left keeps its reservation there for a minute.
    let alone = join_times(&gaggle::start()?, 0)?;
    let server = gaggle::start_everywhere()?;
    let before = server.memory();
    // The members use addresses of their own: with half of all ports of one address in use, the
    // system needs milliseconds to find a free one, and only the server is to be measured.
    let places = [2, 3, 4, 5].map(|last| SocketAddr::from(([127, 0, 0, last], server.address.port())));
    let members = join_at(&places, MEMBERS, 16)?;
    let each = (server.memory() - before) as f64 / MEMBERS as f64 / 1_024.0;
    report.row(
        Row::new(format!("memory of a member in a room, of {MEMBERS}"), "KB").gaggle(each).at_most(16.0),
    );
    let rooms: std::collections::BTreeSet<&str> = members.iter().map(|member| member.room.as_str()).collect();
    let spare = rooms.len() as f64 - (MEMBERS / 4) as f64;
    report.row(
        Row::new(format!("rooms of 4 too many after {MEMBERS} joins"), "rooms").gaggle(spare).at_most(0.0),
    );
    let beside = join_times(&server, MEMBERS)?;
    let p99 = beside[AFTERWARDS * 99 / 100];
    report.row(
        Row::new(format!("joining beside {MEMBERS} idle members, 99th percentile"), "ms")
            .gaggle(p99)
            .at_most(20.0),
    );
    report.row(
        Row::new(format!("joining beside {MEMBERS} idle members, median"), "ms")
            .gaggle(beside[AFTERWARDS / 2])
            .other("the same, empty", alone[AFTERWARDS / 2])
            .ratio_at_most(2.0),
    );
    Ok(())
}

/// Times of joins one after another, in milliseconds, ascending.
fn join_times(server: &Process, first: usize) -> Result<Vec<f64>, String> {
    let mut times = Vec::new();
    for number in first..first + AFTERWARDS {
        let began = Instant::now();
        Member::join(server.address, number)?;
        times.push(began.elapsed().as_secs_f64() * 1_000.0);
    }
    times.sort_unstable_by(f64::total_cmp);
    Ok(times)
}
