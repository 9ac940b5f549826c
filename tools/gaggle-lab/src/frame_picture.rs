//! Picture of one frame of gander: of a match of bots, the demo, or a how-to page.
//!
//! Called by `main.rs`. Absent: files (`png_file.rs`).

use std::path::PathBuf;

use clap::Args;
use gaggle_scene::{Canvas, Scene, View};
use gander::arena::{HEIGHT, WIDTH};
use gander::attract::Attract;
use gander::howto::HowTo;
use gander::stage::{Audience, Stage};

use crate::bot_match::{MatchOptions, NAMES};
use crate::footage::Footage;
use crate::png_file;

/// Options of the picture.
#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    played: MatchOptions,
    /// Frame to draw
    #[arg(long, default_value_t = 1200)]
    frame: u32,
    /// Replay to show, instead of a match of bots
    #[arg(long, conflicts_with_all = ["howto", "attract"])]
    replay: Option<PathBuf>,
    /// The demo instead of a match
    #[arg(long, conflicts_with = "howto")]
    attract: bool,
    /// A how-to page instead of a match
    #[arg(long)]
    howto: Option<usize>,
    /// Size of the screen in pixels
    #[arg(long, default_value = "1280x720", value_parser = size)]
    size: (i32, i32),
    /// Moment between the frame before, 0, and this one, 1
    #[arg(long, default_value_t = 1.0)]
    between: f32,
    /// Draw with reduced motion
    #[arg(long)]
    calm: bool,
    /// PNG file to write
    #[arg(long, short, default_value = "frame.png")]
    out: PathBuf,
}

/// Parses a size such as `1280x720`.
pub(crate) fn size(text: &str) -> Result<(i32, i32), String> {
    let parts =
        text.split_once('x').and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    match parts {
        Some((width, height)) if (1..=8192).contains(&width) && (1..=8192).contains(&height) => {
            Ok((width, height))
        }
        _ => Err(format!("{text:?} is no size like 1280x720")),
    }
}

pub(crate) fn draw(options: &Options) -> Result<String, String> {
    let (width, height) = options.size;
    let view = View::fit(width, height, WIDTH, HEIGHT);
    let mut stage = Stage::new(view);
    let mut scene = Scene::default();
    let what = if options.attract {
        let mut attract = Attract::new(options.played.seed);
        (0..options.frame).for_each(|_| attract.step());
        attract.draw(&mut stage, options.between, options.calm, &mut scene);
        format!("wave {}", attract.game().wave.number)
    } else if let Some(page) = options.howto {
        let mut howto = HowTo::new(page);
        (0..options.frame).for_each(|_| howto.step());
        howto.draw(&mut stage, options.between, options.calm, &mut scene);
        howto.page().title.to_string()
    } else {
        let (now, before) = Footage::open(options.replay.as_deref(), &options.played)?.at(options.frame);
        let players = now.players.iter().filter(|player| player.present()).count();
        stage.draw(&now, &before, options.between, &audience(players, options.calm), &mut scene);
        format!("wave {}", now.wave.number)
    };
    let mut canvas = Canvas::new(view);
    canvas.paint(&scene, stage.album());
    png_file::write(&options.out, width as u32, height as u32, &canvas.pixels())?;
    Ok(format!("{}: {what}, {} items", options.out.display(), scene.art.len() + scene.words.len()))
}

/// The first slot is local, the others have links.
pub(crate) fn audience(players: usize, calm: bool) -> Audience<'static> {
    let mut audience = Audience { calm, ..Audience::default() };
    for (seat, name) in NAMES.into_iter().enumerate().take(players) {
        audience.names[seat] = name;
        audience.own[seat] = seat == 0;
        audience.bars[seat] = (seat > 0).then_some(if seat == 2 { 2 } else { 3 });
    }
    audience
}
