//! Every pair uses the best available path, and messages survive the changes.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use gaggle_kit::{Micros, PeerId};
use gaggle_link::sim::{Conditions, NetChange, SimCarrier, SimNet};
use gaggle_link::{
    Carrier, CarrierEvent, ConnectCarrier, Path, PathConfig, PathReason, PathSelector, WouldBlock,
};

fn ms(millis: u64) -> Micros {
    Micros::from_millis(millis)
}

/// A simulated network on which a connection opens this long after a request, or never.
struct SlowWay {
    carrier: SimCarrier,
    calls: Rc<RefCell<Vec<Micros>>>,
    /// Reports nothing before this time, not even that it is open.
    silent_until: Rc<Cell<Micros>>,
}

impl Carrier for SlowWay {
    fn local_id(&self) -> PeerId {
        self.carrier.local_id()
    }
    fn send(&mut self, now: Micros, to: PeerId, datagram: &[u8]) -> Result<(), WouldBlock> {
        self.carrier.send(now, to, datagram)
    }
    fn poll(&mut self, now: Micros, datagram: &mut Vec<u8>) -> Option<CarrierEvent> {
        if now < self.silent_until.get() {
            return None;
        }
        self.carrier.poll(now, datagram)
    }
    fn poll_timeout(&self) -> Micros {
        self.carrier.poll_timeout()
    }
    fn close(&mut self, now: Micros, peer: PeerId) {
        self.carrier.close(now, peer);
    }
}

impl ConnectCarrier for SlowWay {
    fn connect(&mut self, now: Micros, _: PeerId) {
        self.calls.borrow_mut().push(now);
    }
}

/// Two peers with three networks between them that open at configured times.
struct Rig {
    networks: [SimNet; 3],
    calls: [Rc<RefCell<Vec<Micros>>>; 3],
    /// Time from the first request until each network opens; none for never.
    opens_after: [Option<Micros>; 3],
    connected: [bool; 3],
    /// Until when the direct path reports nothing to each peer.
    silent_until: [Rc<Cell<Micros>>; 2],
    paths: [PathSelector<[Option<SlowWay>; 3]>; 2],
    now: Micros,
    sent: u32,
    /// First arrival at peer 1 of each datagram of peer 0.
    arrivals: Vec<Option<Micros>>,
    /// Datagrams peer 1 sent while connected, and those that reached peer 0.
    answers: [u32; 2],
    changes: Vec<(Micros, usize, Option<Path>, PathReason)>,
    events: Vec<(usize, CarrierEvent)>,
}

impl Rig {
    fn new(config: &PathConfig, opens_after: [Option<u64>; 3]) -> Rig {
        let networks = [1, 2, 3].map(|seed| SimNet::unconnected(2, seed));
        for (network, latency) in networks.iter().zip([20, 35, 50]) {
            network.set_all(Conditions::latency_ms(latency));
        }
        let calls: [Rc<RefCell<Vec<Micros>>>; 3] = Default::default();
        let silent_until: [Rc<Cell<Micros>>; 2] = Default::default();
        let paths = [0, 1].map(|peer| {
            let way = |nth: usize| SlowWay {
                carrier: networks[nth].carrier(peer),
                calls: Rc::clone(&calls[nth]),
                silent_until: if nth == 0 { Rc::clone(&silent_until[peer]) } else { Rc::default() },
            };
            PathSelector::new(networks[0].id(peer), config.clone(), [0, 1, 2].map(|nth| Some(way(nth))))
        });
        let mut rig = Rig {
            networks,
            calls,
            opens_after: opens_after.map(|after| after.map(ms)),
            connected: [false; 3],
            silent_until,
            paths,
            now: Micros::ZERO,
            sent: 0,
            arrivals: vec![],
            answers: [0; 2],
            changes: vec![],
            events: vec![],
        };
        let ids = [rig.networks[0].id(0), rig.networks[0].id(1)];
        rig.paths[0].connect(Micros::ZERO, ids[1]);
        rig.paths[1].connect(Micros::ZERO, ids[0]);
        rig
    }

    /// Peer 0 sends sixty datagrams a second, peer 1 ten.
    fn run(&mut self, span: Micros) -> &mut Rig {
        let end = self.now + span;
        while self.now < end {
            self.now += ms(1);
            for nth in 0..3 {
                self.networks[nth].advance(ms(1));
                let first = self.calls[nth].borrow().first().copied();
                if let (Some(asked), Some(after)) = (first, self.opens_after[nth])
                    && !self.connected[nth]
                    && self.now >= asked + after
                {
                    self.connected[nth] = true;
                    self.networks[nth].apply(&NetChange::Connect(0, 1));
                }
            }
            let ids = [self.networks[0].id(0), self.networks[0].id(1)];
            let millis = self.now.as_millis();
            if millis.is_multiple_of(16) && self.paths[0].path(ids[1]).is_some() {
                self.paths[0].send(self.now, ids[1], &self.sent.to_le_bytes()).expect("room");
                self.sent += 1;
                self.arrivals.push(None);
            }
            if millis.is_multiple_of(100) {
                self.answers[0] += u32::from(self.paths[1].path(ids[0]).is_some());
                self.paths[1].send(self.now, ids[0], b"here").expect("room");
            }
            for peer in 0..2 {
                self.poll(peer);
            }
        }
        self
    }

    fn poll(&mut self, peer: usize) {
        let mut datagram = Vec::new();
        while let Some(event) = self.paths[peer].poll(self.now, &mut datagram) {
            match event {
                CarrierEvent::Datagram { .. } if peer == 1 => {
                    let number = u32::from_le_bytes(datagram[..].try_into().expect("four bytes"));
                    self.arrivals[number as usize].get_or_insert(self.now);
                }
                CarrierEvent::Datagram { .. } => self.answers[1] += 1,
                event => self.events.push((peer, event)),
            }
        }
        while let Some(change) = self.paths[peer].poll_path_change() {
            self.changes.push((self.now, peer, change.path, change.reason));
        }
    }

    fn path(&self, peer: usize) -> Option<Path> {
        self.paths[peer].path(self.networks[0].id(1 - peer))
    }

    fn lost(&self) -> usize {
        // Datagrams still in flight are not lost.
        let settled = self.arrivals.len().saturating_sub(8);
        self.arrivals[..settled].iter().filter(|arrival| arrival.is_none()).count()
    }

    /// Longest time without an arrival.
    fn longest_gap(&self) -> Micros {
        let mut times: Vec<Micros> = self.arrivals.iter().flatten().copied().collect();
        times.sort();
        times.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or_default()
    }
}

#[test]
fn direct_path_is_used_and_relay_never_requested() {
    let mut rig = Rig::new(&PathConfig::default(), [Some(300), Some(0), Some(0)]);
    rig.run(Micros::from_secs(10));
    assert_eq!((rig.path(0), rig.path(1)), (Some(Path::Direct), Some(Path::Direct)));
    assert!(rig.calls[1].borrow().is_empty() && rig.calls[2].borrow().is_empty());
    assert_eq!(rig.lost(), 0);
}

#[test]
fn relay_is_tried_after_3_s_and_websocket_after_3_more() {
    let mut rig = Rig::new(&PathConfig::default(), [None, None, Some(100)]);
    rig.run(ms(2_900));
    assert!(rig.calls[1].borrow().is_empty());
    rig.run(ms(200));
    assert_eq!(rig.calls[1].borrow().first(), Some(&ms(3_000)));
    rig.run(Micros::from_secs(4));
    assert_eq!(rig.calls[2].borrow().first(), Some(&ms(6_000)));
    assert_eq!((rig.path(0), rig.path(1)), (Some(Path::WebSocket), Some(Path::WebSocket)));
    assert!(rig.calls[0].borrow().len() >= 2, "the direct path is tried again");
}

#[test]
fn fallback_time_is_setting() {
    for after in [200, 700, 5_000] {
        let config = PathConfig { fallback_after: ms(after), ..PathConfig::default() };
        let mut rig = Rig::new(&config, [None, None, Some(100)]);
        rig.run(ms(2 * after + 500));
        let first = |nth: usize| rig.calls[nth].borrow().first().copied();
        assert_eq!([first(1), first(2)], [Some(ms(after)), Some(ms(2 * after))], "{after} ms");
        assert_eq!(rig.path(0), Some(Path::WebSocket));
    }
}

#[test]
fn late_direct_path_takes_over_without_gap() {
    let mut rig = Rig::new(&PathConfig::default(), [Some(8_000), Some(200), None]);
    rig.run(Micros::from_secs(7));
    assert_eq!(rig.path(0), Some(Path::Relay));
    rig.run(Micros::from_secs(10));
    assert_eq!((rig.path(0), rig.path(1)), (Some(Path::Direct), Some(Path::Direct)));
    assert!(rig.changes.iter().any(|change| change.3 == PathReason::Upgrade));
    assert_eq!(rig.lost(), 0, "nothing is lost during the change of path");
    assert!(rig.longest_gap() <= ms(33), "{}", rig.longest_gap());
    let opened = rig.events.iter().filter(|(_, event)| matches!(event, CarrierEvent::Opened { .. })).count();
    assert_eq!(opened, 2, "the link sees one connection: {:?}", rig.events);
    // The relay is closed once the direct path has proven itself, and used again when it fails.
    rig.connected[1] = false;
    rig.calls[1].borrow_mut().clear();
    rig.networks[0].set_all(Conditions { is_cut: true, ..Conditions::latency_ms(20) });
    rig.run(Micros::from_secs(4));
    assert_eq!((rig.path(0), rig.path(1)), (Some(Path::Relay), Some(Path::Relay)));
    assert!(rig.longest_gap() < ms(2_000), "a dead path is noticed before the link's timeout");
}

#[test]
fn peers_may_use_different_paths_for_moment() {
    let mut rig = Rig::new(&PathConfig::default(), [None, Some(0), Some(0)]);
    rig.run(Micros::from_secs(5));
    // The relay fails in one direction only.
    rig.networks[1].set_direction(0, 1, Conditions { is_cut: true, ..Conditions::latency_ms(35) });
    rig.run(ms(2_500));
    let silent_end = rig.path(1);
    rig.run(Micros::from_secs(4));
    assert_eq!(silent_end, Some(Path::WebSocket), "the peer that receives nothing changes first");
    assert!(rig.changes.iter().any(|change| change.3 == PathReason::Timeout));
    assert!(rig.longest_gap() < ms(4_000), "{}", rig.longest_gap());
}

#[test]
fn nothing_is_lost_while_peers_use_different_paths() {
    for late in 0..2 {
        let mut rig = Rig::new(&PathConfig::default(), [Some(8_000), Some(200), None]);
        // The direct path opens after eight seconds, and one peer learns of it later.
        rig.silent_until[late].set(ms(8_300));
        let mut differed = 0;
        for _ in 0..15_000 {
            rig.run(ms(1));
            let chosen = [0, 1].map(|peer| rig.path(peer));
            differed +=
                u32::from(chosen[late] == Some(Path::Relay) && chosen[1 - late] == Some(Path::Direct));
        }
        assert!(differed >= 100, "they differed for {differed} ms");
        assert_eq!([rig.path(0), rig.path(1)], [Some(Path::Direct); 2]);
        assert_eq!(rig.lost(), 0, "end {late} was late");
        // The last one may be under way.
        assert!(rig.answers[1] + 1 >= rig.answers[0], "end {late} was late: {:?}", rig.answers);
        assert!(rig.longest_gap() <= ms(33), "end {late} was late: {}", rig.longest_gap());
    }
}

#[test]
fn recovered_path_is_used_again_and_half_open_one_is_not() {
    let mut rig = Rig::new(&PathConfig::default(), [Some(0), Some(0), None]);
    rig.run(Micros::from_secs(3));
    let cut = Conditions { is_cut: true, ..Conditions::latency_ms(20) };
    rig.networks[0].set_direction(0, 1, cut);
    rig.run(Micros::from_secs(5));
    assert_eq!((rig.path(0), rig.path(1)), (Some(Path::Relay), Some(Path::Relay)));
    assert!(rig.longest_gap() < ms(2_900), "before the timeout of links: {}", rig.longest_gap());
    let changes = rig.changes.len();
    rig.run(Micros::from_secs(20));
    assert_eq!(rig.changes.len(), changes, "the working half does not mislead a peer: {:?}", rig.changes);
    rig.networks[0].set_direction(0, 1, Conditions::latency_ms(20));
    let (lost, sent) = (rig.lost(), rig.sent);
    rig.run(Micros::from_secs(2));
    assert_eq!((rig.path(0), rig.path(1)), (Some(Path::Direct), Some(Path::Direct)));
    rig.run(Micros::from_secs(10));
    assert!(rig.sent > sent + 600);
    assert_eq!(rig.lost(), lost, "nothing is lost when changing back");
}

#[test]
fn peer_outside_allow_list_is_rejected() {
    let mut rig = Rig::new(&PathConfig::default(), [Some(0), None, None]);
    let barred = std::mem::replace(
        &mut rig.paths[0],
        PathSelector::new(rig.networks[0].id(0), PathConfig::default(), [None, None, None]),
    );
    rig.paths[0] = barred.with_allow_list();
    rig.run(Micros::from_secs(1));
    assert_eq!(rig.path(0), None);
    assert!(rig.calls[0].borrow().len() >= 2, "both tried");
    let ids = [rig.networks[0].id(0), rig.networks[0].id(1)];
    rig.paths[0].allow(ids[1]);
    rig.connected[0] = false;
    rig.networks[0].apply(&NetChange::Disconnect(0, 1));
    rig.run(Micros::from_secs(1));
    assert_eq!(rig.path(0), Some(Path::Direct));
}

#[test]
fn invited_peer_connects_through_relay() {
    let config = PathConfig { fallback_after: Micros::from_secs(3), ..PathConfig::default() };
    let mut rig = Rig::new(&config, [None, Some(0), None]);
    rig.run(ms(500));
    let ids = [rig.networks[0].id(0), rig.networks[0].id(1)];
    rig.paths[1].accept_invitation(ms(500), ids[0]);
    assert_eq!(rig.calls[1].borrow().as_slice(), [ms(500)], "long before its own timeout");
    assert_eq!(rig.paths[1].poll_invitation(), None, "an invited peer does not invite");
    rig.run(Micros::from_secs(3));
    assert_eq!(rig.path(1), Some(Path::Relay));
    assert_eq!(rig.paths[0].poll_invitation(), None, "a peer that connected by itself is not invited");
}

#[test]
fn peer_that_hides_its_address_requests_no_direct_path() {
    let mut rig = Rig::new(&PathConfig::only(Path::Relay), [Some(0), Some(300), Some(0)]);
    rig.run(Micros::from_secs(2));
    assert_eq!((rig.path(0), rig.path(1)), (Some(Path::Relay), Some(Path::Relay)));
    assert!(rig.calls[0].borrow().is_empty() && rig.calls[2].borrow().is_empty());
}

#[test]
fn connection_closes_without_any_path() {
    let mut rig = Rig::new(&PathConfig::default(), [Some(0), None, None]);
    rig.run(Micros::from_secs(1));
    rig.networks[0].apply(&NetChange::Disconnect(0, 1));
    rig.run(Micros::from_secs(14));
    assert!(
        rig.events.iter().all(|(_, event)| !matches!(event, CarrierEvent::Closed { .. })),
        "{:?}",
        rig.events
    );
    rig.run(Micros::from_secs(2));
    assert_eq!(
        rig.events.iter().filter(|(_, event)| matches!(event, CarrierEvent::Closed { .. })).count(),
        2
    );
}
