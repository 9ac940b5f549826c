//! Tests of the budget: near objects are fresh, far objects still arrive, and a joiner does not
//! starve the others.

#![allow(
    clippy::float_arithmetic,
    clippy::unwrap_used,
    reason = "distances, and a failed step ends the test"
)]

use crate::bodies::{Bodies, Body, Motion};
use crate::world;
use crate::world::{World, peer, player};
use gaggle_kit::{Input, Micros, PeerId};
use gaggle_replica::{
    AuthorityPolicy, JoinMode, Kind, Kinds, ObjectId, ObjectRef, Receiver, Relevance, ReplicaConfig,
    SessionEvent,
};

fn config(bytes_per_second: u32) -> ReplicaConfig {
    ReplicaConfig { authority: AuthorityPolicy::Leader, bytes_per_second, ..ReplicaConfig::default() }
}

fn distance(a: [f32; 3], b: [f32; 3]) -> f64 {
    f64::from((a[0] - b[0]).powi(2) + (a[2] - b[2]).powi(2)).sqrt()
}

/// Ages in milliseconds just before the next arrival, without the network's share: of the 16
/// objects nearest to body 0, and of all.
fn ages(loss: u32) -> (Vec<u32>, Vec<u32>, f64) {
    let mut world = World::of(2, 11, config(8_000), Kinds::new().with::<Body>());
    world.conditions = world::rough(100, loss);
    world.frame = Micros::from_millis(50);
    let mut bodies = Bodies::new(500, Motion::Driven);
    let mut ids: Vec<ObjectId> = Vec::new();
    let (mut near, mut all) = (Vec::new(), Vec::new());
    let mut tick_times = Vec::new();
    let started = world.machines[0].bytes_sent;
    for round in 0..1_200 {
        world.now += Micros::from_millis(50);
        world.deliver();
        let now = world.now;
        let session = world.session(0);
        if ids.is_empty() {
            ids = bodies.bodies.iter().map(|body| session.spawn(body).unwrap()).collect();
        }
        for (index, id) in ids.iter().enumerate() {
            bodies.step(index);
            session.set(*id, &bodies.bodies[index]).unwrap();
        }
        let eye = bodies.bodies[0].position;
        session.tick_with(
            now,
            Some(&mut |_: &Receiver, object: &ObjectRef<'_>| {
                let place = object.position()?;
                let away =
                    ((place[0] - f64::from(eye[0])).powi(2) + (place[2] - f64::from(eye[2])).powi(2)).sqrt();
                Some(Relevance::by_distance(away, 58.0))
            }),
        );
        let tick = session.version(ids[0]).unwrap().tick;
        tick_times.push(tick);
        world.collect(0);
        world.session(1).tick(now);
        world.collect(1);
        if round < 200 {
            continue;
        }
        // 50 ms and 10 of jitter: a packet sent in one tick arrives two ticks later.
        let age = |newest: u32| ((tick - newest) * 50).saturating_sub(100) + 50;
        let mut order: Vec<usize> = (1..500).collect();
        order.sort_by(|a, b| {
            let away = |index: &usize| distance(bodies.bodies[*index].position, eye);
            away(a).total_cmp(&away(b))
        });
        for (rank, index) in order.into_iter().enumerate() {
            let newest = world.session(1).version(ids[index]).map_or(0, |version| version.tick);
            if rank < 16 {
                near.push(age(newest));
            }
            all.push(age(newest));
        }
    }
    world.expect_peace();
    near.sort_unstable();
    all.sort_unstable();
    let rate = (world.machines[0].bytes_sent - started) as f64 / 1_200.0 * 20.0;
    (near, all, rate)
}

fn percentile(sorted: &[u32], percent: f64) -> u32 {
    sorted[((sorted.len() - 1) as f64 * percent / 100.0) as usize]
}

#[test]
fn near_objects_are_fresh_and_far_objects_still_arrive() {
    for (loss, p95, p99, worst) in [(0, 100, 200, 2_500), (50, 150, 200, 3_000)] {
        let (near, all, rate) = ages(loss);
        let (n95, n99, oldest) = (percentile(&near, 95.0), percentile(&near, 99.0), all[all.len() - 1]);
        println!(
            "loss {} %: near p50 {} p95 {n95} p99 {n99} worst {}; all p99 {} worst {oldest} ms; {rate:.0} B/s",
            loss / 10,
            percentile(&near, 50.0),
            near[near.len() - 1],
            percentile(&all, 99.0),
        );
        assert!(n95 <= p95 && n99 <= p99 && oldest <= worst);
        assert!(rate <= 8_000.0 * 1.01, "the budget is kept");
    }
}

#[derive(Debug, Clone, PartialEq, Kind)]
struct Rock {
    #[kind(range = 0.0..=1000.0, precision = 0.01)]
    place: [f32; 2],
    #[kind(constant)]
    color: u8,
}

fn rock(number: usize) -> Rock {
    Rock { place: [number as f32 % 1000.0, (number / 1000) as f32], color: number as u8 }
}

#[test]
fn joiner_fills_slowly_while_moving_objects_stay_fresh() {
    let mut world = World::of(2, 3, config(8_000), Kinds::new().with::<Rock>());
    let rocks: Vec<ObjectId> =
        (0..5_000).map(|number| world.session(0).spawn(&rock(number)).unwrap()).collect();
    world.run_ms(15_000);
    assert_eq!(world.session(1).iter::<Rock>().count(), 5_000);

    world.machines.push(world::Machine::new(2));
    world.grow();
    world.start(2, JoinMode::Join);
    world.link(2, 0);
    world.link(2, 1);
    let mut number = 0;
    let mut oldest = 0;
    let mut known = Vec::new();
    for _ in 0..120 {
        world.play(Micros::from_millis(50), |session, index, _| {
            if index == 0 {
                number += 1;
                for (offset, id) in rocks[..5].iter().enumerate() {
                    session.set(*id, &Rock { color: offset as u8, ..rock(number + offset) }).unwrap();
                }
            }
        });
        let tick = world.session(0).version(rocks[0]).unwrap().tick;
        let seen = world.session(2).version(rocks[0]).map(|version| version.tick);
        known.push(world.session(2).iter::<Rock>().count());
        if let Some(seen) = seen.filter(|_| known.len() > 20) {
            oldest = oldest.max(tick - seen);
        }
    }
    let progress = world.session(2).sync_progress();
    assert!(known.is_sorted() && known[40] > 100, "{known:?}");
    assert!(progress.received > 500 && progress.received < progress.expected, "{progress:?}");
    assert!(oldest <= 4, "a moving rock was {oldest} ticks old while the joiner caught up");
    world.run_ms(15_000);
    assert_eq!(world.session(2).iter::<Rock>().count(), 5_000);
    assert_eq!(world.session(2).get::<Rock>(rocks[4_999]), Some(rock(4_999)));
    let progress = world.session(2).sync_progress();
    assert_eq!((progress.received, progress.expected), (5_000, 5_000));
}

#[test]
fn irrelevant_object_is_hidden_until_relevant() {
    let mut world = World::of(3, 3, config(64_000), Kinds::new().with::<Rock>());
    let near = world.session(0).spawn(&rock(10)).unwrap();
    let far = world.session(0).spawn(&rock(900)).unwrap();
    let watched: fn(PeerId, &ObjectRef<'_>, f64) -> bool = |receiver, object, sight| {
        receiver != peer(1) || object.position().is_some_and(|place| place[0] < sight)
    };
    let mut sight = 100.0;
    let look = |world: &mut World, sight: f64, millis: u64| {
        for _ in 0..millis / 10 {
            world.now += Micros::from_millis(10);
            world.deliver();
            let now = world.now;
            world.session(0).tick_with(
                now,
                Some(&mut |receiver: &Receiver, object: &ObjectRef<'_>| {
                    watched(receiver.peer, object, sight).then_some(Relevance::ONE)
                }),
            );
            for index in 1..3 {
                world.session(index).tick(now);
            }
            (0..3).for_each(|index| world.collect(index));
        }
    };
    look(&mut world, sight, 1_000);
    assert_eq!(world.session(1).get::<Rock>(near), Some(rock(10)));
    assert_eq!(world.session(1).get::<Rock>(far), None, "an irrelevant object is never sent");
    assert_eq!(world.session(2).get::<Rock>(far), Some(rock(900)));

    sight = 950.0;
    look(&mut world, sight, 1_000);
    assert_eq!(world.session(1).get::<Rock>(far), Some(rock(900)));

    sight = 5.0;
    look(&mut world, sight, 1_000);
    let hidden = |event: &SessionEvent| matches!(event, SessionEvent::InterestLost { .. });
    assert_eq!(world.count_events(1, hidden), 2);
    assert_eq!(
        world.count_events(1, |event| matches!(event, SessionEvent::Despawned { .. })),
        0,
        "a hidden object is not deleted"
    );
    assert_eq!(world.count_events(2, hidden), 0);
    let moved = Rock { place: [3.0, 3.0], ..rock(10) };
    world.session(0).set(near, &moved).unwrap();
    look(&mut world, sight, 1_000);
    assert_eq!(world.session(1).get::<Rock>(near), Some(moved), "sent again");
    assert_eq!(world.count_events(1, |event| *event == SessionEvent::InterestGained { id: near }), 1);
    world.expect_peace();
}

#[test]
fn slow_frame_sends_one_packet() {
    let mut world = World::of(2, 3, config(1_000_000), Kinds::new().with::<Rock>());
    let id = world.session(0).spawn(&rock(1)).unwrap();
    world.run_ms(500);
    world.frame = Micros::from_millis(400);
    for round in 0..5 {
        let before = world.machines[0].packets_sent;
        world.session(0).set(id, &rock(round + 2)).unwrap();
        world.run_ms(400);
        assert_eq!(world.machines[0].packets_sent - before, 1, "a frame of eight intervals");
    }
    // Frames of a third of an interval: still one packet per interval.
    world.frame = Micros::new(16_667);
    let before = world.machines[0].packets_sent;
    let mut number = 0;
    world.play(Micros::from_secs(2), |session, index, _| {
        if index == 0 {
            number += 1;
            session.set(id, &rock(number)).unwrap();
        }
    });
    let sent = world.machines[0].packets_sent - before;
    assert!((38..=41).contains(&sent), "{sent} packets in 40 intervals");
}

#[derive(Debug, Clone, PartialEq, Kind)]
struct Scroll {
    words: [u32; 100],
}

#[test]
fn value_near_packet_size_arrives_at_any_rate() {
    for rate in [1_000, 2_000, 8_000] {
        let mut world = World::of(2, 3, config(rate), Kinds::new().with::<Scroll>());
        let scroll = |number: u32| Scroll { words: std::array::from_fn(|word| number + word as u32) };
        let id = world.session(0).spawn(&scroll(1)).unwrap();
        let before = world.machines[0].packets_sent;
        world.run_ms(5_000);
        assert_eq!(world.session(1).get::<Scroll>(id), Some(scroll(1)), "at {rate} bytes a second");
        let sent = world.machines[0].packets_sent - before;
        assert!(sent <= 110, "{sent} packets in 100 intervals at {rate} bytes a second");
    }
}

/// A value of the largest size.
#[derive(Debug, Clone, PartialEq, Kind)]
struct Map {
    words: [u32; 225],
}

/// Small as a whole value, but the difference of every step from the step before would take half
/// as much again as the step itself.
#[derive(Debug, Clone, PartialEq, Kind)]
struct Heights {
    meters: [u8; 800],
}

#[derive(Debug, Clone, PartialEq, Kind)]
struct Switches {
    on: [bool; 2_000],
}

/// The value arrives when it is introduced, changed completely and changed a little.
fn arrives<K: Kind + Clone + PartialEq + std::fmt::Debug>(rate: u32, values: &[K; 3]) {
    let mut world = World::of(2, 3, config(rate), Kinds::new().with::<K>());
    let id = world.session(0).spawn(&values[0]).unwrap();
    for (number, value) in values.iter().enumerate() {
        world.session(0).set(id, value).unwrap();
        world.run_ms(4_000);
        let there = world.session(1).get::<K>(id);
        assert!(there.as_ref() == Some(value), "value {number} of `{}` at {rate} bytes a second", K::NAME);
    }
    world.expect_peace();
}

#[test]
fn any_declarable_kind_arrives_at_any_rate() {
    for rate in [1_000, 8_000, 64_000] {
        let map = |number: u32| Map { words: std::array::from_fn(|word| number ^ word as u32) };
        let mut nearly = map(u32::MAX);
        nearly.words[7] = 7;
        arrives(rate, &[map(1), map(u32::MAX), nearly]);
        let heights = |by: usize| Heights { meters: std::array::from_fn(|place| (place * by) as u8) };
        let mut nearly = heights(101);
        nearly.meters[7] += 1;
        arrives(rate, &[heights(1), heights(101), nearly]);
        let switches = |by: usize| Switches { on: std::array::from_fn(|place| place % by == 0) };
        let mut nearly = switches(3);
        nearly.on[7] = true;
        arrives(rate, &[switches(2), switches(3), nearly]);
    }
}

#[test]
fn value_near_packet_size_gets_turn_among_moving_objects() {
    for (rate, count) in [(1_000, 20), (8_000, 20), (8_000, 200)] {
        let mut world = World::of(2, 3, config(rate), Kinds::new().with::<Rock>().with::<Map>());
        let rocks: Vec<ObjectId> =
            (0..count).map(|number| world.session(0).spawn(&rock(number)).unwrap()).collect();
        world.run_ms(10_000);
        let map = |number: u32| Map { words: [number; 225] };
        let id = world.session(0).spawn(&map(1)).unwrap();
        let mut number = 0;
        let before = world.machines[0].bytes_sent;
        for value in 1..4 {
            world.session(0).set(id, &map(value)).unwrap();
            world.play(Micros::from_secs(10), |session, index, _| {
                if index == 0 {
                    number += 1;
                    for (offset, id) in rocks.iter().enumerate() {
                        let color = offset as u8;
                        session.set(*id, &Rock { color, ..rock(37 * number + 1_000 * offset) }).unwrap();
                    }
                }
            });
            assert!(
                world.session(1).get::<Map>(id) == Some(map(value)),
                "value {value} among {count} at {rate} bytes a second"
            );
            let tick = world.session(0).version(rocks[0]).unwrap().tick;
            let oldest = rocks.iter().map(|id| tick - world.session(1).version(*id).unwrap().tick).max();
            assert!(oldest < Some(100), "{oldest:?} ticks at {rate} bytes a second");
        }
        let sent = (world.machines[0].bytes_sent - before) / 30;
        assert!(sent <= u64::from(rate) * 105 / 100, "{sent} bytes a second instead of {rate}");
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Input)]
struct Strokes {
    of: [u32; 4],
}

#[test]
fn value_near_packet_size_arrives_beside_inputs() {
    let config = ReplicaConfig { authority: AuthorityPolicy::Anyone, ..config(64_000) };
    let mut world = World::of(2, 3, config, Kinds::new().with::<Map>().with_input::<Strokes>());
    let map = |number: u32| Map { words: [number; 225] };
    let id = world.session(1).spawn(&map(1)).unwrap();
    let mut frame = 0;
    for number in 1..4 {
        world.session(1).set(id, &map(number)).unwrap();
        world.play(Micros::from_secs(1), |session, index, _| {
            if index == 1 {
                frame += 1;
                session.set_input(Strokes { of: [frame; 4] });
            }
        });
        assert_eq!(world.session(0).get::<Map>(id), Some(map(number)));
    }
    world.expect_peace();
}

#[test]
fn objects_beside_rapid_input_are_still_sent() {
    for rate in [1_000, 4_000] {
        let config = ReplicaConfig { authority: AuthorityPolicy::Anyone, ..config(rate) };
        let mut world = World::of(2, 3, config, Kinds::new().with::<Rock>().with_input::<Strokes>());
        let id = world.session(1).spawn(&rock(0)).unwrap();
        let (mut frame, mut taken, mut latest) = (0, 0, 0);
        let mut ages = Vec::new();
        let before = world.machines[1].bytes_sent;
        world.play(Micros::from_secs(20), |session, index, _| {
            if index == 1 {
                frame += 1;
                session.set_input(Strokes { of: [frame; 4] });
                session.set(id, &Rock { color: 0, ..rock(frame as usize % 1_000) }).unwrap();
                latest = session.version(id).unwrap().tick;
            } else {
                let strokes: Strokes = session.input(player(1)).unwrap_or_default();
                assert!(strokes.of[0] >= taken, "in order");
                taken = strokes.of[0];
                ages.extend(session.version(id).map(|version| latest.saturating_sub(version.tick)));
            }
        });
        let oldest = ages[ages.len() / 4..].iter().max();
        assert!(oldest < Some(&30), "{oldest:?} ticks old at {rate} bytes a second");
        assert!(
            frame - taken < 300,
            "the last input received is {} frames old at {rate} bytes a second",
            frame - taken
        );
        let sent = (world.machines[1].bytes_sent - before) / 20;
        assert!(sent <= u64::from(rate) * 105 / 100, "{sent} bytes a second instead of {rate}");
    }
}
