//! Time in milliseconds until two members hear each other again after a restart of the relay.

use std::time::{Duration, Instant};

use gaggle_kit::{Micros, PeerId};
use gaggle_link::{Channel, Mesh, MeshConfig, Path, PathConfig, Transport, TransportEvent};
use gaggle_lobby::TicketSigner;
use gaggle_native::{Clock, MeshServers, NativeMesh, mesh, random_peer_id};
use gaggle_relay::RelayConfig;
use gaggle_relay::loopback::Loopback;

/// Downtime of the relay.
const AWAY: Duration = Duration::from_secs(1);
const PATIENCE: Micros = Micros::from_secs(60);

pub(crate) fn after_restart(clock: &Clock) -> f64 {
    let start = |address| Loopback::at(address, RelayConfig::default(), TicketSigner::from_secret(&[9; 32]));
    let relay = start(([127, 0, 0, 1], 0).into()).unwrap();
    let address = relay.address();
    let ids = [random_peer_id().unwrap(), random_peer_id().unwrap()];
    let servers = MeshServers { stun: vec![], relay: Some(relay.url()) };
    let paths = PathConfig { allowed_paths: vec![Path::Relay, Path::WebSocket], ..PathConfig::default() };
    let mut pair = ids.map(|me| {
        let config = MeshConfig { paths: paths.clone(), ..MeshConfig::default() };
        mesh(me, &relay.ticket(1, me), &servers, config, me.to_u128() as u64)
    });
    (0..2).for_each(|nth| pair[nth].add_peer(clock.now(), ids[1 - nth]));
    hear(clock, &mut pair, ids, clock.now());
    relay.stop();
    let stopped = Instant::now();
    while stopped.elapsed() < AWAY {
        step(clock, &mut pair, ids);
    }
    let began = clock.now();
    let _relay = loop {
        if let Ok(relay) = start(address) {
            break relay;
        }
        assert!(clock.now().since(began) < PATIENCE, "the port is still in use");
        step(clock, &mut pair, ids);
    };
    let up = clock.now();
    hear(clock, &mut pair, ids, up);
    clock.now().since(up).get() as f64 / 1_000.0
}

/// Waits until each has received a message sent after `since`.
fn hear(clock: &Clock, pair: &mut [NativeMesh; 2], ids: [PeerId; 2], since: Micros) {
    let began = clock.now();
    let mut heard = [Micros::ZERO; 2];
    while heard.iter().any(|heard| *heard <= since) {
        assert!(clock.now().since(began) < PATIENCE, "they do not receive each other's messages");
        let newest = step(clock, pair, ids);
        (0..2).for_each(|nth| heard[nth] = heard[nth].max(newest[nth]));
    }
}

/// Sends one message each way; returns the send times of the newest received ones.
fn step(clock: &Clock, pair: &mut [NativeMesh; 2], ids: [PeerId; 2]) -> [Micros; 2] {
    let mut newest = [Micros::ZERO; 2];
    for (nth, links) in pair.iter_mut().enumerate() {
        let now = clock.now();
        while let Some(event) = links.poll(now) {
            if let TransportEvent::Message { bytes, .. } = event {
                newest[nth] = newest[nth].max(Micros::new(u64::from_le_bytes(bytes.try_into().unwrap())));
            }
        }
        while links.poll_signal().is_some() {}
        let _ = links.send(now, ids[1 - nth], Channel::Unreliable, &now.get().to_le_bytes());
    }
    std::thread::sleep(Duration::from_millis(2));
    newest
}
