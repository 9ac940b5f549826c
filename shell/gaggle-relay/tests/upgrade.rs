//! Two native peers that connect through the relay and move to a direct path later: nothing is lost
//! or doubled.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use std::time::{Duration, Instant};

use gaggle_kit::{Micros, PeerId};
use gaggle_link::{
    Channel, Mesh, MeshConfig, Path, PathChanged, PathConfig, PathReason, Transport, TransportEvent,
};
use gaggle_native::{Clock, MeshServers, NativeMesh, mesh, random_peer_id};
use gaggle_relay::RelayConfig;
use gaggle_relay::loopback::Loopback;

const PATIENCE: Duration = Duration::from_secs(120);

struct Pair {
    clock: Clock,
    ids: [PeerId; 2],
    links: [NativeMesh; 2],
    changes: [Vec<PathChanged>; 2],
    /// Whether signals arrive.
    signals: bool,
    /// Messages each has sent, and received.
    said: [u32; 2],
    heard: [u32; 2],
}

impl Pair {
    fn of(relay: &Loopback, paths: &PathConfig) -> Pair {
        let clock = Clock::start();
        let ids = [random_peer_id().unwrap(), random_peer_id().unwrap()];
        let servers = MeshServers { stun: vec![], relay: Some(relay.url()) };
        let mut links = ids.map(|me| {
            let config = MeshConfig { paths: paths.clone(), ..MeshConfig::default() };
            mesh(me, &relay.ticket(1, me), &servers, config, me.to_u128() as u64)
        });
        (0..2).for_each(|nth| links[nth].add_peer(clock.now(), ids[1 - nth]));
        let (changes, said, heard) = Default::default();
        Pair { clock, ids, links, changes, signals: false, said, heard }
    }

    /// Both send numbers, and receive the other's without a gap.
    fn step(&mut self) {
        for nth in 0..2 {
            let (now, other) = (self.clock.now(), self.ids[1 - nth]);
            while let Some(event) = self.links[nth].poll(now) {
                match event {
                    TransportEvent::Message { bytes, .. } => {
                        assert_eq!(bytes, self.heard[nth].to_le_bytes(), "{:?}", self.changes);
                        self.heard[nth] += 1;
                    }
                    TransportEvent::Disconnected { reason, .. } => panic!("{reason:?}: {:?}", self.changes),
                    TransportEvent::Connected { .. } => {}
                }
            }
            while let Some((_, signal)) = self.links[nth].poll_signal() {
                if self.signals {
                    self.links[1 - nth].handle_signal(now, self.ids[nth], &signal).unwrap();
                }
            }
            while let Some(change) = self.links[nth].poll_path_change() {
                self.changes[nth].push(change);
            }
            let number = self.said[nth].to_le_bytes();
            self.said[nth] +=
                u32::from(self.links[nth].send(now, other, Channel::Reliable(1), &number).is_ok());
        }
        std::thread::sleep(Duration::from_millis(2));
    }

    fn until(&mut self, what: &str, so: impl Fn(&Pair) -> bool) {
        let began = Instant::now();
        while !so(self) {
            assert!(began.elapsed() < PATIENCE, "{what}: {:?}", self.changes);
            self.step();
        }
    }

    fn run_by(&self, path: Path) -> bool {
        (0..2).all(|nth| self.links[nth].path(self.ids[1 - nth]) == Some(path))
    }
}

#[test]
fn upgrade_to_direct_path_loses_and_doubles_nothing() {
    let relay = Loopback::start(RelayConfig::default()).unwrap();
    // A shorter timeout than the default.
    let soon = Micros::from_millis(500);
    let paths = PathConfig { fallback_after: soon, retry_after: soon, ..PathConfig::default() };
    let mut pair = Pair::of(&relay, &paths);
    pair.until("the relay", |pair| pair.run_by(Path::Relay) && pair.heard.iter().all(|heard| *heard > 50));
    pair.signals = true;
    pair.until("the direct path", |pair| pair.run_by(Path::Direct));
    let heard = pair.heard;
    pair.until("both continue", |pair| (0..2).all(|nth| pair.heard[nth] > heard[nth] + 200));
    for changes in &pair.changes {
        let better = |change: &&PathChanged| change.reason == PathReason::Upgrade;
        let last = changes.iter().rfind(better).map(|change| change.path);
        assert_eq!(last, Some(Some(Path::Direct)), "{changes:?}");
    }
}
