//! Peers whose clocks and starts differ converge, and input delay follows the network.

use crate::world::{MixGame, NetConditions, World};
use gaggle_kit::{Frame, Micros};
use gaggle_timeline::{LatePolicy, TickClock, TimelineConfig};

fn ms(millis: u64) -> Micros {
    Micros::from_millis(millis)
}

fn window(frames: u32) -> TimelineConfig {
    TimelineConfig {
        late_policy: LatePolicy::Stall { prediction_frames: frames },
        input_delay_range: (2, 2),
        ..TimelineConfig::default()
    }
}

/// Current frame of a peer, in thousandths.
fn position(world: &World<MixGame>, index: usize) -> i64 {
    let machine = &world.machines[index];
    let frame = machine.timeline.session().current_frame();
    i64::from(frame.number()) * 1_000 + i64::from(machine.pace.alpha_permille())
}

/// Distance of the first two peers from their right positions, in thousandths of a frame. Right
/// means that both predict equally far ahead: if one direction is slower, the peer that hears the
/// other later runs behind by half the difference.
fn apart(world: &World<MixGame>) -> u64 {
    let way = |from: usize, to: usize| world.net.latency(from, to).get() as i64;
    let due = (way(0, 1) - way(1, 0)) * 60 / 1_000 / 2;
    (position(world, 0) - position(world, 1)).abs_diff(due)
}

/// Starts ten frames apart with clocks one percent apart. Returns seconds until they stay within a
/// frame, over the next twelve seconds.
fn time_to_meet(world: &mut World<MixGame>) -> Micros {
    world.machines[0].clock_ppm = 1_005_000;
    world.machines[1].clock_ppm = 995_000;
    world.run_to_frame(1);
    // The second peer is held back for ten frames.
    world.machines[1].asleep_until = world.now + ms(167);
    let start = world.now;
    let mut last_apart = start;
    while world.now < start + Micros::from_secs(12) {
        world.run(ms(10));
        if apart(world) > 1_000 {
            last_apart = world.now;
        }
    }
    last_apart - start
}

fn check_time(window_frames: u32, conditions: NetConditions, asymmetric: bool) {
    let mut world = World::configured(2, 21, &window(window_frames));
    world.conditions(conditions);
    if asymmetric {
        world.net.set_latency(0, 1, Some(ms(20)));
        world.net.set_latency(1, 0, Some(ms(80)));
    }
    let time = time_to_meet(&mut world);
    assert!(time < Micros::from_secs(4), "together only after {time}");
    let before: Vec<_> = (0..2).map(|i| world.session(i).stats()).collect();
    world.run_seconds(60);
    let again = [0, 1].map(|i| world.session(i).stats().frames_resimulated - before[i].frames_resimulated);
    assert!(again[0] > 100, "hardly anything was guessed wrong: {again:?}");
    assert!(
        again.iter().max() < again.iter().min().map(|least| least * 14 / 10).as_ref(),
        "one-sided: {again:?}"
    );
    for machine in &world.machines {
        assert!(machine.speeds.iter().all(|ppm| (950_000..=1_050_000).contains(ppm)));
    }
    world.settle().expect_agreement();
}

#[test]
fn machines_that_start_apart_meet_within_four_seconds() {
    check_time(8, NetConditions::latency_ms(50), false);
}

#[test]
fn peers_converge_without_window() {
    check_time(60, NetConditions::latency_ms(50), false);
}

#[test]
fn they_meet_in_spite_of_jitter() {
    check_time(8, NetConditions { jitter: ms(20), ..NetConditions::latency_ms(40) }, false);
}

#[test]
fn they_meet_when_one_direction_is_slower() {
    check_time(8, NetConditions::latency_ms(50), true);
    check_time(60, NetConditions::latency_ms(50), true);
}

#[test]
fn input_delay_follows_round_trip_and_keeps_presses() {
    let mut world = World::of(2, 31);
    let at_rtt =
        |rtt: u64| NetConditions { latency: ms(rtt / 2 - 10), jitter: ms(20), ..NetConditions::default() };
    world.conditions(at_rtt(40)).run_seconds(6);
    let delays = |world: &World<MixGame>| [0, 1].map(|i| world.session(i).stats().input_delay_frames);
    assert!(delays(&world).iter().all(|d| (1..=2).contains(d)), "{:?}", delays(&world));
    let stalled: u64 = world.machines.iter().map(|m| m.stalled).sum();
    world.conditions(at_rtt(200)).run(ms(2_500));
    let up = delays(&world);
    world.run_seconds(5);
    let settled = delays(&world);
    for (up, settled) in up.iter().zip(settled) {
        assert!(up.abs_diff(settled) <= 1, "{up} after 2.5 s, {settled} in the end");
        assert!((4..=6).contains(&settled), "{settled} frames for 200 ms");
    }
    world.conditions(at_rtt(40)).run(ms(2_500));
    assert!(delays(&world).iter().all(|d| (1..=2).contains(d)), "{:?}", delays(&world));
    let stalled_since: u64 = world.machines.iter().map(|m| m.stalled).sum::<u64>() - stalled;
    assert_eq!(stalled_since, 0, "a change of delay costs no stall");
    world.settle().expect_agreement().expect_every_press_told();
}

#[test]
fn input_delay_can_be_set_during_match() {
    let mut world = World::of(2, 37);
    world.run_seconds(3);
    for delay in [6, 1, 4] {
        world.machines[0].timeline.session_mut().set_input_delay(Some(delay)).expect("within the limits");
        world.run_seconds(2);
        assert_eq!(world.session(0).stats().input_delay_frames, delay);
    }
    assert!(world.machines[0].timeline.session_mut().set_input_delay(Some(7)).is_err());
    world.settle().expect_agreement().expect_every_press_told();
}

#[test]
fn slept_peer_catches_up_and_changes_no_speed() {
    // With a window this large the others play on while one is suspended.
    let mut world = World::configured(3, 42, &window(60));
    world.run_seconds(5);
    world.machines[2].asleep_until = world.now + ms(800);
    let marks: Vec<usize> = world.machines.iter().map(|m| m.speeds.len()).collect();
    world.run(ms(799));
    let behind = |world: &World<MixGame>| (position(world, 0) - position(world, 2)) / 1_000;
    assert!(behind(&world) >= 40, "only {} frames behind", behind(&world));
    // Its clock drops the time of the suspension, as a suspended page's clock does.
    world.machines[2].pace = TickClock::new(60, world.now);
    world.run(ms(1_000));
    assert!(behind(&world).abs() <= 5, "still {} frames behind after a second", behind(&world));
    world.run(ms(3_000));
    for (machine, mark) in world.machines.iter().zip(marks).take(2) {
        let slowest = machine.speeds[mark..].iter().min().copied().unwrap_or_default();
        assert!(slowest >= 965_000, "slowed down to {slowest} ppm for a sleeper");
    }
    world.settle().expect_agreement();
    assert!(world.session(0).confirmed_frame() > Frame::new(300));
}
