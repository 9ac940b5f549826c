//! How much somebody may send: a bucket that fills with time and empties with use.

use gaggle_kit::Micros;

/// One limit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bucket {
    /// What is in it, in millionths: a rate per second times microseconds.
    level: u64,
    per_second: u64,
    burst: u64,
    at: Micros,
}

impl Bucket {
    /// Full at first.
    pub(crate) fn new(per_second: u64, burst: u64, now: Micros) -> Bucket {
        Bucket { level: burst.saturating_mul(1_000_000), per_second, burst, at: now }
    }

    /// Takes so much if it is there.
    pub(crate) fn take(&mut self, now: Micros, amount: u64) -> bool {
        let gained = now.since(self.at).get().saturating_mul(self.per_second);
        self.level = self.level.saturating_add(gained).min(self.burst.saturating_mul(1_000_000));
        self.at = self.at.max(now);
        let amount = amount.saturating_mul(1_000_000);
        let enough = self.level >= amount;
        if enough {
            self.level -= amount;
        }
        enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_let_through_and_then_the_rate() {
        let mut bucket = Bucket::new(10, 5, Micros::ZERO);
        assert_eq!((0..20).filter(|_| bucket.take(Micros::ZERO, 1)).count(), 5);
        let second = |n: u64| Micros::from_millis(n * 10);
        assert_eq!((0..=100).filter(|n| bucket.take(second(*n), 1)).count(), 10);
        assert!(!bucket.take(Micros::from_secs(100), 6), "never more than a burst");
        assert!(bucket.take(Micros::from_secs(100), 5));
    }

    #[test]
    fn time_that_stands_still_or_is_huge_does_no_harm() {
        let mut bucket = Bucket::new(u64::MAX, u64::MAX, Micros::from_secs(5));
        assert!(bucket.take(Micros::ZERO, 1));
        assert!(bucket.take(Micros::MAX, u64::MAX));
    }
}
