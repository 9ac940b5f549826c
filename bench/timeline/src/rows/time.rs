//! Convergence of peers' clocks, and the input delay meanwhile. Gaggle alone.
//!
//! Called by `main.rs`. Absent: the clocks (`clockwork.rs`).

use bench_report::{Report, Row};
use gaggle_timeline::{LatePolicy, TimelineConfig};

use crate::clockwork::Clockwork;
use crate::network::NetConditions;

/// Seeds of a figure, of which the worst counts.
const SEEDS: u64 = 10;

/// Start, changing latency, and a peer that slept.
pub fn rows(report: &mut Report) {
    report.section("Started 10 frames apart, clocks 1 % apart; worst of 10 seeds");
    let calm = ms(50, 0);
    meet(report, "50 ms, window 8", 8, [calm, calm]);
    meet(report, "50 ms, window 60", 60, [calm, calm]);
    meet(report, "40 to 60 ms, window 8", 8, [ms(40, 20), ms(40, 20)]);
    meet(report, "40 to 60 ms, window 60", 60, [ms(40, 20), ms(40, 20)]);
    meet(report, "20 ms there, 80 ms back, window 8", 8, [ms(20, 0), ms(80, 0)]);
    meet(report, "20 ms there, 80 ms back, window 60", 60, [ms(20, 0), ms(80, 0)]);
    report.section("Round trip 40, 200, 40 ms, jitter 20 ms, delay 1 to 6; worst of 10");
    adapt(report);
    report.section("One of three slept for 48 frames, window 60; worst of 10 seeds");
    sleep(report);
}

fn ms(latency: u64, jitter: u64) -> NetConditions {
    NetConditions { latency_us: latency * 1_000, jitter_us: jitter * 1_000, ..NetConditions::default() }
}

fn config(window_frames: u32, delay: (u32, u32)) -> TimelineConfig {
    TimelineConfig {
        late_policy: LatePolicy::Stall { prediction_frames: window_frames },
        input_delay_frames: delay.0.max(2).min(delay.1),
        input_delay_range: delay,
        ..TimelineConfig::default()
    }
}

/// Outcome for two peers that started apart.
#[derive(Clone, Copy, Default)]
struct Meeting {
    seconds: f64,
    one_sided: f64,
    bend_percent: f64,
}

fn meet(report: &mut Report, what: &str, window: u32, ways: [NetConditions; 2]) {
    let mut worst = Meeting::default();
    for seed in 1..=SEEDS {
        let meeting = meeting(window, ways, seed);
        worst.seconds = worst.seconds.max(meeting.seconds);
        worst.one_sided = worst.one_sided.max(meeting.one_sided);
        worst.bend_percent = worst.bend_percent.max(meeting.bend_percent);
    }
    report.row(Row::new(format!("together for good, {what}"), "s").gaggle(worst.seconds).at_most(4.0));
    report.row(
        Row::new(format!("rollback per change, one-sidedness, {what}"), "×")
            .gaggle(worst.one_sided)
            .at_most(1.25),
    );
    report.row(Row::new(format!("speed off 1, {what}"), "%").gaggle(worst.bend_percent).at_most(5.0));
}

fn meeting(window: u32, ways: [NetConditions; 2], seed: u64) -> Meeting {
    let mut world = Clockwork::new(2, &config(window, (0, 0)), ways[0], seed);
    world.network().set_weather_between(0, 1, ways[0]);
    world.network().set_weather_between(1, 0, ways[1]);
    world.machines[0].clock_ppm = 1_005_000;
    world.machines[1].clock_ppm = 995_000;
    world.machines[1].asleep_until_us = world.now_us() + 166_667;
    // In sync means that both predict equally far: the peer with the longer inbound latency is
    // behind by half the difference.
    let due = (ways[0].latency_us as f64 - ways[1].latency_us as f64) * 60.0 / 1e6 / 2.0;
    let start_us = world.now_us();
    let mut last_apart_us = start_us;
    world.run(5.0, |world| note_apart(world, due, &mut last_apart_us));
    let before = [0, 1].map(|side| again_per_change(&world, side));
    world.run(60.0, |world| note_apart(world, due, &mut last_apart_us));
    let rate = [0, 1].map(|side| {
        let (again, changes) = again_per_change(&world, side);
        (again - before[side].0) / (changes - before[side].1)
    });
    Meeting {
        seconds: (last_apart_us - start_us) as f64 / 1e6,
        one_sided: (rate[0] / rate[1]).max(rate[1] / rate[0]),
        bend_percent: world.machines.iter().map(|machine| machine.bend_ppm_max).max().unwrap_or(0) as f64
            / 10_000.0,
    }
}

fn note_apart(world: &Clockwork, due: f64, last_apart_us: &mut u64) {
    let apart = world.machines[0].position() - world.machines[1].position() - due;
    if apart.abs() >= 1.0 {
        *last_apart_us = world.now_us();
    }
}

/// Frames resimulated so far, and changes of the other peer's input that could cause them.
fn again_per_change(world: &Clockwork, side: usize) -> (f64, f64) {
    let pressed = world.machines[1 - side].pressed();
    let again = world.machines[side].session().stats().frames_resimulated;
    (again as f64, f64::from(pressed.changes + pressed.taps))
}

fn adapt(report: &mut Report) {
    let (mut up, mut down, mut stalled, mut wrong) = (0.0f64, 0.0f64, 0, 0);
    for seed in 1..=SEEDS {
        // 20 ms of jitter around the mean.
        let at_rtt = |rtt: u64| ms(rtt / 2 - 10, 20);
        let mut world = Clockwork::new(2, &config(8, (1, 6)), at_rtt(40), seed);
        world.run(5.0, |_| {});
        let stalled_before: u64 = world.machines.iter().map(|machine| machine.stalled).sum();
        world.network().set_weather(at_rtt(200));
        up = up.max(delay_settles(&mut world));
        world.network().set_weather(at_rtt(40));
        down = down.max(delay_settles(&mut world));
        stalled += world.machines.iter().map(|machine| machine.stalled).sum::<u64>() - stalled_before;
        world.pressing = false;
        world.run(2.0, |_| {});
        wrong += misheard(&world);
    }
    report.row(Row::new("delay within a frame of final, going up", "s").gaggle(up).at_most(2.5));
    report.row(Row::new("delay within a frame of final, going down", "s").gaggle(down).at_most(2.5));
    report.row(Row::new("stalled ticks, all seeds", "ticks").gaggle(stalled as f64).at_most(0.0));
    report.row(Row::new("presses lost or doubled, all seeds", "presses").gaggle(wrong as f64).at_most(0.0));
}

/// Seconds until all peers' delays stay within a frame of their values ten seconds later.
fn delay_settles(world: &mut Clockwork) -> f64 {
    let start_us = world.now_us();
    let mut seen = Vec::new();
    world.run(10.0, |world| {
        let delays = [0, 1].map(|side| world.machines[side].session().stats().input_delay_frames);
        seen.push((world.now_us(), delays));
    });
    let end = seen.last().map(|(_, delays)| *delays).unwrap_or_default();
    let off = |delays: &[u32; 2]| (0..2).any(|side| delays[side].abs_diff(end[side]) > 1);
    let last_off = seen.iter().rev().find(|(_, delays)| off(delays)).map_or(start_us, |(at_us, _)| *at_us);
    (last_off - start_us) as f64 / 1e6
}

/// Presses that some peer counted too few or too many of.
fn misheard(world: &Clockwork) -> u32 {
    let mut wrong = 0;
    for machine in &world.machines {
        for (player, presser) in world.machines.iter().enumerate() {
            let (seen, pressed) = (machine.game().seen(player), presser.pressed());
            wrong += seen.changes.abs_diff(pressed.changes) + seen.taps.abs_diff(pressed.taps);
        }
    }
    wrong
}

fn sleep(report: &mut Report) {
    let (mut seconds, mut lost, mut bend, mut stalled) = (0.0f64, 0.0f64, 0, 0);
    for seed in 1..=SEEDS {
        let mut world = Clockwork::new(3, &config(60, (2, 2)), ms(50, 0), seed);
        world.run(10.0, |_| {});
        let stalled_before: u64 = world.machines.iter().map(|machine| machine.stalled).sum();
        let wakes_us = world.now_us() + 800_000;
        world.machines[2].asleep_until_us = wakes_us;
        world.run(0.8, |_| {});
        for machine in &mut world.machines {
            machine.bend_ppm_max = 0;
        }
        let mut last_apart_us = wakes_us;
        let places = [0, 1].map(|other: usize| world.machines[other].position());
        world.run(10.0, |world| {
            if (world.machines[0].position() - world.machines[2].position()).abs() >= 1.0 {
                last_apart_us = world.now_us();
            }
        });
        seconds = seconds.max((last_apart_us - wakes_us) as f64 / 1e6);
        bend = bend.max(world.machines[0].bend_ppm_max).max(world.machines[1].bend_ppm_max);
        for other in [0, 1] {
            let played = world.machines[other].position() - places[other];
            lost = lost.max((600.0 - played).abs());
        }
        stalled += world.machines.iter().map(|machine| machine.stalled).sum::<u64>() - stalled_before;
    }
    report.row(Row::new("together again after waking", "s").gaggle(seconds).at_most(4.0));
    report.row(Row::new("speed of the others off 1, for a moment", "%").gaggle(f64::from(bend) / 10_000.0));
    report.row(Row::new("frames the others are off after 10 s", "frames").gaggle(lost));
    report.row(Row::new("stalled ticks, all seeds", "ticks").gaggle(stalled as f64).at_most(0.0));
}
