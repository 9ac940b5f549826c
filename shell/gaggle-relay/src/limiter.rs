//! How many questions a network may ask, and how much it is owed: the answer to STUN's shortest question is longer than it, so who
//! asks briefly must ask twice. Nobody can make us send more to an address than came from it.

use std::collections::BTreeMap;
use std::net::IpAddr;

use gaggle_kit::Micros;

use crate::bucket::Bucket;
use crate::places::network;

/// Questions a network may ask per second, and at once. A page that looks for a way asks two or three, each up to nine times.
const PER_SECOND: u64 = 5;
const BURST: u64 = 20;
/// Networks remembered at a time; all others together have what one has, and must ask at length.
const NETWORKS_MAX: usize = 4_096;
/// A network that was silent for so long is forgotten.
const FORGET_AFTER: Micros = Micros::from_secs(10);
/// Bytes a network can be owed at most.
const OWED_BYTES_MAX: usize = 1_024;

/// Questions by network.
#[derive(Debug, Default)]
pub(crate) struct Limiter {
    networks: BTreeMap<u64, Network>,
    others: Option<Bucket>,
    swept_at: Micros,
}

#[derive(Debug)]
struct Network {
    answers: Bucket,
    /// Bytes it sent and was not answered with.
    owed_bytes: usize,
    asked_at: Micros,
}

impl Limiter {
    /// Whether a question of so many bytes from this address may have an answer of so many now.
    pub(crate) fn allows(
        &mut self,
        from: IpAddr,
        asked_bytes: usize,
        answer_bytes: usize,
        now: Micros,
    ) -> bool {
        if now.since(self.swept_at) >= FORGET_AFTER {
            self.swept_at = now;
            self.networks.retain(|_, network| now.since(network.asked_at) < FORGET_AFTER);
        }
        let name = network(from);
        if self.networks.len() >= NETWORKS_MAX && !self.networks.contains_key(&name) {
            let others = self.others.get_or_insert_with(|| Bucket::new(PER_SECOND, BURST, now));
            return answer_bytes <= asked_bytes && others.take(now, 1);
        }
        let new = || Network { answers: Bucket::new(PER_SECOND, BURST, now), owed_bytes: 0, asked_at: now };
        let network = self.networks.entry(name).or_insert_with(new);
        network.asked_at = now;
        network.owed_bytes = (network.owed_bytes + asked_bytes).min(OWED_BYTES_MAX);
        let allowed = answer_bytes <= network.owed_bytes && network.answers.take(now, 1);
        if allowed {
            network.owed_bytes -= answer_bytes;
        }
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_network_gets_few_answers_and_others_theirs() {
        let mut limiter = Limiter::default();
        let ask = |limiter: &mut Limiter, ip: &str, times: usize| {
            (0..times).filter(|_| limiter.allows(ip.parse().unwrap(), 48, 32, Micros::from_secs(1))).count()
        };
        assert_eq!(ask(&mut limiter, "192.0.2.1", 1_000), 20);
        assert_eq!(ask(&mut limiter, "192.0.2.2", 5), 5);
        assert_eq!(ask(&mut limiter, "2001:db8::1", 15), 15);
        assert_eq!(ask(&mut limiter, "2001:db8::2", 15), 5, "the same customer");
    }

    #[test]
    fn a_flood_of_addresses_fills_no_memory_and_gets_few_answers() {
        let mut limiter = Limiter::default();
        let answered = (0..100_000u32)
            .filter(|n| limiter.allows(IpAddr::V4((*n).into()), 48, 32, Micros::from_secs(1)))
            .count();
        assert_eq!(answered, NETWORKS_MAX + 20);
        assert_eq!(limiter.networks.len(), NETWORKS_MAX);
        assert!(limiter.allows("192.0.2.1".parse().unwrap(), 48, 32, Micros::from_secs(60)));
        assert_eq!(limiter.networks.len(), 1);
    }

    #[test]
    fn whoever_asks_briefly_is_never_sent_more_than_it_sent() {
        let mut limiter = Limiter::default();
        let (mut sent, mut got) = (0, 0);
        for second in 0..200 {
            sent += 20;
            let answered = limiter.allows("192.0.2.1".parse().unwrap(), 20, 32, Micros::from_secs(second));
            assert!(second > 0 || !answered, "one short question is not worth an answer");
            got += if answered { 32 } else { 0 };
            assert!(got <= sent, "{got} bytes for {sent}");
        }
        assert!(got > sent / 2, "a browser, which asks again, is answered");
    }
}
