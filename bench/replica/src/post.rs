//! The network between the machines: latency, a little jitter, and loss. Nothing it does is
//! measured.

use gaggle_kit::{Micros, Prng};
use gaggle_testkit::{Delivery, NetConditions, PacketScheduler};

/// One direction of a link. What travels has a channel; reliable messages are never lost and never
/// overtaken.
#[derive(Debug)]
pub(crate) struct Post {
    net: PacketScheduler<(usize, Vec<u8>)>,
    random: Prng,
}

impl Post {
    pub(crate) fn new(latency: Micros, jitter: Micros, loss_percent: u32, seed: u64) -> Post {
        let mut net = PacketScheduler::default();
        let loss = loss_percent * 10;
        net.set_conditions(NetConditions { latency, jitter, loss, ..NetConditions::default() });
        Post { net, random: Prng::new(seed) }
    }

    pub(crate) fn send(&mut self, now: Micros, reliable: bool, channel: usize, bytes: &[u8]) {
        let delivery = if reliable { Delivery::Ordered } else { Delivery::Datagram };
        self.net.send(&mut self.random, now, 0, 1, delivery, (channel, bytes.to_vec()));
    }

    /// The next message that has arrived by now.
    pub(crate) fn arrive(&mut self, now: Micros) -> Option<(usize, Vec<u8>)> {
        self.net.poll(now).map(|packet| packet.message)
    }
}
