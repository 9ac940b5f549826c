//! Members who are there and say nothing: what they take, and whether they are in the way of others.

use std::time::Instant;

use bench_report::{Report, Row};

use crate::gaggle::{self, Member};
use crate::joins::join_in_lanes;

const MEMBERS: usize = 15_000;
const AFTERWARDS: usize = 500;

pub(crate) fn rows(report: &mut Report) -> Result<(), String> {
    let server = gaggle::start()?;
    let before = server.memory();
    let members = join_in_lanes(&server, MEMBERS, 16)?;
    let each = (server.memory() - before) as f64 / MEMBERS as f64 / 1_024.0;
    report.row(
        Row::new(format!("memory of a member in a room, of {MEMBERS}"), "KB").gaggle(each).at_most(16.0),
    );
    let rooms: std::collections::BTreeSet<&str> = members.iter().map(|member| member.room.as_str()).collect();
    let spare = rooms.len() as f64 - (MEMBERS / 4) as f64;
    report.row(
        Row::new(format!("rooms of 4 too many after {MEMBERS} joins"), "rooms").gaggle(spare).at_most(0.0),
    );
    let mut times = Vec::new();
    for number in 0..AFTERWARDS {
        let began = Instant::now();
        Member::join(server.address, MEMBERS + number)?;
        times.push(began.elapsed());
    }
    times.sort_unstable();
    let p99 = times[AFTERWARDS * 99 / 100].as_secs_f64() * 1_000.0;
    report.row(
        Row::new(format!("joining beside {MEMBERS} idle members, 99th percentile"), "ms")
            .gaggle(p99)
            .at_most(20.0),
    );
    Ok(())
}
