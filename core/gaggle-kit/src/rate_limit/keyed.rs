//! Rate limits by key in a bounded table, with one limiter per kind of event.
//!
//! The lobby keys them by player and by network, relay and server by network. Absent: what a key
//! stands for, clocks.

use std::collections::BTreeMap;

use super::{RateLimit, RateLimiter};
use crate::Micros;

/// A full table is searched for idle keys at most this often.
const SWEEP_INTERVAL: Micros = Micros::from_secs(1);

/// Key of a limit.
pub trait LimitKey: Copy + Ord {
    /// How many times the limit applies: more for a key that stands for several.
    fn shares(&self) -> u64 {
        1
    }
}

impl LimitKey for u64 {}

/// Usage of `KINDS` limits by key. When the table is full, further keys share one set of limiters
/// until idle keys are evicted.
#[derive(Debug, Clone)]
pub struct KeyedRateLimiter<K, const KINDS: usize = 1> {
    limits: [RateLimit; KINDS],
    used: BTreeMap<K, [RateLimiter; KINDS]>,
    overflow: Option<[RateLimiter; KINDS]>,
    keys_max: usize,
    swept_at: Option<Micros>,
}

/// Cost of an event: the index of its kind, and tokens.
type Charge = (usize, u64);

impl<K: LimitKey, const KINDS: usize> KeyedRateLimiter<K, KINDS> {
    /// Creates a table of at most `keys_max` keys.
    pub const fn new(limits: [RateLimit; KINDS], keys_max: usize) -> KeyedRateLimiter<K, KINDS> {
        KeyedRateLimiter { limits, used: BTreeMap::new(), overflow: None, keys_max, swept_at: None }
    }

    /// Takes all charges of all keys, or nothing.
    ///
    /// # Errors
    /// The time until all tokens are available.
    pub fn try_acquire<I>(&mut self, now: Micros, keys: I, charges: &[Charge]) -> Result<(), Micros>
    where
        I: Iterator<Item = K> + Clone,
    {
        self.try_acquire_within(now, keys, charges, Micros::ZERO).map(drop)
    }

    /// Like [`KeyedRateLimiter::try_acquire`], for events that can be delayed by up to `wait_max`:
    /// returns the delay.
    ///
    /// # Errors
    /// The time until all tokens are available, if it is longer.
    pub fn try_acquire_within<I>(
        &mut self,
        now: Micros,
        keys: I,
        charges: &[Charge],
        wait_max: Micros,
    ) -> Result<Micros, Micros>
    where
        I: Iterator<Item = K> + Clone,
    {
        if charges.iter().all(|(kind, _)| self.limits[*kind].is_unlimited()) {
            return Ok(Micros::ZERO);
        }
        self.make_room(now);
        let wait = self.retry_after(now, keys.clone(), charges);
        if wait > wait_max {
            return Err(wait);
        }
        let mut has_overflown = false;
        for key in keys {
            let is_full = self.used.len() >= self.keys_max;
            if is_full && !self.used.contains_key(&key) {
                if std::mem::replace(&mut has_overflown, true) {
                    continue;
                }
                let limiters = self.overflow.get_or_insert([RateLimiter::default(); KINDS]);
                acquire(limiters, now, &self.limits, 1, charges);
            } else {
                let limiters = self.used.entry(key).or_insert([RateLimiter::default(); KINDS]);
                acquire(limiters, now, &self.limits, key.shares(), charges);
            }
        }
        Ok(wait)
    }

    /// Time until all charges of all keys are available; zero if they are.
    pub fn retry_after(&self, now: Micros, keys: impl Iterator<Item = K>, charges: &[Charge]) -> Micros {
        let waits = keys.filter_map(|key| {
            let (limiters, shares) = self.limiters(key);
            let wait = |(kind, cost): &Charge| {
                limiters[*kind].retry_after(now, &self.limits[*kind].times(shares), *cost)
            };
            charges.iter().map(wait).max()
        });
        waits.max().unwrap_or_default()
    }

    /// Returns tokens of an action that did not happen.
    pub fn refund(&mut self, keys: impl Iterator<Item = K>, (kind, cost): Charge) {
        let is_full = self.used.len() >= self.keys_max;
        // Keys outside the table paid once together.
        let mut has_overflown = false;
        for key in keys {
            let limiters = match self.used.get_mut(&key) {
                None if is_full && !std::mem::replace(&mut has_overflown, true) => self.overflow.as_mut(),
                known => known,
            };
            limiters.into_iter().for_each(|limiters| limiters[kind].refund(&self.limits[kind], cost));
        }
    }

    /// Drops keys that have all their tokens.
    pub fn evict_idle(&mut self, now: Micros) {
        let limits = &self.limits;
        let is_idle = |limiters: &[RateLimiter; KINDS], shares| {
            limiters.iter().zip(limits).all(|(limiter, limit)| limiter.is_idle(now, &limit.times(shares)))
        };
        self.used.retain(|key, limiters| !is_idle(limiters, key.shares()));
        self.overflow.take_if(|limiters| is_idle(limiters, 1));
    }

    /// Number of keys in the table; those outside it count as one.
    pub fn len(&self) -> usize {
        self.used.len() + usize::from(self.overflow.is_some())
    }

    /// Whether every key has all its tokens.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn make_room(&mut self, now: Micros) {
        let is_due = self.swept_at.is_none_or(|at| now.since(at) >= SWEEP_INTERVAL);
        if self.used.len() >= self.keys_max && is_due {
            self.swept_at = Some(now);
            self.evict_idle(now);
        }
    }

    /// Limiters of a key, and its shares in them.
    fn limiters(&self, key: K) -> ([RateLimiter; KINDS], u64) {
        const FRESH: RateLimiter = RateLimiter { spent: 0, at: Micros::ZERO };
        match self.used.get(&key) {
            Some(limiters) => (*limiters, key.shares()),
            None if self.used.len() >= self.keys_max => (self.overflow.unwrap_or([FRESH; KINDS]), 1),
            None => ([FRESH; KINDS], key.shares()),
        }
    }
}

fn acquire<const KINDS: usize>(
    limiters: &mut [RateLimiter; KINDS],
    now: Micros,
    limits: &[RateLimit; KINDS],
    shares: u64,
    charges: &[Charge],
) {
    for (kind, cost) in charges {
        limiters[*kind].acquire(now, &limits[*kind].times(shares), *cost);
    }
}

#[cfg(test)]
mod tests {
    use std::iter::once;

    use super::super::{network, prefixes};
    use super::*;

    const NOW: Micros = Micros::from_secs(100);
    const PER_SECOND: RateLimit = RateLimit::per_second(1, 10);
    const ONE: &[Charge] = &[(0, 1)];

    fn table(limit: RateLimit) -> KeyedRateLimiter<super::super::Prefix> {
        KeyedRateLimiter::new([limit], 1_000)
    }

    fn net(text: &str) -> u64 {
        network(text.parse().unwrap())
    }

    #[test]
    fn prefixes_have_two_and_four_shares() {
        let mut rates = table(PER_SECOND);
        // How many of 100 of each of these networks pass.
        let mut taken = |now, networks: &[u64]| -> usize {
            let mut take =
                |network| (0..100).filter(|_| rates.try_acquire(now, prefixes(network), ONE).is_ok()).count();
            networks.iter().map(|network| take(*network)).sum()
        };
        let of_56: Vec<u64> = (0..80).map(|n| net(&format!("2001:db8:0:{n:x}::1"))).collect();
        assert_eq!(taken(NOW, &of_56), 20);
        let of_48: Vec<u64> = (0..80).map(|n| net(&format!("2001:db8:0:{:x}::1", n << 8))).collect();
        assert_eq!(taken(NOW, &of_48), 20, "40 with those of the /56");
        assert_eq!(taken(NOW, &[net("2001:db8:1::"), net("192.0.2.1")]), 20);
        let later = NOW + Micros::from_secs(1);
        assert_eq!(taken(later, &of_56), 2);
        assert_eq!(taken(later, &of_48), 2, "four a second for the /48");
        assert!(!rates.is_empty());
        rates.evict_idle(NOW + Micros::from_secs(100));
        assert!(rates.is_empty());
    }

    #[test]
    fn rate_of_one_microsecond_bounds_prefixes_too() {
        let mut rates = table(RateLimit::every(Micros::new(1), 1_000));
        let take = |n: &u32| {
            rates.try_acquire(NOW, prefixes(net(&format!("2001:db8:0:{n:x}::1"))), &[(0, 500)]).is_ok()
        };
        assert_eq!((0..80).filter(take).count(), 4, "two shares of 1,000 bytes");
    }

    #[test]
    fn refund_of_keys_outside_table_counts_once() {
        let mut rates = KeyedRateLimiter::<super::super::Prefix>::new([PER_SECOND], 1);
        let take = |rates: &mut KeyedRateLimiter<_>, text: &str| {
            (0..100).filter(|_| rates.try_acquire(NOW, prefixes(net(text)), ONE).is_ok()).count()
        };
        assert_eq!(take(&mut rates, "192.0.2.1"), 10);
        assert_eq!(take(&mut rates, "2001:db8::1"), 10, "three prefixes share the common limiter");
        rates.refund(prefixes(net("2001:db8::1")), (0, 1));
        assert_eq!(take(&mut rates, "2001:db8::1"), 1);
    }

    #[test]
    fn rejected_charge_counts_for_no_key_and_no_kind() {
        let mut rates = KeyedRateLimiter::<_, 2>::new([PER_SECOND; 2], 1_000);
        let (here, both) = (prefixes(net("2001:db8::1")), |cost| [(0, 1), (1, cost)]);
        assert_eq!(rates.try_acquire(NOW, here.clone(), &both(12)), Err(Micros::from_secs(2)));
        assert!(rates.is_empty());
        assert_eq!(rates.try_acquire(NOW, here.clone(), &both(10)), Ok(()));
        assert_eq!(rates.try_acquire(NOW, here.clone(), &both(1)), Err(Micros::from_secs(1)));
        rates.refund(here.clone(), (1, 1));
        assert_eq!(rates.try_acquire(NOW, here, &both(1)), Ok(()));
    }

    #[test]
    fn delayed_event_learns_its_delay() {
        let mut rates = KeyedRateLimiter::<u64>::new([PER_SECOND], 1_000);
        let wait_max = Micros::from_secs(2);
        let mut take = || rates.try_acquire_within(NOW, once(7), ONE, wait_max).map(Micros::as_millis);
        (0..10).for_each(|_| assert_eq!(take(), Ok(0)));
        assert_eq!((take(), take()), (Ok(1_000), Ok(2_000)));
        assert_eq!(take(), Err(Micros::from_secs(3)));
        assert_eq!(take(), Err(Micros::from_secs(3)), "it was not counted");
    }

    #[test]
    fn flood_of_keys_fills_no_memory() {
        let mut rates = KeyedRateLimiter::<u64>::new([PER_SECOND], 1_000);
        let taken = (0..50_000).filter(|key| rates.try_acquire(NOW, once(*key), ONE).is_ok()).count();
        assert_eq!((taken, rates.len()), (1_010, 1_001), "the rest share the limit of one key");
        assert_eq!(rates.try_acquire(NOW + Micros::from_secs(2), once(60_000), ONE), Ok(()));
        assert_eq!(rates.len(), 2, "the shared tokens are not refilled yet");
    }

    #[test]
    fn unlimited_kind_leaves_no_key_behind() {
        let mut rates = KeyedRateLimiter::<u64>::new([RateLimit::UNLIMITED], 10);
        assert!((0..100).all(|key| rates.try_acquire(NOW, once(key), &[(0, 1_000)]).is_ok()));
        assert!(rates.is_empty());
    }
}
