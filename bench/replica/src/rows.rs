//! Rows of the report. Absent: how a library runs a course.

use bench_report::{Report, Row};

use crate::ages;
use crate::bodies::{Bodies, Motion};
use crate::course::{Cost, Course, Runner, run};
use crate::gaggle::Gaggle;
use crate::replicon::Replicon;

const REPLICON: &str = "bevy_replicon";
const PACKED: &str = "replicon, packed";
/// Measurements of each library.
const LAPS: usize = 5;

/// Runs a course through all libraries in turns. The shortest time counts, because other load only
/// adds; exact figures are those of the first run.
fn compare(course: Course) -> [Cost; 3] {
    let mut costs: [Vec<Cost>; 3] = Default::default();
    for _ in 0..LAPS {
        costs[0].push(run(course, &mut Gaggle::new(&course)));
        costs[1].push(run(course, &mut Replicon::new(&course, false)));
        costs[2].push(run(course, &mut Replicon::new(&course, true)));
    }
    costs.map(|laps| {
        let least = |of: fn(&Cost) -> f64| laps.iter().map(of).fold(f64::INFINITY, f64::min);
        Cost {
            send_ns: least(|cost| cost.send_ns),
            receive_ns: least(|cost| cost.receive_ns),
            send_ms_per_tick: least(|cost| cost.send_ms_per_tick),
            send_ms_worst: least(|cost| cost.send_ms_worst),
            ..laps[0]
        }
    })
}

/// A thousand moving bodies.
pub(crate) fn moving(report: &mut Report) {
    report.section("1,000 moving bodies, 20 Hz, 4 receivers, round trip 150 ms, 5 % loss");
    for (motion, name, limit) in [(Motion::Driven, "driven", 8.5), (Motion::Ballistic, "ballistic", 6.5)] {
        let [gaggle, replicon, packed] = compare(Course::moving(motion));
        assert!(gaggle.updates > 700_000, "only {} updates were sent", gaggle.updates);
        let metric = |what: &str| format!("{what}, {name}");
        let bytes = || Row::new(metric("bytes per update"), "B").gaggle(gaggle.bytes_per_update);
        report.row(bytes().at_most(limit));
        report.row(bytes().other(REPLICON, replicon.bytes_per_update).ratio_at_most(0.25));
        report.row(bytes().other(PACKED, packed.bytes_per_update));
        let send = || Row::new(metric("sender's CPU per update"), "ns").gaggle(gaggle.send_ns);
        report.row(send().other(REPLICON, replicon.send_ns).ratio_at_most(0.5));
        report.row(send().other(PACKED, packed.send_ns));
        let receive = Row::new(metric("receiver's CPU per update"), "ns").gaggle(gaggle.receive_ns);
        report.row(receive.other(REPLICON, replicon.receive_ns));
        let packets = Row::new(metric("packets a tick and receiver"), "").gaggle(gaggle.packets_per_tick);
        report.row(packets.other(REPLICON, replicon.packets_per_tick));
        let allocations = Row::new(metric("allocations"), "/tick").gaggle(gaggle.allocations_per_tick);
        report.row(allocations.other(REPLICON, replicon.allocations_per_tick).at_most(0.0));
    }
}

/// A thousand moving bodies without another library and without clocks, for profilers that count
/// instructions of `sender_tick`.
pub(crate) fn alone(report: &mut Report) {
    report.section("1,000 moving bodies, no other library");
    let course = Course::moving(Motion::Driven);
    let (mut gaggle, mut bodies) = (Gaggle::new(&course), Bodies::new(course.objects, course.motion));
    for tick in 1..=100 {
        for index in 0..course.objects {
            bodies.step(index);
        }
        sender_tick(&mut gaggle, &bodies, tick);
        gaggle.carry(tick);
        gaggle.receive(tick);
    }
    report.row(Row::new("updates", "").gaggle(gaggle.updates().unwrap_or(0) as f64));
}

#[inline(never)]
fn sender_tick(gaggle: &mut Gaggle, bodies: &Bodies, tick: u64) {
    for index in 0..bodies.bodies.len() {
        gaggle.set(index, bodies);
    }
    gaggle.send(tick);
}

/// Ten thousand objects, few of which move.
pub(crate) fn mostly_resting(report: &mut Report) {
    report.section("10,000 objects of which 2 % move, 4 receivers");
    let course = Course { objects: 10_000, moving: 200, warmup: 120, ..Course::moving(Motion::Driven) };
    let [gaggle, replicon, _] = compare(course);
    report.row(
        Row::new("sender's CPU a tick", "ms")
            .gaggle(gaggle.send_ms_per_tick)
            .other(REPLICON, replicon.send_ms_per_tick)
            .at_most(0.5),
    );
    report.row(
        Row::new("the slowest tick", "ms")
            .gaggle(gaggle.send_ms_worst)
            .other(REPLICON, replicon.send_ms_worst),
    );
    report.row(Row::new("allocations", "/tick").gaggle(gaggle.allocations_per_tick).at_most(0.0));
}

/// Rows of bodies at rest.
pub(crate) fn rest(report: &mut Report) {
    report.section("1,000 objects at rest, 4 receivers, 5 % loss");
    let course = Course { moving: 0, warmup: 120, ticks: 600, ..Course::moving(Motion::Driven) };
    let gaggle = run(course, &mut Gaggle::new(&course));
    report.row(Row::new("updates of state", "").gaggle(gaggle.updates as f64).at_most(0.0));
    report.row(Row::new("keep-alive per receiver", "B/s").gaggle(gaggle.bytes_per_second).at_most(20.0));
}

/// A budget smaller than the updates.
pub(crate) fn budget(report: &mut Report) {
    report.section("500 driven bodies through 64 kbit/s: ages, network aside");
    for (loss, p95, p99, worst) in [(0, 100.0, 200.0, 2_500.0), (5, 150.0, 200.0, 3_000.0)] {
        let ages = ages::measure(loss);
        let row = |what: &str, unit, value: u32, limit| {
            Row::new(format!("{what}, {loss} % loss"), unit).gaggle(f64::from(value)).at_most(limit)
        };
        report.row(row("the 16 nearest, p95", "ms", ages.percentile(95.0, true), p95));
        report.row(row("the 16 nearest, p99", "ms", ages.percentile(99.0, true), p99));
        report.row(row("all, the oldest", "ms", ages.percentile(100.0, false), worst));
        report.row(row("bytes a second", "B/s", ages.bytes_per_second as u32, 8_000.0));
    }
    report.note("`cargo xtask bench replica --plot=FILE.svg` draws age by distance.");
}

/// Cost of the sender's tick by objects and receivers.
pub(crate) fn scale(report: &mut Report) {
    scale_up_to(report, false);
}

/// The same up to worlds that need a large machine.
pub(crate) fn scale_all(report: &mut Report) {
    scale_up_to(report, true);
}

fn scale_up_to(report: &mut Report, largest: bool) {
    for (share, name) in [(50, "2 % move"), (1, "all move")] {
        report.section(&format!("A sender's tick by objects and receivers, {name}"));
        for objects in [100, 1_000, 10_000, 50_000] {
            for receivers in [1, 4, 16, 32] {
                // All receivers run here, so the largest worlds take minutes and gigabytes and run
                // only if named.
                let told = objects / share * receivers;
                if (told > 40_000 || objects * receivers > 400_000) && !largest {
                    continue;
                }
                // More packets per tick than an acknowledgement can name.
                if objects / share > 10_000 {
                    continue;
                }
                let course = Course {
                    objects,
                    moving: objects / share,
                    receivers,
                    warmup: 120,
                    ticks: if objects * receivers > 100_000 { 10 } else { 100 },
                    ..Course::moving(Motion::Driven)
                };
                let cost = run(course, &mut Gaggle::new(&course));
                let metric = format!("{objects} objects, {receivers} receivers");
                report.row(Row::new(metric, "ms").gaggle(cost.send_ms_per_tick));
            }
        }
    }
}
