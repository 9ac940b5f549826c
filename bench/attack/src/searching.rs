//! Thousands of players who search by skill and never match.
//!
//! `main` runs it. Absent: how a search works.

use bench_report::{Report, Row};
use rustix::process::{Resource, getrlimit};

use crate::attacker::{Attack, Kind};
use crate::endured::measure;
use crate::honest::Wants;
use crate::scale::Scale;
use crate::server::Server;
use crate::table::Outcome;

/// Signals may take twice as long as without them, at p50 and p99.
const TIMES_QUIET: f64 = 2.0;
/// Share of the players who must have been let in.
const CAME: f64 = 0.9;
/// Sockets the process needs for other purposes.
const OTHER_SOCKETS: u64 = 500;

pub(crate) fn run(report: &mut Report, scale: Scale) -> Result<Vec<Outcome>, String> {
    let sockets = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let count = scale.searchers.min(sockets.saturating_sub(OTHER_SOCKETS));
    if count < scale.searchers {
        report
            .note(&format!("{count} searchers instead of {}: as many as open files allow", scale.searchers));
    }
    let settings = ["--connections-max", "100000"];
    let server = Server::start_with(scale.build, std::net::Ipv4Addr::LOCALHOST.into(), false, &settings)?;
    let quiet = measure(&server, scale, Wants::Signals, || Ok(None), "quiet", "")?;
    let begin = || Attack::begin(Kind::Searchers, server.target.address, count, false).map(Some);
    let searching = measure(&server, scale, Wants::Signals, begin, "searching", "")?;
    report.section("search by skill");
    let mut outcomes = Vec::new();
    for percent in [50, 99] {
        let [value, quiet] = [&searching, &quiet].map(|endured| endured.percentile("signal", percent));
        let title = format!("signal p{percent} with {count} players in search by skill");
        let row = Row::new(&title, "ms").gaggle(value).other("the same, quiet", quiet);
        report.row(row.ratio_at_most(TIMES_QUIET));
        let bound = TIMES_QUIET * quiet;
        outcomes.push(Outcome { title, unit: "ms", value, bound, met: value <= bound });
    }
    report.row(Row::new("signals lost meanwhile", "").gaggle(searching.noticed.lost() as f64).at_most(0.0));
    let came = Row::new("players who came to search", "").gaggle(searching.reached_in_all);
    report.row(came.at_least(count as f64 * CAME));
    report.row(Row::new("CPU of one core", "%").gaggle(searching.cpu * 100.0));
    Ok(outcomes)
}
