//! Numbers for whoever watches over servers, in Prometheus' text form.

use std::fmt::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use gaggle_lobby::RejectionCode;
use gaggle_lobby::node::NodeStats;

/// Upper bounds of the buckets of a [`Histogram`], in microseconds.
const BUCKETS: [u64; 12] =
    [50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 100_000, 1_000_000, 10_000_000];

/// Something that has numbers to show, such as a relay. Give it to [`crate::Server::start_with`].
pub trait MetricsSource: fmt::Debug + Send + Sync {
    /// Adds them, each with its `# HELP` and `# TYPE`: see [`counter`] and [`gauge`].
    fn render(&self, out: &mut String);

    /// The few an operator wants to see at a glance, on the operator's page.
    fn figures(&self) -> Figures {
        Figures::default()
    }
}

/// Numbers with their names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Figures {
    /// Those that rise and fall.
    pub now: Vec<(&'static str, u64)>,
    /// Those that only rise.
    pub counts: Vec<(&'static str, u64)>,
}

/// Adds a number that only rises.
pub fn counter(out: &mut String, name: &str, about: &str, value: u64) {
    number(out, name, about, "counter", value);
}

/// Adds a number that rises and falls.
pub fn gauge(out: &mut String, name: &str, about: &str, value: u64) {
    number(out, name, about, "gauge", value);
}

fn number(out: &mut String, name: &str, about: &str, kind: &str, value: u64) {
    let _ = writeln!(out, "# HELP {name} {about}\n# TYPE {name} {kind}\n{name} {value}");
}

/// How long things took, in buckets.
#[derive(Debug, Default)]
pub struct Histogram {
    buckets: [AtomicU64; BUCKETS.len()],
    count: AtomicU64,
    sum_micros: AtomicU64,
}

impl Histogram {
    /// Counts one that took so long.
    pub fn observe(&self, micros: u64) {
        let at = BUCKETS.partition_point(|bound| *bound < micros);
        if let Some(bucket) = self.buckets.get(at) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        self.sum_micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// Adds the buckets, in seconds as Prometheus wants it.
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

/// Microseconds as seconds, in digits.
fn seconds(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Adds what a node counted.
pub(crate) fn tally(out: &mut String, tally: &NodeStats) {
    counter(out, "gaggle_messages_total", "Messages received.", tally.messages);
    counter(out, "gaggle_welcomes_total", "Connections that said hello.", tally.authenticated);
    counter(out, "gaggle_seats_given_total", "Seats given to newcomers.", tally.joined);
    counter(out, "gaggle_seats_returned_total", "Seats given back to those who had them.", tally.returned);
    counter(out, "gaggle_rooms_created_total", "Rooms made.", tally.rooms_created);
    counter(out, "gaggle_signals_total", "Signals handed over.", tally.signals);
    by_code(out, "gaggle_refusals_total", "Things refused, by why.", tally.rejected.iter());
    by_code(
        out,
        "gaggle_connections_ended_total",
        "Connections ended by the server, by why.",
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
    fn buckets_add_up_as_prometheus_wants_it() {
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
