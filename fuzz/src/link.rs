//! Fuzz targets of gaggle-link: a connected attacker, relay frames, streams on a bad network,
//! settings.
//!
//! Called by `fuzz_targets/` and by the tests of the crate. Absent: the fuzzer and its corpora.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use gaggle_kit::{Micros, PeerId};
use gaggle_link::relay::{RelayClient, RelayFrame, RelayLeg};
use gaggle_link::sim::{Burst, Chance, Conditions, SimNet};
use gaggle_link::{
    Carrier, CarrierEvent, Channel, CloseCode, DATAGRAM_BYTES_MAX, Endpoint, LinkConfig, Transport,
    TransportEvent, WouldBlock,
};

/// Name, which is also that of its corpus, and function over the fuzzer's bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All fuzz targets of gaggle-link.
pub const TARGETS: [Target; 4] = [
    ("link_packets", packets),
    ("link_streams", streams),
    ("link_settings", settings),
    ("link_relay", relay),
];

const VICTIM: PeerId = PeerId::from_u128(1);
const ATTACKER: PeerId = PeerId::from_u128(2);
const GRANT: u32 = 4_096;

/// A script of steps, one byte for the kind and one for the amount. Packets of the link take the
/// bytes that follow as their body.
pub fn packets(data: &[u8]) {
    let mut scene = Scene::new();
    let mut rest = data;
    while let [step, amount, tail @ ..] = rest {
        rest = tail;
        let size = usize::from(*amount).min(rest.len());
        match step % 16 {
            0 => scene.pass(Micros::new(u64::from(*amount) * 100)),
            1 => scene.pass(Micros::from_millis(u64::from(*amount) * 40)),
            2 => scene.say(Channel::Unreliable, size),
            3 => scene.say(Channel::Reliable(*amount % 3), size * 16),
            4 => scene.link.disconnect(scene.now, ATTACKER, CloseCode(*amount)),
            5 => scene.number = scene.number.wrapping_add(u16::from(*amount) << 6),
            6 => scene.wire.borrow_mut().busy = amount % 2 == 1,
            7 => {
                let (datagram, tail) = rest.split_at(size);
                rest = tail;
                scene.deliver(datagram.to_vec());
            }
            kind => {
                let (body, tail) = rest.split_at(size);
                rest = tail;
                scene.deliver_labeled(kind - 8, body);
            }
        }
        scene.poll();
    }
    scene.pass(Micros::from_secs(10));
    scene.poll();
}

/// Relay frames, each behind its length in two bytes. What decodes has one encoding, and a client
/// survives all frames of a relay on either leg, whatever becomes of its connections.
pub fn relay(data: &[u8]) {
    let mut client = RelayClient::new(VICTIM, "ticket", &RelayLeg::ALL);
    let mut now = Micros::ZERO;
    client.connect(now, RelayLeg::Datagram, ATTACKER);
    client.handle_socket_opened(now);
    let mut rest = data;
    while let [high, low, tail @ ..] = rest {
        let size = (usize::from(*high & 0x0f) << 8 | usize::from(*low)).min(tail.len());
        let (frame, tail) = tail.split_at(size);
        rest = tail;
        now += Micros::from_millis(u64::from(high >> 4) * 50);
        if let Ok(read) = RelayFrame::read(frame) {
            assert_eq!(read.to_bytes(), frame, "a frame has two encodings");
        }
        let leg = if high & 0x10 == 0 { RelayLeg::WebSocket } else { RelayLeg::Datagram };
        if let Some((_, at)) = client.handle_frame(now, leg, frame) {
            assert!(at <= frame.len());
        }
        match low % 16 {
            1 => client.handle_channel_opened(),
            2 => client.handle_channel_closed(),
            3 => client.handle_socket_closed(now),
            4 => client.handle_socket_opened(now),
            5 => client.handle_described("v=0"),
            6 => client.close(now, leg, ATTACKER),
            7 => client.connect(now, leg, ATTACKER),
            _ => client.handle_timeout(now),
        }
        let orders = std::iter::from_fn(|| client.poll_command()).count();
        assert!(orders <= 256, "{orders} commands for one frame");
        RelayLeg::ALL.into_iter().for_each(|leg| while client.poll_event(leg).is_some() {});
    }
}

/// Packets between a link and its attacker.
#[derive(Default)]
struct Wire {
    inbound: VecDeque<Vec<u8>>,
    outbound: Vec<Vec<u8>>,
    opened: bool,
    open: bool,
    busy: bool,
}

struct WireCarrier(Rc<RefCell<Wire>>);

impl Carrier for WireCarrier {
    fn local_id(&self) -> PeerId {
        VICTIM
    }

    fn send(&mut self, _now: Micros, to: PeerId, datagram: &[u8]) -> Result<(), WouldBlock> {
        let mut wire = self.0.borrow_mut();
        assert!(datagram.len() <= DATAGRAM_BYTES_MAX && to == ATTACKER);
        if wire.busy {
            return Err(WouldBlock);
        }
        wire.outbound.push(datagram.to_vec());
        Ok(())
    }

    fn poll(&mut self, _now: Micros, datagram: &mut Vec<u8>) -> Option<CarrierEvent> {
        let mut wire = self.0.borrow_mut();
        if !wire.opened {
            wire.opened = true;
            wire.open = true;
            return Some(CarrierEvent::Opened { peer: ATTACKER });
        }
        let next = wire.inbound.pop_front()?;
        *datagram = next;
        wire.open.then_some(CarrierEvent::Datagram { peer: ATTACKER })
    }

    fn poll_timeout(&self) -> Micros {
        Micros::MAX
    }

    fn close(&mut self, _now: Micros, _peer: PeerId) {
        self.0.borrow_mut().open = false;
    }
}

struct Scene {
    wire: Rc<RefCell<Wire>>,
    link: Endpoint<WireCarrier>,
    now: Micros,
    joined: bool,
    tag: u8,
    check: u16,
    number: u16,
}

impl Scene {
    /// Connects the attacker with a valid handshake; the script decides the rest.
    fn new() -> Scene {
        let wire = Rc::new(RefCell::new(Wire::default()));
        let config = LinkConfig { receive_bytes_max: GRANT, send_bytes_max: 65_536, ..LinkConfig::default() };
        let link = Endpoint::new(WireCarrier(Rc::clone(&wire)), config, 1);
        let mut scene =
            Scene { wire, link, now: Micros::from_secs(1), joined: false, tag: 0, check: 0, number: 0 };
        scene.poll();
        let hello = scene.wire.borrow_mut().outbound.pop().expect("a hello packet");
        let nonce = u32::from_le_bytes([hello[1], hello[2], hello[3], hello[4]]);
        let mut answer = vec![hello[0]];
        answer.extend(7_u32.to_le_bytes());
        answer.extend(nonce.to_le_bytes());
        answer.extend(100_000_u32.to_le_bytes());
        let mut z = 7_u64 << 32 | u64::from(nonce);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        (scene.tag, scene.check, scene.number) = ((z & 15) as u8, (z >> 16) as u16, (z >> 32) as u16);
        scene.deliver(answer);
        scene.poll();
        assert!(scene.joined);
        scene
    }

    fn pass(&mut self, span: Micros) {
        self.now += span;
        self.wire.borrow_mut().outbound.clear();
    }

    fn say(&mut self, channel: Channel, size: usize) {
        // Rejected if it is too large or the attacker is disconnected.
        _ = self.link.send(self.now, ATTACKER, channel, &vec![7; size]);
    }

    fn deliver(&mut self, datagram: Vec<u8>) {
        self.wire.borrow_mut().inbound.push_back(datagram);
    }

    fn deliver_labeled(&mut self, kind: u8, body: &[u8]) {
        let mut packet = vec![kind << 4 | self.tag];
        packet.extend(self.number.to_le_bytes());
        if kind != 1 {
            packet.extend(self.check.to_le_bytes());
        }
        packet.extend(body);
        self.number = self.number.wrapping_add(1);
        self.deliver(packet);
    }

    /// Checks the order of events: connected, messages, disconnected, then none, since the attacker
    /// connects only once.
    fn poll(&mut self) {
        while let Some(event) = self.link.poll(self.now) {
            match event {
                TransportEvent::Connected { peer } => {
                    assert!(!self.joined && peer == ATTACKER);
                    self.joined = true;
                }
                TransportEvent::Disconnected { peer, .. } => {
                    assert!(self.joined && peer == ATTACKER);
                    self.joined = false;
                }
                TransportEvent::Message { peer, channel, bytes } => {
                    assert!(self.joined && peer == ATTACKER);
                    let limit = if channel == Channel::Unreliable { usize::MAX } else { GRANT as usize };
                    assert!(bytes.len() <= limit);
                }
            }
        }
        assert_eq!(self.link.peers().len(), usize::from(self.joined));
        assert_eq!(self.link.stats(ATTACKER).is_some(), self.joined);
    }
}

/// Two links on a network that changes with the script: every accepted message arrives once and in
/// order, or the link ends.
pub fn streams(data: &[u8]) {
    let world = SimNet::new(2, 1);
    let mut links = [0, 1].map(|peer| Endpoint::new(world.carrier(peer), LinkConfig::default(), peer as u64));
    let mut expected: BTreeMap<(usize, u8), VecDeque<Vec<u8>>> = BTreeMap::new();
    let (mut joined, mut count) = ([false; 2], 0_u8);
    for &step in data.iter().take(256) {
        let (what, amount) = (step % 8, step / 8);
        let now = world.now();
        match what {
            0..=2 => {
                let (from, stream) = (usize::from(amount % 2), amount / 2 % 2);
                count = count.wrapping_add(1);
                let size = if what == 2 { usize::from(amount) * 500 } else { usize::from(amount) };
                let message = vec![count; size];
                if links[from].send(now, world.id(1 - from), Channel::Reliable(stream), &message).is_ok() {
                    expected.entry((1 - from, stream)).or_default().push_back(message);
                }
            }
            3 => world.set_all(conditions(amount)),
            4 => world.set_all(Conditions::latency_ms(u64::from(amount))),
            _ => run(&world, &mut links, &mut joined, &mut expected, u64::from(amount) << (2 * (what - 5))),
        }
    }
    world.set_all(Conditions::latency_ms(1));
    run(&world, &mut links, &mut joined, &mut expected, 6_000);
    assert!(joined == [true; 2], "the network is good again, but a link is not connected");
    assert!(expected.values().all(VecDeque::is_empty), "an accepted message never arrived");
}

fn conditions(amount: u8) -> Conditions {
    Conditions {
        latency: Micros::from_millis(5),
        loss: Chance::percent(if amount & 1 != 0 { 30 } else { 0 }),
        burst: (amount & 2 != 0).then(|| Burst::of(Chance::percent(30), 5)),
        duplicate: Chance::percent(if amount & 4 != 0 { 30 } else { 0 }),
        reorder: Chance::percent(if amount & 8 != 0 { 30 } else { 0 }),
        is_cut: amount == 16,
        ..Conditions::default()
    }
}

fn run(
    world: &SimNet,
    links: &mut [Endpoint<gaggle_link::sim::SimCarrier>; 2],
    joined: &mut [bool; 2],
    expected: &mut BTreeMap<(usize, u8), VecDeque<Vec<u8>>>,
    millis: u64,
) {
    for _ in 0..millis {
        world.advance(Micros::from_millis(1));
        for (peer, link) in links.iter_mut().enumerate() {
            while let Some(event) = link.poll(world.now()) {
                match event {
                    TransportEvent::Connected { .. } => joined[peer] = true,
                    TransportEvent::Disconnected { .. } => {
                        joined[peer] = false;
                        // What was on its way is lost with the link, in both directions.
                        expected.clear();
                    }
                    TransportEvent::Message { channel: Channel::Reliable(stream), bytes, .. } => {
                        let waiting = expected.entry((peer, stream)).or_default();
                        // If the link ended on one side only, messages that still arrive on the
                        // other are not expected any more.
                        if let Some(next) = waiting.pop_front() {
                            assert!(next == bytes, "a message was lost, repeated or out of order");
                        }
                    }
                    TransportEvent::Message { .. } => unreachable!("no unreliable message was sent"),
                }
            }
        }
    }
}

/// Network conditions as in the address of a page.
pub fn settings(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    match Conditions::from_settings(pairs) {
        Ok(conditions) => {
            assert!(conditions.latency <= Micros::from_secs(5) && conditions.jitter <= Micros::from_secs(10));
        }
        Err(error) => assert!(error.to_string().len() < 400),
    }
}
