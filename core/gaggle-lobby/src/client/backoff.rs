//! Waits between connection attempts.
//!
//! [`Client`](super::Client) and its reports use it. Absent: clocks, what is attempted.

use gaggle_kit::{Micros, Prng};

/// Waits that double up to a bound. Each is shortened at random, so that clients that lost a server
/// at the same time do not return at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// Wait before the second attempt.
    pub initial: Micros,
    /// Longest wait between attempts.
    pub max: Micros,
}

impl Default for Backoff {
    fn default() -> Backoff {
        Backoff { initial: Micros::from_millis(250), max: Micros::from_secs(8) }
    }
}

impl Backoff {
    /// Wait after `attempts` failed attempts in a row.
    pub(super) fn wait(&self, attempts: u32, prng: &mut Prng) -> Micros {
        let doublings = attempts.saturating_sub(1).min(20);
        let longest = self.initial.get().saturating_mul(1 << doublings).min(self.max.get());
        let half = longest / 2;
        // Between half and all of it. Waits are far below 2³² µs, so the cast is lossless.
        Micros::new(half + u64::from(prng.below((longest - half + 1).min(u64::from(u32::MAX)) as u32)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_bound_and_vary() {
        let backoff = Backoff::default();
        let mut prng = Prng::new(1);
        for (attempts, longest_ms) in [(1, 250), (2, 500), (3, 1_000), (6, 8_000), (100, 8_000)] {
            let waits: Vec<u64> = (0..100).map(|_| backoff.wait(attempts, &mut prng).as_millis()).collect();
            assert!(
                waits.iter().all(|wait| (longest_ms / 2..=longest_ms).contains(wait)),
                "{attempts}: {waits:?}"
            );
            assert!(waits.iter().max() > waits.iter().min());
        }
    }
}
