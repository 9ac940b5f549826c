//! Rates by network: how often each customer of a provider does something, so that no customer does
//! all of it.
//!
//! The node, the relay and the server count with it, as they count places with
//! [`places`](crate::places). Absent: clocks, sockets, what is counted.

use std::collections::BTreeMap;

use gaggle_kit::Micros;

use crate::places::prefixes;
use crate::rate::RateLimiter;
use crate::rules::RateLimit;

/// A full table is searched for prefixes that can be forgotten at most this often.
const SWEEP_INTERVAL: Micros = Micros::from_secs(1);
/// Prefixes that find no room in the table share this one.
const SHARED: (u8, u64) = (0, 0);

/// What each prefix has used of `KINDS` rates. A /64 has the rate as it is, a /56 twice and a /48
/// four times as much, as in [`prefixes`]. The table holds a bounded number of prefixes.
#[derive(Debug, Clone)]
pub struct NetworkRates<const KINDS: usize> {
    used: BTreeMap<(u8, u64), [RateLimiter; KINDS]>,
    prefixes_max: usize,
    swept_at: Option<Micros>,
}

/// Number of events of one kind, and their rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charge {
    /// Index below `KINDS`.
    pub kind: usize,
    /// Rate of one /64, or of one IPv4 address.
    pub rate: RateLimit,
    /// Events counted at once.
    pub count: u32,
}

impl<const KINDS: usize> NetworkRates<KINDS> {
    /// Creates a table for at most so many prefixes.
    pub fn new(prefixes_max: usize) -> NetworkRates<KINDS> {
        NetworkRates { used: BTreeMap::new(), prefixes_max, swept_at: None }
    }

    /// Counts all charges for each prefix of the network. Counts nothing if one of them is too
    /// much: the error is the time after which it is not.
    ///
    /// # Errors
    /// If the network has to wait.
    pub fn take(&mut self, now: Micros, network: u64, charges: &[Charge]) -> Result<(), Micros> {
        self.take_within(now, network, charges, Micros::ZERO).map(drop)
    }

    /// Like [`NetworkRates::take`], for events that can be delayed by up to `wait_max`: returns the
    /// delay.
    ///
    /// # Errors
    /// If the network has to wait for longer.
    pub fn take_within(
        &mut self,
        now: Micros,
        network: u64,
        charges: &[Charge],
        wait_max: Micros,
    ) -> Result<Micros, Micros> {
        if charges.iter().all(|charge| charge.rate.per == Micros::ZERO) {
            return Ok(Micros::ZERO);
        }
        let wait = self.wait(now, network, charges);
        if wait > wait_max {
            return Err(wait);
        }
        self.make_room(now);
        let mut has_shared = false;
        for (prefix, shares) in prefixes(network) {
            let (prefix, shares) = self.known_as(prefix, shares);
            if prefix == SHARED && std::mem::replace(&mut has_shared, true) {
                continue;
            }
            let meters = self.used.entry(prefix).or_insert([RateLimiter::default(); KINDS]);
            for Charge { kind, rate, count } in charges {
                meters[*kind].count(times(now, shares), *rate, *count);
            }
        }
        Ok(wait)
    }

    /// Time until the charges would be within the rates of every prefix. Zero: now.
    pub fn wait(&self, now: Micros, network: u64, charges: &[Charge]) -> Micros {
        let fresh = [RateLimiter::default(); KINDS];
        let waits = prefixes(network).filter_map(|(prefix, shares)| {
            let (prefix, shares) = self.known_as(prefix, shares);
            let meters = self.used.get(&prefix).unwrap_or(&fresh);
            let wait = |charge: &Charge| {
                let burst = charge.rate.burst.saturating_mul(shares as u32);
                let rate = RateLimit { burst, ..charge.rate };
                meters[charge.kind].wait(times(now, shares), rate, charge.count)
            };
            let scaled = charges.iter().map(wait).max()?;
            Some(Micros::new(scaled.get().div_ceil(shares as u64)))
        });
        waits.max().unwrap_or_default()
    }

    /// Takes back a charge that was counted and came to nothing.
    pub fn give_back(&mut self, network: u64, Charge { kind, rate, count }: Charge) {
        for (prefix, shares) in prefixes(network) {
            let (prefix, _) = self.known_as(prefix, shares);
            if let Some(meters) = self.used.get_mut(&prefix) {
                meters[kind].give_back(rate, count);
            }
        }
    }

    /// Forgets prefixes whose meters make no difference any more.
    pub fn forget_idle(&mut self, now: Micros) {
        self.used.retain(|(length, _), meters| {
            let now = times(now, shares_of(*length));
            !meters.iter().all(|meter| meter.is_clear(now))
        });
    }

    /// Number of prefixes in the table.
    pub fn len(&self) -> usize {
        self.used.len()
    }

    /// Whether no prefix is in the table.
    pub fn is_empty(&self) -> bool {
        self.used.is_empty()
    }

    fn make_room(&mut self, now: Micros) {
        let is_due = self.swept_at.is_none_or(|at| now.since(at) >= SWEEP_INTERVAL);
        if self.used.len() >= self.prefixes_max && is_due {
            self.swept_at = Some(now);
            self.forget_idle(now);
        }
    }

    /// The entry that counts for a prefix, and its shares.
    fn known_as(&self, prefix: (u8, u64), shares: usize) -> ((u8, u64), usize) {
        let is_full = self.used.len() >= self.prefixes_max;
        if is_full && !self.used.contains_key(&prefix) { (SHARED, 1) } else { (prefix, shares) }
    }
}

/// Time as a meter of so many shares sees it. Time passes faster there: a fast rate divided by the
/// shares would be rounded to none.
fn times(now: Micros, shares: usize) -> Micros {
    Micros::new(now.get().saturating_mul(shares as u64))
}

fn shares_of(length: u8) -> usize {
    match length {
        56 => 2,
        48 => 4,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::network;

    const NOW: Micros = Micros::from_secs(100);
    const PER_SECOND: RateLimit = RateLimit { burst: 10, per: Micros::from_secs(1) };

    fn charge(rate: RateLimit) -> [Charge; 1] {
        [Charge { kind: 0, rate, count: 1 }]
    }

    /// How many of 100 for each of these networks are within the rates.
    fn taken(rates: &mut NetworkRates<1>, now: Micros, rate: RateLimit, networks: &[u64]) -> usize {
        let mut take =
            |network: u64| (0..100).filter(|_| rates.take(now, network, &charge(rate)).is_ok()).count();
        networks.iter().map(|network| take(*network)).sum()
    }

    fn net(text: &str) -> u64 {
        network(text.parse().unwrap())
    }

    #[test]
    fn prefixes_have_two_and_four_shares() {
        let mut rates = NetworkRates::new(1_000);
        let of_56: Vec<u64> = (0..80).map(|n| net(&format!("2001:db8:0:{n:x}::1"))).collect();
        assert_eq!(taken(&mut rates, NOW, PER_SECOND, &of_56), 20);
        let of_48: Vec<u64> = (0..80).map(|n| net(&format!("2001:db8:0:{:x}::1", n << 8))).collect();
        assert_eq!(taken(&mut rates, NOW, PER_SECOND, &of_48), 20, "40 with those of the /56");
        assert_eq!(taken(&mut rates, NOW, PER_SECOND, &[net("2001:db8:1::"), net("192.0.2.1")]), 20);
        let later = NOW + Micros::from_secs(1);
        assert_eq!(taken(&mut rates, later, PER_SECOND, &of_56), 2);
        assert_eq!(taken(&mut rates, later, PER_SECOND, &of_48), 2, "four a second for the /48");
        assert!(!rates.is_empty());
        rates.forget_idle(NOW + Micros::from_secs(100));
        assert!(rates.is_empty());
    }

    #[test]
    fn rate_of_one_microsecond_bounds_prefixes_too() {
        let mut rates: NetworkRates<1> = NetworkRates::new(1_000);
        let rate = RateLimit { burst: 1_000, per: Micros::new(1) };
        let bytes = [Charge { kind: 0, rate, count: 500 }];
        let taken = (0..80).filter(|n| rates.take(NOW, net(&format!("2001:db8:0:{n:x}::1")), &bytes).is_ok());
        assert_eq!(taken.count(), 4, "two shares of 1,000 bytes");
    }

    #[test]
    fn refused_charge_counts_for_no_prefix_and_no_kind() {
        let mut rates: NetworkRates<2> = NetworkRates::new(1_000);
        let both = |count| {
            [Charge { kind: 0, rate: PER_SECOND, count: 1 }, Charge { kind: 1, rate: PER_SECOND, count }]
        };
        let here = net("2001:db8::1");
        assert_eq!(rates.take(NOW, here, &both(12)), Err(Micros::from_secs(2)));
        assert!(rates.is_empty());
        assert_eq!(rates.take(NOW, here, &both(10)), Ok(()));
        assert_eq!(rates.take(NOW, here, &both(1)), Err(Micros::from_secs(1)));
        rates.give_back(here, both(1)[1]);
        assert_eq!(rates.take(NOW, here, &both(1)), Ok(()));
    }

    #[test]
    fn delayed_event_is_told_its_delay() {
        let mut rates: NetworkRates<1> = NetworkRates::new(1_000);
        let wait_max = Micros::from_secs(2);
        let mut take = || rates.take_within(NOW, 7, &charge(PER_SECOND), wait_max).map(Micros::as_millis);
        (0..10).for_each(|_| assert_eq!(take(), Ok(0)));
        assert_eq!((take(), take()), (Ok(1_000), Ok(2_000)));
        assert_eq!(take(), Err(Micros::from_secs(3)));
        assert_eq!(take(), Err(Micros::from_secs(3)), "it was not counted");
    }

    #[test]
    fn flood_of_networks_fills_no_memory() {
        let mut rates: NetworkRates<1> = NetworkRates::new(1_000);
        let taken =
            (0..50_000).filter(|network| rates.take(NOW, *network, &charge(PER_SECOND)).is_ok()).count();
        assert_eq!((taken, rates.len()), (1_010, 1_001), "the rest has what one network has");
        assert_eq!(rates.take(NOW + Micros::from_secs(2), 60_000, &charge(PER_SECOND)), Ok(()));
        assert_eq!(rates.len(), 2, "the shared one is not paid back yet");
    }
}
