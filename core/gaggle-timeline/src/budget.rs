//! Rate limiter: a burst, then a fixed rate per second.
//!
//! Gossip, donors and membership spend from it. Absent: what is spent, and what follows when
//! nothing is left.

use gaggle_kit::Micros;

/// Rate a peer is granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RateLimit {
    /// Units that may be spent at once.
    pub(crate) burst: u32,
    /// Units granted per second in the long run.
    pub(crate) per_second: u32,
}

/// What a peer has spent of its rate limit.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RateLimiter {
    /// Spent and not yet granted again, in millionths of a unit.
    spent: u64,
    at: Micros,
}

const WHOLE: u64 = 1_000_000;

impl RateLimiter {
    /// Spends one unit. False, and nothing is spent, if none is left.
    #[inline]
    pub(crate) fn spend(&mut self, now: Micros, allowance: RateLimit) -> bool {
        self.spend_many(now, 1, allowance)
    }

    /// Spends `count` units, or none if fewer are left.
    #[inline]
    pub(crate) fn spend_many(&mut self, now: Micros, count: u32, allowance: RateLimit) -> bool {
        let cost = u64::from(count) * WHOLE;
        let made_up = now.since(self.at).get().saturating_mul(allowance.per_second.into());
        self.at = self.at.max(now);
        self.spent = self.spent.saturating_sub(made_up);
        let enough = self.spent + cost <= u64::from(allowance.burst) * WHOLE;
        if enough {
            self.spent += cost;
        }
        enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn burst_is_free_and_then_rate_counts() {
        let allowance = RateLimit { burst: 10, per_second: 4 };
        let mut budget = RateLimiter::default();
        let spent = |budget: &mut RateLimiter, now| (0..100).filter(|_| budget.spend(now, allowance)).count();
        assert_eq!(spent(&mut budget, Micros::ZERO), 10);
        assert_eq!(spent(&mut budget, Micros::from_secs(1)), 4);
        assert_eq!(spent(&mut budget, Micros::from_millis(1_500)), 2);
        assert_eq!(spent(&mut budget, Micros::from_secs(100)), 10, "no more than a burst is saved up");
        assert!(!RateLimiter::default().spend_many(Micros::ZERO, 11, allowance), "more than there ever is");
        assert_eq!(
            spent(&mut budget, Micros::from_secs(50)),
            0,
            "a clock that goes back makes up for nothing"
        );
    }
}
