//! Picture of one frame of gosling: of a round of players and bots, the demo, or a how-to page.
//!
//! Called by `main.rs`. Absent: files (`png_file.rs`).

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use gaggle_kit::{Frame, SlotSet};
use gaggle_scene::{Canvas, Scene, View};
use gaggle_timeline::{Game, Inputs};
use gosling::attract::Attract;
use gosling::howto::HowTo;
use gosling::press::{Manner, Presser};
use gosling::stage::{Audience, HEIGHT, Stage, USUAL_NAMES, WIDTH};
use gosling::{Gosling, Mode, SEATS, Setup, Wish};

use crate::frame_picture::size;
use crate::png_file;

/// Modes of a round.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Reed {
    Broods,
    Free,
    Great,
}

/// Options of the picture.
#[derive(Args)]
pub(crate) struct Options {
    /// Seed of the round and its players
    #[arg(long, default_value_t = 7)]
    seed: u64,
    /// Mode of the round
    #[arg(long, value_enum, default_value = "broods")]
    mode: Reed,
    /// Number of slots that players play; bots fill up
    #[arg(long, default_value_t = 10)]
    players: usize,
    /// The slot the picture is about
    #[arg(long, default_value_t = 0)]
    own: usize,
    /// Frame to draw; those before it are drawn too, for the camera
    #[arg(long, default_value_t = 2_340)]
    frame: u32,
    /// The demo instead of a round
    #[arg(long, conflicts_with = "howto")]
    attract: bool,
    /// A how-to page instead of a round
    #[arg(long)]
    howto: Option<usize>,
    /// Less motion, as players can choose
    #[arg(long)]
    calm: bool,
    /// A press of the own player came too late a moment ago
    #[arg(long)]
    late: bool,
    /// Size of the screen in pixels
    #[arg(long, default_value = "1280x720", value_parser = size)]
    size: (i32, i32),
    /// Pixels of an art pixel, as on an upright phone; the screen decides without it
    #[arg(long)]
    scale: Option<i32>,
    /// PNG file to write
    #[arg(long, short, default_value = "gosling.png")]
    out: PathBuf,
}

/// Frames before the one that is drawn in which the camera finds its place.
const CAMERA_FRAMES: u32 = 120;

pub(crate) fn draw(options: &Options) -> Result<String, String> {
    let (width, height) = options.size;
    let view = match options.scale {
        Some(scale) => View::at_scale(width, height, WIDTH, HEIGHT, scale, scale),
        None => View::fit(width, height, WIDTH, HEIGHT),
    };
    let mut stage = Stage::new(view);
    let mut scene = Scene::default();
    let what = if options.attract {
        let mut attract = Attract::new(options.seed);
        for frame in 0..options.frame {
            attract.step();
            if frame + CAMERA_FRAMES > options.frame {
                attract.draw(&mut stage, 1.0, options.calm, &mut scene);
            }
        }
        format!("round {}", attract.game().clock.round)
    } else if let Some(page) = options.howto {
        let mut howto = HowTo::new(page);
        (0..options.frame).for_each(|_| howto.step());
        howto.draw(&mut stage, 1.0, options.calm, &mut scene);
        gosling::howto::PAGES[page % gosling::howto::PAGES.len()].title.to_string()
    } else {
        round(options, &mut stage, &mut scene)
    };
    let mut canvas = Canvas::new(view);
    canvas.paint(&scene, stage.album());
    png_file::write(&options.out, width as u32, height as u32, &canvas.pixels())?;
    Ok(format!("{}: {what}, {} items", options.out.display(), scene.art.len() + scene.words.len()))
}

/// Draws the last frames of a round up to the one that is wanted.
fn round(options: &Options, stage: &mut Stage, scene: &mut Scene) -> String {
    let mode = match options.mode {
        Reed::Broods => Mode::Broods,
        Reed::Free => Mode::Free,
        Reed::Great => Mode::Great,
    };
    let mut game = Gosling::new(Setup::of(mode), options.seed);
    let players = options.players.min(mode.seats());
    let mut pressers: Vec<Presser> =
        (0..players).map(|slot| Presser::new(slot, Manner::USUAL, options.seed)).collect();
    for frame in (1..=options.frame).map(Frame::new) {
        let (reed, before) = (game.reed(), game.clone());
        let mut wishes = [Wish::default(); SEATS];
        for presser in &mut pressers {
            wishes[presser.slot()] = presser.press(&game, &reed);
        }
        game.tick(&Inputs::confirmed(frame, &wishes, SlotSet::first(players)));
        if frame.number() + CAMERA_FRAMES > options.frame {
            let own = options.own.min(SEATS - 1);
            let audience = Audience {
                names: &USUAL_NAMES,
                own: 1 << own,
                wish: wishes[own],
                room: "FENWIK",
                calm: options.calm,
                late: options.late,
                ..Audience::default()
            };
            stage.draw(&game, &before, 1.0, &audience, scene);
        }
    }
    format!("{} swim, {} crumbs, scores {:?}", game.swimmers(), game.crumbs.count(), game.scores)
}
