//! How many questions a network may ask: the answer to STUN's shortest question is longer than it, so nobody gets many.

use std::collections::BTreeMap;
use std::net::IpAddr;

use gaggle_kit::Micros;

use crate::bucket::Bucket;

/// Questions a network may ask per second, and at once. A page that looks for a way asks two or three.
const PER_SECOND: u64 = 5;
const BURST: u64 = 20;
/// Networks remembered at a time; all others together have what one has.
const NETWORKS_MAX: usize = 4_096;
/// A network that was silent for so long is forgotten.
const FORGET_AFTER: Micros = Micros::from_secs(10);

/// Questions by network.
#[derive(Debug, Default)]
pub(crate) struct Limiter {
    networks: BTreeMap<u64, (Bucket, Micros)>,
    others: Option<Bucket>,
    swept_at: Micros,
}

impl Limiter {
    /// Whether this address may have an answer now.
    pub(crate) fn allows(&mut self, from: IpAddr, now: Micros) -> bool {
        if now.since(self.swept_at) >= FORGET_AFTER {
            self.swept_at = now;
            self.networks.retain(|_, (_, asked_at)| now.since(*asked_at) < FORGET_AFTER);
        }
        let network = network(from);
        if self.networks.len() >= NETWORKS_MAX && !self.networks.contains_key(&network) {
            return self.others.get_or_insert_with(|| Bucket::new(PER_SECOND, BURST, now)).take(now, 1);
        }
        let new = || (Bucket::new(PER_SECOND, BURST, now), now);
        let (bucket, asked_at) = self.networks.entry(network).or_insert_with(new);
        *asked_at = now;
        bucket.take(now, 1)
    }
}

/// Of IPv4 the address, of IPv6 the first 64 bits: what one customer has.
fn network(ip: IpAddr) -> u64 {
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
    fn one_network_gets_few_answers_and_others_theirs() {
        let mut limiter = Limiter::default();
        let ask = |limiter: &mut Limiter, ip: &str, times: usize| {
            (0..times).filter(|_| limiter.allows(ip.parse().unwrap(), Micros::from_secs(1))).count()
        };
        assert_eq!(ask(&mut limiter, "192.0.2.1", 1_000), 20);
        assert_eq!(ask(&mut limiter, "192.0.2.2", 5), 5);
        assert_eq!(ask(&mut limiter, "2001:db8::1", 15), 15);
        assert_eq!(ask(&mut limiter, "2001:db8::2", 15), 5, "the same customer");
    }

    #[test]
    fn a_flood_of_addresses_fills_no_memory_and_gets_few_answers() {
        let mut limiter = Limiter::default();
        let answered =
            (0..100_000u32).filter(|n| limiter.allows(IpAddr::V4((*n).into()), Micros::from_secs(1))).count();
        assert_eq!(answered, NETWORKS_MAX + 20);
        assert_eq!(limiter.networks.len(), NETWORKS_MAX);
        assert!(limiter.allows("192.0.2.1".parse().unwrap(), Micros::from_secs(60)));
        assert_eq!(limiter.networks.len(), 1);
    }
}
