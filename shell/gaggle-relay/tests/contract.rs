//! The contract of transports, kept by links of native programs: direct, through the relay's channel and through its socket.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use std::time::Duration;

use gaggle_kit::{Micros, PeerId};
use gaggle_link::contract::{ForgivingClock, Neighbour, Post, Stage};
use gaggle_link::{LinkConfig, LinksConfig, Path, PathConfig};
use gaggle_native::{Clock, NativeMesh, Servers, links, random_peer};
use gaggle_relay::RelayConfig;
use gaggle_relay::loopback::Loopback;

struct Town {
    clock: Clock,
    forgiving: ForgivingClock,
    relay: Loopback,
    path: Path,
}

impl Town {
    fn with(path: Path) -> Town {
        let (clock, forgiving) = (Clock::start(), ForgivingClock::default());
        Town { clock, forgiving, relay: Loopback::start(RelayConfig::default()).unwrap(), path }
    }
}

impl Stage for Town {
    type Transport = Neighbour<NativeMesh>;

    fn transports(&mut self) -> Vec<Neighbour<NativeMesh>> {
        let peers: Vec<PeerId> = (0..3).map(|_| random_peer().unwrap()).collect();
        let post = Post::default();
        let servers = Servers { stun: vec![], relay: Some(self.relay.url()) };
        let neighbour = |(seed, me): (u64, PeerId)| {
            let link = LinkConfig {
                heartbeat: Micros::from_millis(250),
                dead_after: self.dead_after(),
                probe: Micros::from_millis(500),
                send_bytes_max: 1_100_000,
                ..LinkConfig::default()
            };
            let config = LinksConfig { paths: PathConfig::only(self.path), link, ..LinksConfig::default() };
            let links = links(me, &self.relay.ticket(1, me), &servers, config, seed);
            let others = peers.iter().copied().filter(|peer| *peer != me).collect();
            Neighbour::new(links, &post, others, self.path)
        };
        (1..).zip(peers.iter().copied()).map(neighbour).collect()
    }

    fn wait(&mut self) -> Micros {
        std::thread::sleep(Duration::from_millis(1));
        self.forgiving.look(self.clock.now())
    }

    fn dead_after(&self) -> Micros {
        Micros::from_millis(1_500)
    }
}

mod directly {
    use super::*;

    gaggle_link::contract!(Town::with(Path::Direct));
}

mod over_the_relays_channel {
    use super::*;

    gaggle_link::contract!(Town::with(Path::Relay));
}

mod over_the_relays_socket {
    use super::*;

    gaggle_link::contract!(Town::with(Path::Socket));
}
