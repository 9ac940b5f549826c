//! Counts how often somebody does something, in one number each.

use gaggle_kit::Micros;

use crate::rules::RateLimit;

/// What is left of a [`RateLimit`]: the moment at which it would be as if nothing had been done
/// (the *generic cell rate algorithm*: one number, no timer, nothing to refill).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct RateLimiter {
    clear_at: Micros,
}

impl RateLimiter {
    /// Counts one, or says how long to wait until one more is allowed.
    pub(crate) fn take(&mut self, now: Micros, rate: RateLimit) -> Result<(), Micros> {
        self.take_many(now, rate, 1)
    }

    /// Counts so many, or says how long to wait until so many more are allowed.
    pub(crate) fn take_many(&mut self, now: Micros, rate: RateLimit, count: u32) -> Result<(), Micros> {
        let wait = self.wait(now, rate, count);
        if wait > Micros::ZERO {
            return Err(wait);
        }
        self.count(now, rate, count);
        Ok(())
    }

    /// How long to wait until so many more are allowed.
    pub(crate) fn wait(&self, now: Micros, rate: RateLimit, count: u32) -> Micros {
        if rate.per == Micros::ZERO {
            return Micros::ZERO;
        }
        let burst = Micros::new(rate.per.get().saturating_mul(u64::from(rate.burst)));
        self.clear_after(now, rate, count).since(now.saturating_add(burst))
    }

    /// Counts so many, allowed or not.
    pub(crate) fn count(&mut self, now: Micros, rate: RateLimit, count: u32) {
        if rate.per > Micros::ZERO {
            self.clear_at = self.clear_after(now, rate, count);
        }
    }

    fn clear_after(&self, now: Micros, rate: RateLimit, count: u32) -> Micros {
        let cost = Micros::new(rate.per.get().saturating_mul(u64::from(count)));
        self.clear_at.max(now).saturating_add(cost)
    }

    /// Takes back what was counted and came to nothing.
    pub(crate) fn give_back(&mut self, rate: RateLimit, count: u32) {
        let cost = rate.per.get().saturating_mul(u64::from(count));
        self.clear_at = Micros::new(self.clear_at.get().saturating_sub(cost));
    }

    /// Whether it would make no difference to forget this meter.
    pub(crate) fn is_clear(&self, now: Micros) -> bool {
        self.clear_at <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_and_then_one_at_a_time() {
        let rate = RateLimit::per_secs(5, 10);
        let mut meter = RateLimiter::default();
        let now = Micros::from_secs(100);
        for _ in 0..5 {
            assert_eq!(meter.take(now, rate), Ok(()));
        }
        assert_eq!(meter.take(now, rate), Err(Micros::from_secs(2)));
        assert_eq!(meter.take(now + Micros::from_secs(1), rate), Err(Micros::from_secs(1)));
        assert_eq!(meter.take(now + Micros::from_secs(2), rate), Ok(()));
        assert!(!meter.is_clear(now + Micros::from_secs(11)));
        assert!(meter.is_clear(now + Micros::from_secs(12)));
    }

    #[test]
    fn what_came_to_nothing_is_as_if_it_had_not_been_tried() {
        let (rate, now) = (RateLimit::per_secs(2, 10), Micros::from_secs(100));
        let mut meter = RateLimiter::default();
        assert_eq!(meter.take(now, rate), Ok(()));
        let before = meter;
        assert_eq!(meter.take(now, rate), Ok(()));
        assert!(meter.take(now, rate).is_err());
        meter.give_back(rate, 1);
        assert_eq!(meter, before);
        // However late, and however often, there is never more than the burst.
        (0..10).for_each(|_| meter.give_back(rate, 1));
        assert_eq!([(); 3].map(|()| meter.take(now, rate).is_ok()), [true, true, false]);
    }

    #[test]
    fn refused_attempts_cost_nothing() {
        let rate = RateLimit::per_secs(1, 10);
        let mut meter = RateLimiter::default();
        assert_eq!(meter.take(Micros::ZERO, rate), Ok(()));
        for _ in 0..1_000 {
            assert!(meter.take(Micros::from_secs(5), rate).is_err());
        }
        assert_eq!(meter.take(Micros::from_secs(10), rate), Ok(()));
    }
}
