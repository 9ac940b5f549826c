//! Difficulty of gander wave by wave, over many matches of bots, as a table and a picture.
//!
//! Called by `main.rs`. Absent: the matches (`bot_match.rs`).

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use gaggle_scene::{Album, Canvas, Color, Item, Scene, View, palette};

use crate::bot_match::{BotMatch, MatchOptions, Skill};
use crate::png_file;

/// Options of the statistics.
#[derive(Args)]
pub(crate) struct Options {
    /// Matches per crew
    #[arg(long, default_value_t = 200)]
    matches: u64,
    /// Waves to show
    #[arg(long, default_value_t = 20)]
    waves: u16,
    /// PNG file to write
    #[arg(long, short, default_value = "difficulty.png")]
    out: PathBuf,
}

/// A group of bots, one curve of the chart.
struct Crew {
    name: &'static str,
    players: u8,
    skill: Skill,
    color: Color,
}

const CREWS: [Crew; 4] = [
    Crew { name: "one fledgling", players: 1, skill: Skill::Fledgling, color: palette::SEAT[2] },
    Crew { name: "one steady", players: 1, skill: Skill::Steady, color: palette::SEAT[1] },
    Crew { name: "one sharp", players: 1, skill: Skill::Sharp, color: palette::SEAT[0] },
    Crew { name: "four sharp", players: 4, skill: Skill::Sharp, color: palette::SEAT[3] },
];

/// Figures of all matches in one wave.
#[derive(Clone, Default)]
struct WaveFigures {
    began: u32,
    won: u32,
    falls: u32,
    seconds: Vec<f64>,
    /// Best score when the wave was won.
    scores: Vec<f64>,
}

/// Seconds after which a match is abandoned.
const PATIENCE: u32 = 1800;

pub(crate) fn draw(options: &Options) -> Result<String, String> {
    let waves = options.waves.clamp(2, 90);
    let figures: Vec<Vec<WaveFigures>> =
        CREWS.iter().map(|crew| play(crew, options.matches, waves)).collect();
    let mut said = String::new();
    for (crew, figures) in CREWS.iter().zip(&figures) {
        table(&mut said, crew, figures, options.matches);
    }
    let (width, height) = (960, 620);
    let mut scene = Scene::default();
    picture(&mut scene, &figures, options.matches, (width, height));
    let view = View::at_scale(width, height, width, height, 1, 1);
    let mut canvas = Canvas::new(view);
    canvas.paint(&scene, &Album::default());
    png_file::write(&options.out, width as u32, height as u32, &canvas.pixels())?;
    let _ = write!(said, "{}", options.out.display());
    Ok(said)
}

fn play(crew: &Crew, matches: u64, waves: u16) -> Vec<WaveFigures> {
    let mut figures = vec![WaveFigures::default(); usize::from(waves)];
    for seed in 0..matches {
        let (players, skill) = (crew.players, crew.skill);
        let mut played =
            BotMatch::new(&MatchOptions { seed, players, skill, versus: false, endless: false, wave: 1 });
        let (mut wave, mut began, mut fallen) = (0, 0, 0);
        while !played.over() && played.game.wave.number <= waves && played.game.frame < PATIENCE * 60 {
            played.step();
            let game = &played.game;
            let falls = game.players.iter().map(|player| u32::from(player.tally.falls)).sum::<u32>();
            if wave > 0 {
                figures[wave - 1].falls += falls - fallen;
            }
            fallen = falls;
            let number = usize::from(game.wave.number);
            if number == wave {
                continue;
            }
            if wave > 0 {
                let best = game.players.iter().map(|player| player.score).max().unwrap_or(0);
                let won = &mut figures[wave - 1];
                won.won += 1;
                won.seconds.push(f64::from(game.frame - began) / 60.0);
                won.scores.push(f64::from(best));
            }
            (wave, began) = (number, game.frame);
            if let Some(next) = figures.get_mut(wave - 1) {
                next.began += 1;
            }
        }
    }
    figures
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

fn table(out: &mut String, crew: &Crew, figures: &[WaveFigures], matches: u64) {
    let _ = writeln!(out, "{}, {matches} matches", crew.name);
    let _ = writeln!(out, "  wave  begun  won  seconds  falls per visit  best score");
    for (wave, figures) in (1..).zip(figures).filter(|(_, figures)| figures.began >= 5) {
        let falls = f64::from(figures.falls) / f64::from(figures.began);
        let (seconds, score) =
            (median(&figures.seconds).unwrap_or(0.0), median(&figures.scores).unwrap_or(0.0));
        let _ = writeln!(
            out,
            "  {wave:4}  {:5}  {:3}  {seconds:7.0}  {falls:15.2}  {score:10.0}",
            figures.began, figures.won
        );
    }
}

/// One of the four charts.
struct Chart {
    title: String,
    top: f64,
    figure: fn(&WaveFigures, u64) -> Option<f64>,
}

fn picture(scene: &mut Scene, figures: &[Vec<WaveFigures>], matches: u64, (width, height): (i32, i32)) {
    scene.fill(0, 0, width, height, palette::NIGHT[0]);
    scene.text("gander: how hard the waves are", 20.0, 14.0, palette::TEXT).bold();
    let mut x = 20.0;
    for crew in &CREWS {
        scene.blend(x, 32.0, 10.0, 4.0, crew.color, 1.0);
        scene.text(crew.name, x + 15.0, 30.0, palette::DIM);
        x += 110.0;
    }
    let often = |wave: &WaveFigures| wave.began >= 5;
    let charts = [
        Chart {
            title: format!("Matches that get to the wave, of {matches}, in percent"),
            top: 100.0,
            figure: |wave, matches| Some(f64::from(wave.began) * 100.0 / matches as f64),
        },
        Chart {
            title: "Seconds a wave takes, median".into(),
            top: 40.0,
            figure: |wave, _| median(&wave.seconds),
        },
        Chart {
            title: "Falls in a wave, per visit".into(),
            top: 4.0,
            figure: |wave, _| Some(f64::from(wave.falls) / f64::from(wave.began.max(1))),
        },
        Chart {
            title: "Best score when the wave is won, median, in thousands".into(),
            top: 160.0,
            figure: |wave, _| median(&wave.scores).map(|score| score / 1000.0),
        },
    ];
    for (number, chart) in (0..).zip(&charts) {
        let frame = (20 + number % 2 * 470, 54 + number / 2 * 282, 450, 268);
        axes(scene, frame, chart, figures[0].len());
        for (crew, waves) in CREWS.iter().zip(figures) {
            let points = waves.iter().enumerate().filter(|(_, wave)| often(wave));
            let points = points.filter_map(|(n, wave)| Some((n, (chart.figure)(wave, matches)?)));
            line(scene, frame, chart.top, waves.len(), points, crew.color);
        }
    }
}

type Frame = (i32, i32, i32, i32);

/// Place of a value of a wave on the picture.
fn place((x, y, width, height): Frame, top: f64, waves: usize, wave: usize, value: f64) -> (f64, f64) {
    let across = f64::from(width - 60) * (wave as f64 + 0.5) / waves as f64;
    let up = f64::from(height - 60) * (value / top).min(1.05);
    (f64::from(x + 44) + across, f64::from(y + height - 28) - up)
}

fn axes(scene: &mut Scene, frame: Frame, chart: &Chart, waves: usize) {
    let (x, y, width, height) = frame;
    scene.panel((x, y, width, height), palette::INK, 1.0, Some(palette::NIGHT[3]));
    scene.text(&chart.title, (x + 12) as f32, (y + 9) as f32, palette::TEXT);
    for step in 0..=4 {
        let value = chart.top * f64::from(step) / 4.0;
        let (_, at) = place(frame, chart.top, waves, 0, value);
        scene.fill(x + 44, at as i32, width - 60, 1, palette::NIGHT[2]);
        scene.text(&format!("{value:.0}"), (x + 38) as f32, at as f32 - 3.0, palette::FAINT).right();
    }
    for wave in (0..waves).filter(|wave| (wave + 1) % 5 == 0 || *wave == 0) {
        let (at, _) = place(frame, chart.top, waves, wave, 0.0);
        scene.text(&format!("{}", wave + 1), at as f32, (y + height - 20) as f32, palette::FAINT).centered();
    }
}

fn line(
    scene: &mut Scene,
    frame: Frame,
    top: f64,
    waves: usize,
    points: impl Iterator<Item = (usize, f64)>,
    color: Color,
) {
    let mut last: Option<(f64, f64)> = None;
    for (wave, value) in points {
        let (x, y) = place(frame, top, waves, wave, value);
        if let Some((from_x, from_y)) = last {
            let steps = ((x - from_x).abs().max((y - from_y).abs()) as i32).max(1);
            for step in 0..steps {
                let share = f64::from(step) / f64::from(steps);
                let (x, y) = (from_x + (x - from_x) * share, from_y + (y - from_y) * share);
                scene.dot(x as f32, y as f32, color);
            }
        }
        let (x, y) = (x as f32 - 1.0, y as f32 - 1.0);
        scene.art.push(Item::Fill { x, y, width: 3.0, height: 3.0, color, share: 256 });
        last = Some((x as f64 + 1.0, y as f64 + 1.0));
    }
}
