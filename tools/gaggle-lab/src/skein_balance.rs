//! Balance of skein over many flights of bots: a table, verdicts and a picture.
//!
//! Called by `main.rs`. Absent: the flights and their targets (`skein::trial`).

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use gaggle_scene::{Album, Canvas, Color, Scene, View, palette};
use skein::trial::{CREWS, Run, Summary, judge, run, table};

use crate::chart::Chart;
use crate::png_file;

/// Options of the statistics.
#[derive(Args)]
pub(crate) struct Options {
    /// Flights of each crew
    #[arg(long, default_value_t = 200)]
    runs: u64,
    /// PNG file to write
    #[arg(long, short, default_value = "skein_balance.png")]
    out: PathBuf,
}

const COLORS: [Color; 4] = [palette::SEAT[1], palette::SEAT[0], palette::SEAT[3], palette::SEAT[2]];
const SIZE: (i32, i32) = (960, 640);
/// Minutes of the chart of lengths.
const MINUTES: usize = 16;

/// A crew's flights.
struct Flown {
    name: &'static str,
    color: Color,
    runs: Vec<Run>,
    summary: Summary,
}

pub(crate) fn draw(options: &Options) -> Result<String, String> {
    let flown = CREWS.into_iter().zip(COLORS).map(|((name, crew), color)| {
        let runs: Vec<Run> = (0..options.runs.max(1)).map(|seed| run(crew, seed)).collect();
        Flown { name, color, summary: Summary::of(&runs), runs }
    });
    let flown: Vec<Flown> = flown.collect();
    let mut said = String::new();
    for crew in &flown {
        let _ = writeln!(said, "{}", table(crew.name, &crew.summary));
    }
    for finding in judge(&std::array::from_fn(|crew| flown[crew].summary.clone())) {
        let _ = writeln!(said, "{finding}");
    }
    let mut scene = Scene::default();
    picture(&mut scene, &flown);
    let (width, height) = SIZE;
    let mut canvas = Canvas::new(View::at_scale(width, height, width, height, 1, 1));
    canvas.paint(&scene, &Album::default());
    png_file::write(&options.out, width as u32, height as u32, &canvas.pixels())?;
    let _ = write!(said, "{}", options.out.display());
    Ok(said)
}

fn picture(scene: &mut Scene, flown: &[Flown]) {
    scene.fill(0, 0, SIZE.0, SIZE.1, palette::NIGHT[0]);
    let title = format!("skein: how far bots fly, {} flights of each crew", flown[0].summary.runs);
    scene.text(&title, 20.0, 14.0, palette::TEXT).bold();
    let mut x = 20.0;
    for crew in flown {
        scene.blend(x, 32.0, 10.0, 4.0, crew.color, 1.0);
        scene.text(crew.name, x + 15.0, 30.0, palette::DIM);
        x += 140.0;
    }
    let frame = |nth: i32| Chart { x: 20 + nth % 2 * 470, y: 54 + nth / 2 * 292, width: 450, height: 278 };
    survival(scene, frame(0), flown);
    causes(scene, frame(1), flown);
    lengths(scene, frame(2), flown);
    losses(scene, frame(3), flown);
}

fn survival(scene: &mut Scene, frame: Chart, flown: &[Flown]) {
    let names = ["1", "2", "3", "4", "5", "dawn"];
    let across = |stage: usize| (stage as f64 + 0.5) / 6.0;
    let marks: Vec<_> = (0..6).map(|stage| (across(stage), names[stage].to_string())).collect();
    frame.axes(scene, "Flights that reach a stage, in percent", 100.0, &marks);
    for crew in flown {
        let reached = crew.summary.reached.iter().enumerate();
        let points: Vec<_> =
            reached.map(|(stage, share)| (across(stage), f64::from(*share) / 100.0)).collect();
        frame.line(scene, &points, crew.color);
    }
}

fn causes(scene: &mut Scene, frame: Chart, flown: &[Flown]) {
    let names = ["embers", "bodies", "lightning", "caught"];
    let marks: Vec<_> = (0..4).map(|nth| ((nth as f64 + 0.5) / 4.0, names[nth].to_string())).collect();
    frame.axes(scene, "Causes of falls, and geese caught of fallen, in percent", 100.0, &marks);
    for (nth, crew) in flown.iter().enumerate() {
        let [embers, bodies, lightning] = crew.summary.causes;
        for (group, share) in [embers, bodies, lightning, crew.summary.caught].into_iter().enumerate() {
            let (left, top) =
                frame.at((group as f64 + 0.14 + nth as f64 * 0.18) / 4.0, f64::from(share) / 100.0);
            let (_, bottom) = frame.at(0.0, 0.0);
            scene.fill(left, top, 14, bottom - top, crew.color);
        }
    }
}

fn lengths(scene: &mut Scene, frame: Chart, flown: &[Flown]) {
    let across = |minute: usize| (minute as f64 + 0.5) / MINUTES as f64;
    let marks: Vec<_> = (0..MINUTES).step_by(2).map(|minute| (across(minute), format!("{minute}"))).collect();
    frame.axes(scene, "Length of flights: percent that end in a minute", 40.0, &marks);
    for crew in flown {
        let mut ends = [0_u32; MINUTES];
        for run in &crew.runs {
            ends[(run.frames / 3_600).min(MINUTES as u32 - 1) as usize] += 1;
        }
        let share = |ends: u32| f64::from(ends) * 100.0 / f64::from(crew.summary.runs.max(1)) / 40.0;
        let points: Vec<_> =
            ends.iter().enumerate().map(|(minute, ends)| (across(minute), share(*ends))).collect();
        frame.line(scene, &points, crew.color);
    }
}

fn losses(scene: &mut Scene, frame: Chart, flown: &[Flown]) {
    let across = |stage: usize| (stage as f64 + 0.5) / 5.0;
    let marks: Vec<_> = (0..5).map(|stage| (across(stage), format!("{}", stage + 1))).collect();
    frame.axes(scene, "Geese lost in a stage by those that begin it", 8.0, &marks);
    for crew in flown {
        let lost = crew.summary.lost.iter().enumerate();
        let points: Vec<_> = lost.map(|(stage, lost)| (across(stage), f64::from(*lost) / 800.0)).collect();
        frame.line(scene, &points, crew.color);
    }
}
