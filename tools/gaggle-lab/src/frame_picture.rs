//! One frame of a match, as it looks on a screen.

use std::path::PathBuf;

use clap::Args;
use gaggle_scene::{Canvas, Scene, View};
use gander::arena::{HEIGHT, WIDTH};
use gander::stage::{Audience, Stage};

use crate::bot_match::{BotMatch, MatchOptions, NAMES};
use crate::png_file;

/// Which frame, how large, and where to.
#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) played: MatchOptions,
    /// The frame to draw
    #[arg(long, default_value_t = 1200)]
    frame: u32,
    /// Size of the screen in pixels
    #[arg(long, default_value = "1280x720", value_parser = size)]
    size: (i32, i32),
    /// How far between the frame before and this one, 0 to 1
    #[arg(long, default_value_t = 1.0)]
    between: f32,
    /// Less motion
    #[arg(long)]
    calm: bool,
    /// Where to
    #[arg(long, short, default_value = "frame.png")]
    out: PathBuf,
}

/// `1280x720`.
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
    let mut played = BotMatch::new(&options.played);
    played.run_to(options.frame);
    let (width, height) = options.size;
    let view = View::fit(width, height, WIDTH, HEIGHT);
    let mut stage = Stage::new(view);
    let mut scene = Scene::default();
    let audience = audience(usize::from(options.played.players), options.calm);
    stage.draw(&played.game, &played.before, options.between, &audience, &mut scene);
    let mut canvas = Canvas::new(view);
    canvas.paint(&scene, stage.album());
    png_file::write(&options.out, width as u32, height as u32, canvas.pixels())?;
    let items = scene.art.len() + scene.words.len();
    Ok(format!("{}: wave {}, {items} items", options.out.display(), played.game.wave.number))
}

/// The first seat is ours, the others have links.
pub(crate) fn audience(players: usize, calm: bool) -> Audience<'static> {
    let mut audience = Audience { calm, ..Audience::default() };
    for (seat, name) in NAMES.into_iter().enumerate().take(players) {
        audience.names[seat] = name;
        audience.own[seat] = seat == 0;
        audience.bars[seat] = (seat > 0).then_some(if seat == 2 { 2 } else { 3 });
    }
    audience
}
