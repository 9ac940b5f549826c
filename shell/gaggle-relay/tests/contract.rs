//! The contract of transports, kept by links through a relay.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use std::time::Duration;

use gaggle_kit::{Micros, PeerId};
use gaggle_link::contract::Stage;
use gaggle_link::relay::{Leg, RelayClient, RelayHandle};
use gaggle_link::{Link, LinkConfig, Path, PathConfig, Paths};
use gaggle_native::{Clock, RelayLine, random_peer};
use gaggle_relay::RelayConfig;
use gaggle_relay::loopback::Loopback;

struct Through {
    clock: Clock,
    relay: Loopback,
    leg: Leg,
}

impl Stage for Through {
    type Transport = Link<Paths>;

    fn transports(&mut self) -> Vec<Link<Paths>> {
        let peers: Vec<PeerId> = (0..3).map(|_| random_peer().unwrap()).collect();
        let path = if self.leg == Leg::Channel { Path::Relay } else { Path::Socket };
        let config = LinkConfig {
            heartbeat: Micros::from_millis(250),
            dead_after: self.dead_after(),
            probe: Micros::from_millis(500),
            send_bytes_max: 1_100_000,
            ..LinkConfig::default()
        };
        let link = |(seed, me): (u64, PeerId)| {
            let ticket = self.relay.ticket(1, me);
            let client = RelayClient::new(me, &ticket, &[self.leg]);
            let handle = RelayHandle::new(client, RelayLine::new(&self.relay.url()));
            let mut paths = Paths::new(me, PathConfig::only(path)).add(path, handle.way(self.leg));
            peers.iter().filter(|peer| **peer != me).for_each(|peer| paths.connect(self.clock.now(), *peer));
            Link::new(paths, config.clone(), seed)
        };
        (1..).zip(peers.iter().copied()).map(link).collect()
    }

    fn wait(&mut self) -> Micros {
        std::thread::sleep(Duration::from_millis(1));
        self.clock.now()
    }

    fn dead_after(&self) -> Micros {
        Micros::from_millis(750)
    }
}

mod over_a_socket {
    use super::*;

    gaggle_link::contract!(Through {
        clock: Clock::start(),
        relay: Loopback::start(RelayConfig::default()).unwrap(),
        leg: Leg::Socket
    });
}
