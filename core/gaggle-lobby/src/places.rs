//! Places by network: counts what each customer of a provider holds, so that no customer holds all
//! of it.
//!
//! The node, the relay and the server count with it. Absent: clocks, sockets, what a place is
//! worth.

use std::collections::BTreeMap;
use std::net::IpAddr;

/// Bit that tells networks of IPv6 from IPv4 addresses; addresses in use begin with 001.
const IS_IPV6: u64 = 1 << 63;

/// Number of the smallest network one customer has: of IPv4 the address, of IPv6 its /64.
pub fn network(address: IpAddr) -> u64 {
    match address.to_canonical() {
        IpAddr::V4(address) => u64::from(address.to_bits()),
        IpAddr::V6(address) => (address.to_bits() >> 64) as u64 | IS_IPV6,
    }
}

/// The prefixes a network lies in, the smallest first, and how many shares each has. Providers give
/// customers of IPv6 a /64, a /56 or a /48: a /56 has two shares and a /48 four, however many
/// networks they are cut into.
pub fn prefixes(network: u64) -> impl Iterator<Item = ((u8, u64), usize)> {
    let levels: &[(u8, u32, usize)] =
        if network & IS_IPV6 == 0 { &[(64, 0, 1)] } else { &[(64, 0, 1), (56, 8, 2), (48, 16, 4)] };
    levels.iter().map(move |(length, shift, shares)| ((*length, network >> shift), *shares))
}

/// How many places each prefix holds.
#[derive(Debug, Clone, Default)]
pub struct ConcurrencyLimit {
    held: BTreeMap<(u8, u64), usize>,
}

impl ConcurrencyLimit {
    /// Gives this network a place, unless one of its prefixes holds as many as it may: `share` for
    /// the smallest.
    pub fn take(&mut self, network: u64, share: usize) -> bool {
        let held = |prefix| self.held.get(&prefix).copied().unwrap_or(0);
        if prefixes(network).any(|(prefix, shares)| held(prefix) >= share.saturating_mul(shares)) {
            return false;
        }
        for (prefix, _) in prefixes(network) {
            *self.held.entry(prefix).or_default() += 1;
        }
        true
    }

    /// Takes a place of this network back.
    pub fn give_back(&mut self, network: u64) {
        for (prefix, _) in prefixes(network) {
            match self.held.get_mut(&prefix) {
                Some(count) if *count > 1 => *count -= 1,
                _ => drop(self.held.remove(&prefix)),
            }
        }
    }

    /// How many places this network holds.
    pub fn held(&self, network: u64) -> usize {
        let smallest = prefixes(network).next().map(|(prefix, _)| prefix);
        smallest.and_then(|prefix| self.held.get(&prefix)).copied().unwrap_or(0)
    }

    /// How many places the largest prefix of this network holds: who holds most makes way first.
    pub fn weight(&self, network: u64) -> usize {
        let largest = prefixes(network).last().map(|(prefix, _)| prefix);
        largest.and_then(|prefix| self.held.get(&prefix)).copied().unwrap_or(0)
    }

    /// Whether no place is held.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }
}

/// Those of `held` that make way, at most `count`: of the heaviest networks first, of one network
/// the first in order. Networks lighter than `weight_min` are left alone: it is the weight the
/// newcomer's network has with the newcomer.
pub fn making_way<T: Ord + Copy>(
    places: &ConcurrencyLimit,
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
    fn network_has_its_share_and_leaves_nothing_behind() {
        let mut places = ConcurrencyLimit::default();
        assert_eq!((0..100).filter(|_| places.take(7, 10)).count(), 10);
        assert!(places.take(8, 10), "others have theirs");
        places.give_back(7);
        assert!(places.take(7, 10) && !places.take(7, 10));
        (0..10).for_each(|_| places.give_back(7));
        places.give_back(8);
        assert!(places.is_empty());
    }

    #[test]
    fn prefix_of_ipv6_is_bounded_as_a_whole() {
        let mut places = ConcurrencyLimit::default();
        let mut take = |text: &str, times: usize| (0..times).filter(|_| places.take(net(text), 10)).count();
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
        for text in ["2001:db8:0:1::", "2001:db8:0:2::", "2001:db8:0:100::", "2001:db8:0:200::"] {
            (0..10).for_each(|_| places.give_back(net(text)));
        }
        assert_eq!(places.weight(net("2001:db8::")), 0);
    }

    #[test]
    fn heaviest_network_makes_way_first_and_its_oldest_before() {
        let mut places = ConcurrencyLimit::default();
        let held: Vec<(u64, u32)> = [(1, 0), (2, 1), (2, 2), (2, 3), (3, 4), (3, 5)].to_vec();
        held.iter().for_each(|(network, _)| assert!(places.take(*network, 10)));
        let from =
            |newcomer, count| making_way(&places, places.weight(newcomer) + 1, held.iter().copied(), count);
        let mut chosen = from(9, 4);
        chosen.sort_unstable();
        assert_eq!((from(9, 1), chosen), (vec![1], vec![1, 2, 3, 4]));
        assert_eq!(from(9, 100).len(), 6);
        assert_eq!(from(3, 100).len(), 3, "only who holds more than the newcomer");
        assert_eq!(from(2, 100).len(), 0);
    }
}
