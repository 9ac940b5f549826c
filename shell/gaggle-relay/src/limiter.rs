//! Rate of STUN requests per network, and bytes each may be sent in return.
//!
//! The UDP port asks it before it answers. A response is longer than the shortest request, so a
//! client with short requests must send two: no address receives more bytes than came from it.
//! Absent: sockets, content of responses.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use gaggle_kit::Micros;
use gaggle_kit::rate_limit::{RateLimiter, network};

use crate::limits::{RelayLimit, STUN_NETWORK, STUN_TOTAL};

/// Networks tracked; the oldest is dropped first. An attacker with forged addresses would have to
/// send thousands a second to push out a page between its retries.
const NETWORKS_MAX: usize = 16_384;
/// A network silent for this long is dropped.
const FORGET_AFTER: Micros = Micros::from_secs(10);
/// Largest byte credit of a network.
const OWED_BYTES_MAX: usize = 1_024;

/// STUN requests by network.
#[derive(Debug, Default)]
pub(crate) struct Limiter {
    networks: BTreeMap<u64, Network>,
    /// Networks in the order they were added.
    order: VecDeque<u64>,
    answers: RateLimiter,
    swept_at: Micros,
}

#[derive(Debug)]
struct Network {
    answers: RateLimiter,
    /// Bytes received minus bytes sent in return.
    owed_bytes: usize,
    asked_at: Micros,
}

impl Limiter {
    /// Whether a request of `asked` bytes from this address may have a response of `answer` bytes
    /// now. The error is the exceeded limit; none if the byte credit is too small.
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

    /// Drops silent networks, or else the oldest.
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
    fn flood_of_addresses_is_bounded_and_gets_few_answers() {
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
    fn browsers_are_answered_during_flood_of_addresses() {
        let mut limiter = Limiter::default();
        let page = |nth: u8| IpAddr::from([192, 0, 2, nth]);
        // Times of a browser's request and its retries, in milliseconds.
        let asks = [0, 250, 750, 1_750, 3_350, 4_950, 6_550];
        let mut answered = [false; 50];
        let mut forged = 0x1000_0000_u32;
        let mut random = gaggle_kit::Prng::new(7);
        for ms in 0..10_000 {
            let now = Micros::from_millis(ms);
            let began = |nth: u8| 3_000 + 7 * u64::from(nth);
            let asking = (0..50).find(|nth| asks.iter().any(|after| began(*nth) + after == ms));
            // The page's request falls somewhere among six requests of the flood.
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
    fn short_requests_never_get_more_bytes_than_they_sent() {
        let mut limiter = Limiter::default();
        let (mut sent, mut got) = (0, 0);
        for second in 0..200 {
            sent += 20;
            let answered =
                limiter.allows("192.0.2.1".parse().unwrap(), 20, 32, Micros::from_secs(second)).is_ok();
            assert!(second > 0 || !answered, "one short request gets no response");
            got += if answered { 32 } else { 0 };
            assert!(got <= sent, "{got} bytes for {sent}");
        }
        assert!(got > sent / 2, "a browser that retries is answered");
    }
}
