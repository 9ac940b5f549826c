//! How many questions a network may ask, and how much it is owed: the answer to STUN's shortest
//! question is longer than it, so who asks briefly must ask twice. Nobody can make us send more to
//! an address than came from it.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use gaggle_kit::Micros;
use gaggle_lobby::places::network;

use crate::bucket::Bucket;

/// Questions a network may ask per second, and at once. A page that looks for a way asks two or
/// three, each up to nine times.
const PER_SECOND: u64 = 5;
const BURST: u64 = 20;
/// Answers to all networks together: a thousand pages that come in one second, and no more for
/// whoever forges addresses.
const ANSWERS_PER_SECOND: u64 = 4_000;
const ANSWERS_BURST: u64 = 4_000;
/// Networks remembered at a time. The next takes the place of the one that has been remembered
/// longest: whoever forges addresses has to do so thousands of times a second to keep a page that
/// asks again from being known still.
const NETWORKS_MAX: usize = 16_384;
/// A network that was silent for so long is forgotten.
const FORGET_AFTER: Micros = Micros::from_secs(10);
/// Bytes a network can be owed at most.
const OWED_BYTES_MAX: usize = 1_024;

/// Questions by network.
#[derive(Debug, Default)]
pub(crate) struct Limiter {
    networks: BTreeMap<u64, Network>,
    /// In the order they came.
    order: VecDeque<u64>,
    answers: Option<Bucket>,
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
        let name = network(from);
        if !self.networks.contains_key(&name) {
            self.make_room(now);
            let answers = Bucket::new(PER_SECOND, BURST, now);
            self.networks.insert(name, Network { answers, owed_bytes: 0, asked_at: now });
            self.order.push_back(name);
        }
        let Some(network) = self.networks.get_mut(&name) else { return false };
        network.asked_at = now;
        network.owed_bytes = (network.owed_bytes + asked_bytes).min(OWED_BYTES_MAX);
        let answers = self.answers.get_or_insert_with(|| Bucket::new(ANSWERS_PER_SECOND, ANSWERS_BURST, now));
        let allowed =
            answer_bytes <= network.owed_bytes && network.answers.take(now, 1) && answers.take(now, 1);
        if allowed {
            network.owed_bytes -= answer_bytes;
        }
        allowed
    }

    /// Forgets who is silent, or else who came first.
    fn make_room(&mut self, now: Micros) {
        if now.since(self.swept_at) >= FORGET_AFTER {
            self.swept_at = now;
            self.networks.retain(|_, network| now.since(network.asked_at) < FORGET_AFTER);
            self.order.retain(|name| self.networks.contains_key(name));
        }
        if self.networks.len() >= NETWORKS_MAX
            && let Some(first) = self.order.pop_front()
        {
            self.networks.remove(&first);
        }
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
        assert_eq!(answered, ANSWERS_BURST as usize);
        assert_eq!((limiter.networks.len(), limiter.order.len()), (NETWORKS_MAX, NETWORKS_MAX));
        assert!(limiter.allows("192.0.2.1".parse().unwrap(), 48, 32, Micros::from_secs(60)));
        assert_eq!((limiter.networks.len(), limiter.order.len()), (1, 1));
    }

    #[test]
    fn pages_are_answered_while_somebody_asks_under_thousands_of_addresses() {
        let mut limiter = Limiter::default();
        let page = |nth: u8| IpAddr::from([192, 0, 2, nth]);
        // When a browser asks, and asks again, in milliseconds.
        let asks = [0, 250, 750, 1_750, 3_350, 4_950, 6_550];
        let mut answered = [false; 50];
        let mut forged = 0x1000_0000_u32;
        let mut random = gaggle_kit::Prng::new(7);
        for ms in 0..10_000 {
            let now = Micros::from_millis(ms);
            let began = |nth: u8| 3_000 + 7 * u64::from(nth);
            let asking = (0..50).find(|nth| asks.iter().any(|after| began(*nth) + after == ms));
            // Somewhere among six of the others.
            let turn = random.below(7);
            for nth in 0..7 {
                match asking.filter(|_| nth == turn) {
                    Some(page_nth) => {
                        answered[usize::from(page_nth)] |= limiter.allows(page(page_nth), 20, 32, now);
                    }
                    None => {
                        forged += 1;
                        limiter.allows(IpAddr::V4(forged.into()), 48, 32, now);
                    }
                }
            }
        }
        let count = answered.iter().filter(|answered| **answered).count();
        assert!(count >= 35, "{count} of 50");
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
