//! Attacks judged by their outcome: who meets, which scores count, who gets in.
//!
//! `main` runs them. Absent: latencies of other requests.

mod rooms;
mod scores;

use bench_report::{Report, Row};
use rooms::Hosts;

use crate::samples::Samples;
use crate::scale::Scale;
use crate::server::Server;
use crate::table::Outcome;

/// Runs all of them, each on a server of its own.
pub(crate) fn run(report: &mut Report, scale: Scale) -> Result<Vec<Outcome>, String> {
    let mut outcomes = Vec::new();
    report.section("by outcome");
    for (kind, title) in [
        (Hosts::Kick, "quick match against 8 hosts who kick: meeting"),
        (Hosts::Idle, "quick match against 8 idle hosts: meeting"),
    ] {
        let met = rooms::meetings(&Server::start(scale.build)?.target, scale.meetings, kind)?;
        judge_samples(report, &mut outcomes, title, &met, 2_000.0);
    }
    let server = Server::start(scale.build)?;
    let watched = rooms::watch_locked(&server.target)?;
    judge(report, &mut outcomes, "strangers who watch a locked private room", "", watched, 0.0);
    let revived = rooms::revive_ended(&server.target)?;
    judge(report, &mut outcomes, "ended rooms revived by a ticket", "", revived, 0.0);
    let server = Server::start(scale.build)?;
    let forged = scores::agree_on_forged(&server.target)?;
    judge(report, &mut outcomes, "verified scores of two keys of one address", "", forged, 0.0);
    let gained = scores::pump_rating(&server.target)?;
    judge(report, &mut outcomes, "rating won over 10 throw-away keys", "points", gained, 0.0);
    let forced = scores::force_on_victim(&server.target)?;
    judge(report, &mut outcomes, "scores three keys of one address forced on a fourth", "", forced, 0.0);
    let decided = scores::honest_results(&server.target, scale.meetings)?;
    let title = "an honest result decided while two keys forge scores";
    judge_samples(report, &mut outcomes, title, &decided, 1_000.0);
    Ok(outcomes)
}

/// Reports p50 and p99 of honest clients, in milliseconds.
pub(crate) fn judge_samples(
    report: &mut Report,
    outcomes: &mut Vec<Outcome>,
    title: &str,
    samples: &Samples,
    at_most: f64,
) {
    for percent in [50, 99] {
        let title = format!("{title}, p{percent}");
        judge(report, outcomes, &title, "ms", samples.percentile(percent), at_most);
    }
}

/// Reports one outcome.
pub(crate) fn judge(
    report: &mut Report,
    outcomes: &mut Vec<Outcome>,
    title: &str,
    unit: &'static str,
    value: f64,
    at_most: f64,
) {
    report.row(Row::new(title, unit).gaggle(value).at_most(at_most));
    outcomes.push(Outcome { title: title.into(), unit, value, bound: at_most, met: value <= at_most });
}
