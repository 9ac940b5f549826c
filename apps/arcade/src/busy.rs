//! Histogram of main-thread time per frame. The page fills it, the facts read it. Absent: clocks.

use gaggle::Micros;

/// Width of a bucket in µs.
const BUCKET_US: u64 = 250;
/// The last one holds everything from 50 ms on.
const BUCKETS: usize = 200;

/// Number of frames by duration since the page was opened.
#[derive(Debug, Clone)]
pub struct Busy {
    counts: [u32; BUCKETS],
    longest: Micros,
}

impl Default for Busy {
    fn default() -> Busy {
        Busy { counts: [0; BUCKETS], longest: Micros::ZERO }
    }
}

impl Busy {
    /// Adds a frame of this duration.
    pub fn note(&mut self, took: Micros) {
        let bucket = (took.get() / BUCKET_US).min(BUCKETS as u64 - 1) as usize;
        self.counts[bucket] = self.counts[bucket].saturating_add(1);
        self.longest = self.longest.max(took);
    }

    /// Duration in µs that this percentage of frames did not exceed, rounded to 250 µs.
    pub fn percentile(&self, percent: u64) -> u64 {
        let all: u64 = self.counts.iter().map(|count| u64::from(*count)).sum();
        let mut seen = 0;
        for (bucket, count) in (1..).zip(&self.counts) {
            seen += u64::from(*count);
            if seen * 100 >= all * percent {
                return bucket * BUCKET_US;
            }
        }
        self.longest()
    }

    /// Longest duration in µs.
    pub fn longest(&self) -> u64 {
        self.longest.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_exact_to_quarter_millisecond() {
        let mut busy = Busy::default();
        (0..100).for_each(|nth| busy.note(Micros::new(nth * 100)));
        assert_eq!((busy.percentile(50), busy.percentile(95), busy.longest()), (5_000, 9_500, 9_900));
        busy.note(Micros::from_secs(9));
        assert_eq!((busy.percentile(100), busy.longest()), (50_000, 9_000_000));
    }
}
