//! Tests of interpolation and smoothing: what players see of each other's objects.

#![allow(
    clippy::float_arithmetic,
    clippy::unwrap_used,
    reason = "distances, and a failed step ends the test"
)]

use crate::world;
use crate::world::{NetConditions, World};
use gaggle_kit::{Angle, Micros, OutOfRange, Prng, State};
use gaggle_replica::{
    AuthorityPolicy, EventOptions, Kind, Kinds, ObjectId, ReplicaConfig, Session, SessionError, SessionEvent,
    Target,
};

/// Extrapolated to the current tick.
#[derive(Debug, Clone, Copy, PartialEq, Kind)]
#[kind(smoothing = 0.25, snap_distance = 100.0)]
struct Ship {
    #[kind(range = -4000.0..=4000.0, precision = 0.05, moved_by = velocity)]
    place: [f32; 2],
    #[kind(range = -500.0..=500.0, precision = 0.1)]
    velocity: [f32; 2],
    #[kind(angle = 10)]
    heading: Angle,
    lives: u8,
}

/// Interpolated between received states.
#[derive(Debug, Clone, Copy, PartialEq, Kind)]
#[kind(interpolation = buffered)]
struct Cart {
    #[kind(range = -4000.0..=4000.0, precision = 0.05)]
    place: [f32; 2],
    load: u8,
}

/// Shown at once without smoothing.
#[derive(Debug, Clone, Copy, PartialEq, Kind)]
#[kind(smoothing = 1.0)]
struct Mine {
    #[kind(range = -4000.0..=4000.0, precision = 0.05, moved_by = velocity)]
    place: [f32; 2],
    #[kind(range = -500.0..=500.0, precision = 0.1)]
    velocity: [f32; 2],
}

/// An event about an object.
#[derive(Debug, Clone, Copy, PartialEq, State)]
struct Rings(u8);

fn kinds() -> Kinds {
    let kinds = Kinds::new().with::<Ship>().with::<Cart>().with::<Mine>();
    kinds.with_event::<Rings>("rings", EventOptions::DIRECT)
}

fn world(conditions: NetConditions) -> World {
    world_with(conditions, ReplicaConfig::default().playout_ticks_min)
}

fn world_with(conditions: NetConditions, playout_ticks_min: u32) -> World {
    let config =
        ReplicaConfig { authority: AuthorityPolicy::Anyone, playout_ticks_min, ..ReplicaConfig::default() };
    let mut world = World::of(2, 4, config, kinds());
    world.conditions = conditions;
    world.frame = Micros::new(16_667);
    world
}

const LOSSY: NetConditions = NetConditions {
    latency: Micros::from_millis(40),
    jitter: Micros::from_millis(20),
    loss: 20,
    duplicate: 0,
    late: 0,
};

/// A path with turns: thrust that changes at random every half second.
struct Path {
    place: [f32; 2],
    velocity: [f32; 2],
    thrust: [f32; 2],
    random: Prng,
}

impl Path {
    fn new() -> Path {
        Path { place: [0.0; 2], velocity: [60.0, 0.0], thrust: [0.0; 2], random: Prng::new(3) }
    }

    fn step(&mut self) {
        if self.random.chance(1, 30) {
            self.thrust = std::array::from_fn(|_| self.random.range(-300..=300) as f32);
        }
        for axis in 0..2 {
            self.velocity[axis] += (self.thrust[axis] - 0.8 * self.velocity[axis]) / 60.0;
            self.place[axis] += self.velocity[axis] / 60.0;
        }
    }

    fn ship(&self) -> Ship {
        Ship { place: self.place, velocity: self.velocity, heading: Angle::ZERO, lives: 3 }
    }
}

fn away(a: [f32; 2], b: [f32; 2]) -> f64 {
    f64::from((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)).sqrt()
}

fn percentile(values: &mut [f64], percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) * percent / 100]
}

/// The distance of the shown ship from its true place at the same moment, and how far it jumps
/// beyond its own motion.
struct Seen {
    error: f64,
    jump: f64,
}

fn watch(show: impl Fn(&Session, ObjectId) -> Option<[f32; 2]>) -> Seen {
    let mut world = world(LOSSY);
    let mut path = Path::new();
    let id = world.session(0).spawn(&path.ship()).unwrap();
    world.run_ms(1_000);
    let (mut errors, mut jumps) = (Vec::new(), Vec::new());
    let mut last: Option<[f32; 2]> = None;
    for _ in 0..2_400 {
        world.play(Micros::new(16_667), |session, index, _| {
            if index == 0 {
                path.step();
                session.set(id, &path.ship()).unwrap();
            }
        });
        let shown = show(world.machines[1].session.as_ref().unwrap(), id).unwrap();
        errors.push(away(shown, path.place));
        if let Some(last) = last {
            let way = [last[0] + path.velocity[0] / 60.0, last[1] + path.velocity[1] / 60.0];
            jumps.push(away(shown, way));
        }
        last = Some(shown);
    }
    Seen { error: percentile(&mut errors, 95), jump: percentile(&mut jumps, 99) }
}

#[test]
fn smoothing_has_less_error_and_jump_than_snapping() {
    let snapped = watch(|session, id| session.get::<Ship>(id).map(|ship| ship.place));
    let smoothed = watch(|session, id| session.interpolated::<Ship>(id).map(|ship| ship.place));
    println!(
        "p95 error, p99 jump: snapped {:.2}, {:.2}; smoothed {:.2}, {:.2}",
        snapped.error, snapped.jump, smoothed.error, smoothed.jump
    );
    assert!(smoothed.error < snapped.error / 2.0, "{:.2} and {:.2}", smoothed.error, snapped.error);
    assert!(smoothed.jump < snapped.jump / 3.0, "{:.2} and {:.2}", smoothed.jump, snapped.jump);
}

#[test]
fn stopped_ship_is_shown_exactly_in_place() {
    let mut world = world(LOSSY);
    let mut path = Path::new();
    let id = world.session(0).spawn(&path.ship()).unwrap();
    world.play(Micros::from_secs(3), |session, index, _| {
        if index == 0 {
            path.step();
            // A careless game that forgets to set the velocity to zero.
            session.set(id, &path.ship()).unwrap();
        }
    });
    world.run_ms(2_000);
    let truth: Ship = world.session(0).get(id).unwrap();
    assert_ne!(truth.velocity, [0.0; 2]);
    assert_eq!(world.session(1).interpolated::<Ship>(id), Some(truth));
    assert_eq!(world.session(0).interpolated::<Ship>(id), Some(truth), "the authority sees its own value");
}

#[test]
fn ship_without_updates_extrapolates_briefly_then_returns() {
    let mut world = world(world::CALM);
    const SPEED: f32 = 300.0;
    let at = |x: f32| Ship { place: [x, 0.0], velocity: [SPEED, 0.0], heading: Angle::ZERO, lives: 3 };
    let id = world.session(0).spawn(&at(0.0)).unwrap();
    let (mut x, mut seen) = (0.0, Vec::new());
    for frame in 0..180 {
        // From frame 90 on no packet arrives, as when the link breaks.
        world.set_cut(0, 1, frame >= 90);
        world.play(Micros::new(16_667), |session, index, _| {
            if index == 0 {
                x += SPEED / 60.0;
                session.set(id, &at(x)).unwrap();
            }
        });
        let session = world.session(1);
        if let (Some(told), Some(shown)) = (session.get::<Ship>(id), session.interpolated::<Ship>(id)) {
            seen.push((frame, told.place[0], shown.place[0]));
        }
    }
    let ahead = |frames: std::ops::Range<i32>| {
        let within = seen.iter().filter(move |(frame, ..)| frames.contains(frame));
        within.map(|(_, told, shown)| shown - told).fold(0.0, f32::max)
    };
    assert!(ahead(90..120) > 0.15 * SPEED, "the ship is extrapolated: {seen:?}");
    assert!(ahead(30..180) < 0.21 * SPEED, "extrapolation lasts at most 200 ms: {seen:?}");
    for pair in seen.windows(2).filter(|pair| pair[0].0 >= 60) {
        let step = pair[1].2 - pair[0].2;
        assert!((-0.9..=1.3).contains(&(step / SPEED * 60.0)), "a jump of {step} at {}: {seen:?}", pair[1].0);
    }
    let last = seen.last().unwrap();
    assert_eq!(last.1, last.2, "the ship ends at its last received place");
}

#[test]
fn far_jump_snaps_and_near_jump_is_smoothed() {
    let mut world = world(world::CALM);
    let at = |x: f32| Ship { place: [x, 0.0], velocity: [0.0; 2], heading: Angle::ZERO, lives: 3 };
    let id = world.session(0).spawn(&at(0.0)).unwrap();
    world.run_ms(500);
    let mut seen = Vec::new();
    for (target, frames) in [(50.0, 30), (1_000.0, 30)] {
        world.session(0).set(id, &at(target)).unwrap();
        for _ in 0..frames {
            world.run(Micros::new(16_667));
            seen.push(world.session(1).interpolated::<Ship>(id).unwrap().place[0]);
        }
    }
    let between = |low: f32, high: f32| seen.iter().filter(|x| (low..high).contains(*x)).count();
    assert!(between(1.0, 49.0) >= 5, "a near jump is smoothed over a few frames: {seen:?}");
    assert_eq!(between(51.0, 999.0), 0, "a far jump is not smoothed: {seen:?}");
    assert_eq!(*seen.last().unwrap(), 1_000.0);
}

#[test]
fn unsmoothed_kind_is_shown_at_received_place() {
    let mut world = world(world::CALM);
    let mine = |x: f32| Mine { place: [x, 0.0], velocity: [0.0; 2] };
    let id = world.session(0).spawn(&mine(0.0)).unwrap();
    world.run_ms(500);
    world.session(0).set(id, &mine(70.0)).unwrap();
    for _ in 0..20 {
        world.run(Micros::new(16_667));
        let x = world.session(1).interpolated::<Mine>(id).unwrap().place[0];
        assert!(x == 0.0 || x == 70.0, "{x}");
    }
}

#[test]
fn buffered_carts_move_in_sequence_on_their_track() {
    // A track of corners: a cart between two received places is on the line between them.
    let track = |frame: usize| -> Cart {
        let (side, along) = (frame / 60, (frame % 60) as f32);
        let corner = (side / 2) as f32 * 60.0;
        let place = if side % 2 == 0 { [corner + along, corner] } else { [corner + 60.0, corner + along] };
        Cart { place, load: side as u8 }
    };
    for conditions in [world::CALM, LOSSY, NetConditions { loss: 150, ..LOSSY }] {
        let mut world = world(conditions);
        let id = world.session(0).spawn(&track(0)).unwrap();
        world.run_ms(1_000);
        let mut frame = 0;
        let mut shown = Vec::new();
        for _ in 0..1_500 {
            world.play(Micros::new(16_667), |session, index, _| {
                if index == 0 {
                    frame += 1;
                    session.set(id, &track(frame)).unwrap();
                }
            });
            shown.push(world.session(1).interpolated::<Cart>(id).unwrap());
        }
        let along = |cart: &Cart| cart.place[0] + cart.place[1];
        assert!(shown.is_sorted_by(|a, b| along(a) <= along(b) + 0.11), "a cart never moves back");
        let still = shown.windows(2).filter(|pair| along(&pair[0]) == along(&pair[1])).count();
        // A received place every three frames: corners are cut by at most that.
        let off = |cart: &Cart| {
            let (x, y) = (cart.place[0], cart.place[1]);
            (0..=frame).map(|f| away(track(f).place, [x, y])).fold(f64::INFINITY, f64::min)
        };
        let worst = shown.iter().step_by(7).map(off).fold(0.0, f64::max);
        let last = shown.last().unwrap();
        let late = f64::from(along(&track(frame)) - along(last));
        println!(
            "loss {} ‰: {still} of 1500 frames at rest, {worst:.2} off the track, {late:.0} frames late",
            conditions.loss
        );
        assert!(still < 60 + conditions.loss as usize * 2, "{still} frames without motion");
        assert!(worst < 6.0, "{worst} off the track");
        assert!(late < 45.0, "{late} frames late");
    }
}

#[test]
fn authority_change_by_claim_shows_no_jump() {
    let mut world = world(LOSSY);
    let mut path = Path::new();
    let id = world.session(0).spawn(&path.ship()).unwrap();
    let mut holder = 0;
    let mut jumps: Vec<f64> = Vec::new();
    let mut last: [Option<[f32; 2]>; 2] = [None; 2];
    let mut claims = 0;
    for frame in 0..3_000 {
        if frame % 150 == 100 {
            // The new authority continues from the place it shows.
            holder = 1 - holder;
            let session = world.session(holder);
            if session.claim(id).is_ok() {
                claims += 1;
                let ship: Ship = session.get(id).unwrap();
                (path.place, path.velocity) = (ship.place, ship.velocity);
            }
        }
        world.play(Micros::new(16_667), |session, index, _| {
            if index == holder && session.has_authority(id) {
                path.step();
                session.set(id, &path.ship()).unwrap();
            }
        });
        for (index, last) in last.iter_mut().enumerate() {
            let shown = world.session(index).interpolated::<Ship>(id).map(|ship| ship.place);
            if let (Some(shown), Some(last)) = (shown, *last) {
                jumps.push(
                    (away(shown, last) - f64::from(path.velocity[0].hypot(path.velocity[1])) / 60.0).abs(),
                );
            }
            *last = shown;
        }
    }
    let (p95, worst) = (percentile(&mut jumps, 95), percentile(&mut jumps, 100));
    println!("{claims} claims: p95 jump {p95:.2}, worst {worst:.2}");
    assert!(claims >= 15);
    assert!(p95 < 2.0 && worst < 12.0, "p95 {p95:.2}, worst {worst:.2}");
}

#[test]
fn motionless_ships_stay_in_place_without_packets() {
    let mut world = world(world::CALM);
    let at = |x: f32| Ship { place: [x, 0.0], velocity: [0.0; 2], heading: Angle::ZERO, lives: 3 };
    let ids: Vec<ObjectId> = (0..20).map(|x| world.session(0).spawn(&at(x as f32)).unwrap()).collect();
    world.run_ms(1_000);
    // Packets without updates, and then no packets at all.
    world.run_ms(5_000);
    world.set_cut(0, 1, true);
    world.run_ms(2_000);
    for (x, id) in ids.iter().enumerate() {
        assert_eq!(world.session(1).interpolated::<Ship>(*id), Some(at(x as f32)));
    }
}

/// A cart that has moved this far, one unit per frame.
fn gone(frames: usize) -> Cart {
    Cart { place: [frames as f32, 0.0], load: 0 }
}

/// Moves a cart by one frame and returns where the other peer shows it.
fn roll(world: &mut World, id: ObjectId, frames: &mut usize) -> Option<f32> {
    *frames += 1;
    let cart = gone(*frames);
    world.play(Micros::new(16_667), |session, index, _| {
        if index == 0 {
            session.set(id, &cart).unwrap();
        }
    });
    world.session(1).interpolated::<Cart>(id).map(|cart| cart.place[0])
}

#[test]
fn interpolation_buffer_has_configured_depth() {
    let late = |playout_ticks_min: u32| {
        let mut world = world_with(world::CALM, playout_ticks_min);
        let id = world.session(0).spawn(&gone(0)).unwrap();
        let mut frames = 0;
        let shown: Vec<f32> =
            (0..240).filter_map(|_| roll(&mut world, id, &mut frames).map(|x| frames as f32 - x)).collect();
        shown[120..].iter().sum::<f32>() / 120.0 / 60.0
    };
    let [two, six] = [2, 6].map(late);
    // Between one and two buffers, plus the travel time.
    assert!((0.07..0.24).contains(&two), "two ticks: {two} s");
    assert!((0.26..0.66).contains(&six), "six ticks: {six} s");
    let config = ReplicaConfig { playout_ticks_min: 9, ..ReplicaConfig::default() };
    let error = Session::new(config, kinds(), world::player(0), gaggle_replica::JoinMode::Create, 1).err();
    let setting =
        SessionError::OutOfRange(OutOfRange { setting: "playout_ticks_min", value: 9, min: 1, max: 8 });
    assert_eq!(error, Some(setting), "above the maximum");
}

#[test]
fn cart_waits_for_short_gap_and_skips_long_one() {
    for (gap, skips) in [(12, false), (60, true)] {
        let mut world = world(world::CALM);
        let id = world.session(0).spawn(&gone(0)).unwrap();
        let (mut frames, mut shown) = (0, Vec::new());
        for frame in 0..300 {
            world.set_cut(0, 1, (120..120 + gap).contains(&frame));
            shown.extend(roll(&mut world, id, &mut frames));
        }
        let steps: Vec<f32> = shown.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let after = &steps[100..];
        let stood = after.iter().filter(|step| **step == 0.0).count();
        let leap = after.iter().copied().fold(0.0, f32::max);
        assert!(after.iter().all(|step| *step >= 0.0), "a cart never moves back");
        assert!(stood >= 4, "with a gap of {gap} frames it waits: {stood} frames");
        assert_eq!(leap > 10.0, skips, "with a gap of {gap} frames it leaps by {leap}");
        assert!(
            frames as f32 - shown[shown.len() - 1] < 20.0,
            "the delay at the end is no greater than before"
        );
    }
}

#[test]
fn deletion_waits_for_motion_before_it() {
    let mut world = world(world::CALM);
    let id = world.session(0).spawn(&gone(0)).unwrap();
    let mut frames = 0;
    (0..120).for_each(|_| _ = roll(&mut world, id, &mut frames));
    world.session(0).despawn(id).unwrap();
    let deleted = |world: &World| world.count_events(1, |event| *event == SessionEvent::Despawned { id });
    let (mut shown, mut unknown) = (Vec::new(), 0);
    for _ in 0..30 {
        world.run(Micros::new(16_667));
        let told = deleted(&world);
        let session = world.session(1);
        let Some(cart) = session.interpolated::<Cart>(id) else {
            assert_eq!(told, 1, "the deletion is reported when the cart is no longer shown");
            break;
        };
        unknown += u32::from(session.get::<Cart>(id).is_none());
        assert_eq!(told, 0, "the deletion is not reported earlier");
        assert_eq!(session.shown_all::<Cart>().collect::<Vec<_>>(), [(id, cart)]);
        shown.push(cart.place[0]);
    }
    assert!(unknown >= 3, "it was shown for {unknown} frames after its deletion was received");
    assert!(shown.is_sorted() && shown[0] < frames as f32 - 5.0, "the cart moves on: {shown:?}");
    assert!(shown[shown.len() - 1] > frames as f32 - 4.0, "up to where it was deleted: {shown:?}");
    assert_eq!((deleted(&world), world.session(1).shown_all::<Cart>().count()), (1, 0));
}

#[test]
fn event_about_buffered_cart_arrives_with_its_motion() {
    let mut world = world(world::CALM);
    let id = world.session(0).spawn(&gone(0)).unwrap();
    let ship = world
        .session(0)
        .spawn(&Ship { place: [0.0; 2], velocity: [0.0; 2], heading: Angle::ZERO, lives: 1 })
        .unwrap();
    let mut frames = 0;
    (0..120).for_each(|_| _ = roll(&mut world, id, &mut frames));
    // A ship is extrapolated, so its event is delivered at once; the event of a cart comes with
    // its motion.
    world.session(0).send_event(Target::Others, &[ship], &Rings(1)).unwrap();
    world.session(0).send_event(Target::Others, &[id], &Rings(2)).unwrap();
    let rung_at = frames as f32;
    let mut heard = Vec::new();
    for _ in 0..30 {
        let shown = roll(&mut world, id, &mut frames).unwrap();
        while let Some(signal) = world.session(1).poll_remote_event() {
            heard.push((signal.get::<Rings>().unwrap().0, shown));
        }
    }
    assert_eq!(heard.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 2]);
    assert!(heard[0].1 < rung_at - 4.0, "the ship's event comes before the cart is there: {heard:?}");
    assert!(
        (heard[1].1 - rung_at).abs() < 4.0,
        "the cart's event comes where it was sent: {heard:?}, {rung_at}"
    );
    // An event about a cart that is then deleted is delivered before the deletion.
    world.session(0).send_event(Target::Others, &[id], &Rings(3)).unwrap();
    world.session(0).despawn(id).unwrap();
    let mut order = Vec::new();
    for _ in 0..30 {
        world.run(Micros::new(16_667));
        while let Some(signal) = world.session(1).poll_remote_event() {
            order.push(signal.get::<Rings>().unwrap().0);
            assert_eq!(world.count_events(1, |event| *event == SessionEvent::Despawned { id }), 0);
        }
    }
    assert_eq!(order, [3]);
    assert_eq!(world.count_events(1, |event| *event == SessionEvent::Despawned { id }), 1);
    world.expect_peace();
}
