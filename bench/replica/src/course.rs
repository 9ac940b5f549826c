//! The scenario of all libraries: one peer moves bodies, the others receive them.
//!
//! `gaggle` and `replicon` implement [`Runner`]; `rows` run courses. Absent: any one library.

use bench_report::{Allocations, cpu_time};

use gaggle_kit::Micros;

use crate::bodies::{Bodies, Motion};
use crate::post::Post;

/// Ticks per second.
pub(crate) const RATE: u64 = 20;

/// Bodies, motion and network of a scenario.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Course {
    pub(crate) objects: usize,
    /// Bodies that move, from the first on.
    pub(crate) moving: usize,
    pub(crate) receivers: usize,
    pub(crate) motion: Motion,
    /// Latency of one direction.
    pub(crate) latency: Micros,
    pub(crate) loss_percent: u32,
    /// Ticks before measuring, in which all bodies are introduced.
    pub(crate) warmup: u64,
    pub(crate) ticks: u64,
}

/// Time of the sender's tick.
pub(crate) fn at(tick: u64) -> Micros {
    Micros::from_millis(tick * 1_000 / RATE)
}

/// Time of that tick at a receiver, whose clock has another phase.
pub(crate) fn at_receiver(tick: u64, index: usize) -> Micros {
    at(tick) + Micros::from_millis(1 + 17 * index as u64 % 49)
}

impl Course {
    /// One direction of a link.
    pub(crate) fn post(&self, seed: usize) -> Post {
        Post::new(self.latency, Micros::from_millis(10), self.loss_percent, seed as u64)
    }

    /// A thousand moving bodies, 150 ms round trip, 10 ms jitter, 5 % loss.
    pub(crate) fn moving(motion: Motion) -> Course {
        Course {
            objects: 1_000,
            moving: 1_000,
            receivers: 4,
            motion,
            latency: Micros::from_millis(75),
            loss_percent: 5,
            warmup: 60,
            ticks: 200,
        }
    }
}

/// One library in a course.
pub(crate) trait Runner {
    /// Moves the bodies in the sender's game.
    fn set(&mut self, index: usize, bodies: &Bodies);
    /// The sender's tick: writes updates, reads acknowledgements.
    fn send(&mut self, tick: u64);
    /// Hands packets to the network; not measured.
    fn carry(&mut self, tick: u64);
    /// The receivers' tick.
    fn receive(&mut self, tick: u64);
    /// Bytes sent so far.
    fn bytes(&self) -> u64;
    /// Updates of objects sent so far; none if the library sends all changes in every tick.
    fn updates(&self) -> Option<u64>;
    /// Packets sent so far.
    fn packets(&self) -> u64;
    /// Objects that receivers know exactly, as the library is meant to send them.
    fn objects_known(&self) -> usize;
}

/// Cost of a course.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) bytes_per_update: f64,
    pub(crate) packets_per_tick: f64,
    /// CPU time of the sender in nanoseconds.
    pub(crate) send_ns: f64,
    pub(crate) receive_ns: f64,
    pub(crate) send_ms_per_tick: f64,
    pub(crate) send_ms_worst: f64,
    pub(crate) allocations_per_tick: f64,
    pub(crate) bytes_per_second: f64,
    pub(crate) updates: u64,
}

/// Runs a course through a library.
pub(crate) fn run(course: Course, runner: &mut dyn Runner) -> Cost {
    let mut bodies = Bodies::new(course.objects, course.motion);
    let (mut send, mut receive, mut worst, mut allocations) = (0.0, 0.0, 0.0_f64, 0);
    let (mut bytes, mut packets, mut updates) = (0, 0, None);
    for tick in 1..=course.warmup + course.ticks {
        if tick == course.warmup + 1 {
            assert_eq!(runner.objects_known(), course.objects * course.receivers, "not everything arrived");
            (bytes, packets, updates) = (runner.bytes(), runner.packets(), runner.updates());
            (send, receive, worst, allocations) = (0.0, 0.0, 0.0, 0);
        }
        let moved = if tick == 1 { course.objects } else { course.moving };
        for index in 0..moved {
            bodies.step(index);
        }
        let (before, held) = (cpu_time(), Allocations::now());
        for index in 0..moved {
            runner.set(index, &bodies);
        }
        runner.send(tick);
        let spent = (cpu_time() - before).as_secs_f64();
        allocations += Allocations::now().since(held).count;
        send += spent;
        worst = worst.max(spent);
        runner.carry(tick);
        let before = cpu_time();
        runner.receive(tick);
        receive += (cpu_time() - before).as_secs_f64();
    }
    let told = (course.moving * course.receivers) as u64 * course.ticks;
    let updates = runner.updates().zip(updates).map_or(told, |(after, before)| after - before);
    let ticks = course.ticks as f64;
    let sent = (runner.bytes() - bytes) as f64;
    Cost {
        bytes_per_update: sent / updates.max(1) as f64,
        packets_per_tick: (runner.packets() - packets) as f64 / ticks / course.receivers as f64,
        send_ns: send * 1e9 / updates.max(1) as f64,
        receive_ns: receive * 1e9 / updates.max(1) as f64,
        send_ms_per_tick: send * 1e3 / ticks,
        send_ms_worst: worst * 1e3,
        allocations_per_tick: allocations as f64 / ticks,
        bytes_per_second: sent / ticks * RATE as f64 / course.receivers as f64,
        updates,
    }
}
