//! STUN requests by network, and the bytes each is owed.
//!
//! The UDP port asks it before it answers. The answer to the shortest request is longer than it, so
//! that a client which asks briefly asks twice: no address is sent more than came from it.
//! Absent: sockets, what an answer says.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use gaggle_kit::Micros;
use gaggle_kit::rate_limit::{RateLimiter, network};

use crate::limits::{RelayLimit, STUN_NETWORK, STUN_TOTAL};

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
    answers: RateLimiter,
    swept_at: Micros,
}

#[derive(Debug)]
struct Network {
    answers: RateLimiter,
    /// Bytes it sent and was not answered with.
    owed_bytes: usize,
    asked_at: Micros,
}

impl Limiter {
    /// Whether a question of so many bytes from this address may have an answer of so many now. The
    /// error is the limit it exceeds; none if the network has not sent as much as it would get.
    pub(crate) fn allows(
        &mut self,
        from: IpAddr,
        asked_bytes: usize,
        answer_bytes: usize,
        now: Micros,
    ) -> Result<(), Option<RelayLimit>> {
        let name = network(from);
        if !self.networks.contains_key(&name) {
            self.make_room(now);
            let fresh = Network { answers: RateLimiter::default(), owed_bytes: 0, asked_at: now };
            self.networks.insert(name, fresh);
            self.order.push_back(name);
        }
        let Some(network) = self.networks.get_mut(&name) else { return Err(None) };
        network.asked_at = now;
        network.owed_bytes = (network.owed_bytes + asked_bytes).min(OWED_BYTES_MAX);
        if answer_bytes > network.owed_bytes {
            return Err(None);
        }
        let limited = |limit| move |_| Some(limit);
        network.answers.try_acquire(now, &STUN_NETWORK, 1).map_err(limited(RelayLimit::StunNetwork))?;
        self.answers.try_acquire(now, &STUN_TOTAL, 1).map_err(limited(RelayLimit::StunTotal))?;
        network.owed_bytes -= answer_bytes;
        Ok(())
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
            (0..times)
                .filter(|_| limiter.allows(ip.parse().unwrap(), 48, 32, Micros::from_secs(1)).is_ok())
                .count()
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
            .filter(|n| limiter.allows(IpAddr::V4((*n).into()), 48, 32, Micros::from_secs(1)).is_ok())
            .count();
        assert_eq!(answered, STUN_TOTAL.burst as usize);
        assert_eq!((limiter.networks.len(), limiter.order.len()), (NETWORKS_MAX, NETWORKS_MAX));
        assert!(limiter.allows("192.0.2.1".parse().unwrap(), 48, 32, Micros::from_secs(60)).is_ok());
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
                        answered[usize::from(page_nth)] |=
                            limiter.allows(page(page_nth), 20, 32, now).is_ok();
                    }
                    None => {
                        forged += 1;
                        let _ = limiter.allows(IpAddr::V4(forged.into()), 48, 32, now);
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
            let answered =
                limiter.allows("192.0.2.1".parse().unwrap(), 20, 32, Micros::from_secs(second)).is_ok();
            assert!(second > 0 || !answered, "one short question is not worth an answer");
            got += if answered { 32 } else { 0 };
            assert!(got <= sent, "{got} bytes for {sent}");
        }
        assert!(got > sent / 2, "a browser, which asks again, is answered");
    }
}
