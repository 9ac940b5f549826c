//! Metrics for operators, in Prometheus' text format.
//!
//! `http.rs` and `relay.rs` use it. Absent: counting, which the parts do.

use std::fmt::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use gaggle_lobby::node::NodeStats;
use gaggle_lobby::{RejectionCode, RoomId};

/// Upper bounds of the buckets of a [`Histogram`], in microseconds.
const BUCKETS: [u64; 12] =
    [50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 100_000, 1_000_000, 10_000_000];

/// A source of metrics, such as a relay. Pass it to [`crate::Server::start_with`].
pub trait MetricsSource: fmt::Debug + Send + Sync {
    /// Appends its metrics, each with `# HELP` and `# TYPE`: see [`counter`] and [`gauge`].
    fn render(&self, out: &mut String);

    /// Key figures for the operator's page.
    fn figures(&self) -> Figures {
        Figures::default()
    }

    /// Figures of one room for the operator's page; none if it has none.
    fn room_figures(&self, room: RoomId) -> Vec<(&'static str, u64)> {
        let _ = room;
        Vec::new()
    }
}

/// Key figures with their names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Figures {
    /// Figures that rise and fall.
    pub now: Vec<(&'static str, u64)>,
    /// Figures that only rise.
    pub counts: Vec<(&'static str, u64)>,
}

/// Appends a metric that only rises.
pub fn counter(out: &mut String, name: &str, about: &str, value: u64) {
    number(out, name, about, "counter", value);
}

/// Appends a metric that rises and falls.
pub fn gauge(out: &mut String, name: &str, about: &str, value: u64) {
    number(out, name, about, "gauge", value);
}

fn number(out: &mut String, name: &str, about: &str, kind: &str, value: u64) {
    let _ = writeln!(out, "# HELP {name} {about}\n# TYPE {name} {kind}\n{name} {value}");
}

/// Appends how often each limit of one part of the server was exceeded.
pub(crate) fn limited<'a>(out: &mut String, part: &str, counts: impl Iterator<Item = (&'a str, u64)>) {
    let name = format!("gaggle_{part}_limited_total");
    let _ = writeln!(out, "# HELP {name} Times each limit was exceeded.\n# TYPE {name} counter");
    for (limit, count) in counts {
        let _ = writeln!(out, "{name}{{limit=\"{limit}\"}} {count}");
    }
}

/// Durations in buckets.
#[derive(Debug, Default)]
pub struct Histogram {
    buckets: [AtomicU64; BUCKETS.len()],
    count: AtomicU64,
    sum_micros: AtomicU64,
}

impl Histogram {
    /// Counts one duration.
    pub fn observe(&self, micros: u64) {
        let at = BUCKETS.partition_point(|bound| *bound < micros);
        if let Some(bucket) = self.buckets.get(at) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        self.sum_micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// Appends the buckets, in seconds as Prometheus requires.
    pub fn render(&self, out: &mut String, name: &str, about: &str) {
        let _ = writeln!(out, "# HELP {name} {about}\n# TYPE {name} histogram");
        let mut below = 0;
        for (bound, bucket) in BUCKETS.iter().zip(&self.buckets) {
            below += bucket.load(Ordering::Relaxed);
            let _ = writeln!(out, "{name}_bucket{{le=\"{}\"}} {below}", seconds(*bound));
        }
        let count = self.count.load(Ordering::Relaxed);
        let sum = seconds(self.sum_micros.load(Ordering::Relaxed));
        let _ = writeln!(out, "{name}_bucket{{le=\"+Inf\"}} {count}\n{name}_sum {sum}\n{name}_count {count}");
    }
}

/// Microseconds as decimal seconds.
fn seconds(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Appends a node's counters.
pub(crate) fn tally(out: &mut String, tally: &NodeStats) {
    counter(out, "gaggle_messages_total", "Messages received.", tally.messages);
    counter(out, "gaggle_welcomes_total", "Connections identified by `hello`.", tally.authenticated);
    counter(out, "gaggle_seats_given_total", "Reservations given to joiners.", tally.joined);
    counter(out, "gaggle_seats_returned_total", "Reservations resumed.", tally.returned);
    counter(out, "gaggle_rooms_created_total", "Rooms created.", tally.rooms_created);
    counter(out, "gaggle_signals_total", "Signals delivered.", tally.signals);
    by_code(out, "gaggle_refusals_total", "Requests rejected, by reason.", tally.rejected.iter());
    by_code(
        out,
        "gaggle_connections_ended_total",
        "Connections closed by the server, by reason.",
        tally.closed.iter(),
    );
}

fn by_code<'a>(
    out: &mut String,
    name: &str,
    about: &str,
    counts: impl Iterator<Item = (&'a RejectionCode, &'a u64)>,
) {
    let _ = writeln!(out, "# HELP {name} {about}\n# TYPE {name} counter");
    for (code, count) in counts {
        let _ = writeln!(out, "{name}{{code=\"{code}\"}} {count}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_cumulative() {
        let histogram = Histogram::default();
        [40, 50, 51, 3_000, 99_000_000].into_iter().for_each(|micros| histogram.observe(micros));
        let mut out = String::new();
        histogram.render(&mut out, "x_seconds", "About.");
        assert!(out.contains("x_seconds_bucket{le=\"0.00005\"} 2\n"), "{out}");
        assert!(out.contains("x_seconds_bucket{le=\"0.0001\"} 3\n"));
        assert!(out.contains("x_seconds_bucket{le=\"10\"} 4\n"));
        assert!(
            out.contains("x_seconds_bucket{le=\"+Inf\"} 5\nx_seconds_sum 99.003141\nx_seconds_count 5\n")
        );
    }
}
