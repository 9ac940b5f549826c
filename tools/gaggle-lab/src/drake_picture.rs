//! Picture of one frame of drake: of a match of bots, the demo, or a how-to page.
//!
//! Called by `main.rs`. Absent: files (`png_file.rs`).

use std::path::PathBuf;

use clap::Args;
use drake::attract::Attract;
use drake::bots::{Bot, Strength};
use drake::field::{HEIGHT, WIDTH};
use drake::howto::HowTo;
use drake::stage::{Audience, Stage};
use drake::{Drake, SEATS, Setup, Sitting};
use gaggle_scene::{Canvas, Scene, View};

use crate::frame_picture::size;
use crate::png_file;

/// Options of the picture.
#[derive(Args)]
pub(crate) struct Options {
    /// Seed of all random numbers of the match
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// Number of slots that bots play
    #[arg(long, default_value_t = 4)]
    seats: u8,
    /// Frame to draw
    #[arg(long, default_value_t = 900)]
    frame: u32,
    /// The demo instead of a match
    #[arg(long, conflicts_with = "howto")]
    attract: bool,
    /// A how-to page instead of a match
    #[arg(long)]
    howto: Option<usize>,
    /// Size of the screen in pixels
    #[arg(long, default_value = "1280x720", value_parser = size)]
    size: (i32, i32),
    /// PNG file to write
    #[arg(long, short, default_value = "drake.png")]
    out: PathBuf,
}

/// Display names of bots in pictures.
const NAMES: [&str; SEATS] = ["Wren", "Hob", "Ottilie", "Big Tam", "Sorrel", "Merle"];

pub(crate) fn draw(options: &Options) -> Result<String, String> {
    let (width, height) = options.size;
    let view = View::fit(width, height, WIDTH, HEIGHT);
    let mut stage = Stage::new(view);
    let mut scene = Scene::default();
    let what = if options.attract {
        let mut attract = Attract::new(options.seed);
        (0..options.frame).for_each(|_| attract.step());
        attract.draw(&mut stage, 1.0, false, &mut scene);
        format!("round {}", attract.game().bout.round)
    } else if let Some(page) = options.howto {
        let mut howto = HowTo::new(page);
        (0..options.frame).for_each(|_| howto.step());
        howto.draw(&mut stage, 1.0, false, &mut scene);
        howto.page().title.to_string()
    } else {
        let mut game = Drake::new(Setup { fill: options.seats, wins: 3 }, options.seed);
        let strengths = [Strength::Sharp, Strength::Steady, Strength::Fledgling];
        let mut bots: [Bot; SEATS] =
            std::array::from_fn(|seat| Bot::new(seat, strengths[seat % 3], options.seed));
        for _ in 0..options.frame {
            let pads = std::array::from_fn(|seat| bots[seat].play(&game));
            game.step(&pads, &[Sitting::default(); SEATS]);
        }
        let mut audience = Audience { names: NAMES, ..Audience::default() };
        audience.own[0] = true;
        (1..usize::from(options.seats).min(SEATS))
            .for_each(|seat| audience.bars[seat] = Some(3 - (seat as u8 % 3) / 2));
        stage.draw(&game, 1.0, &audience, &mut scene);
        format!("round {}, {:?}", game.bout.round, game.bout.phase)
    };
    let mut canvas = Canvas::new(view);
    canvas.paint(&scene, stage.album());
    png_file::write(&options.out, width as u32, height as u32, &canvas.pixels())?;
    Ok(format!("{}: {what}, {} items", options.out.display(), scene.art.len() + scene.words.len()))
}
