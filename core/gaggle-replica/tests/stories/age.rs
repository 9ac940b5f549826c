//! Tests of the session's age on every peer.

#![allow(clippy::unwrap_used, reason = "a failed step ends the test")]

use crate::world;
use crate::world::{NetConditions, World};
use gaggle_kit::Micros;
use gaggle_replica::{AuthorityPolicy, JoinMode, Kind, Kinds, ReplicaConfig};

#[derive(Debug, Clone, PartialEq, Kind)]
struct Ball {
    #[kind(range = 0..=1_000)]
    place: u32,
}

/// A session of one peer, ten seconds old, and a joiner over this network; messages about the
/// age take this much longer.
fn joined(conditions: NetConditions, held: Micros) -> World {
    let config = ReplicaConfig { authority: AuthorityPolicy::Anyone, ..ReplicaConfig::default() };
    let mut world = World::of(2, 5, config, Kinds::new().with::<Ball>());
    world.kill(1);
    world.run_ms(10_000);
    world.conditions = conditions;
    world.net.set_ordered_delay(0, 1, held);
    world.start(1, JoinMode::Join);
    world.link(0, 1);
    world
}

/// By how much peer 1 takes the session for older, in ms.
fn error_ms(world: &mut World) -> i64 {
    let [there, here] = [0, 1].map(|index| world.session(index).session_age().get() as i64);
    (here - there) / 1_000
}

#[test]
fn session_age_includes_travel_time_of_report() {
    let far = NetConditions { latency: Micros::from_millis(150), ..world::CALM };
    for (conditions, held_ms) in [(world::CALM, 0), (far, 0), (far, 400), (world::rough(200, 100), 0)] {
        let mut world = joined(conditions, Micros::from_millis(held_ms));
        world.run_ms(5_000);
        let error = error_ms(&mut world);
        assert!(error.abs() <= 15, "{error} ms wrong, {conditions:?}, held for {held_ms} ms");
    }
}

#[test]
fn session_age_is_corrected_without_going_back() {
    // Travel time is long at first and then short: the error of the long one is corrected.
    let far = NetConditions { latency: Micros::from_millis(200), ..world::CALM };
    let mut world = joined(far, Micros::ZERO);
    world.run_ms(2_000);
    world.conditions = world::CALM;
    let ball = world.session(0).spawn(&Ball { place: 0 }).unwrap();
    let (mut before, mut worst) = (Micros::ZERO, 0);
    for place in 0..1_000 {
        // The object moves: otherwise round trips would be measured once a second.
        world.session(0).set(ball, &Ball { place }).unwrap();
        world.run_ms(10);
        let age = world.session(1).session_age();
        assert!(age >= before, "age went from {before:?} to {age:?}");
        (before, worst) = (age, error_ms(&mut world).abs().max(worst));
    }
    let error = error_ms(&mut world);
    assert!(error.abs() <= 20, "error is {error} ms at the end, {worst} ms at most");
}
