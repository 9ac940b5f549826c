//! Recovery: ten seconds after any failure of the relay or the network, two peers exchange messages
//! again. In virtual time, with the real relay and mesh.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

mod network;

use gaggle_kit::Micros;
use gaggle_link::Path;
use network::{Cluster, TICK};

const BACK_WITHIN: Micros = Micros::from_secs(10);

impl Cluster {
    /// Two peers that have exchanged messages over this path for a while.
    fn talking(path: Path) -> Cluster {
        let mut company = Cluster::of(path);
        company.run(Micros::from_secs(12));
        assert_eq!(company.paths(), [Some(path); 2]);
        company
    }

    /// From now on: both receive each other's messages within ten seconds, and keep doing so.
    fn expect_back(&mut self, what: &str) {
        let since = self.now();
        while !self.have_heard_since(since) {
            assert!(self.now().since(since) <= BACK_WITHIN, "{what}: {:?}", self.paths());
            self.run(TICK);
        }
        println!("{what}: {} ms", self.now().since(since).as_millis());
        self.run(Micros::from_secs(5));
        for _ in 0..10 {
            let since = self.now();
            self.run(Micros::from_secs(1));
            assert!(self.have_heard_since(since), "{what}, and lost again: {:?}", self.paths());
        }
    }
}

#[test]
fn peers_recover_after_relay_restart() {
    for (path, seconds) in [(Path::Relay, 1), (Path::WebSocket, 1), (Path::Relay, 45), (Path::WebSocket, 45)]
    {
        let mut company = Cluster::talking(path);
        company.stop_relay();
        company.run(Micros::from_secs(seconds));
        company.start_relay();
        company.expect_back(&format!("relay away for {seconds} s, {path}"));
    }
}

#[test]
fn peers_recover_after_unnoticed_socket_death() {
    // At any moment between two heartbeats.
    for after in (0..4_000).step_by(500) {
        let mut company = Cluster::talking(Path::WebSocket);
        company.run(Micros::from_millis(after));
        company.silence_connections(0);
        company.expect_back(&format!("socket dead, {after} ms later"));
    }
}

#[test]
fn peers_recover_after_address_change() {
    for path in [Path::Relay, Path::WebSocket] {
        let mut company = Cluster::talking(path);
        // Neither side's connections are notified; new ones work.
        company.silence_connections(0);
        company.silence_connections(1);
        company.expect_back(&format!("other addresses, {path}"));
    }
}

#[test]
fn peers_recover_after_network_outage() {
    for (path, seconds) in [(Path::Relay, 8), (Path::WebSocket, 8), (Path::Relay, 60), (Path::WebSocket, 60)]
    {
        let mut company = Cluster::talking(path);
        company.cut_off(0, true);
        company.run(Micros::from_secs(seconds));
        // Old connections stay dead, as after a NAT timeout.
        company.silence_connections(0);
        company.cut_off(0, false);
        company.expect_back(&format!("no network for {seconds} s, {path}"));
    }
}

#[test]
fn peers_recover_after_suspended_tab() {
    for (path, seconds) in
        [(Path::Relay, 20), (Path::WebSocket, 20), (Path::Relay, 600), (Path::WebSocket, 600)]
    {
        for keeps_connections in [true, false] {
            let mut company = Cluster::talking(path);
            company.sleep(0, true);
            company.run(Micros::from_secs(seconds));
            if !keeps_connections {
                company.silence_connections(0);
            }
            company.sleep(0, false);
            company.expect_back(&format!("asleep for {seconds} s, {path}, connections {keeps_connections}"));
        }
    }
}

#[test]
fn healthy_connections_are_never_reopened() {
    for path in [Path::Relay, Path::WebSocket] {
        let mut company = Cluster::talking(path);
        let before = company.connections();
        company.run(Micros::from_secs(120));
        assert_eq!(company.connections(), before, "{path}");
    }
}
