//! The network between peers: latency, jitter, loss.
//!
//! Both libraries send through it, unmeasured. Absent: packet contents.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use gaggle_kit::{Micros, Prng};

/// A packet under way, by its time of arrival.
type Flying = Reverse<(Micros, u64, usize, Vec<u8>)>;

/// One direction of a link with channels. Reliable packets are neither lost nor reordered.
#[derive(Debug)]
pub(crate) struct Post {
    flying: BinaryHeap<Flying>,
    latency: Micros,
    jitter: Micros,
    loss_percent: u32,
    random: Prng,
    count: u64,
    last_reliable: Micros,
}

impl Post {
    pub(crate) fn new(latency: Micros, jitter: Micros, loss_percent: u32, seed: u64) -> Post {
        Post {
            flying: BinaryHeap::new(),
            latency,
            jitter,
            loss_percent,
            random: Prng::new(seed),
            count: 0,
            last_reliable: Micros::ZERO,
        }
    }

    pub(crate) fn send(&mut self, now: Micros, reliable: bool, channel: usize, bytes: &[u8]) {
        if !reliable && self.random.chance(self.loss_percent, 100) {
            return;
        }
        self.count += 1;
        let jitter = self.random.below(self.jitter.get() as u32 + 1);
        let mut at = now + self.latency + Micros::new(u64::from(jitter));
        if reliable {
            at = at.max(self.last_reliable);
            self.last_reliable = at;
        }
        self.flying.push(Reverse((at, self.count, channel, bytes.to_vec())));
    }

    /// The next packet that has arrived.
    pub(crate) fn arrive(&mut self, now: Micros) -> Option<(usize, Vec<u8>)> {
        self.flying.peek().filter(|Reverse((at, ..))| *at <= now)?;
        self.flying.pop().map(|Reverse((_, _, channel, bytes))| (channel, bytes))
    }
}
