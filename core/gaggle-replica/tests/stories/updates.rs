//! Tests of updates: their rate and size, their acknowledgement, and that sending them allocates
//! nothing.

#![allow(clippy::float_arithmetic, clippy::unwrap_used, reason = "places, and a failed step ends the test")]

use crate::world;
use std::cell::Cell;
use std::rc::Rc;

use crate::bodies::{Bodies, Body, Motion};
use crate::world::{NetConditions, World, peer};
use gaggle_kit::{Micros, PeerId, Slot};
use gaggle_replica::{AuthorityPolicy, JoinMode, Kind, Kinds, ObjectId, ReplicaConfig, Session};

#[derive(Debug, Clone, PartialEq, Kind)]
#[kind(priority = 8)]
struct Ship {
    #[kind(range = 0..=1_000_000)]
    place: u32,
    #[kind(constant)]
    hull: [u16; 4],
}

#[derive(Debug, Clone, PartialEq, Kind)]
struct Leaf {
    #[kind(range = 0..=1_000_000)]
    place: u32,
}

#[derive(Debug, Clone, PartialEq, Kind)]
struct Crate {
    words: [u32; 50],
}

fn world(count: usize, bytes_per_second: u32) -> World {
    let config =
        ReplicaConfig { authority: AuthorityPolicy::Leader, bytes_per_second, ..ReplicaConfig::default() };
    World::of(count, 19, config, Kinds::new().with::<Ship>().with::<Leaf>().with::<Crate>())
}

fn ship(place: u32) -> Ship {
    Ship { place, hull: [1, 2, 3, 4] }
}

#[test]
fn updates_leave_20_times_per_second_in_packets_of_1000_bytes() {
    let mut world = world(4, 1_000_000);
    let ids: Vec<ObjectId> = (0..400).map(|place| world.session(0).spawn(&Leaf { place }).unwrap()).collect();
    world.run_ms(1_000);
    world.frame = Micros::new(16_667);
    world.tamper = Box::new(|_, _, bytes| assert!(bytes.len() <= 1_000, "{} bytes", bytes.len()));
    let mut number = 0;
    let mut seen = [0_u32; 4];
    let mut newest = [0; 4];
    world.play(Micros::from_secs(10), |session, index, _| {
        if index == 0 {
            number += 7_919;
            for id in &ids {
                session.set(*id, &Leaf { place: number % 1_000_000 }).unwrap();
            }
        }
        let tick = session.version(ids[399]).unwrap().tick;
        seen[index] += u32::from(tick > newest[index]);
        newest[index] = tick;
    });
    assert!(seen[1..].iter().all(|seen| (195..=201).contains(seen)), "{seen:?} updates in 10 s");
}

#[test]
fn object_is_sent_whole_once_and_then_by_difference() {
    let mut world = world(3, 64_000);
    let id = world.session(0).spawn(&ship(1)).unwrap();
    world.run_ms(500);
    for receiver in 1..3 {
        assert_eq!(world.session(receiver).get(id), Some(ship(1)), "constants arrive too");
    }
    let before = world.session(0).stats();
    for place in 2..40 {
        world.session(0).set(id, &ship(place)).unwrap();
        world.run_ms(50);
    }
    let after = world.session(0).stats();
    assert!(after.updates_sent - before.updates_sent >= 70);
    assert_eq!(after.updates_full, before.updates_full, "no second whole update");
}

#[test]
fn overtaken_packet_reverts_nothing() {
    let mut world = world(3, 1_000_000);
    let id = world.session(0).spawn(&Leaf { place: 0 }).unwrap();
    world.run_ms(500);
    // Packets leave 50 ms apart and take 20 to 200 ms.
    world.conditions = NetConditions { jitter: Micros::from_millis(180), duplicate: 100, ..world::CALM };
    let overtaken = Rc::new(Cell::new(0));
    let counter = Rc::clone(&overtaken);
    let mut newest = 0;
    world.tamper = Box::new(move |from, to, bytes| {
        if (from, to) == (0, 1) {
            let number = u16::from_le_bytes([bytes[4], bytes[5]]);
            counter.set(counter.get() + u32::from(number < newest));
            newest = newest.max(number);
        }
    });
    let (mut place, mut seen) = (0, [0; 3]);
    world.play(Micros::from_secs(20), |session, index, _| {
        if index == 0 {
            place += 1;
            session.set(id, &Leaf { place }).unwrap();
        }
        let now = session.get::<Leaf>(id).unwrap().place;
        assert!(now >= seen[index], "{now} at {index} after {}", seen[index]);
        seen[index] = now;
    });
    assert!(overtaken.get() > 50, "only {} packets were overtaken: the test proves nothing", overtaken.get());
    assert!(seen.iter().all(|seen| *seen > 1_900), "{seen:?} of 2,000");
}

#[test]
fn constant_fields_keep_their_value() {
    let mut world = world(2, 64_000);
    let id = world.session(0).spawn(&ship(1)).unwrap();
    world.session(0).set(id, &Ship { place: 2, hull: [9; 4] }).unwrap();
    world.run_ms(300);
    assert_eq!(world.session(0).get(id), Some(ship(2)));
    assert_eq!(world.session(1).get(id), Some(ship(2)));
}

#[test]
fn updates_without_acks_stay_right_and_recover_size() {
    let mut world = world(2, 64_000);
    world.conditions = world::rough(100, 50);
    let id = world.session(0).spawn(&ship(0)).unwrap();
    world.run_ms(2_000);
    let mut place = 0;
    let mut play = |world: &mut World, millis: u64| {
        let before = world.session(0).stats();
        world.play(Micros::from_millis(millis), |session, index, _| {
            if index == 0 {
                place += 3;
                session.set(id, &ship(place)).unwrap();
            }
        });
        let after = world.session(0).stats();
        (after.updates_sent - before.updates_sent, after.updates_full - before.updates_full)
    };
    let (_, whole) = play(&mut world, 2_000);
    assert_eq!(whole, 0);
    world.set_cut(1, 0, true);
    let (sent, whole) = play(&mut world, 5_000);
    assert!(whole > 20 && whole < sent, "{whole} of {sent} updates are whole: no baseline is left");
    world.set_cut(1, 0, false);
    play(&mut world, 1_000);
    let (_, whole) = play(&mut world, 2_000);
    assert_eq!(whole, 0);
    world.run_ms(1_000);
    let truth = world.session(0).get::<Ship>(id);
    assert_eq!(world.session(1).get(id), truth);
    world.expect_peace();
}

#[test]
fn heavier_kind_is_sent_more_often_and_lighter_still_arrives() {
    let mut world = world(2, 3_000);
    let ships: Vec<ObjectId> = (0..60).map(|place| world.session(0).spawn(&ship(place)).unwrap()).collect();
    let leaves: Vec<ObjectId> =
        (0..60).map(|place| world.session(0).spawn(&Leaf { place }).unwrap()).collect();
    world.run_ms(4_000);
    let mut number = 0;
    let (mut ship_ages, mut leaf_ages, mut rounds) = (0_u64, 0_u64, 0);
    let mut oldest = 0;
    for _ in 0..400 {
        world.play(Micros::from_millis(50), |session, index, _| {
            if index == 0 {
                number += 99_991;
                for (ship_id, leaf_id) in ships.iter().zip(&leaves) {
                    session.set(*ship_id, &ship(number % 1_000_000)).unwrap();
                    session.set(*leaf_id, &Leaf { place: number % 1_000_000 }).unwrap();
                }
            }
        });
        let now = world.session(0).version(ships[0]).unwrap().tick;
        for (ship_id, leaf_id) in ships.iter().zip(&leaves) {
            let age = |session: &Session, id| u64::from(now - session.version(id).unwrap().tick);
            ship_ages += age(world.session(1), *ship_id);
            let leaf = age(world.session(1), *leaf_id);
            leaf_ages += leaf;
            oldest = oldest.max(leaf);
        }
        rounds += 60;
    }
    let (ship_age, leaf_age) = (ship_ages as f64 / f64::from(rounds), leaf_ages as f64 / f64::from(rounds));
    assert!(leaf_age > 3.0 * ship_age, "ships {ship_age:.1} ticks old, leaves {leaf_age:.1}");
    assert!(oldest < 200, "a leaf was {oldest} ticks old");
}

/// A packet under way, without a heap allocation.
type Letter = (bool, usize, [u8; 1_000]);

struct Pair {
    host: Session,
    watcher: Session,
    letters: Vec<Letter>,
    back: Vec<Letter>,
    bodies: Bodies,
    ids: Vec<ObjectId>,
}

impl Pair {
    fn step(&mut self, tick: u64) {
        let now = Micros::from_millis(tick * 50);
        for (index, id) in self.ids.iter().enumerate() {
            self.bodies.step(index);
            self.host.set(*id, &self.bodies.bodies[index]).unwrap();
        }
        exchange(&mut self.host, &mut self.watcher, peer(0), now, tick, &mut self.letters);
        exchange(&mut self.watcher, &mut self.host, peer(1), now, tick, &mut self.back);
        if let Some(id) = self.ids.first() {
            let _ = self.watcher.interpolated::<Body>(*id);
        }
    }
}

fn exchange(
    from: &mut Session,
    to: &mut Session,
    sender: PeerId,
    now: Micros,
    tick: u64,
    room: &mut Vec<Letter>,
) {
    from.tick(now);
    room.clear();
    while let Some(out) = from.poll_transmit() {
        let mut bytes = [0; 1_000];
        bytes[..out.bytes.len()].copy_from_slice(out.bytes);
        room.push((out.reliable, out.bytes.len(), bytes));
    }
    for (number, (reliable, length, bytes)) in room.iter().enumerate() {
        match reliable {
            true => to.handle_message(now, sender, &bytes[..*length]),
            // Some packets get lost.
            false if (tick + number as u64) % 11 == 3 => {}
            false => to.handle_packet(now, sender, &bytes[..*length]),
        }
    }
    while from.poll_event().is_some() {}
}

#[test]
fn tick_in_steady_state_allocates_nothing() {
    let session = |number: u8, entry| {
        let config = ReplicaConfig {
            authority: AuthorityPolicy::Leader,
            bytes_per_second: 1_000_000,
            ..ReplicaConfig::default()
        };
        Session::new(config, Kinds::new().with::<Body>(), Slot::at(number.into()), entry, number.into())
            .unwrap()
    };
    let mut pair = Pair {
        host: session(0, JoinMode::Create),
        watcher: session(1, JoinMode::Join),
        letters: Vec::with_capacity(64),
        back: Vec::with_capacity(64),
        bodies: Bodies::new(300, Motion::Driven),
        ids: Vec::new(),
    };
    pair.host.handle_connected(Micros::ZERO, peer(1));
    pair.watcher.handle_connected(Micros::ZERO, peer(0));
    (1..20).for_each(|tick| pair.step(tick));
    pair.ids = pair.bodies.bodies.iter().map(|body| pair.host.spawn(body).unwrap()).collect();
    (20..400).for_each(|tick| pair.step(tick));
    let before = pair.watcher.stats().updates_received;
    let counted = allocation_counter::measure(|| (400..1_000).for_each(|tick| pair.step(tick)));
    let updates = pair.watcher.stats().updates_received - before;
    assert!(updates > 100_000, "only {updates} updates: the test proves nothing");
    assert_eq!(counted.count_total, 0, "in 600 ticks of two peers with {updates} updates");
}

#[test]
fn packets_beyond_ack_range_per_tick_are_all_acknowledged() {
    let mut world = world(2, 100_000_000);
    let crates: Vec<ObjectId> =
        (0..800).map(|number| world.session(0).spawn(&Crate { words: [number; 50] }).unwrap()).collect();
    world.conditions = NetConditions { latency: Micros::from_millis(50), ..world::CALM };
    let mut number = 1_000_u32;
    let mut change = |session: &mut Session, index: usize, _: Micros| {
        if index == 0 {
            number = number.wrapping_mul(2_654_435_761).wrapping_add(1);
            for id in &crates {
                session.set(*id, &Crate { words: [number; 50] }).unwrap();
            }
        }
    };
    world.play(Micros::from_secs(1), &mut change);
    let (before, packets) = (world.session(0).stats(), world.machines[0].packets_sent);
    world.play(Micros::from_secs(1), &mut change);
    let after = world.session(0).stats();
    let a_tick = (world.machines[0].packets_sent - packets) / 20;
    assert!(a_tick > 160, "only {a_tick} packets a tick");
    assert_eq!(after.updates_full - before.updates_full, 0, "all updates use an acknowledged baseline");
    // With all objects at rest, every peer has the last values, and no more updates are sent.
    world.run_ms(300);
    let told = world.session(0).stats().updates_sent;
    world.run_ms(1_000);
    assert_eq!(world.session(0).stats().updates_sent, told);
    let last = world.session(0).get::<Crate>(crates[0]).unwrap();
    let mine: Vec<Option<Crate>> = crates.iter().map(|id| world.session(1).get(*id)).collect();
    assert!(mine.iter().all(|value| value.as_ref() == Some(&last)));
    world.expect_peace();
}
