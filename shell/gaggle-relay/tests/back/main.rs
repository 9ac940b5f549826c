//! Whatever happened to the relay or to the way there: ten seconds after it is over, two machines
//! talk again. In virtual time, with the relay's own machine and the links of a game.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

mod town;

use gaggle_kit::Micros;
use gaggle_link::Path;
use town::{Cluster, TICK};

const BACK_WITHIN: Micros = Micros::from_secs(10);

impl Cluster {
    /// Two who have talked over this way for a while.
    fn talking(path: Path) -> Cluster {
        let mut company = Cluster::of(path);
        company.run(Micros::from_secs(12));
        assert_eq!(company.paths(), [Some(path); 2]);
        company
    }

    /// From now on: both hear the other within ten seconds, and go on hearing it.
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
fn after_the_relay_started_anew() {
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
fn after_a_socket_died_and_nobody_was_told() {
    // At any moment between two questions.
    for after in (0..4_000).step_by(500) {
        let mut company = Cluster::talking(Path::WebSocket);
        company.run(Micros::from_millis(after));
        company.silence_connections(0);
        company.expect_back(&format!("socket dead, {after} ms later"));
    }
}

#[test]
fn after_an_address_changed() {
    for path in [Path::Relay, Path::WebSocket] {
        let mut company = Cluster::talking(path);
        // Neither of the two machines' connections is told; new ones are fine.
        company.silence_connections(0);
        company.silence_connections(1);
        company.expect_back(&format!("other addresses, {path}"));
    }
}

#[test]
fn after_the_network_was_gone() {
    for (path, seconds) in [(Path::Relay, 8), (Path::WebSocket, 8), (Path::Relay, 60), (Path::WebSocket, 60)]
    {
        let mut company = Cluster::talking(path);
        company.cut_off(0, true);
        company.run(Micros::from_secs(seconds));
        // What was open before stays dead, as after a night behind a router.
        company.silence_connections(0);
        company.cut_off(0, false);
        company.expect_back(&format!("no network for {seconds} s, {path}"));
    }
}

#[test]
fn after_a_tab_slept() {
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
fn nothing_is_opened_anew_while_all_is_well() {
    for path in [Path::Relay, Path::WebSocket] {
        let mut company = Cluster::talking(path);
        let before = company.connections();
        company.run(Micros::from_secs(120));
        assert_eq!(company.connections(), before, "{path}");
    }
}
