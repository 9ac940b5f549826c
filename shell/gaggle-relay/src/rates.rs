//! How often each network may do something. The memory it takes is bounded, however many networks come.

use std::collections::BTreeMap;

use gaggle_kit::Micros;

use crate::bucket::Bucket;

/// Networks remembered at a time; all others together have what one has.
const NETWORKS_MAX: usize = 4_096;

/// A limit for each network.
#[derive(Debug)]
pub(crate) struct Rates {
    per_second: u64,
    burst: u64,
    networks: BTreeMap<u64, (Bucket, Micros)>,
    others: Option<Bucket>,
    swept_at: Micros,
}

impl Rates {
    pub(crate) fn new(per_second: u64, burst: u64) -> Rates {
        Rates { per_second, burst, networks: BTreeMap::new(), others: None, swept_at: Micros::ZERO }
    }

    /// Whether this network may do it once more now.
    pub(crate) fn take(&mut self, network: u64, now: Micros) -> bool {
        // Whoever was silent for so long has its whole burst again, as somebody new has.
        let forget_after = Micros::from_secs(self.burst.div_ceil(self.per_second.max(1)));
        if now.since(self.swept_at) >= forget_after {
            self.swept_at = now;
            self.networks.retain(|_, (_, last)| now.since(*last) < forget_after);
        }
        let full = || Bucket::new(self.per_second, self.burst, now);
        if self.networks.len() >= NETWORKS_MAX && !self.networks.contains_key(&network) {
            return self.others.get_or_insert_with(full).take(now, 1);
        }
        let (bucket, last) = self.networks.entry(network).or_insert_with(|| (full(), now));
        *last = now;
        bucket.take(now, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_network_has_its_rate() {
        let mut rates = Rates::new(2, 10);
        let mut count =
            |network: u64, now: u64| (0..100).filter(|_| rates.take(network, Micros::from_secs(now))).count();
        assert_eq!((count(1, 1), count(2, 1)), (10, 10));
        assert_eq!((count(1, 2), count(1, 4)), (2, 4));
        assert_eq!((count(1, 60), count(3, 60)), (10, 10));
    }

    #[test]
    fn a_flood_of_networks_fills_no_memory() {
        let mut rates = Rates::new(2, 10);
        let taken = (0..20_000).filter(|network| rates.take(*network, Micros::from_secs(1))).count();
        assert_eq!((taken, rates.networks.len()), (NETWORKS_MAX + 10, NETWORKS_MAX));
        assert!(rates.take(20_000, Micros::from_secs(60)));
        assert_eq!(rates.networks.len(), 1);
    }
}
