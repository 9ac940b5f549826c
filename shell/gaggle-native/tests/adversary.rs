//! Attacks on the UDP port and path: unauthenticated senders, copies, forgeries, floods, and moving
//! peers.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use gaggle_kit::{Micros, PeerId, Prng};
use gaggle_link::{Carrier, CarrierEvent, ConnectCarrier};
use gaggle_native::{Clock, RoomKey, UdpCarrier, UdpConfig};

const A: PeerId = PeerId::from_u128(0xa);
const B: PeerId = PeerId::from_u128(0xb);

fn key() -> RoomKey {
    RoomKey::from_bytes([7; 32])
}

fn bind(peer: PeerId, key: &RoomKey) -> UdpCarrier {
    UdpCarrier::bind("127.0.0.1:0".parse().unwrap(), peer, key, UdpConfig::default()).unwrap()
}

fn raw_socket() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_nonblocking(true).unwrap();
    socket
}

/// All datagrams a socket has received.
fn drain(socket: &UdpSocket) -> Vec<(SocketAddr, Vec<u8>)> {
    let mut buffer = [0; 2_048];
    std::iter::from_fn(|| {
        socket.recv_from(&mut buffer).ok().map(|(size, from)| (from, buffer[..size].to_vec()))
    })
    .collect()
}

/// A man in the middle of two peers.
struct Path {
    /// Address that `a` takes for `b`, and the one `b` takes for `a`.
    near_a: UdpSocket,
    near_b: UdpSocket,
    a: SocketAddr,
    b: SocketAddr,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Direction {
    FromA,
    FromB,
}

impl Path {
    fn between(a: &mut UdpCarrier, b: &UdpCarrier) -> Path {
        let path = Path {
            near_a: raw_socket(),
            near_b: raw_socket(),
            a: a.local_address().unwrap(),
            b: b.local_address().unwrap(),
        };
        a.connect(path.near_a.local_addr().unwrap());
        path
    }

    /// Forwards what `tamper` leaves of each datagram; an empty one is dropped.
    fn pass(&self, tamper: &mut dyn FnMut(Direction, &mut Vec<u8>)) {
        for (_, mut bytes) in drain(&self.near_a) {
            assert!(bytes.len() <= 1_200, "{} bytes", bytes.len());
            tamper(Direction::FromA, &mut bytes);
            if !bytes.is_empty() {
                self.near_b.send_to(&bytes, self.b).unwrap();
            }
        }
        for (_, mut bytes) in drain(&self.near_b) {
            assert!(bytes.len() <= 1_200, "{} bytes", bytes.len());
            tamper(Direction::FromB, &mut bytes);
            if !bytes.is_empty() {
                self.near_a.send_to(&bytes, self.a).unwrap();
            }
        }
    }
}

/// Two carriers with a path between them, and what each received.
struct Scene {
    clock: Clock,
    a: UdpCarrier,
    b: UdpCarrier,
    path: Path,
    opened: [u32; 2],
    heard: [Vec<Vec<u8>>; 2],
}

impl Scene {
    fn new() -> Scene {
        let (mut a, b) = (bind(A, &key()), bind(B, &key()));
        let path = Path::between(&mut a, &b);
        Scene { clock: Clock::start(), a, b, path, opened: [0; 2], heard: Default::default() }
    }

    fn connected() -> Scene {
        let mut scene = Scene::new();
        // The connecting peer is accepted with its first datagram.
        scene.run_until(|scene| scene.opened[0] == 1, &mut |_, _| {});
        scene.send(A, b"first");
        scene.run_until(|scene| scene.heard[1].len() == 1, &mut |_, _| {});
        assert_eq!(scene.opened, [1, 1]);
        scene.heard[1].clear();
        scene
    }

    fn poll(&mut self) {
        let (now, mut datagram) = (self.clock.now(), Vec::new());
        for (index, carrier) in [&mut self.a, &mut self.b].into_iter().enumerate() {
            while let Some(event) = carrier.poll(now, &mut datagram) {
                match event {
                    CarrierEvent::Opened { .. } => self.opened[index] += 1,
                    CarrierEvent::Datagram { peer } => {
                        assert_eq!(peer, [B, A][index]);
                        self.heard[index].push(datagram.clone());
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
    }

    fn step(&mut self, tamper: &mut dyn FnMut(Direction, &mut Vec<u8>)) {
        self.poll();
        self.path.pass(tamper);
        std::thread::sleep(Duration::from_millis(1));
    }

    fn run_until(&mut self, done: impl Fn(&Scene) -> bool, tamper: &mut dyn FnMut(Direction, &mut Vec<u8>)) {
        for _ in 0..5_000 {
            if done(self) {
                return;
            }
            self.step(tamper);
        }
        panic!("the condition was not met in 5 seconds");
    }

    fn run_ms(&mut self, millis: u64, tamper: &mut dyn FnMut(Direction, &mut Vec<u8>)) {
        let until = self.clock.now() + Micros::from_millis(millis);
        while self.clock.now() < until {
            self.step(tamper);
        }
    }

    fn send(&mut self, from: PeerId, bytes: &[u8]) {
        let (carrier, to) = if from == A { (&mut self.a, B) } else { (&mut self.b, A) };
        carrier.send(self.clock.now(), to, bytes).unwrap();
    }
}

#[test]
fn unauthenticated_senders_get_no_answer() {
    let mut server = bind(B, &key());
    let (address, clock) = (server.local_address().unwrap(), Clock::start());
    // One has another room's key, one has none.
    let mut outsider = bind(A, &RoomKey::from_phrase("another room"));
    outsider.connect(address);
    let noise = raw_socket();
    let mut random = Prng::new(1);
    let mut datagram = Vec::new();
    for _ in 0..600 {
        let mut bytes = vec![0; random.below(1_200) as usize];
        random.fill(&mut bytes);
        // Handshake and encrypted datagrams in turn, as far as an outsider can imitate them.
        if let Some(first) = bytes.first_mut() {
            *first = [1, 2, 3, 0x40 | *first & 0x3f, 0x80 | *first & 0x3f, *first][random.below(6) as usize];
        }
        noise.send_to(&bytes, address).unwrap();
        assert_eq!(server.poll(clock.now(), &mut datagram), None);
        assert_eq!(outsider.poll(clock.now(), &mut datagram), None);
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(drain(&noise).is_empty());
    assert_eq!(outsider.stats().received, 0);
    let totals = server.stats();
    // The noise, and the outsider's two or three knocks.
    assert!(totals.received > 600 && totals.rejected == totals.received, "{totals:?}");
}

#[test]
fn unproven_address_gets_no_more_bytes_than_it_sent() {
    let mut scene = Scene::new();
    let (mut from_a, mut from_b) = (0, 0);
    // A sender with a forged address does not receive the answers.
    scene.run_ms(3_000, &mut |direction, bytes| match direction {
        Direction::FromA => from_a += bytes.len(),
        Direction::FromB => {
            from_b += bytes.len();
            bytes.clear();
        }
    });
    assert!(from_b > 0 && from_b <= from_a, "{from_b} bytes for {from_a}");
    assert_eq!(scene.opened, [0, 0]);
}

#[test]
fn every_datagram_is_accepted_once_wherever_copies_come_from() {
    let mut scene = Scene::connected();
    let mut recorded = Vec::new();
    for n in 0..50 {
        scene.send(A, &[n; 20]);
        scene.run_ms(1, &mut |direction, bytes| {
            if direction == Direction::FromA {
                recorded.push(bytes.clone());
            }
        });
    }
    scene.run_until(|scene| scene.heard[1].len() == 50, &mut |_, _| {});
    let address = scene.b.address_of(A);
    let refused = scene.b.stats().rejected;
    let elsewhere = raw_socket();
    for _ in 0..3 {
        for copy in &recorded {
            scene.path.near_b.send_to(copy, scene.path.b).unwrap();
            elsewhere.send_to(copy, scene.path.b).unwrap();
        }
        scene.run_ms(20, &mut |_, _| {});
    }
    assert_eq!(scene.heard[1].len(), 50);
    assert_eq!(scene.b.stats().rejected, refused + 300);
    assert_eq!(scene.b.address_of(A), address);
    assert!(drain(&elsewhere).is_empty(), "a copy was answered");
}

#[test]
fn altered_datagrams_do_not_arrive() {
    let mut scene = Scene::connected();
    let mut random = Prng::new(3);
    let mut touched = 0;
    for n in 0..200_u8 {
        scene.send(A, &[n; 30]);
        scene.send(B, &[n; 30]);
        scene.run_ms(1, &mut |_, bytes| {
            if random.chance(1, 2) {
                touched += 1;
                match random.below(3) {
                    0 => bytes.truncate(random.below(bytes.len() as u32) as usize),
                    1 => bytes.push(0),
                    _ => {
                        let bit = random.below(bytes.len() as u32 * 8) as usize;
                        bytes[bit / 8] ^= 1 << (bit % 8);
                    }
                }
            }
        });
    }
    scene.run_ms(50, &mut |_, _| {});
    assert!(touched > 150, "{touched} altered");
    for heard in &scene.heard {
        assert!((60..=140).contains(&heard.len()), "{} of 200 arrived", heard.len());
        assert!(heard.iter().all(|bytes| bytes.len() == 30 && bytes.iter().all(|byte| *byte == bytes[0])));
    }
}

#[test]
fn man_in_middle_cannot_read_content() {
    let mut scene = Scene::connected();
    let secret = b"my goose is faster than yours";
    let mut seen = Vec::new();
    scene.send(A, secret);
    scene.send(A, secret);
    scene.run_until(|scene| scene.heard[1].len() == 2, &mut |_, bytes| seen.push(bytes.clone()));
    assert_eq!(seen.len(), 2);
    assert_eq!(seen[0].len(), secret.len() + 12);
    assert!(!seen[0].windows(5).any(|window| secret.windows(5).any(|part| part == window)));
    assert_ne!(seen[0][4..], seen[1][4..], "equal content is encrypted differently");
}

#[test]
fn moved_peer_is_found_again() {
    let mut scene = Scene::connected();
    let before = scene.b.address_of(A).unwrap();
    // The peer's router gives it another port.
    let old = std::mem::replace(&mut scene.path.near_b, raw_socket());
    let after = scene.path.near_b.local_addr().unwrap();
    // What is sent to the old one is lost.
    scene.send(B, b"into the void");
    scene.run_ms(20, &mut |_, _| {});
    assert_eq!((scene.b.address_of(A), scene.heard[0].len()), (Some(before), 0));
    for n in 0..10 {
        scene.send(A, &[n; 20]);
        scene.run_ms(30, &mut |_, _| {});
    }
    assert_eq!(scene.b.address_of(A), Some(after));
    scene.send(B, b"there you are");
    scene.run_until(|scene| scene.heard[0].len() == 1, &mut |_, _| {});
    assert_eq!((scene.heard[1].len(), scene.opened), (10, [1, 1]));
    drop(old);
}

#[test]
fn redirected_copies_move_no_peer() {
    let mut scene = Scene::connected();
    let address = scene.b.address_of(A);
    let thief = raw_socket();
    let (mut caught, mut stolen_bytes) = (Vec::new(), 0);
    for n in 0..40 {
        // Each is authentic, new, and never comes from the peer's address.
        scene.send(A, &[n; 20]);
        scene.run_ms(5, &mut |direction, bytes| {
            if direction == Direction::FromA {
                caught.push(std::mem::take(bytes));
            }
        });
        for datagram in caught.drain(..) {
            stolen_bytes += datagram.len();
            thief.send_to(&datagram, scene.path.b).unwrap();
        }
    }
    scene.run_ms(20, &mut |_, _| {});
    let got: usize = drain(&thief).iter().map(|(_, bytes)| bytes.len()).sum();
    assert_eq!(scene.b.address_of(A), address);
    assert!(got > 0 && got <= stolen_bytes, "{got} bytes for {stolen_bytes}");
    assert_eq!(scene.heard[1].len(), 40, "authentic datagrams are accepted");
    scene.send(B, b"still at its address");
    scene.run_until(|scene| scene.heard[0].len() == 1, &mut |_, _| {});
}

#[test]
fn flood_of_garbage_ends_no_connection() {
    let mut scene = Scene::connected();
    let flood = raw_socket();
    let mut random = Prng::new(9);
    for n in 0..200_u8 {
        for _ in 0..50 {
            let mut bytes = vec![0; 40];
            random.fill(&mut bytes);
            // Session numbers are not secret: these are decrypted and found to be forged.
            bytes[0] = 0x40 | bytes[0] & 0x3f;
            // The socket's buffer may be full: then the flood is smaller.
            _ = flood.send_to(&bytes, scene.path.b);
        }
        scene.send(A, &[n; 20]);
        scene.run_ms(1, &mut |_, _| {});
    }
    scene.run_ms(50, &mut |_, _| {});
    assert!(scene.b.stats().rejected > 5_000, "{:?}", scene.b.stats());
    assert!(scene.heard[1].len() > 190, "{} of 200 arrived", scene.heard[1].len());
}

#[test]
fn excess_members_are_rejected() {
    let clock = Clock::start();
    let config = UdpConfig { peers_max: 2, pending_max: 2, ..UdpConfig::default() };
    let mut server = UdpCarrier::bind("127.0.0.1:0".parse().unwrap(), B, &key(), config).unwrap();
    let mut members: Vec<_> = (1..=5).map(|n| bind(PeerId::from_u128(0x100 + n), &key())).collect();
    members.iter_mut().for_each(|member| member.connect(server.local_address().unwrap()));
    let (mut datagram, mut opened) = (Vec::new(), 0);
    for _ in 0..1_500 {
        let now = clock.now();
        while let Some(event) = server.poll(now, &mut datagram) {
            opened += u32::from(matches!(event, CarrierEvent::Opened { .. }));
        }
        for member in &mut members {
            while member.poll(now, &mut datagram).is_some() {}
            member.send(now, B, b"here").unwrap();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(opened, 2);
    assert!(server.stats().dropped > 0, "{:?}", server.stats());
}

#[test]
fn peer_with_other_id_than_requested_is_not_accepted() {
    let clock = Clock::start();
    let (mut a, mut b) = (bind(A, &key()), bind(B, &key()));
    let expected = PeerId::from_u128(0xc);
    a.add_address(expected, b.local_address().unwrap());
    a.add_address(expected, b.local_address().unwrap());
    ConnectCarrier::connect(&mut a, clock.now(), expected);
    let mut datagram = Vec::new();
    for _ in 0..800 {
        assert_eq!(a.poll(clock.now(), &mut datagram), None);
        assert_eq!(b.poll(clock.now(), &mut datagram), None);
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(a.stats().rejected > 0, "{:?}", a.stats());
    // The actual one may be requested.
    a.add_address(B, b.local_address().unwrap());
    ConnectCarrier::connect(&mut a, clock.now(), B);
    let opened = (0..3_000).any(|_| {
        std::thread::sleep(Duration::from_millis(1));
        b.poll(clock.now(), &mut datagram);
        a.poll(clock.now(), &mut datagram) == Some(CarrierEvent::Opened { peer: B })
    });
    assert!(opened);
}

#[test]
fn connection_times_out_and_reopens_by_itself() {
    let clock = std::cell::Cell::new(Micros::from_secs(1));
    let config = UdpConfig { timeout: Micros::from_millis(600), ..UdpConfig::default() };
    let mut a = UdpCarrier::bind("127.0.0.1:0".parse().unwrap(), A, &key(), config.clone()).unwrap();
    let mut b = UdpCarrier::bind("127.0.0.1:0".parse().unwrap(), B, &key(), config).unwrap();
    a.connect(b.local_address().unwrap());
    let (mut datagram, mut told) = (Vec::new(), Vec::new());
    let mut run = |talk: bool, millis: u64, told: &mut Vec<CarrierEvent>| {
        // Virtual time: one iteration is a millisecond, however slow the machine.
        for _ in 0..millis {
            let now = clock.get();
            while let Some(event) = a.poll(now, &mut datagram) {
                told.extend(Some(event).filter(|event| !matches!(event, CarrierEvent::Datagram { .. })));
            }
            while b.poll(now, &mut datagram).is_some() {}
            if talk {
                a.send(now, B, b"x").unwrap();
                b.send(now, A, b"x").unwrap();
            }
            std::thread::sleep(Duration::from_millis(1));
            clock.set(now + Micros::from_millis(1));
        }
    };
    run(true, 1_500, &mut told);
    assert_eq!(told, [CarrierEvent::Opened { peer: B }]);
    run(false, 2_500, &mut told);
    assert!(told.len() >= 3, "{told:?}");
    assert_eq!(told[1..3], [CarrierEvent::Closed { peer: B }, CarrierEvent::Opened { peer: B }]);
}

#[test]
fn flood_is_limited_per_moment_of_polling() {
    let mut carrier = bind(A, &key());
    let (address, stop) = (carrier.local_address().unwrap(), std::sync::atomic::AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let socket = raw_socket();
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                let _ = socket.send_to(&[7; 60], address);
            }
        });
        let mut datagram = Vec::new();
        // Repeated polls at one time read a limited number, and the next time more.
        for moment in 1..=3 {
            while carrier.stats().received < 1_024 * moment {
                assert_eq!(carrier.poll(Micros::from_secs(moment), &mut datagram), None);
            }
            for _ in 0..100 {
                assert_eq!(carrier.poll(Micros::from_secs(moment), &mut datagram), None);
            }
            assert_eq!(carrier.stats().received, 1_024 * moment);
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}
