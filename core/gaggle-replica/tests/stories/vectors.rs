//! Packets byte by byte, for comparison with another implementation.

#![allow(clippy::float_arithmetic, clippy::unwrap_used, reason = "values, and a failed step ends the test")]

use crate::world;
use std::cell::RefCell;
use std::rc::Rc;

use crate::world::{Machine, World};
use gaggle_kit::Micros;
use gaggle_replica::{AuthorityPolicy, JoinMode, Kind, Kinds, ReplicaConfig};

/// One field of every type.
#[derive(Debug, Clone, PartialEq, Kind)]
struct Boat {
    #[kind(range = 0.0..=64.0, precision = 1.0 / 16.0, moved_by = velocity)]
    position: [f32; 2],
    #[kind(range = -8.0..=8.0, precision = 1.0 / 8.0)]
    velocity: [f32; 2],
    #[kind(angle = 8)]
    heading: f32,
    #[kind(range = 0..=100)]
    fuel: u8,
    flag: u16,
    #[kind(constant)]
    paint: u8,
}

fn boat(number: u8) -> Boat {
    Boat {
        position: [10.0 + f32::from(number) * 0.1, 20.0],
        velocity: [2.0, -1.0],
        heading: 1.0,
        fuel: 50 - number,
        flag: 0x1234,
        paint: 7,
    }
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: String = text.lines().filter_map(|line| line.split('#').next()).collect();
    let digits: Vec<u8> = digits.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn packets_match_their_vectors() {
    let vectors = [
        ("introduction", include_str!("../../vectors/introduction.hex")),
        ("second", include_str!("../../vectors/second.hex")),
        ("third", include_str!("../../vectors/third.hex")),
        ("difference", include_str!("../../vectors/difference.hex")),
        ("deletion", include_str!("../../vectors/deletion.hex")),
        ("keep_alive", include_str!("../../vectors/keep_alive.hex")),
    ];
    let config = ReplicaConfig { authority: AuthorityPolicy::Leader, ..ReplicaConfig::default() };
    let mut world = World::of(1, 1, config, Kinds::new().with::<Boat>());
    // The newest hello of each peer: their epochs mark the packets.
    let hellos = Rc::new(RefCell::new([Vec::new(), Vec::new()]));
    let heard = Rc::clone(&hellos);
    world.tamper = Box::new(move |from, _, bytes| {
        if bytes.starts_with(&[1, 1, 0]) {
            heard.borrow_mut()[from].clone_from(bytes);
        }
    });
    world.machines.push(Machine::new(2));
    world.grow();
    world.start(1, JoinMode::Join);
    world.link(1, 0);
    world.run_ms(1_200);
    let hellos: Vec<u8> = hellos
        .borrow()
        .iter()
        .flat_map(|hello| [&(hello.len() as u16).to_le_bytes()[..], hello].concat())
        .collect();
    assert_eq!(hex(&hellos), hex(&unhex(include_str!("../../vectors/hellos.hex"))));
    // All output of peer 0 in one tick, as one packet.
    let packet = |world: &mut World| {
        world.now += Micros::from_millis(50);
        world.deliver();
        let now = world.now;
        world.session(0).tick(now);
        let mut sent = Vec::new();
        while let Some(out) = world.session(0).poll_transmit() {
            sent.push(out.bytes.to_vec());
        }
        assert!(sent.len() <= 1, "one packet");
        if let Some(bytes) = sent.first() {
            world.session(1).handle_packet(now, world::peer(0), bytes);
        }
        world.session(1).tick(now);
        while let Some(out) = world.session(1).poll_transmit() {
            let bytes = out.bytes.to_vec();
            world.session(0).handle_packet(now, world::peer(1), &bytes);
        }
        sent.pop()
    };
    let ids = [world.session(0).spawn(&boat(0)).unwrap(), world.session(0).spawn(&boat(5)).unwrap()];
    let mut found = vec![packet(&mut world).unwrap()];
    for number in 1..=3 {
        world.session(0).set(ids[0], &boat(number)).unwrap();
        world.session(0).set(ids[1], &Boat { flag: 0xffff, ..boat(5 + number) }).unwrap();
        let difference = packet(&mut world).unwrap();
        found.push(difference);
    }
    world.session(0).despawn(ids[1]).unwrap();
    found.push(packet(&mut world).unwrap());
    let quiet = (0..40).filter_map(|_| packet(&mut world)).last().unwrap();
    found.push(quiet);
    for (bytes, (name, vector)) in found.iter().zip(vectors) {
        assert_eq!(hex(bytes), hex(&unhex(vector)), "{name}");
    }
    assert_eq!(world.session(1).get(ids[0]), Some(world.session(0).get::<Boat>(ids[0]).unwrap()));
    assert_eq!(world.session(1).get::<Boat>(ids[1]), None);
}
