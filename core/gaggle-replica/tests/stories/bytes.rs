//! Tests of the size of updates on a bad network: every received value equals the value that was
//! sent.

#![allow(clippy::float_arithmetic, clippy::unwrap_used, reason = "averages, and a failed step ends the test")]

use crate::bodies::{Bodies, Body, Motion};
use crate::world;
use crate::world::{NetConditions, World, peer};
use gaggle_kit::Micros;
use gaggle_replica::{AuthorityPolicy, Kinds, ObjectId, ReplicaConfig};

struct Measured {
    bytes_per_update: f64,
    verified: u64,
    whole_percent: f64,
}

/// Peer 0 moves all bodies every tick, the others watch.
fn measure(
    motion: Motion,
    count: usize,
    receivers: usize,
    conditions: NetConditions,
    ticks: usize,
) -> Measured {
    let config = ReplicaConfig {
        authority: AuthorityPolicy::Leader,
        bytes_per_second: 10_000_000,
        ..ReplicaConfig::default()
    };
    let mut world = World::of(receivers + 1, 5, config, Kinds::new().with::<Body>());
    world.conditions = conditions;
    world.frame = Micros::from_millis(50);
    let mut bodies = Bodies::new(count, motion);
    let mut ids: Vec<ObjectId> = Vec::new();
    // The values that were sent, by tick.
    let mut told: Vec<Vec<Body>> = Vec::new();
    let mut verified = 0;
    let mut before = (0, 0, 0);
    for tick in 0..ticks {
        world.play(Micros::from_millis(50), |session, index, _| {
            if index > 0 {
                return;
            }
            if ids.is_empty() {
                ids = bodies.bodies.iter().map(|body| session.spawn(body).unwrap()).collect();
            }
            for (index, id) in ids.iter().enumerate() {
                bodies.step(index);
                session.set(*id, &bodies.bodies[index]).unwrap();
            }
        });
        let now = world.session(0).version(ids[0]).unwrap().tick as usize;
        told.resize(now + 1, Vec::new());
        told[now] = ids.iter().map(|id| world.session(0).get(*id).unwrap()).collect();
        for receiver in 1..=receivers {
            for (index, id) in ids.iter().enumerate() {
                let Some(version) = world.session(receiver).version(*id) else { continue };
                let body: Body = world.session(receiver).get(*id).unwrap();
                assert_eq!(body, told[version.tick as usize][index], "{id:?} at tick {}", version.tick);
                verified += 1;
            }
        }
        if tick == 60 {
            let stats = world.session(0).stats();
            before = (stats.bytes_sent, stats.updates_sent, stats.updates_full);
        }
    }
    world.expect_peace();
    let stats = world.session(0).stats();
    let updates = stats.updates_sent - before.1;
    Measured {
        bytes_per_update: (stats.bytes_sent - before.0) as f64 / updates as f64,
        verified,
        whole_percent: 100.0 * (stats.updates_full - before.2) as f64 / updates as f64,
    }
}

#[test]
fn thousand_moving_bodies_keep_promised_size() {
    for (motion, rtt, loss, limit) in [
        (Motion::Driven, 150, 0, 8.4),
        (Motion::Driven, 150, 50, 8.5),
        (Motion::Ballistic, 150, 50, 6.5),
        (Motion::Driven, 50, 200, 7.4),
    ] {
        let measured = measure(motion, 1_000, 2, world::rough(rtt, loss), 160);
        println!(
            "{motion:?}, round trip {rtt} ms, loss {} %: {:.2} B per update, {:.1} % whole, {} verified",
            loss / 10,
            measured.bytes_per_update,
            measured.whole_percent,
            measured.verified
        );
        assert!(measured.bytes_per_update <= limit, "{:.2} B per update", measured.bytes_per_update);
        assert!(measured.verified > 200_000, "only {} values compared", measured.verified);
    }
}

#[test]
fn bodies_at_rest_send_nothing_and_last_value_arrived() {
    for loss in [0, 50, 500] {
        let config = ReplicaConfig {
            authority: AuthorityPolicy::Leader,
            bytes_per_second: 10_000_000,
            ..ReplicaConfig::default()
        };
        let mut world = World::of(3, 9, config, Kinds::new().with::<Body>());
        world.conditions = world::rough(100, loss);
        let mut bodies = Bodies::new(100, Motion::Driven);
        let mut ids = Vec::new();
        world.play(Micros::from_secs(3), |session, index, _| {
            if index == 0 && ids.is_empty() {
                ids = bodies.bodies.iter().map(|body| session.spawn(body).unwrap()).collect();
            }
            for (number, id) in ids.iter().enumerate().filter(|_| index == 0) {
                bodies.step(number);
                session.set(*id, &bodies.bodies[number]).unwrap();
            }
        });
        world.run_ms(3_000);
        let before = world.session(0).stats();
        let sent_before = world.machines[0].bytes_sent;
        world.run_ms(10_000);
        let after = world.session(0).stats();
        assert_eq!(after.updates_sent, before.updates_sent, "at {loss} per mille");
        let per_second = (world.machines[0].bytes_sent - sent_before) / 2 / 10;
        assert!(per_second < 20, "{per_second} bytes a second to each peer at rest");
        for id in &ids {
            let truth: Body = world.session(0).get(*id).unwrap();
            for receiver in 1..3 {
                assert_eq!(world.session(receiver).get::<Body>(*id), Some(truth), "at {}", peer(receiver));
            }
        }
    }
}
