//! `cargo xtask bench gander [--json]`: cost of a frame of gander with a full house: four knights,
//! fourteen riders, three Herns and their eggs.
//!
//! The compared figures are published ones of a browser game with the same rules in JavaScript,
//! measured on a similar machine: an order of magnitude, not a race. Absent: network.

mod full_house;

use std::hint::black_box;
use std::process::ExitCode;

use bench_report::{Allocations, CountingAllocator, Report, Row, cpu_time, median};
use gaggle_kit::{Frame, SlotSet, State, encode_state, state_hash};
use gaggle_scene::{Canvas, Scene, View};
use gaggle_timeline::{Game, Inputs};
use gander::stage::{Audience, Stage};
use gander::{Gander, Pad, SEATS};

use full_house::FullHouse;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Frames of one lap; a figure takes several laps.
const FRAMES: usize = 600;
const LAPS: usize = 15;
/// Frames that a rollback goes back.
const DEPTH: usize = 8;

fn main() -> ExitCode {
    let mut report = Report::from_args();
    let house = FullHouse::record(FRAMES);
    cost(&mut report, &house);
    memory(&mut report, &house);
    picture(&mut report, &house);
    report.finish()
}

fn tick(game: &mut Gander, frame: usize, pads: &[Pad; SEATS]) {
    game.tick(&Inputs::confirmed(Frame::new(frame as u32), pads, SlotSet::first(SEATS)));
}

/// Median over laps of the CPU nanoseconds per item, if `work` does `per` items.
fn nanoseconds(per: usize, mut work: impl FnMut()) -> f64 {
    let laps: Vec<f64> = (0..LAPS)
        .map(|_| {
            let before = cpu_time();
            work();
            (cpu_time() - before).as_nanos() as f64 / per as f64
        })
        .collect();
    median(&laps)
}

fn cost(report: &mut Report, house: &FullHouse) {
    report.section("One frame with four knights, fourteen riders and three Herns");
    let straight = nanoseconds(FRAMES, || {
        let mut game = house.start;
        house.pads.iter().enumerate().for_each(|(frame, pads)| tick(&mut game, frame, pads));
        black_box(game);
    });
    report.row(Row::new("tick", "µs").gaggle(straight / 1e3).other("JavaScript", 20.0).at_most(5.0));

    let mut saved = vec![house.start; DEPTH + 1];
    let rollback = nanoseconds(FRAMES / DEPTH, || {
        let mut game = house.start;
        for (turn, pads) in house.pads.chunks_exact(DEPTH).enumerate() {
            game.copy_from(&saved[0]);
            for (n, pads) in pads.iter().enumerate() {
                tick(&mut game, turn * DEPTH + n, pads);
                saved[n + 1].copy_from(&game);
            }
            saved.swap(0, DEPTH);
        }
        saved[0].copy_from(&house.start);
        black_box(&game);
    });
    report.row(
        Row::new("rollback of 8 frames: load, then 8 ticks and saves", "µs")
            .gaggle(rollback / 1e3)
            .other("JavaScript", 160.0)
            .at_most(60.0),
    );

    let mut copy = house.start;
    let save = nanoseconds(house.states.len(), || {
        house.states.iter().for_each(|state| black_box(&mut copy).copy_from(black_box(state)));
    });
    report.row(Row::new("save or load", "µs").gaggle(save / 1e3));
    let hash = nanoseconds(house.states.len(), || {
        house.states.iter().for_each(|state| {
            black_box(state_hash(state));
        });
    });
    report.row(Row::new("hash", "µs").gaggle(hash / 1e3));
}

fn memory(report: &mut Report, house: &FullHouse) {
    report.section("Memory");
    report.row(Row::new("state in memory", "B").gaggle(size_of::<Gander>() as f64).at_most(8192.0));
    let largest = house.states.iter().map(|state| encode_state(state).len()).max().unwrap_or(0);
    report.row(Row::new("state on the wire", "B").gaggle(largest as f64).at_most(8192.0));
    let before = Allocations::now();
    let mut game = house.start;
    house.pads.iter().enumerate().for_each(|(frame, pads)| tick(&mut game, frame, pads));
    let allocations = Allocations::now().since(before).count;
    report.row(Row::new("allocations in 600 ticks", "").gaggle(allocations as f64).at_most(0.0));
}

fn picture(report: &mut Report, house: &FullHouse) {
    report.section("The same frames as pictures, 1280 × 720");
    let view = View::fit(1280, 720, gander::arena::WIDTH, gander::arena::HEIGHT);
    let mut stage = Stage::new(view);
    let mut scene = Scene::default();
    let mut canvas = Canvas::new(view);
    let audience = Audience::default();
    let frames = &house.states[..60];
    let draw = nanoseconds(frames.len(), || {
        for state in frames {
            stage.draw(state, state, 1.0, &audience, &mut scene);
        }
    });
    report.row(Row::new("draw: state to scene", "µs").gaggle(draw / 1e3));
    let paint = nanoseconds(frames.len(), || {
        for _ in frames {
            canvas.paint(&scene, stage.album());
        }
    });
    report.row(Row::new("paint: scene to pixels", "µs").gaggle(paint / 1e3));
}
