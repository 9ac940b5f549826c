//! One attack of the suite: what honest clients and the server experienced, and the verdict.
//!
//! `suite` lists the attacks, `main` runs them. Absent: how an attack works.

use std::time::{Duration, Instant};

use bench_report::{Report, Row};

use crate::attacker::{Attack, Kind};
use crate::honest::{self, Noticed, Wants};
use crate::process::Process;
use crate::scale::Scale;
use crate::server::Server;

/// A p99 up to this is accepted; above, up to five times the undisturbed one.
const P99_MS: f64 = 10.0;
const TIMES_UNDISTURBED: f64 = 5.0;
/// Memory in MB the server may gain: pages of the allocator, but nothing per request.
const MEMORY_MB: f64 = 32.0;
/// Share of the planned attack that must reach the server: a starved one shows nothing.
const REACHED: f64 = 0.25;

/// An attack of the suite.
pub(crate) struct Planned {
    pub(crate) kind: Kind,
    pub(crate) title: &'static str,
    /// Requests per second, or connections at the same time.
    pub(crate) strength: u64,
    pub(crate) tls: bool,
    /// Whether strength counts connections, which reach the server once, not every second.
    pub(crate) at_once: bool,
    /// Limit of the server that stops it.
    pub(crate) limit: &'static str,
}

/// Result of an attack.
#[derive(Default)]
pub(crate) struct Endured {
    pub(crate) title: String,
    pub(crate) limit: &'static str,
    pub(crate) noticed: Noticed,
    /// Requests that reached the server per second, or connections.
    pub(crate) reached: f64,
    /// Requests that reached the server since the attack began.
    pub(crate) reached_in_all: f64,
    pub(crate) wanted: f64,
    /// Unit of both figures.
    pub(crate) unit: &'static str,
    /// Largest gain of the server's memory, in MB.
    pub(crate) memory_mb: f64,
    /// CPU of the server, in cores.
    pub(crate) cpu: f64,
}

impl Endured {
    /// Figures of honest clients without an attack.
    pub(crate) fn quiet(scale: Scale, tls: bool) -> Result<Endured, String> {
        let server = start(scale, tls)?;
        let title = if tls { "undisturbed, TLS" } else { "undisturbed" };
        measure(&server, scale, Wants::All, || Ok(None), title, "")
    }

    /// Figures during this attack.
    pub(crate) fn attack(scale: Scale, planned: &Planned) -> Result<Endured, String> {
        let server = start(scale, planned.tls)?;
        let strength = scale.of(planned.strength);
        let begin = || Attack::begin(planned.kind, server.target.address, strength, scale.is_idle).map(Some);
        let mut endured = measure(&server, scale, Wants::All, begin, planned.title, planned.limit)?;
        endured.wanted = strength as f64;
        if planned.at_once {
            endured.reached = endured.reached_in_all;
            endured.unit = "";
        }
        Ok(endured)
    }

    /// Reports and judges the figures beside the undisturbed ones.
    pub(crate) fn report(&self, report: &mut Report, quiet: Option<&Endured>) {
        report.section(&self.title);
        for (name, samples) in self.noticed.kinds() {
            if samples.count() == 0 && samples.lost() == 0 {
                continue;
            }
            report.row(Row::new(format!("{}: {name}, p50", self.title), "ms").gaggle(samples.percentile(50)));
            let row = Row::new(format!("{}: {name}, p99", self.title), "ms").gaggle(samples.percentile(99));
            report.row(match quiet {
                None => row,
                Some(quiet) => row.at_most(allowed(quiet.p99(name))),
            });
        }
        let lost = Row::new(format!("{}: requests of honest clients lost", self.title), "")
            .gaggle(self.noticed.lost() as f64);
        report.row(lost.at_most(0.0));
        for (name, samples) in self.noticed.kinds() {
            if let Some(why) = samples.why() {
                report.note(&format!("{} of {name} lost, the first: {why}", samples.lost()));
            }
        }
        let memory = Row::new(format!("{}: memory gained at most", self.title), "MB").gaggle(self.memory_mb);
        report.row(memory.at_most(MEMORY_MB));
        report.row(Row::new(format!("{}: CPU of one core", self.title), "%").gaggle(self.cpu * 100.0));
        if quiet.is_some() {
            let row = Row::new(format!("{}: of the attack, reached the server", self.title), self.unit);
            report.row(row.gaggle(self.reached).at_least(self.wanted * REACHED));
        }
    }

    /// p99 of a kind of request, in milliseconds.
    pub(crate) fn p99(&self, name: &str) -> f64 {
        self.percentile(name, 99)
    }

    pub(crate) fn percentile(&self, name: &str, percent: usize) -> f64 {
        let kinds = self.noticed.kinds();
        kinds
            .iter()
            .find(|(kind, _)| *kind == name)
            .map_or(f64::NAN, |(_, samples)| samples.percentile(percent))
    }

    /// Whether all targets are met.
    pub(crate) fn holds(&self, quiet: &Endured) -> bool {
        let kinds = self.noticed.kinds();
        let mut measured = kinds.iter().filter(|(_, samples)| samples.count() > 0);
        let is_fast = measured.all(|(name, samples)| samples.percentile(99) <= allowed(quiet.p99(name)));
        is_fast && self.noticed.lost() == 0 && self.memory_mb <= MEMORY_MB && self.has_arrived()
    }

    /// Whether enough of the attack reached the server.
    fn has_arrived(&self) -> bool {
        self.reached >= self.wanted * REACHED
    }
}

/// Largest accepted p99 for an undisturbed one.
pub(crate) fn allowed(undisturbed: f64) -> f64 {
    P99_MS.max(TIMES_UNDISTURBED * undisturbed)
}

fn start(scale: Scale, tls: bool) -> Result<Server, String> {
    Server::start_with(scale.build, std::net::Ipv4Addr::LOCALHOST.into(), tls, &[])
}

/// Measures honest clients of this server during an attack.
pub(crate) fn measure(
    server: &Server,
    scale: Scale,
    wants: Wants,
    begin: impl FnOnce() -> Result<Option<Attack>, String>,
    title: &str,
    limit: &'static str,
) -> Result<Endured, String> {
    let (noticed, watched) = honest::run(&server.target, wants, scale, |phase| {
        std::thread::sleep(scale.warm_up);
        let before = server.process.memory();
        let attack = begin()?;
        std::thread::sleep(scale.warm_up);
        phase.count();
        watch(&server.process, scale.time, before, attack.as_ref())
    })?;
    let Watched { reached, reached_in_all, memory_mb, cpu } = watched;
    Ok(Endured {
        title: title.into(),
        limit,
        noticed,
        reached,
        reached_in_all,
        wanted: 0.0,
        unit: "1/s",
        memory_mb,
        cpu,
    })
}

/// Observations of the server and the attack.
pub(crate) struct Watched {
    pub(crate) reached: f64,
    pub(crate) reached_in_all: f64,
    pub(crate) memory_mb: f64,
    pub(crate) cpu: f64,
}

/// Observes the server for this long.
pub(crate) fn watch(
    process: &Process,
    time: Duration,
    memory_before: u64,
    attack: Option<&Attack>,
) -> Result<Watched, String> {
    let count = || attack.map_or(0, Attack::count);
    let (began, cpu, hits) = (Instant::now(), process.cpu(), count());
    let mut peak = memory_before;
    while began.elapsed() < time {
        std::thread::sleep(Duration::from_millis(50));
        peak = peak.max(process.memory());
    }
    if process.memory() == 0 {
        return Err("the server has ended".into());
    }
    let seconds = began.elapsed().as_secs_f64();
    Ok(Watched {
        reached: (count() - hits) as f64 / seconds,
        reached_in_all: count() as f64,
        memory_mb: (peak - memory_before) as f64 / f64::from(1 << 20),
        cpu: (process.cpu() - cpu).as_secs_f64() / seconds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endured(millis: u64, lost: u64, memory_mb: f64) -> Endured {
        let mut noticed = Noticed::default();
        (0..100).for_each(|_| noticed.signal.add(Duration::from_millis(millis)));
        noticed.signal.lose(lost, "it was lost");
        Endured { title: "a".into(), noticed, memory_mb, ..Endured::default() }
    }

    #[test]
    fn p99_may_be_ten_ms_or_five_times_undisturbed() {
        assert_eq!((allowed(0.5), allowed(4.0)), (10.0, 20.0));
        let quiet = endured(1, 0, 0.0);
        assert!(endured(10, 0, 1.0).holds(&quiet));
        assert!(!endured(11, 0, 1.0).holds(&quiet));
        assert!(endured(11, 0, 1.0).holds(&endured(3, 0, 0.0)));
    }

    #[test]
    fn lost_request_grown_memory_or_starved_attack_fails() {
        let quiet = endured(1, 0, 0.0);
        assert!(!endured(1, 1, 0.0).holds(&quiet));
        assert!(!endured(1, 0, 33.0).holds(&quiet));
        let starved = Endured { reached: 24.0, wanted: 100.0, ..endured(1, 0, 0.0) };
        assert!(!starved.holds(&quiet), "a starved attack was accepted");
        assert!(Endured { reached: 25.0, ..starved }.holds(&quiet));
        let mut report = Report::new(true);
        endured(1, 1, 0.0).report(&mut report, Some(&quiet));
        assert_eq!(format!("{:?}", report.finish()), format!("{:?}", std::process::ExitCode::FAILURE));
    }
}
