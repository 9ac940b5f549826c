//! Links whose path changes during a transfer: nothing is lost, doubled or reordered, and game
//! packets are delayed by at most a round trip.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use gaggle_kit::{Micros, PeerId};
use gaggle_link::sim::{Chance, Conditions, NetChange, SimCarrier, SimNet};
use gaggle_link::{
    Carrier, CarrierEvent, Channel, ConnectCarrier, Endpoint, LinkConfig, Path, PathConfig, PathReason,
    PathSelector, Transport, TransportEvent, WouldBlock,
};

const LARGE: Channel = Channel::Reliable(1);
const SMALL: Channel = Channel::Reliable(2);
/// Number of large messages, a megabyte in total.
const LARGE_COUNT: usize = 16;
const LARGE_BYTES: usize = 64 * 1024;
const DIRECT_RTT: Micros = Micros::from_millis(40);
const RELAY_RTT: Micros = Micros::from_millis(100);
/// Interval of unreliable messages in milliseconds.
const FRAME_MS: u64 = 16;

/// 6 Mbit/s with some loss: a megabyte takes more than a second.
fn conditions(rtt: Micros) -> Conditions {
    Conditions {
        latency: Micros::new(rtt.get() / 2),
        loss: Chance::percent(1),
        bytes_per_second: Some(750_000),
        queue_bytes: 64 * 1024,
        ..Conditions::PERFECT
    }
}

/// A network whose connections open on command.
struct Given(SimCarrier);

impl Carrier for Given {
    fn local_id(&self) -> PeerId {
        self.0.local_id()
    }
    fn send(&mut self, now: Micros, to: PeerId, datagram: &[u8]) -> Result<(), WouldBlock> {
        self.0.send(now, to, datagram)
    }
    fn poll(&mut self, now: Micros, datagram: &mut Vec<u8>) -> Option<CarrierEvent> {
        self.0.poll(now, datagram)
    }
    fn poll_timeout(&self) -> Micros {
        self.0.poll_timeout()
    }
    fn close(&mut self, now: Micros, peer: PeerId) {
        self.0.close(now, peer);
    }
}

impl ConnectCarrier for Given {
    fn connect(&mut self, _: Micros, _: PeerId) {}
}

/// Content of a large message, different for each.
fn large(nth: usize) -> Vec<u8> {
    (0..LARGE_BYTES).map(|n| (n * 7 + n / 251 + nth * 13) as u8).collect()
}

/// Two links over two networks. The first sends, the second receives.
struct Rig {
    direct: SimNet,
    relay: SimNet,
    links: [Endpoint<PathSelector<[Option<Given>; 3]>>; 2],
    now: Micros,
    /// Nothing is sent beyond what the link itself sends.
    is_quiet: bool,
    frames: u32,
    smalls: u32,
    got_large: Vec<Vec<u8>>,
    got_small: Vec<u32>,
    /// Arrival time of each frame.
    got_frames: Vec<(Micros, u32)>,
    joined: usize,
    left: usize,
    changes: Vec<(Micros, usize, Option<Path>, PathReason)>,
}

impl Rig {
    /// Connected through the relay.
    fn new(seed: u64) -> Rig {
        let [direct, relay] = [seed, seed + 1].map(|seed| SimNet::unconnected(2, seed));
        direct.set_all(conditions(DIRECT_RTT));
        relay.set_all(conditions(RELAY_RTT));
        let links = [0, 1].map(|peer| {
            let carriers = [Some(Given(direct.carrier(peer))), Some(Given(relay.carrier(peer))), None];
            let paths = PathSelector::new(direct.id(peer), PathConfig::default(), carriers);
            Endpoint::new(paths, LinkConfig::default(), seed ^ (peer as u64) << 32)
        });
        let mut rig = Rig {
            direct,
            relay,
            links,
            now: Micros::ZERO,
            is_quiet: false,
            frames: 0,
            smalls: 0,
            got_large: Vec::new(),
            got_small: Vec::new(),
            got_frames: Vec::new(),
            joined: 0,
            left: 0,
            changes: Vec::new(),
        };
        for peer in 0..2 {
            let other = rig.direct.id(1 - peer);
            rig.links[peer].carrier_mut().connect(Micros::ZERO, other);
        }
        rig.relay.apply(&NetChange::Connect(0, 1));
        rig.run(1_000);
        assert_eq!((rig.joined, rig.path()), (2, [Some(Path::Relay); 2]));
        rig
    }

    fn path(&self) -> [Option<Path>; 2] {
        [0, 1].map(|peer| self.links[peer].carrier().path(self.direct.id(1 - peer)))
    }

    fn hand_over_a_megabyte(&mut self) {
        let other = self.direct.id(1);
        (0..LARGE_COUNT).for_each(|nth| {
            self.links[0].send(self.now, other, LARGE, &large(nth)).expect("there is space for all");
        });
    }

    /// Runs for this many milliseconds, in which the first also sends frames and small messages.
    fn run(&mut self, millis: u64) {
        for _ in 0..millis {
            self.now += Micros::from_millis(1);
            self.direct.advance(Micros::from_millis(1));
            self.relay.advance(Micros::from_millis(1));
            (0..2).for_each(|peer| self.poll(peer));
            let other = self.direct.id(1);
            if self.links[0].peers().contains(&other) && !self.is_quiet {
                let millis = self.now.as_millis();
                if millis.is_multiple_of(FRAME_MS) {
                    let frame = self.frames.to_le_bytes();
                    self.links[0].send(self.now, other, Channel::Unreliable, &frame).unwrap();
                    self.frames += 1;
                }
                if millis.is_multiple_of(50) {
                    let small = self.smalls.to_le_bytes();
                    self.links[0].send(self.now, other, SMALL, &small).unwrap();
                    self.smalls += 1;
                }
            }
        }
    }

    fn poll(&mut self, peer: usize) {
        let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
        while let Some(event) = self.links[peer].poll(self.now) {
            match event {
                TransportEvent::Connected { .. } => self.joined += 1,
                TransportEvent::Disconnected { .. } => self.left += 1,
                TransportEvent::Message { channel: Channel::Unreliable, bytes, .. } => {
                    self.got_frames.push((self.now, number(bytes)));
                }
                TransportEvent::Message { channel: SMALL, bytes, .. } => self.got_small.push(number(bytes)),
                TransportEvent::Message { bytes, .. } => self.got_large.push(bytes.to_vec()),
            }
        }
        while let Some(change) = self.links[peer].carrier_mut().poll_path_change() {
            self.changes.push((self.now, peer, change.path, change.reason));
        }
    }

    /// All stream messages arrived once, in order, within one link.
    fn expect_exactly_once(&mut self) {
        for _ in 0..60 {
            if self.got_large.len() >= LARGE_COUNT {
                break;
            }
            self.run(500);
        }
        let sent = self.smalls;
        self.run(3_000);
        assert_eq!((self.joined, self.left), (2, 0), "it is one link throughout: {:?}", self.changes);
        assert_eq!(self.got_large.len(), LARGE_COUNT, "{:?}", self.changes);
        for (nth, got) in self.got_large.iter().enumerate() {
            assert!(*got == large(nth), "large message {nth}");
        }
        assert!(self.got_small.len() >= sent as usize, "{} of {sent}", self.got_small.len());
        let in_order: Vec<u32> = (0..self.got_small.len() as u32).collect();
        assert_eq!(self.got_small, in_order);
        let mut frames: Vec<u32> = self.got_frames.iter().map(|(_, frame)| *frame).collect();
        let all = frames.len();
        frames.sort_unstable();
        frames.dedup();
        assert_eq!(frames.len(), all, "no frame arrives twice");
    }

    /// Longest time without a new frame.
    fn longest_gap(&self) -> Micros {
        self.got_frames.windows(2).map(|pair| pair[1].0 - pair[0].0).max().unwrap_or_default()
    }

    fn took(&self, reason: PathReason) -> usize {
        self.changes.iter().filter(|change| change.3 == reason).count()
    }
}

#[test]
fn transfer_survives_better_path_that_opens_and_fails() {
    for seed in 0..8 {
        let mut rig = Rig::new(10 * seed);
        rig.hand_over_a_megabyte();
        rig.run(150);
        for _ in 0..3 {
            assert!(rig.got_large.len() < LARGE_COUNT, "the transfer is running");
            rig.direct.apply(&NetChange::Connect(0, 1));
            rig.run(250);
            assert_eq!(rig.path(), [Some(Path::Direct); 2]);
            rig.direct.apply(&NetChange::Disconnect(0, 1));
            rig.run(250);
            assert_eq!(rig.path(), [Some(Path::Relay); 2]);
        }
        assert_eq!(
            (rig.took(PathReason::Upgrade), rig.took(PathReason::Closed)),
            (6, 6),
            "{:?}",
            rig.changes
        );
        rig.expect_exactly_once();
        assert!(rig.longest_gap() <= RELAY_RTT, "seed {seed}: {}", rig.longest_gap());
    }
}

#[test]
fn transfer_survives_silent_failure_of_path() {
    for seed in 0..4 {
        let mut rig = Rig::new(100 + 10 * seed);
        rig.direct.apply(&NetChange::Connect(0, 1));
        rig.run(500);
        assert_eq!(rig.path(), [Some(Path::Direct); 2]);
        rig.hand_over_a_megabyte();
        rig.run(300);
        assert!(rig.got_large.len() < LARGE_COUNT, "the transfer is running");
        rig.direct.set_all(Conditions { is_cut: true, ..conditions(DIRECT_RTT) });
        rig.run(2_500);
        assert_eq!(rig.path(), [Some(Path::Relay); 2]);
        assert!(rig.took(PathReason::Timeout) >= 1, "{:?}", rig.changes);
        rig.direct.set_all(conditions(DIRECT_RTT));
        rig.expect_exactly_once();
        assert_eq!(rig.path(), [Some(Path::Direct); 2], "it changes back when the path works again");
        assert!(rig.longest_gap() <= Micros::from_millis(2_500), "seed {seed}: {}", rig.longest_gap());
    }
}

#[test]
fn measurements_of_old_path_are_discarded() {
    for is_quiet in [false, true] {
        let mut rig = Rig::new(7);
        rig.is_quiet = is_quiet;
        rig.run(4_000);
        let other = rig.direct.id(1);
        let rtt = |rig: &Rig| rig.links[0].stats(other).unwrap().rtt.unwrap();
        assert!(rtt(&rig) >= RELAY_RTT, "{}", rtt(&rig));
        rig.direct.apply(&NetChange::Connect(0, 1));
        // A ping with its answer, and earlier packets in flight.
        rig.run(200);
        let expected = DIRECT_RTT..DIRECT_RTT + Micros::from_millis(10);
        assert!(expected.contains(&rtt(&rig)), "{}, {is_quiet}", rtt(&rig));
    }
}
