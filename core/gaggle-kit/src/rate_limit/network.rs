//! Networks as keys of limits: an IPv4 address, or an IPv6 /64 with its wider prefixes.
//!
//! The lobby, the relay and the server limit each customer of a provider with it. Absent: sockets,
//! proxies, which address a request really comes from.

use std::net::IpAddr;

use super::{ConcurrencyLimit, LimitKey};

/// Bit that distinguishes IPv6 networks from IPv4 addresses; IPv6 addresses in use begin with 001.
const IS_IPV6: u64 = 1 << 63;

/// A prefix of addresses, as a provider gives it to a customer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix {
    length: u8,
    bits: u64,
}

impl LimitKey for Prefix {
    /// A /56 has two shares and a /48 four, however many networks they contain.
    fn shares(&self) -> u64 {
        match self.length {
            56 => 2,
            48 => 4,
            _ => 1,
        }
    }
}

/// Number of the smallest network of one customer: of IPv4 the address, of IPv6 its /64.
pub fn network(address: IpAddr) -> u64 {
    match address.to_canonical() {
        IpAddr::V4(address) => u64::from(address.to_bits()),
        IpAddr::V6(address) => (address.to_bits() >> 64) as u64 | IS_IPV6,
    }
}

/// Prefixes that contain a network, the smallest first: providers give IPv6 customers a /64, a /56
/// or a /48.
pub fn prefixes(network: u64) -> impl Iterator<Item = Prefix> + Clone {
    let levels: &[(u8, u32)] =
        if network & IS_IPV6 == 0 { &[(64, 0)] } else { &[(64, 0), (56, 8), (48, 16)] };
    levels.iter().map(move |(length, shift)| Prefix { length: *length, bits: network >> shift })
}

impl ConcurrencyLimit<Prefix> {
    /// Number held by the smallest prefix of this network.
    pub fn held_by(&self, network: u64) -> usize {
        prefixes(network).next().map_or(0, |prefix| self.held(prefix))
    }

    /// Number held by the largest prefix of this network: the heaviest is evicted first.
    pub fn weight(&self, network: u64) -> usize {
        prefixes(network).last().map_or(0, |prefix| self.held(prefix))
    }
}

/// Chooses at most `count` of `held` to evict: of the heaviest networks first, of one network the
/// first in order. Networks lighter than `weight_min`, the weight of the joiner's network with the
/// joiner, keep theirs.
pub fn choose_evicted<T: Ord + Copy>(
    places: &ConcurrencyLimit<Prefix>,
    weight_min: usize,
    held: impl Iterator<Item = (u64, T)>,
    count: usize,
) -> Vec<T> {
    let mut candidates: Vec<(usize, T)> = held
        .map(|(network, held)| (places.weight(network), held))
        .filter(|(weight, _)| *weight >= weight_min)
        .collect();
    let count = count.min(candidates.len());
    let order = |a: &(usize, T), b: &(usize, T)| b.0.cmp(&a.0).then(a.1.cmp(&b.1));
    if count < candidates.len() {
        candidates.select_nth_unstable_by(count, order);
    }
    candidates.truncate(count);
    candidates.into_iter().map(|(_, held)| held).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn net(text: &str) -> u64 {
        network(text.parse().unwrap())
    }

    #[test]
    fn household_of_ipv6_is_one_network() {
        assert_eq!(net("2001:db8::1"), net("2001:db8::ffff:2"));
        assert_ne!(net("2001:db8::1"), net("2001:db8:0:1::1"));
        assert_eq!(net("10.0.0.1"), net("::ffff:10.0.0.1"));
        assert_ne!(net("10.0.0.1"), net("10.0.0.2"));
    }

    #[test]
    fn prefix_of_ipv6_is_bounded_as_whole() {
        let mut places = ConcurrencyLimit::default();
        let mut take = |text: &str, times: usize| {
            (0..times).filter(|_| places.try_acquire(prefixes(net(text)), usize::MAX, 10)).count()
        };
        assert_eq!(take("2001:db8:0:1::", 50), 10);
        assert_eq!(
            (take("2001:db8:0:2::", 50), take("2001:db8:0:ff::", 50)),
            (10, 0),
            "a /56 has two shares"
        );
        assert_eq!((take("2001:db8:0:100::", 50), take("2001:db8:0:200::", 50)), (10, 10));
        assert_eq!(take("2001:db8:0:300::", 50), 0, "a /48 has four");
        assert_eq!((take("2001:db8:1::", 50), take("192.0.2.1", 50), take("192.0.2.2", 50)), (10, 10, 10));
        assert_eq!(places.weight(net("2001:db8:0:7700::")), 40);
        assert_eq!((places.held_by(net("2001:db8:0:1::")), places.held_by(net("192.0.2.9"))), (10, 0));
        for text in ["2001:db8:0:1::", "2001:db8:0:2::", "2001:db8:0:100::", "2001:db8:0:200::"] {
            (0..10).for_each(|_| places.release(prefixes(net(text))));
        }
        assert_eq!(places.weight(net("2001:db8::")), 0);
    }

    #[test]
    fn heaviest_network_is_evicted_first_and_its_oldest_before() {
        let mut places = ConcurrencyLimit::default();
        let held: Vec<(u64, u32)> = [(1, 0), (2, 1), (2, 2), (2, 3), (3, 4), (3, 5)].to_vec();
        held.iter().for_each(|(network, _)| assert!(places.try_acquire(prefixes(*network), usize::MAX, 10)));
        let from =
            |joiner, count| choose_evicted(&places, places.weight(joiner) + 1, held.iter().copied(), count);
        let mut chosen = from(9, 4);
        chosen.sort_unstable();
        assert_eq!((from(9, 1), chosen), (vec![1], vec![1, 2, 3, 4]));
        assert_eq!(from(9, 100).len(), 6);
        assert_eq!(from(3, 100).len(), 3, "only networks with more than the joiner's");
        assert_eq!(from(2, 100).len(), 0);
    }
}
