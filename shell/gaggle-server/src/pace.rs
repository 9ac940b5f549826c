//! Rate limit per network by the system's monotonic clock: excess waits or is rejected.
//!
//! Requests, TLS handshakes and guesses of the operator's token are limited with it. Absent: what
//! is limited, connection counts (`handshake_limit.rs`).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use gaggle_kit::Micros;
use gaggle_kit::rate_limit::{KeyedRateLimiter, Prefix, RateLimit, prefixes};

/// Most prefixes tracked. Idle ones are dropped; if none is idle, new ones share one limiter.
const PREFIXES_MAX: usize = 32_768;

/// A rate per network, with more for its wider prefixes: see [`prefixes`].
#[derive(Debug)]
pub(crate) struct Pace {
    began: Instant,
    used: Mutex<KeyedRateLimiter<Prefix>>,
    exceeded: AtomicU64,
}

impl Pace {
    /// Once per `every`, with a burst.
    pub(crate) fn new(every: Duration, burst: u32) -> Pace {
        let limit = RateLimit::every(micros(every), burst.into());
        let used = Mutex::new(KeyedRateLimiter::new([limit], PREFIXES_MAX));
        Pace { began: Instant::now(), used, exceeded: AtomicU64::new(0) }
    }

    /// Counts one use of this network and returns how long to wait. If that exceeds `wait_max`,
    /// nothing is counted and the error is the wait.
    pub(crate) fn take(&self, network: u64, now: Instant, wait_max: Duration) -> Result<Duration, Duration> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = used.try_acquire_within(self.time(now), prefixes(network), &[(0, 1)], micros(wait_max));
        wait.map(duration).map_err(|wait| {
            self.exceeded.fetch_add(1, Ordering::Relaxed);
            duration(wait)
        })
    }

    /// How often a use was rejected.
    pub(crate) fn exceeded(&self) -> u64 {
        self.exceeded.load(Ordering::Relaxed)
    }

    /// Whether this network would have to wait, and is rejected for it.
    pub(crate) fn rejects(&self, network: u64, now: Instant) -> bool {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let is_spent = used.retry_after(self.time(now), prefixes(network), &[(0, 1)]) > Micros::ZERO;
        self.exceeded.fetch_add(u64::from(is_spent), Ordering::Relaxed);
        is_spent
    }

    fn time(&self, now: Instant) -> Micros {
        micros(now.saturating_duration_since(self.began))
    }
}

fn micros(duration: Duration) -> Micros {
    Micros::new(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
}

fn duration(micros: Micros) -> Duration {
    Duration::from_micros(micros.get())
}

#[cfg(test)]
mod tests {
    use gaggle_kit::rate_limit::network;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn burst_is_free_and_rest_waits() {
        let (pace, now) = (Pace::new(SECOND, 3), Instant::now());
        let take = |at: Duration| pace.take(1, now + at, 2 * SECOND);
        assert_eq!([(); 3].map(|()| take(Duration::ZERO)), [Ok(Duration::ZERO); 3]);
        assert!(pace.rejects(1, now) && !pace.rejects(2, now));
        assert_eq!([take(Duration::ZERO), take(Duration::ZERO)], [Ok(SECOND), Ok(2 * SECOND)]);
        assert_eq!(take(Duration::ZERO), Err(3 * SECOND), "it is not counted");
        assert_eq!(take(Duration::ZERO), Err(3 * SECOND));
        assert_eq!(take(10 * SECOND), Ok(Duration::ZERO));
        assert!(!pace.rejects(1, now + 10 * SECOND));
        assert_eq!(pace.exceeded(), 3, "of the network that was refused");
    }

    #[test]
    fn networks_of_one_prefix_share_rate() {
        let (pace, now) = (Pace::new(SECOND, 10), Instant::now());
        let mut free = 0;
        for nth in 0..80_u128 {
            let address = std::net::Ipv6Addr::from_bits((0x2001_0db8 << 96) | (nth << 64) | 1);
            free +=
                (0..100).filter(|_| pace.take(network(address.into()), now, Duration::ZERO).is_ok()).count();
        }
        assert_eq!(free, 20, "twice what one network has");
    }

    #[test]
    fn flood_of_networks_fills_no_memory() {
        let (pace, now) = (Pace::new(SECOND, 10), Instant::now());
        let free = (0..100_000).filter(|network| pace.take(*network, now, Duration::ZERO).is_ok()).count();
        assert_eq!(free, PREFIXES_MAX + 10);
        assert_eq!(pace.used.lock().unwrap().len(), PREFIXES_MAX + 1);
        assert_eq!(pace.take(200_000, now + 2 * SECOND, Duration::ZERO), Ok(Duration::ZERO));
    }
}
