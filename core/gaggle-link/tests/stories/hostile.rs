//! Peers that violate the protocol. Each may lose its own link; no other peer is affected.
//!
//! The attacker implements the protocol from its specification alone, so it is also a second
//! implementation of the handshake.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use allocation_counter::measure;
use gaggle_kit::{Micros, PeerId, Prng, Varint};
use gaggle_link::sim::{SimCarrier, SimNet};
use gaggle_link::{
    Carrier, CarrierEvent, Channel, CloseCode, DisconnectReason, Endpoint, LinkConfig, PeerFault, Transport,
    TransportEvent,
};

struct Attacker {
    carrier: SimCarrier,
    victim: PeerId,
    tag: u8,
    check: u16,
    number: u16,
    bytes_sent: usize,
}

/// One victim, one attacker that has just connected, and one innocent peer.
struct Scene {
    world: SimNet,
    victim: Endpoint<SimCarrier>,
    innocent: Endpoint<SimCarrier>,
    attacker: Attacker,
    /// Why the victim disconnected the attacker.
    left: Vec<DisconnectReason>,
    messages: usize,
}

impl Scene {
    fn new(config: &LinkConfig) -> Scene {
        let world = SimNet::new(3, 1);
        let victim = Endpoint::new(world.carrier(0), config.clone(), 1);
        let innocent = Endpoint::new(world.carrier(1), config.clone(), 2);
        let attacker = Attacker {
            carrier: world.carrier(2),
            victim: world.id(0),
            tag: 0,
            check: 0,
            number: 0,
            bytes_sent: 0,
        };
        let mut scene = Scene { world, victim, innocent, attacker, left: Vec::new(), messages: 0 };
        scene.greet(0xabcd_0001);
        scene
    }

    /// The handshake of docs/protocol/1-link.md, from the attacker's side.
    fn greet(&mut self, nonce: u32) {
        let theirs = (0..10).find_map(|_| {
            self.step();
            self.attacker.hear().into_iter().rev().find(|packet| packet[0] == 0x61)
        });
        let theirs = u32::from_le_bytes(theirs.unwrap()[1..5].try_into().unwrap());
        let mut hello = vec![0x61];
        hello.extend(nonce.to_le_bytes());
        hello.extend(theirs.to_le_bytes());
        hello.extend(1_000_000_u32.to_le_bytes());
        self.attacker.send_raw(&hello);
        self.attacker.label(nonce, theirs);
        self.step();
        assert!(self.victim.peers().contains(&self.world.id(2)), "the attacker could not connect");
        self.left.clear();
    }

    /// Advances by a millisecond.
    fn step(&mut self) {
        self.world.advance(Micros::from_millis(1));
        let (now, attacker) = (self.world.now(), self.world.id(2));
        while let Some(event) = self.victim.poll(now) {
            match event {
                TransportEvent::Disconnected { peer, reason } if peer == attacker => self.left.push(reason),
                TransportEvent::Message { .. } => self.messages += 1,
                TransportEvent::Disconnected { .. } | TransportEvent::Connected { .. } => {}
            }
        }
        while self.innocent.poll(now).is_some() {}
    }

    /// The innocent peer still reaches the victim, in both directions.
    fn expect_others_unaffected(&mut self) {
        let (victim, innocent) = (self.world.id(0), self.world.id(1));
        assert!(self.innocent.peers().contains(&victim));
        let before = self.messages;
        self.innocent.send(self.world.now(), victim, Channel::Reliable(3), b"still connected").unwrap();
        self.victim.send(self.world.now(), innocent, Channel::Reliable(3), b"me too").unwrap();
        (0..20).for_each(|_| self.step());
        assert_eq!(self.messages, before + 1);
        assert_eq!(self.victim.stats(innocent).unwrap().reliable_queued_bytes, 0);
    }
}

impl Attacker {
    fn send_raw(&mut self, bytes: &[u8]) {
        self.bytes_sent += bytes.len();
        self.carrier.send(Micros::ZERO, self.victim, bytes).unwrap();
    }

    /// A packet of this kind that belongs to the link, with any body.
    fn send(&mut self, kind: u8, body: &[u8]) {
        let mut packet = vec![kind << 4 | self.tag];
        packet.extend(self.number.to_le_bytes());
        packet.extend(self.check.to_le_bytes());
        packet.extend(body);
        self.number = self.number.wrapping_add(1);
        self.send_raw(&packet);
    }

    fn send_piece(&mut self, stream: u8, offset: u64, bytes: &[u8]) {
        let mut body = vec![0, 0, stream];
        body.extend_from_slice(&Varint::new(offset));
        body.extend_from_slice(&Varint::new(bytes.len() as u64));
        body.extend_from_slice(bytes);
        self.send(2, &body);
    }

    /// Packets the victim sent.
    fn hear(&mut self) -> Vec<Vec<u8>> {
        let (mut heard, mut datagram) = (Vec::new(), Vec::new());
        while let Some(event) = self.carrier.poll(Micros::ZERO, &mut datagram) {
            if let CarrierEvent::Datagram { peer } = event
                && peer == self.victim
            {
                heard.push(datagram.clone());
            }
        }
        heard
    }

    fn label(&mut self, from: u32, to: u32) {
        let mut z = u64::from(from) << 32 | u64::from(to);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        (self.tag, self.check, self.number) = ((z & 0xf) as u8, (z >> 16) as u16, (z >> 32) as u16);
    }
}

fn fault(left: &[DisconnectReason]) -> Option<PeerFault> {
    match left {
        [DisconnectReason::Fault(fault)] => Some(*fault),
        _ => None,
    }
}

#[test]
fn correct_packets_of_attacker_are_understood() {
    // The other tests depend on it: the attacker's packets are valid.
    let mut scene = Scene::new(&LinkConfig::default());
    scene.attacker.send_piece(5, 0, b"\x05hello");
    let mut unreliable = vec![0x10 | scene.attacker.tag];
    unreliable.extend(scene.attacker.number.to_le_bytes());
    scene.attacker.send_raw(&unreliable);
    scene.step();
    assert_eq!((scene.messages, scene.left.len()), (2, 0));
}

#[test]
fn fault_closes_link_of_its_peer() {
    let limit = u64::from(LinkConfig::default().receive_bytes_max);
    type Crime = (&'static str, PeerFault, fn(&mut Attacker, u64));
    let crimes: [Crime; 6] = [
        ("beyond the grant", PeerFault::Overflow, |a, limit| a.send_piece(0, limit, b"x")),
        ("at the end of time", PeerFault::Overflow, |a, _| a.send_piece(0, 1 << 56, b"x")),
        ("on many streams", PeerFault::Overflow, |a, limit| {
            (0..=255).for_each(|stream| a.send_piece(stream, limit / 200, b"x"));
        }),
        ("too large a message", PeerFault::MessageTooLarge, |a, limit| {
            a.send_piece(0, 0, &Varint::new(limit + 1));
        }),
        ("no length at all", PeerFault::Malformed, |a, _| a.send_piece(0, 0, &[0xff; 12])),
        ("of an unsent packet", PeerFault::AckBeyondSent, |a, _| a.send(3, &[0xff, 0xff, 0, 0, 0])),
    ];
    for (name, expected, commit) in crimes {
        let mut scene = Scene::new(&LinkConfig::default());
        // The victim's numbers start anywhere: acknowledge a number half of the range ahead.
        if expected == PeerFault::AckBeyondSent {
            scene.step();
            let heard = scene.attacker.hear();
            let number =
                heard.iter().rev().find(|packet| packet[0] >> 4 == 4).map(|packet| [packet[1], packet[2]]);
            let ahead = u16::from_le_bytes(number.unwrap()).wrapping_add(1_000).to_le_bytes();
            scene.attacker.send(3, &[ahead[0], ahead[1], 0, 0, 0]);
        } else {
            commit(&mut scene.attacker, limit);
        }
        scene.step();
        assert_eq!(fault(&scene.left), Some(expected), "{name}: {:?}", scene.left);
        scene.step();
        let heard = scene.attacker.hear();
        assert!(
            heard.iter().any(|packet| packet[0] >> 4 == 5 && packet[5] == CloseCode::PROTOCOL_ERROR.0),
            "{name}: not reported"
        );
        scene.attacker.send_piece(0, 0, b"\x01x");
        scene.step();
        assert_eq!(scene.messages, 0, "{name}: still accepted");
        scene.expect_others_unaffected();
    }
}

#[test]
fn network_damage_is_not_fault() {
    let mut scene = Scene::new(&LinkConfig::default());
    let start = scene.attacker.number;
    for _ in 0..3 {
        // The same three packets repeatedly, in different orders.
        for shift in [2, 0, 1] {
            scene.attacker.number = start.wrapping_add(shift);
            scene.attacker.send_piece(0, u64::from(shift) * 2, &[1, b'a' + shift as u8]);
        }
    }
    scene.attacker.number = start.wrapping_sub(5_000);
    scene.attacker.send_piece(0, 0, b"\x03old");
    scene.step();
    assert_eq!((scene.messages, scene.left.len()), (3, 0));
    let stats = scene.victim.stats(scene.world.id(2)).unwrap();
    assert_eq!((stats.packets_in - 3, stats.packets_rejected), (0, 7), "{stats:?}");
    scene.expect_others_unaffected();
}

#[test]
fn noise_and_mutations_never_panic_and_affect_no_other() {
    let mut random = Prng::new(7);
    let mut ended = 0;
    let mut scene = Scene::new(&LinkConfig::default());
    for round in 0..60_000_u32 {
        let kind = [1, 2, 2, 2, 3, 4, 5, 6, 9][random.below(9) as usize];
        let mut body = vec![0; random.below(60) as usize];
        random.fill(&mut body);
        match random.below(4) {
            0 => scene.attacker.send_raw(&body),
            1 => scene.attacker.send(kind, &body),
            // Nearly valid: small numbers where numbers are expected.
            2 => {
                body.iter_mut().for_each(|byte| *byte &= 0x0f);
                scene.attacker.send(kind, &body);
            }
            _ => scene.attacker.send_piece(random.below(4) as u8, u64::from(random.below(5_000)), &body),
        }
        if round % 16 == 0 {
            scene.step();
        }
        if !scene.left.is_empty() {
            ended += 1;
            scene.world.apply(&gaggle_link::sim::NetChange::Connect(0, 2));
            scene.greet(0x1000_0000 + round);
        }
    }
    assert!(ended > 20, "only {ended} links ended: the noise was too mild");
    scene.expect_others_unaffected();
}

#[test]
fn memory_is_bounded_by_grant() {
    const GRANT: u32 = 1 << 20;
    let config = LinkConfig { receive_bytes_max: GRANT, ..LinkConfig::default() };
    let mut scene = Scene::new(&config);
    let used = measure(|| {
        // All of the grant, in pieces with a hole before each, on every stream.
        for stream in 0..=255_u8 {
            for piece in 0..4_u64 {
                scene.attacker.send_piece(stream, piece * 1_000 + 1, &[1; 900]);
            }
            scene.step();
            scene.attacker.hear();
        }
    });
    assert!(scene.left.is_empty(), "{:?}", scene.left);
    let total = used.bytes_current.unsigned_abs();
    println!("{total} bytes are held after a peer used its grant of {GRANT} bytes on all streams");
    // Vectors double: twice the grant, and some hundred bytes for each stream.
    assert!(total < 2 * u64::from(GRANT) + 256 * 1_024, "{total} bytes");
    scene.attacker.send_piece(0, u64::from(GRANT), b"one more");
    scene.step();
    assert_eq!(fault(&scene.left), Some(PeerFault::Overflow));
    scene.expect_others_unaffected();
}

#[test]
fn tiny_pieces_with_holes_are_limited() {
    let mut scene = Scene::new(&LinkConfig::default());
    let used = measure(|| {
        for crumb in 0..20_000_u64 {
            scene.attacker.send_piece(0, crumb * 3 + 1, &[1]);
            if crumb % 100 == 0 {
                scene.step();
                scene.attacker.hear();
            }
        }
    });
    let stats = scene.victim.stats(scene.world.id(2)).unwrap();
    // 1,024 holes are tracked; further pieces are rejected, not acknowledged, and cost nothing.
    assert!(stats.packets_rejected > 18_000, "{stats:?}");
    assert!(used.bytes_current < 200_000, "{} bytes", used.bytes_current);
    assert!(scene.left.is_empty());
    // The first hole can still be filled.
    scene.attacker.send_piece(0, 0, &[2]);
    scene.attacker.send_piece(0, 2, b"x");
    scene.step();
    assert_eq!(scene.messages, 1);
}

#[test]
fn flood_is_cut_off_per_poll() {
    let mut scene = Scene::new(&LinkConfig::default());
    for _ in 0..20_000 {
        scene.attacker.send_raw(&[0x41; 40]);
    }
    scene.world.advance(Micros::from_millis(1));
    let now = scene.world.now();
    let before = scene.victim.stats(scene.world.id(2)).unwrap().packets_rejected;
    while scene.victim.poll(now).is_some() {}
    let looked_at = scene.victim.stats(scene.world.id(2)).unwrap().packets_rejected - before;
    assert!(looked_at <= 4_096, "{looked_at} in one poll");
    assert_eq!(scene.victim.poll_timeout(), now, "more is pending");
    (0..10).for_each(|_| scene.step());
    scene.expect_others_unaffected();
}

#[test]
fn no_packet_is_answered_with_much_more() {
    for kind in ["hello", "question"] {
        let mut scene = Scene::new(&LinkConfig::default());
        (0..50).for_each(|_| scene.step());
        scene.attacker.hear();
        scene.attacker.bytes_sent = 0;
        let mut answered = 0;
        for n in 0..1_000_u32 {
            if kind == "hello" {
                let mut hello = vec![0x61];
                hello.extend((n + 1).to_le_bytes());
                hello.extend([0; 8]);
                scene.attacker.send_raw(&hello);
            } else {
                scene.attacker.send(4, &[1, 0, 1, 2, 3, 4]);
            }
            if n % 3 == 0 {
                scene.step();
                answered += scene.attacker.hear().iter().map(Vec::len).sum::<usize>();
            }
        }
        let sent = scene.attacker.bytes_sent;
        assert!(answered > 0 && answered <= sent + 100, "{kind}: {answered} bytes in answer to {sent}");
        assert!(scene.left.is_empty(), "{kind}: {:?}", scene.left);
    }
}
