//! Tests of contents too large for a packet.

#![allow(clippy::unwrap_used, reason = "a failed step ends the test")]

use crate::world;
use crate::world::{World, player};
use gaggle_kit::{Micros, Prng};
use gaggle_replica::{AuthorityPolicy, Blob, Kind, Kinds, ObjectId, ReplicaConfig, SessionEvent};

#[derive(Debug, Clone, PartialEq, Kind)]
struct Level {
    ground: Blob,
}

#[derive(Debug, Clone, PartialEq, Kind)]
struct Ball {
    #[kind(range = 0..=1_000)]
    place: u32,
}

fn world(count: usize, bytes_per_second: u32) -> World {
    let config =
        ReplicaConfig { authority: AuthorityPolicy::Leader, bytes_per_second, ..ReplicaConfig::default() };
    World::of(count, 3, config, Kinds::new().with::<Level>().with::<Ball>())
}

fn ground(seed: u64, length: usize) -> Vec<u8> {
    let mut random = Prng::new(seed);
    (0..length).map(|_| random.next_u32() as u8).collect()
}

/// Every peer fetches the blob named by the level when it is new.
fn fetch(world: &mut World, id: ObjectId, millis: u64) {
    world.play(Micros::from_millis(millis), |session, _, _| {
        if let Some(level) = session.get::<Level>(id)
            && session.blob(level.ground).is_none()
        {
            session.fetch_blob(id, level.ground).unwrap();
        }
    });
}

#[test]
fn blob_larger_than_packet_arrives_whole_beside_updates() {
    let mut world = world(3, 20_000);
    world.conditions = world::rough(80, 50);
    let bytes = ground(1, 60_000);
    let blob = world.session(0).store_blob(&bytes).unwrap();
    let id = world.session(0).spawn(&Level { ground: blob }).unwrap();
    let ball = world.session(0).spawn(&Ball { place: 0 }).unwrap();
    // Long enough to send both again if the very first packet is lost.
    world.run_ms(3_000);
    let mut oldest = 0;
    for number in 1..=50 {
        fetch(&mut world, id, 100);
        world.session(0).set(ball, &Ball { place: number }).unwrap();
        let told = world.session(0).version(ball).unwrap().tick;
        let known = world.session(1).version(ball).map_or(0, |version| version.tick);
        oldest = oldest.max(told.saturating_sub(known));
    }
    assert!(world.session(1).blob(blob).is_none(), "60 kB at 10 kB a second take 6 s");
    assert!(oldest <= 8, "moving objects are {oldest} ticks old");
    fetch(&mut world, id, 3_000);
    for index in 1..3 {
        assert_eq!(world.session(index).blob(blob), Some(&bytes[..]), "at {index}");
        assert_eq!(world.count_events(index, |event| *event == SessionEvent::BlobReceived { blob }), 1);
    }
    world.expect_peace();
}

#[test]
fn blob_replaced_stays_available_until_new_one_arrives() {
    let mut world = world(2, 64_000);
    let (old, new) = (ground(1, 5_000), ground(2, 90_000));
    let first = world.session(0).store_blob(&old).unwrap();
    let id = world.session(0).spawn(&Level { ground: first }).unwrap();
    world.run_ms(500);
    fetch(&mut world, id, 1_000);
    let second = world.session(0).store_blob(&new).unwrap();
    world.session(0).set(id, &Level { ground: second }).unwrap();
    fetch(&mut world, id, 500);
    assert_eq!(world.session(1).get(id), Some(Level { ground: second }));
    assert!(world.session(1).blob(second).is_none() && world.session(1).blob(first).is_some());
    fetch(&mut world, id, 4_000);
    assert_eq!(world.session(1).blob(second), Some(&new[..]));
    world.session(1).remove_blob(first);
    assert!(world.session(1).blob(first).is_none());
}

#[test]
fn blob_after_authority_left_comes_from_peer_with_bytes() {
    let mut world = world(4, 64_000);
    let bytes = ground(5, 40_000);
    let blob = world.session(0).store_blob(&bytes).unwrap();
    let id = world.session(0).spawn(&Level { ground: blob }).unwrap();
    world.run_ms(500);
    // Peer 3 has the bytes, peer 2 is fetching them, peer 1 never asked.
    world.session(3).fetch_blob(id, blob).unwrap();
    world.run_ms(3_000);
    assert!(world.session(3).blob(blob).is_some());
    world.session(2).fetch_blob(id, blob).unwrap();
    world.run_ms(300);
    world.kill(0);
    world.run_ms(5_000);
    assert_eq!(world.session(2).authority(id), Some(player(1)));
    assert_eq!(
        world.session(2).blob(blob),
        Some(&bytes[..]),
        "from peer 3, because the new authority has none"
    );
    world.expect_peace();
}

#[test]
fn silent_blob_source_is_replaced() {
    let mut world = world(4, 64_000);
    let bytes = ground(6, 40_000);
    let blob = world.session(0).store_blob(&bytes).unwrap();
    let id = world.session(0).spawn(&Level { ground: blob }).unwrap();
    world.run_ms(500);
    world.session(3).fetch_blob(id, blob).unwrap();
    world.run_ms(3_000);
    // The authority is asked and sends none of the bytes, but its link lives.
    world.tamper = Box::new(|from, to, bytes| {
        // A piece is longer than any packet. It becomes a request about an unknown object.
        if (from, to) == (0, 2) && bytes.first() == Some(&10) && bytes.len() > 1_000 {
            *bytes = vec![3; 9];
        }
    });
    world.session(2).fetch_blob(id, blob).unwrap();
    world.run_ms(4_000);
    assert!(world.session(2).blob(blob).is_none(), "it still waits for the authority");
    world.run_ms(8_000);
    assert_eq!(world.session(2).blob(blob), Some(&bytes[..]), "then another peer is asked");
    world.expect_peace();
}

#[test]
fn removed_blob_is_reported_and_fetched_elsewhere() {
    let mut world = world(3, 20_000);
    let bytes = ground(7, 60_000);
    let blob = world.session(0).store_blob(&bytes).unwrap();
    let id = world.session(0).spawn(&Level { ground: blob }).unwrap();
    world.run_ms(500);
    world.session(1).store_blob(&bytes).unwrap();
    world.session(2).fetch_blob(id, blob).unwrap();
    world.run_ms(2_000);
    world.session(0).remove_blob(blob);
    // At 10 kB a second it takes 6 s from the beginning, without waiting for a timeout of the
    // first source.
    world.run_ms(8_000);
    assert_eq!(world.session(2).blob(blob), Some(&bytes[..]), "from the other peer that has it");
    world.expect_peace();
}
