//! Contact sheet of a match: small pictures at equal distances, with frame and wave.
//!
//! Called by `main.rs`. Absent: where states come from (`footage.rs`).

use std::path::PathBuf;

use clap::Args;
use gaggle_scene::{Canvas, Scene, View, palette};
use gander::arena::{HEIGHT, WIDTH};
use gander::stage::Stage;

use crate::bot_match::MatchOptions;
use crate::footage::Footage;
use crate::frame_picture::audience;
use crate::png_file;

/// Options of the contact sheet.
#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    played: MatchOptions,
    /// Replay to show, instead of a match of bots
    #[arg(long)]
    replay: Option<PathBuf>,
    /// Frames between two pictures
    #[arg(long, default_value_t = 300)]
    every: u32,
    /// First frame on the sheet
    #[arg(long, default_value_t = 60)]
    from: u32,
    /// Most pictures on the sheet
    #[arg(long, default_value_t = 24)]
    count: u32,
    /// Pictures in a row
    #[arg(long, default_value_t = 4)]
    across: u32,
    /// PNG file to write
    #[arg(long, short, default_value = "sheet.png")]
    out: PathBuf,
}

pub(crate) fn draw(options: &Options) -> Result<String, String> {
    let view = View::at_scale(WIDTH, HEIGHT, WIDTH, HEIGHT, 1, 1);
    let mut stage = Stage::new(view);
    let mut scene = Scene::default();
    let mut canvas = Canvas::new(view);
    let mut footage = Footage::open(options.replay.as_deref(), &options.played)?;
    let mut pictures: Vec<Vec<u32>> = Vec::new();
    let mut waves = 0;
    for number in 0..options.count.max(1) {
        let frame = options.from + number * options.every;
        let (now, before) = footage.at(frame);
        let players = now.players.iter().filter(|player| player.present()).count();
        stage.draw(&now, &before, 1.0, &audience(players, false), &mut scene);
        waves = now.wave.number;
        scene.word(&format!("{}", now.frame), 3.0, 206.0, palette::TEXT).outlined(palette::INK);
        canvas.paint(&scene, stage.album());
        pictures.push(canvas.pixels());
        if footage.ends_at(frame) {
            break;
        }
    }
    let across = options.across.max(1).min(pictures.len() as u32);
    let down = (pictures.len() as u32).div_ceil(across);
    let (width, height) = (across * WIDTH as u32, down * HEIGHT as u32);
    let mut sheet = vec![palette::INK.rgb(); (width * height) as usize];
    for (number, picture) in (0..).zip(&pictures) {
        let (left, top) = (number % across * WIDTH as u32, number / across * HEIGHT as u32);
        for (row, pixels) in (0..).zip(picture.chunks(WIDTH as usize)) {
            let start = ((top + row) * width + left) as usize;
            sheet[start..start + WIDTH as usize].copy_from_slice(pixels);
        }
    }
    png_file::write(&options.out, width, height, &sheet)?;
    Ok(format!("{}: {} pictures, up to wave {waves}", options.out.display(), pictures.len()))
}
