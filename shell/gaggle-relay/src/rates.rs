//! How often each network may do something, and the prefix it lies in. The memory it takes is
//! bounded, however many networks come.

use gaggle_kit::Micros;
use gaggle_lobby::network_rates::{Charge, NetworkRates};
use gaggle_lobby::rules::RateLimit;

/// Prefixes remembered at a time; all others together have what one network has.
const PREFIXES_MAX: usize = 8_192;

/// A limit for each network.
#[derive(Debug)]
pub(crate) struct Rates {
    charge: Charge,
    used: NetworkRates<1>,
}

impl Rates {
    pub(crate) fn new(per_second: u64, burst: u64) -> Rates {
        let every = Micros::new(1_000_000 / per_second.max(1));
        let rate = RateLimit { burst: u32::try_from(burst).unwrap_or(u32::MAX), per: every };
        Rates { charge: Charge { kind: 0, rate, count: 1 }, used: NetworkRates::new(PREFIXES_MAX) }
    }

    /// Whether this network may do it once more now.
    pub(crate) fn take(&mut self, network: u64, now: Micros) -> bool {
        self.used.take(now, network, &[self.charge]).is_ok()
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
        assert_eq!((taken, rates.used.len()), (PREFIXES_MAX + 10, PREFIXES_MAX + 1));
        assert!(rates.take(20_000, Micros::from_secs(60)));
        assert_eq!(rates.used.len(), 1);
    }

    #[test]
    fn networks_of_one_prefix_share_its_rate() {
        let mut rates = Rates::new(2, 10);
        let network = |nth: u128| {
            gaggle_lobby::places::network(std::net::Ipv6Addr::from_bits(0x2001_0db8 << 96 | nth << 64).into())
        };
        let mut taken =
            |nth: u128| (0..100).filter(|_| rates.take(network(nth), Micros::from_secs(1))).count();
        assert_eq!((0..80).map(&mut taken).sum::<usize>(), 20, "twice what one network has");
    }
}
