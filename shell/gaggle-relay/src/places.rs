//! Counts by network, so that one of them cannot have all places.

use std::collections::BTreeMap;
use std::net::IpAddr;

/// How many places each network has.
#[derive(Debug, Default)]
pub(crate) struct Places {
    networks: BTreeMap<u64, usize>,
}

impl Places {
    /// Gives this network a place, unless it has so many.
    pub(crate) fn take(&mut self, network: u64, max: usize) -> bool {
        let count = self.networks.entry(network).or_default();
        let has_room = *count < max;
        *count += usize::from(has_room);
        has_room
    }

    /// Takes a place of this network back.
    pub(crate) fn give_back(&mut self, network: u64) {
        if let Some(count) = self.networks.get_mut(&network) {
            *count -= 1;
            if *count == 0 {
                self.networks.remove(&network);
            }
        }
    }
}

/// Of IPv4 the address, of IPv6 the first 64 bits: what one customer has.
pub(crate) fn network(ip: IpAddr) -> u64 {
    match ip.to_canonical() {
        IpAddr::V4(ip) => u64::from(ip.to_bits()),
        // The top bit keeps it apart from IPv4; addresses in use begin with 001.
        IpAddr::V6(ip) => (ip.to_bits() >> 64) as u64 | 1 << 63,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_network_has_its_share_and_leaves_nothing_behind() {
        let mut places = Places::default();
        assert_eq!((0..100).filter(|_| places.take(7, 10)).count(), 10);
        assert!(places.take(8, 10), "others have theirs");
        places.give_back(7);
        assert!(places.take(7, 10) && !places.take(7, 10));
        (0..10).for_each(|_| places.give_back(7));
        places.give_back(8);
        assert!(places.networks.is_empty());
    }
}
