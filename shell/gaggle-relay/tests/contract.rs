//! The contract of transports, kept by links of native programs: direct, through the relay's channel and through its socket.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use gaggle_kit::{Micros, PeerId};
use gaggle_link::contract::Stage;
use gaggle_link::{
    Channel, Event, Goodbye, LinkConfig, LinkStats, Links, LinksConfig, Path, PathConfig, SendError,
    Transport,
};
use gaggle_native::{Clock, Servers, links, random_peer};
use gaggle_relay::RelayConfig;
use gaggle_relay::loopback::Loopback;

/// Signals under way: from, to, what.
type Post = Rc<RefCell<Vec<(PeerId, PeerId, String)>>>;

/// Links whose signals travel within the test.
struct Neighbour {
    links: Links,
    post: Post,
    others: Vec<PeerId>,
    /// The only way that may ever be taken.
    path: Path,
}

impl Transport for Neighbour {
    fn local_id(&self) -> PeerId {
        self.links.local_id()
    }

    fn peers(&self) -> &[PeerId] {
        self.links.peers()
    }

    fn send(&mut self, now: Micros, to: PeerId, channel: Channel, bytes: &[u8]) -> Result<(), SendError> {
        self.links.send(now, to, channel, bytes)
    }

    fn poll(&mut self, now: Micros) -> Option<Event<'_>> {
        for peer in std::mem::take(&mut self.others) {
            self.links.peer_up(now, peer);
        }
        let me = self.links.local_id();
        let mine: Vec<_> = self.post.borrow_mut().extract_if(.., |(_, to, _)| *to == me).collect();
        for (from, _, text) in mine {
            self.links.handle_signal(now, from, &text).unwrap();
        }
        while let Some((to, signal)) = self.links.next_signal() {
            self.post.borrow_mut().push((me, to, signal));
        }
        while let Some(change) = self.links.next_change() {
            assert!(change.path.is_none_or(|path| path == self.path), "{change:?}");
        }
        self.links.poll(now)
    }

    fn poll_timeout(&self) -> Micros {
        self.links.poll_timeout()
    }

    fn disconnect(&mut self, now: Micros, peer: PeerId, goodbye: Goodbye) {
        self.links.disconnect(now, peer, goodbye);
    }

    fn stats(&self, peer: PeerId) -> Option<LinkStats> {
        self.links.stats(peer)
    }
}

struct Town {
    clock: Clock,
    relay: Loopback,
    path: Path,
}

impl Town {
    fn with(path: Path) -> Town {
        Town { clock: Clock::start(), relay: Loopback::start(RelayConfig::default()).unwrap(), path }
    }
}

impl Stage for Town {
    type Transport = Neighbour;

    fn transports(&mut self) -> Vec<Neighbour> {
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
            Neighbour { links, post: Rc::clone(&post), others, path: self.path }
        };
        (1..).zip(peers.iter().copied()).map(neighbour).collect()
    }

    fn wait(&mut self) -> Micros {
        std::thread::sleep(Duration::from_millis(1));
        self.clock.now()
    }

    fn dead_after(&self) -> Micros {
        Micros::from_millis(750)
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
