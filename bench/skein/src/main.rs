//! `cargo xtask bench skein [--json]`: cost of a frame of skein with a full sky: 600 embers, 160
//! quills, 96 enemies, eight geese.
//!
//! In lockstep no frame is simulated twice, so a tick is what a frame costs. Absent: network.

mod full_sky;

use std::hint::black_box;
use std::process::ExitCode;

use bench_report::{Allocations, CountingAllocator, Report, Row, cpu_time, median};
use gaggle_kit::{Frame, SlotSet, State, encode_state, state_hash};
use gaggle_scene::{Canvas, Scene, View};
use gaggle_timeline::{Game, Inputs};
use skein::sky::{HEIGHT, WIDTH};
use skein::stage::{Audience, Stage};
use skein::{Pad, SEATS, Skein};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// States that are measured; a figure takes several laps through them.
const STATES: u64 = 64;
const LAPS: usize = 51;

fn main() -> ExitCode {
    let mut report = Report::from_args();
    let states = full_sky::states(STATES);
    cost(&mut report, &states);
    memory(&mut report, &states);
    picture(&mut report, &states);
    report.finish()
}

fn tick(game: &mut Skein) {
    let pads = [Pad::UP; SEATS];
    game.tick(&Inputs::confirmed(Frame::new(1), &pads, SlotSet::first(SEATS)));
}

/// Median over laps of the CPU nanoseconds per item, if `work` does `per` items.
fn nanoseconds(per: usize, laps: usize, mut work: impl FnMut()) -> f64 {
    let laps: Vec<f64> = (0..laps)
        .map(|_| {
            let before = cpu_time();
            work();
            (cpu_time() - before).as_nanos() as f64 / per as f64
        })
        .collect();
    median(&laps)
}

fn cost(report: &mut Report, states: &[Skein]) {
    report.section("One frame with 600 embers, 160 quills, 96 enemies and eight geese");
    let mut game = states[0];
    let save = nanoseconds(states.len(), LAPS, || {
        states.iter().for_each(|state| black_box(&mut game).copy_from(black_box(state)));
    });
    let full = nanoseconds(states.len(), LAPS, || {
        for state in states {
            game.copy_from(state);
            tick(&mut game);
            black_box(&game);
        }
    });
    report.row(Row::new("skein_full_sky: tick", "µs").gaggle((full - save) / 1e3).at_most(50.0));
    report.row(Row::new("save or load", "µs").gaggle(save / 1e3));
    let hash = nanoseconds(states.len(), LAPS, || {
        states.iter().for_each(|state| {
            black_box(state_hash(state));
        });
    });
    report.row(Row::new("hash", "µs").gaggle(hash / 1e3));
}

fn memory(report: &mut Report, states: &[Skein]) {
    report.section("Memory");
    report.row(Row::new("state in memory", "B").gaggle(size_of::<Skein>() as f64).at_most(16_384.0));
    let largest = states.iter().map(|state| encode_state(state).len()).max().unwrap_or(0);
    report.row(Row::new("state on the wire", "B").gaggle(largest as f64).at_most(16_384.0));
    let mut game = states[0];
    let before = Allocations::now();
    (0..60).for_each(|_| tick(&mut game));
    let allocations = Allocations::now().since(before).count;
    report.row(Row::new("allocations in 60 ticks", "").gaggle(allocations as f64));
}

fn picture(report: &mut Report, states: &[Skein]) {
    report.section("The same frames as pictures, 1280 × 720");
    let view = View::fit(1280, 720, WIDTH, HEIGHT);
    let mut stage = Stage::new(view);
    let mut scene = Scene::default();
    let mut canvas = Canvas::new(view);
    let audience = Audience::default();
    // The first picture of a stage paints its sky.
    stage.draw(&states[0], &states[0], 1.0, &audience, &mut scene);
    let draw = nanoseconds(states.len(), 5, || {
        for state in states {
            stage.draw(state, state, 1.0, &audience, &mut scene);
        }
    });
    report.row(Row::new("draw: state to scene", "µs").gaggle(draw / 1e3));
    let paint = nanoseconds(states.len(), 5, || {
        for _ in states {
            canvas.paint(&scene, stage.album());
        }
    });
    report.row(Row::new("paint: scene to pixels", "µs").gaggle(paint / 1e3));
}
