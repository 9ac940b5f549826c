//! Balance of gosling over many rounds of bots: verdicts and a picture.
//!
//! Called by `main.rs`. Absent: the rounds and their targets (`gosling::trial`).

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use gaggle_scene::{Album, Canvas, Color, Scene, View, palette};
use gosling::Strength;
use gosling::trial::summary::{Rounds, Summary, banked, homes, judge, lost};

use crate::chart::Chart;
use crate::png_file;

/// Options of the statistics.
#[derive(Args)]
pub(crate) struct Options {
    /// Rounds of each crew
    #[arg(long, default_value_t = 200)]
    runs: u64,
    /// PNG file to write
    #[arg(long, short, default_value = "gosling_balance.png")]
    out: PathBuf,
}

const SIZE: (i32, i32) = (960, 640);
const STRENGTHS: [(&str, Strength, Color); 3] = [
    ("fledgling", Strength::Fledgling, palette::SEAT[3]),
    ("steady", Strength::Steady, palette::SEAT[1]),
    ("sharp", Strength::Sharp, palette::SEAT[0]),
];
const PIKE: Color = palette::FIRE[3];
const GOOSE: Color = palette::BONE;
const HOME: Color = palette::SEAT[0];

pub(crate) fn draw(options: &Options) -> Result<String, String> {
    let rounds = Rounds::play(options.runs.max(1));
    let mut said = String::new();
    for finding in judge(&Summary::of(&rounds)) {
        let _ = writeln!(said, "{finding}");
    }
    let mut scene = Scene::default();
    picture(&mut scene, &rounds);
    let (width, height) = SIZE;
    let mut canvas = Canvas::new(View::at_scale(width, height, width, height, 1, 1));
    canvas.paint(&scene, &Album::default());
    png_file::write(&options.out, width as u32, height as u32, &canvas.pixels())?;
    let _ = write!(said, "{}", options.out.display());
    Ok(said)
}

fn picture(scene: &mut Scene, rounds: &Rounds) {
    scene.fill(0, 0, SIZE.0, SIZE.1, palette::NIGHT[0]);
    let title = format!("gosling: how rounds come out, {} rounds of twelve bots", rounds.mixed.len());
    scene.text(&title, 20.0, 14.0, palette::TEXT).bold();
    let mut x = 20.0;
    let legend = STRENGTHS.map(|(name, _, color)| (name, color)).into_iter();
    for (name, color) in legend.chain([("lost to pikes", PIKE), ("lost to geese", GOOSE)]) {
        scene.blend(x, 32.0, 10.0, 4.0, color, 1.0);
        scene.text(name, x + 15.0, 30.0, palette::DIM);
        x += 110.0;
    }
    let chart = |nth: i32| Chart { x: 20 + nth % 2 * 470, y: 54 + nth / 2 * 292, width: 450, height: 278 };
    points(scene, chart(0), rounds);
    loads(scene, chart(1), rounds);
    leads(scene, chart(2), rounds);
    catches(scene, chart(3), rounds);
}

/// Shares in percent of numbers that fall into parts of this width.
fn shares(numbers: &[u32], width: u32, parts: usize) -> Vec<f64> {
    let mut counts = vec![0_u32; parts];
    for number in numbers {
        counts[((number / width) as usize).min(parts - 1)] += 1;
    }
    counts.into_iter().map(|count| f64::from(count) * 100.0 / numbers.len().max(1) as f64).collect()
}

fn curve(scene: &mut Scene, chart: Chart, shares: &[f64], top: f64, color: Color) {
    let count = shares.len() as f64;
    let points: Vec<_> =
        shares.iter().enumerate().map(|(nth, share)| ((nth as f64 + 0.5) / count, share / top)).collect();
    chart.line(scene, &points, color);
}

fn marks(count: usize, every: usize, say: impl Fn(usize) -> String) -> Vec<(f64, String)> {
    (0..count).step_by(every).map(|nth| ((nth as f64 + 0.5) / count as f64, say(nth))).collect()
}

fn points(scene: &mut Scene, chart: Chart, rounds: &Rounds) {
    const PARTS: usize = 15;
    let title = "Points of a bot in a round, percent of bots";
    chart.axes(scene, title, 40.0, &marks(PARTS, 2, |nth| (nth * 10).to_string()));
    for (_, strength, color) in STRENGTHS {
        curve(scene, chart, &shares(&banked(&rounds.mixed, strength), 10, PARTS), 40.0, color);
    }
}

fn loads(scene: &mut Scene, chart: Chart, rounds: &Rounds) {
    let title = "Loads brought home and lost, percent by crumbs";
    chart.axes(scene, title, 40.0, &marks(13, 1, |nth| nth.to_string()));
    curve(scene, chart, &shares(&homes(&rounds.mixed), 1, 13), 40.0, HOME);
    curve(scene, chart, &shares(&lost(&rounds.mixed, 0), 1, 13), 40.0, PIKE);
    curve(scene, chart, &shares(&lost(&rounds.mixed, 1), 1, 13), 40.0, GOOSE);
}

fn leads(scene: &mut Scene, chart: Chart, rounds: &Rounds) {
    const PARTS: usize = 12;
    let title = "Lead of the winners, steady bots: percent of rounds by percent of points";
    chart.axes(scene, title, 40.0, &marks(PARTS, 2, |nth| (nth * 4).to_string()));
    let margins: Vec<u32> = rounds
        .steady
        .iter()
        .map(|run| {
            let (least, most) = (run.scores[0].min(run.scores[1]), run.scores[0].max(run.scores[1]));
            u32::from(most - least) * 100 / u32::from(most.max(1))
        })
        .collect();
    chart.bars(scene, &shares(&margins, 4, PARTS), 40.0, STRENGTHS[1].2);
}

fn catches(scene: &mut Scene, chart: Chart, rounds: &Rounds) {
    const PARTS: usize = 11;
    let title = "Times caught in a round, percent of bots";
    chart.axes(scene, title, 60.0, &marks(PARTS, 1, |nth| nth.to_string()));
    for (_, strength, color) in STRENGTHS {
        let shares_of = rounds.mixed.iter().flat_map(|run| &run.shares);
        let caught: Vec<u32> =
            shares_of.filter(|share| share.strength == strength).map(|share| share.caught.into()).collect();
        curve(scene, chart, &shares(&caught, 1, PARTS), 60.0, color);
    }
}
