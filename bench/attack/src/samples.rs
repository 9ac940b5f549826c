//! Latencies and failures of one kind of request.
//!
//! `honest` collects them, `endured` judges them. Absent: targets.

use std::time::Duration;

/// Latencies in microseconds, and failures.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples {
    micros: Vec<u32>,
    lost: u64,
    /// The first failure, for the report.
    why: Option<String>,
}

impl Samples {
    pub(crate) fn add(&mut self, took: Duration) {
        self.micros.push(took.as_micros().min(u128::from(u32::MAX)) as u32);
    }

    pub(crate) fn fail(&mut self, why: impl Into<String>) {
        self.lose(1, why);
    }

    pub(crate) fn lose(&mut self, count: u64, why: impl Into<String>) {
        if count > 0 {
            self.lost += count;
            self.why.get_or_insert_with(|| why.into());
        }
    }

    pub(crate) fn merge(&mut self, other: Samples) {
        self.micros.extend(other.micros);
        self.lose(other.lost, other.why.unwrap_or_default());
    }

    pub(crate) fn count(&self) -> usize {
        self.micros.len()
    }

    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }

    pub(crate) fn why(&self) -> Option<&str> {
        self.why.as_deref()
    }

    /// A percentile in milliseconds; infinite without a success.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        let mut sorted = self.micros.clone();
        sorted.sort_unstable();
        let at = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
        sorted.get(at).map_or(f64::INFINITY, |micros| f64::from(*micros) / 1_000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentile_99_of_hundred_is_second_largest() {
        let mut samples = Samples::default();
        (1..=100).rev().for_each(|millis| samples.add(Duration::from_millis(millis)));
        assert_eq!((samples.percentile(50), samples.percentile(99)), (51.0, 100.0));
        assert_eq!(Samples::default().percentile(50), f64::INFINITY);
    }

    #[test]
    fn merged_failures_keep_first_reason() {
        let mut samples = Samples::default();
        samples.fail("late");
        let mut other = Samples::default();
        other.fail("closed");
        samples.merge(other);
        assert_eq!((samples.lost(), samples.why()), (2, Some("late")));
    }
}
