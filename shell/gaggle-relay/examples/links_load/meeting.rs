//! Time in milliseconds until two members of a room have delivered a first message: median of many.

use std::time::Duration;

use gaggle_kit::{Micros, PeerId};
use gaggle_link::{Channel, Mesh, MeshConfig, Path, Transport, TransportEvent};
use gaggle_native::{Clock, MeshServers, NativeMesh, mesh, random_peer_id};

use crate::relay_process::ticket;
use crate::{RelayProcess, median};

const MEETINGS: usize = 20;
/// Time between the starts of two pairs.
const APART: Duration = Duration::from_millis(150);

/// With a working direct path.
pub(crate) fn direct(clock: &Clock) -> f64 {
    let relay = RelayProcess::start(false);
    median(meet(clock, &relay, true, Path::Direct))
}

/// Without signals for a direct path, so that only the relay works.
pub(crate) fn relay_after_failure(clock: &Clock) -> f64 {
    let relay = RelayProcess::start(false);
    median(meet(clock, &relay, false, Path::Relay))
}

/// Two members of one room.
struct Pair {
    ids: [PeerId; 2],
    links: [NativeMesh; 2],
    began: Micros,
    met: Option<Micros>,
}

fn meet(clock: &Clock, relay: &RelayProcess, signals: bool, path: Path) -> Vec<f64> {
    let servers = MeshServers { stun: vec![], relay: Some(relay.url().to_string()) };
    let mut pairs: Vec<Pair> = Vec::new();
    let mut next = clock.now();
    while pairs.len() < MEETINGS || pairs.iter().any(|pair| pair.met.is_none()) {
        if pairs.len() < MEETINGS && clock.now() >= next {
            next += Micros::new(APART.as_micros() as u64);
            pairs.push(Pair::begin(clock, &servers, pairs.len() as u64));
        }
        pairs.iter_mut().filter(|pair| pair.met.is_none()).for_each(|pair| pair.step(clock, signals, path));
        std::thread::sleep(Duration::from_millis(1));
        assert!(clock.now() < next + Micros::from_secs(60), "they do not connect");
    }
    pairs.iter().filter_map(|pair| Some(pair.met?.since(pair.began).get() as f64 / 1_000.0)).collect()
}

impl Pair {
    fn begin(clock: &Clock, servers: &MeshServers, room: u64) -> Pair {
        let ids = [random_peer_id().unwrap(), random_peer_id().unwrap()];
        let began = clock.now();
        let mut links =
            ids.map(|me| mesh(me, &ticket(room, me), servers, MeshConfig::default(), me.to_u128() as u64));
        (0..2).for_each(|nth| links[nth].add_peer(began, ids[1 - nth]));
        Pair { ids, links, began, met: None }
    }

    fn step(&mut self, clock: &Clock, signals: bool, path: Path) {
        for nth in 0..2 {
            let (now, other) = (clock.now(), self.ids[1 - nth]);
            while let Some((_, signal)) = self.links[nth].poll_signal() {
                if signals {
                    self.links[1 - nth].handle_signal(now, self.ids[nth], &signal).unwrap();
                }
            }
            let mut heard = false;
            while let Some(event) = self.links[nth].poll(now) {
                heard |= matches!(event, TransportEvent::Message { .. });
            }
            if heard && self.links[nth].path(other) == Some(path) {
                self.met = self.met.or(Some(clock.now()));
            }
            let _ = self.links[nth].send(now, other, Channel::Unreliable, b"honk");
        }
    }
}
