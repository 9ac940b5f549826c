//! The transport contract with native meshes: direct, through the relay's channel, through its
//! WebSocket.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use std::time::Duration;

use gaggle_kit::{Micros, PeerId};
use gaggle_link::contract::{Harness, LocalPeer, SignalBoard, SteppedClock};
use gaggle_link::{LinkConfig, MeshConfig, Path, PathConfig};
use gaggle_native::{Clock, MeshServers, NativeMesh, mesh, random_peer_id};
use gaggle_relay::RelayConfig;
use gaggle_relay::loopback::Loopback;

struct RelayHarness {
    clock: Clock,
    forgiving: SteppedClock,
    relay: Loopback,
    path: Path,
}

impl RelayHarness {
    fn with(path: Path) -> RelayHarness {
        let (clock, forgiving) = (Clock::start(), SteppedClock::default());
        RelayHarness { clock, forgiving, relay: Loopback::start(RelayConfig::default()).unwrap(), path }
    }
}

impl Harness for RelayHarness {
    type Transport = LocalPeer<NativeMesh>;

    fn transports(&mut self) -> Vec<LocalPeer<NativeMesh>> {
        let peers: Vec<PeerId> = (0..3).map(|_| random_peer_id().unwrap()).collect();
        let post = SignalBoard::default();
        let servers = MeshServers { stun: vec![], relay: Some(self.relay.url()) };
        let neighbor = |(seed, me): (u64, PeerId)| {
            let link = LinkConfig {
                heartbeat_interval: Micros::from_millis(250),
                timeout: self.timeout(),
                rtt_probe_interval: Micros::from_millis(500),
                send_bytes_max: 1_100_000,
                ..LinkConfig::default()
            };
            let config = MeshConfig { paths: PathConfig::only(self.path), link, ..MeshConfig::default() };
            let links = mesh(me, &self.relay.ticket(1, me), &servers, config, seed);
            let others = peers.iter().copied().filter(|peer| *peer != me).collect();
            LocalPeer::new(links, &post, others, self.path)
        };
        (1..).zip(peers.iter().copied()).map(neighbor).collect()
    }

    fn wait(&mut self) -> Micros {
        std::thread::sleep(Duration::from_millis(1));
        self.forgiving.look(self.clock.now())
    }

    fn timeout(&self) -> Micros {
        Micros::from_millis(1_500)
    }
}

mod directly {
    use super::*;

    gaggle_link::contract!(RelayHarness::with(Path::Direct));
}

mod over_the_relays_channel {
    use super::*;

    gaggle_link::contract!(RelayHarness::with(Path::Relay));
}

mod over_the_relays_socket {
    use super::*;

    gaggle_link::contract!(RelayHarness::with(Path::WebSocket));
}
