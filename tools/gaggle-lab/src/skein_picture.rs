//! Picture of one frame of skein: of a flight of bots, the demo, or a how-to page.
//!
//! Called by `main.rs`. Absent: files (`png_file.rs`).

use std::path::PathBuf;

use clap::Args;
use gaggle_scene::{Canvas, Scene, View};
use skein::attract::Attract;
use skein::bots::{Bot, Strength};
use skein::howto::HowTo;
use skein::sky::{HEIGHT, WIDTH};
use skein::stage::{Audience, Stage};
use skein::{Pad, SEATS, Setup, Skein};

use crate::frame_picture::size;
use crate::png_file;

/// Options of the picture.
#[derive(Args)]
pub(crate) struct Options {
    /// Seed of all random numbers of the flight
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// Number of slots that bots play
    #[arg(long, default_value_t = 4)]
    seats: usize,
    /// Stage to begin with, 1 to 5
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=5))]
    stage: u8,
    /// Wave to begin with, 0 to 7; 8 is the boss
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u8).range(0..=8))]
    wave: u8,
    /// Frame to draw
    #[arg(long, default_value_t = 420)]
    frame: u32,
    /// The demo instead of a flight
    #[arg(long, conflicts_with = "howto")]
    attract: bool,
    /// A how-to page instead of a flight
    #[arg(long)]
    howto: Option<usize>,
    /// Darker background, as players can choose
    #[arg(long)]
    quiet: bool,
    /// Less motion, as players can choose
    #[arg(long)]
    calm: bool,
    /// Size of the screen in pixels
    #[arg(long, default_value = "1280x720", value_parser = size)]
    size: (i32, i32),
    /// PNG file to write
    #[arg(long, short, default_value = "skein.png")]
    out: PathBuf,
}

/// Display names of bots in pictures.
const NAMES: [&str; SEATS] = ["Wren", "Hob", "Ottilie", "Big Tam", "Maud", "Pip"];

pub(crate) fn draw(options: &Options) -> Result<String, String> {
    let (width, height) = options.size;
    let view = View::fit(width, height, WIDTH, HEIGHT);
    let mut stage = Stage::new(view);
    stage.set_quiet_sky(options.quiet);
    let mut scene = Scene::default();
    let what = if options.attract {
        let mut attract = Attract::new(options.seed);
        (0..options.frame).for_each(|_| attract.step());
        attract.draw(&mut stage, 1.0, options.calm, &mut scene);
        format!("stage {}", attract.game().course.stage)
    } else if let Some(page) = options.howto {
        let mut howto = HowTo::new(page);
        (0..options.frame).for_each(|_| howto.step());
        howto.draw(&mut stage, 1.0, options.calm, &mut scene);
        skein::howto::PAGES[page % skein::howto::PAGES.len()].title.to_string()
    } else {
        let (game, before) = flight(options);
        let mut audience =
            Audience { names: NAMES, room: "FENWIK", calm: options.calm, ..Audience::default() };
        audience.own[0] = true;
        stage.draw(&game, &before, 1.0, &audience, &mut scene);
        format!("stage {}, {:?}, {} embers", game.course.stage, game.course.phase, game.embers.count())
    };
    let mut canvas = Canvas::new(view);
    canvas.paint(&scene, stage.album());
    png_file::write(&options.out, width as u32, height as u32, &canvas.pixels())?;
    Ok(format!("{}: {what}, {} items", options.out.display(), scene.art.len() + scene.words.len()))
}

/// The frame of a flight of bots, and the one before it.
fn flight(options: &Options) -> (Skein, Skein) {
    let setup = Setup { stage: options.stage, wave: options.wave, spares: 5, ..Setup::default() };
    let mut game = Skein::new(setup, options.seed);
    let mut before = game;
    let seats = options.seats.clamp(1, SEATS);
    let mut bots: Vec<Bot> = (0..seats).map(|seat| Bot::new(seat, Strength::Sharp, options.seed)).collect();
    for _ in 0..options.frame {
        let mut pads = [Pad::NONE; SEATS];
        bots.iter_mut().for_each(|bot| pads[bot.seat()] = bot.play(&game));
        before = game;
        game.step(&pads, std::array::from_fn(|seat| seat < seats));
    }
    (game, before)
}
