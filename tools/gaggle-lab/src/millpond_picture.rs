//! Picture of millpond: bots after some time, or a how-to page.
//!
//! Called by `main.rs`. Absent: files (`png_file.rs`).

use std::path::PathBuf;

use clap::Args;
use gaggle_scene::{Canvas, Scene, View};
use millpond::attract::Attract;
use millpond::howto::HowTo;
use millpond::stage::{Audience, Stage, WINDOW};

use crate::frame_picture::size;
use crate::png_file;

/// Options of the picture.
#[derive(Args)]
pub(crate) struct Options {
    /// Seed of all random numbers of the pond
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// Frame to draw
    #[arg(long, default_value_t = 1800)]
    frame: u32,
    /// Slot of the boat to follow
    #[arg(long, default_value_t = 0)]
    follow: usize,
    /// A how-to page instead
    #[arg(long)]
    howto: Option<usize>,
    /// Show the authority of all things, also of those at rest
    #[arg(long)]
    holders: bool,
    /// Size of the screen in pixels
    #[arg(long, default_value = "1280x720", value_parser = size)]
    size: (i32, i32),
    /// PNG file to write
    #[arg(long, short, default_value = "millpond.png")]
    out: PathBuf,
}

pub(crate) fn draw(options: &Options) -> Result<String, String> {
    let (width, height) = options.size;
    let view = View::fit(width, height, WINDOW.0, WINDOW.1);
    let mut stage = Stage::new(view);
    let mut scene = Scene::default();
    let what = if let Some(page) = options.howto {
        let mut howto = HowTo::new(page);
        (0..options.frame).for_each(|_| howto.step());
        howto.draw(&mut stage, 1.0, false, &mut scene);
        howto.page().title.to_string()
    } else {
        let mut attract = Attract::new(options.seed);
        (0..options.frame).for_each(|_| attract.step());
        let mut audience = Audience {
            names: ["Wren", "Hob", "Ottilie", "Big Tam", "", ""],
            holders: options.holders,
            ..Audience::default()
        };
        audience.own[options.follow.min(5)] = true;
        stage.draw(attract.pond(), 1.0, &audience, &mut scene);
        format!("{:?}", attract.pond().ledger.brought)
    };
    let mut canvas = Canvas::new(view);
    canvas.paint(&scene, stage.album());
    png_file::write(&options.out, width as u32, height as u32, &canvas.pixels())?;
    Ok(format!("{}: {what}, {} items", options.out.display(), scene.art.len() + scene.words.len()))
}
