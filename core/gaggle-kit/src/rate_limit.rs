//! Limits on remote peers and networks: rates, rates by key, concurrency.
//!
//! Sessions, the lobby, the relay and the server use them; limits are arguments or set at
//! construction, state is small and bounded. Absent: clocks, addresses of connections, what happens
//! on excess.

mod concurrency;
mod keyed;
mod network;
mod table;

pub use concurrency::ConcurrencyLimit;
pub use keyed::{KeyedRateLimiter, LimitKey};
pub use network::{Prefix, choose_evicted, network, prefixes};
pub use table::{Bound, LimitRow};

use crate::Micros;

/// A token bucket: `burst` tokens at once, and `tokens` more every `per`.
///
/// ```
/// use gaggle_kit::Micros;
/// use gaggle_kit::rate_limit::{RateLimit, RateLimiter};
/// const PINGS: RateLimit = RateLimit::per_second(2, 1);
/// let (mut limiter, now) = (RateLimiter::default(), Micros::from_secs(7));
/// assert_eq!(limiter.try_acquire(now, &PINGS, 1), Ok(()));
/// assert_eq!(limiter.try_acquire(now, &PINGS, 1), Err(Micros::from_millis(500)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    /// Tokens of a peer that was idle.
    pub burst: u64,
    /// Tokens refilled every `per`.
    pub tokens: u64,
    /// Period of `tokens`; zero means no limit.
    pub per: Micros,
}

impl RateLimit {
    /// Every acquisition succeeds.
    pub const UNLIMITED: RateLimit = RateLimit { burst: u64::MAX, tokens: 1, per: Micros::ZERO };

    /// Refills `tokens` every second, with a burst.
    pub const fn per_second(tokens: u64, burst: u64) -> RateLimit {
        RateLimit { burst, tokens, per: Micros::from_secs(1) }
    }

    /// Refills one token every `interval`, with a burst.
    pub const fn every(interval: Micros, burst: u64) -> RateLimit {
        RateLimit { burst, tokens: 1, per: interval }
    }

    /// At most `tokens` in `secs` seconds, at once or spread.
    pub const fn per_secs(tokens: u64, secs: u64) -> RateLimit {
        RateLimit { burst: tokens, tokens, per: Micros::from_secs(secs) }
    }

    /// The combined limit of `times` peers.
    #[must_use]
    pub const fn times(self, times: u64) -> RateLimit {
        let (burst, tokens) = (self.burst.saturating_mul(times), self.tokens.saturating_mul(times));
        RateLimit { burst, tokens, ..self }
    }

    /// Whether every acquisition succeeds.
    pub const fn is_unlimited(&self) -> bool {
        self.per.get() == 0
    }

    /// Tokens in the unit of [`RateLimiter::spent`], which divides without remainder.
    const fn units(&self, tokens: u64) -> u64 {
        tokens.saturating_mul(self.per.get())
    }
}

/// What one peer has used of a [`RateLimit`]. The default has used nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RateLimiter {
    /// Tokens not refilled yet at `at`, times the period in microseconds.
    spent: u64,
    at: Micros,
}

impl RateLimiter {
    /// Takes `cost` tokens. A rejected attempt costs nothing.
    ///
    /// # Errors
    /// The time until the tokens are available. A cost above the burst never is.
    #[inline]
    pub fn try_acquire(&mut self, now: Micros, limit: &RateLimit, cost: u64) -> Result<(), Micros> {
        let spent = self.spent_at(now, limit);
        let (total, capacity) = (spent.saturating_add(limit.units(cost)), limit.units(limit.burst));
        if total > capacity {
            return Err(wait(total - capacity, limit));
        }
        (self.spent, self.at) = (total, self.at.max(now));
        Ok(())
    }

    /// Takes `cost` tokens, even if they are not available yet.
    pub fn acquire(&mut self, now: Micros, limit: &RateLimit, cost: u64) {
        self.spent = self.spent_at(now, limit).saturating_add(limit.units(cost));
        self.at = self.at.max(now);
    }

    /// Time until `cost` tokens are available; zero if they are.
    pub fn retry_after(&self, now: Micros, limit: &RateLimit, cost: u64) -> Micros {
        let total = self.spent_at(now, limit).saturating_add(limit.units(cost));
        wait(total.saturating_sub(limit.units(limit.burst)), limit)
    }

    /// Returns tokens of an action that did not happen.
    pub fn refund(&mut self, limit: &RateLimit, cost: u64) {
        self.spent = self.spent.saturating_sub(limit.units(cost));
    }

    /// Whether the limiter is equal to a new one, so that it can be dropped.
    pub fn is_idle(&self, now: Micros, limit: &RateLimit) -> bool {
        self.spent_at(now, limit) == 0
    }

    #[inline]
    fn spent_at(&self, now: Micros, limit: &RateLimit) -> u64 {
        self.spent.saturating_sub(now.since(self.at).get().saturating_mul(limit.tokens))
    }
}

/// Time until these units are refilled.
fn wait(missing: u64, limit: &RateLimit) -> Micros {
    match limit.tokens {
        0 if missing > 0 => Micros::MAX,
        tokens => Micros::new(missing.div_ceil(tokens.max(1))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prng;

    #[test]
    fn limiter_passes_burst_then_rate() {
        let (limit, mut limiter) = (RateLimit::per_second(10, 5), RateLimiter::default());
        let mut take = |now: Micros, cost| limiter.try_acquire(now, &limit, cost).is_ok();
        assert_eq!((0..20).filter(|_| take(Micros::ZERO, 1)).count(), 5);
        assert_eq!((0..=100).filter(|n| take(Micros::from_millis(n * 10), 1)).count(), 10);
        assert!(!take(Micros::from_secs(100), 6), "never more than a burst");
        assert!(take(Micros::from_secs(100), 5));
    }

    #[test]
    fn limiter_with_extreme_times_and_limits_does_no_harm() {
        let limit = RateLimit::per_second(u64::MAX, u64::MAX);
        let mut limiter = RateLimiter::default();
        assert_eq!(limiter.try_acquire(Micros::from_secs(5), &limit, 1), Ok(()));
        assert_eq!(limiter.try_acquire(Micros::ZERO, &limit, 1), Ok(()));
        assert_eq!(limiter.try_acquire(Micros::MAX, &limit, u64::MAX), Ok(()));
        let never = RateLimit { burst: 1, tokens: 0, per: Micros::from_secs(1) };
        let mut limiter = RateLimiter::default();
        assert_eq!(limiter.try_acquire(Micros::ZERO, &never, 1), Ok(()));
        assert_eq!(limiter.try_acquire(Micros::MAX, &never, 1), Err(Micros::MAX));
    }

    #[test]
    fn rejection_names_time_after_which_it_passes() {
        let limit = RateLimit::per_secs(5, 10);
        let (mut limiter, now) = (RateLimiter::default(), Micros::from_secs(100));
        for _ in 0..5 {
            assert_eq!(limiter.try_acquire(now, &limit, 1), Ok(()));
        }
        assert_eq!(limiter.try_acquire(now, &limit, 1), Err(Micros::from_secs(2)));
        assert_eq!(limiter.try_acquire(now + Micros::from_secs(1), &limit, 1), Err(Micros::from_secs(1)));
        assert_eq!(limiter.try_acquire(now + Micros::from_secs(2), &limit, 1), Ok(()));
        assert!(!limiter.is_idle(now + Micros::from_secs(11), &limit));
        assert!(limiter.is_idle(now + Micros::from_secs(12), &limit));
    }

    #[test]
    fn refunded_cost_is_as_if_never_acquired() {
        let (limit, now) = (RateLimit::per_secs(2, 10), Micros::from_secs(100));
        let mut limiter = RateLimiter::default();
        assert_eq!(limiter.try_acquire(now, &limit, 1), Ok(()));
        let before = limiter;
        assert_eq!(limiter.try_acquire(now, &limit, 1), Ok(()));
        assert!(limiter.try_acquire(now, &limit, 1).is_err());
        limiter.refund(&limit, 1);
        assert_eq!(limiter, before);
        // However late and however often, there is never more than the burst.
        (0..10).for_each(|_| limiter.refund(&limit, 1));
        assert_eq!([(); 3].map(|()| limiter.try_acquire(now, &limit, 1).is_ok()), [true, true, false]);
    }

    #[test]
    fn rejected_attempts_cost_nothing() {
        let (limit, mut limiter) = (RateLimit::per_secs(1, 10), RateLimiter::default());
        assert_eq!(limiter.try_acquire(Micros::ZERO, &limit, 1), Ok(()));
        for _ in 0..1_000 {
            assert!(limiter.try_acquire(Micros::from_secs(5), &limit, 1).is_err());
        }
        assert_eq!(limiter.try_acquire(Micros::from_secs(10), &limit, 1), Ok(()));
    }

    #[test]
    fn unlimited_passes_everything_and_stays_idle() {
        let mut limiter = RateLimiter::default();
        for cost in [1, u64::MAX, u64::MAX] {
            assert_eq!(limiter.try_acquire(Micros::ZERO, &RateLimit::UNLIMITED, cost), Ok(()));
        }
        assert!(limiter.is_idle(Micros::ZERO, &RateLimit::UNLIMITED) && RateLimit::UNLIMITED.is_unlimited());
    }

    /// Compares with a model in exact fractions: accepted events are within burst and rate,
    /// rejected ones are not, and the returned time is the first at which the event is accepted.
    #[test]
    fn random_acquisitions_match_exact_model() {
        for seed in 0..300 {
            let mut random = Prng::new(seed);
            let (burst, tokens) = (1 + u64::from(random.below(50)), 1 + u64::from(random.below(20)));
            let limit = RateLimit { burst, tokens, per: Micros::new(1 + u64::from(random.below(3_000))) };
            let (per, mut now) = (u128::from(limit.per.get()), Micros::from_secs(1));
            let mut limiter = RateLimiter::default();
            // Tokens available, times the period.
            let (mut level, capacity) = (u128::from(burst) * per, u128::from(burst) * per);
            for _ in 0..500 {
                let passed = u64::from(random.below(2_000));
                now += Micros::new(passed);
                level = (level + u128::from(passed) * u128::from(tokens)).min(capacity);
                let cost = u64::from(random.below(8));
                let fits = u128::from(cost) * per <= level;
                match limiter.try_acquire(now, &limit, cost) {
                    Ok(()) => level -= u128::from(cost) * per,
                    Err(after) if cost <= burst => {
                        assert_eq!(limiter.retry_after(now + after, &limit, cost), Micros::ZERO);
                        let before = Micros::new(after.get() - 1);
                        assert_eq!(limiter.retry_after(now + before, &limit, cost), Micros::new(1));
                    }
                    Err(_) => {}
                }
                assert_eq!(limiter.is_idle(now, &limit), level == capacity, "seed {seed}");
                assert!(fits || limiter.retry_after(now, &limit, cost) > Micros::ZERO, "seed {seed}");
            }
        }
    }
}
