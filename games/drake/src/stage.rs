//! Pictures and sound cues of the game, drawn by the arcade from a [`Drake`] it does not change.
//!
//! Moving things are drawn up to a frame back along their velocity, for screens of any rate;
//! effects are functions of the frame and of game events (`Mark`). Absent: game state, sound
//! output.

// Pictures are never simulated, so floats are allowed.
#![allow(clippy::float_arithmetic)]

mod backdrop;
mod effects;
mod fliers;
mod hud;
mod sounds;
mod things;
mod wicker;

use gaggle_kit::Fixed16;
use gaggle_scene::{Album, Bitmap, ImageId, Item, Scene, View, emblem, lettering, palette};

use crate::field::{RATE, SEATS, Vec2};
use crate::mark::What;
use crate::standing::Form;
use crate::{Drake, Phase};

use backdrop::Backdrop;
use fliers::Fliers;
use things::Things;

pub use sounds::{RECIPES, recipe};

/// Viewer settings that change the picture.
#[derive(Debug, Clone, Copy, Default)]
pub struct Audience<'a> {
    /// Names by seat; empty for none.
    pub names: [&'a str; SEATS],
    /// By seat: whether a local player plays it.
    pub own: [bool; SEATS],
    /// Link quality by seat, 0 to 3 bars; none for local players and bots.
    pub bars: [Option<u8>; SEATS],
    /// Less motion: no shake, drift or feathers.
    pub calm: bool,
    /// Leaves out captions in the middle, which the caller writes.
    pub plain: bool,
    /// Leaves out plaques and names: the game as a background.
    pub bare: bool,
}

/// Images for one screen size, made once, and the drawing of frames with them.
#[derive(Debug, Clone)]
pub struct Stage {
    view: View,
    album: Album,
    fliers: Fliers,
    things: Things,
    backdrop: Backdrop,
    back: ImageId,
    emblems: [ImageId; SEATS],
    numbers: [ImageId; 3],
    letters: Letters,
}

/// Large captions over the field.
#[derive(Debug, Clone, Copy)]
struct Letters {
    go: ImageId,
    won: ImageId,
    draw: ImageId,
    over: ImageId,
}

impl Stage {
    /// Paints all images for a view.
    pub fn new(view: View) -> Stage {
        let mut album = Album::default();
        let fliers = Fliers::bake(&mut album);
        let things = Things::bake(&mut album);
        let backdrop = Backdrop::paint(view);
        let back = album.add(Bitmap::new(view.art_width, view.art_height));
        let emblems = std::array::from_fn(|seat| album.add(emblem::emblem(seat, palette::SEATS_SIX[seat])));
        let mut big = |text: &str, rounds| album.add(lettering(text, &palette::LETTERING, rounds, 1));
        let numbers = ["1", "2", "3"].map(|number| big(number, 2));
        let letters = Letters {
            go: big("BRAWL", 2),
            won: big("LAST ONE UP", 1),
            draw: big("A DRAW", 1),
            over: big("WELL BRAWLED", 1),
        };
        Stage { view, album, fliers, things, backdrop, back, emblems, numbers, letters }
    }

    /// Images that scenes of this stage refer to.
    pub fn album(&self) -> &Album {
        &self.album
    }

    /// View it was made for.
    pub fn view(&self) -> View {
        self.view
    }

    /// Draws `game` at `between`, from 0 (its previous frame) to 1 (its present one).
    pub fn draw(&mut self, game: &Drake, between: f32, audience: &Audience<'_>, scene: &mut Scene) {
        scene.clear();
        let between = between.clamp(0.0, 1.0);
        // The frame wraps so that a float keeps 1/64 of a frame.
        let time = (game.frame % (1 << 18)) as f32 + between - 1.0;
        let drift = if audience.calm { 0.0 } else { time };
        self.backdrop.draw(self.album.redraw(self.back), drift);
        let shake = if audience.calm { 0.0 } else { shake(game, audience) };
        let mut painter = Painter {
            view: self.view,
            scene,
            album: &self.album,
            fliers: &self.fliers,
            things: &self.things,
            emblems: &self.emblems,
            numbers: &self.numbers,
            letters: self.letters,
            between,
            time,
            calm: audience.calm,
        };
        painter.world(game, self.back, audience);
        shift(&mut painter.scene.art, shake);
        if !audience.bare {
            painter.plaques(game, audience);
            painter.names(game, audience);
        }
        if !audience.plain {
            painter.captions(game, audience);
        }
        sounds::cues(game, audience, &mut scene.cues);
    }
}

/// Borrowed parts for drawing one picture.
struct Painter<'a> {
    view: View,
    scene: &'a mut Scene,
    album: &'a Album,
    fliers: &'a Fliers,
    things: &'a Things,
    emblems: &'a [ImageId; SEATS],
    numbers: &'a [ImageId; 3],
    letters: Letters,
    between: f32,
    /// Time of the picture in frames.
    time: f32,
    calm: bool,
}

impl Painter<'_> {
    /// Draws all layers of the world, back to front.
    fn world(&mut self, game: &Drake, back: ImageId, audience: &Audience<'_>) {
        self.scene.image(back, -self.view.left as f32, -self.view.top as f32);
        self.nests(game);
        self.trails(game);
        self.lying(game);
        self.rocks(game);
        self.lanterns(game);
        self.peas(game);
        self.ducklings(game, audience);
        self.drakes(game, audience);
        self.hornets(game);
        self.effects(game);
    }

    /// Position to draw at: back along the velocity by the rest of the frame.
    fn shown(&self, place: Vec2, velocity: Vec2) -> (f32, f32) {
        let back = (1.0 - self.between) / RATE as f32;
        (pixels(place[0]) - pixels(velocity[0]) * back, pixels(place[1]) - pixels(velocity[1]) * back)
    }

    /// Adds an image centered at a place.
    fn about(&mut self, image: ImageId, (x, y): (f32, f32), shown: u8) {
        let picture = self.album.image(image);
        let (x, y) = (x - (picture.width() / 2) as f32, y - (picture.height() / 2) as f32);
        self.scene.art.push(Item::Image { image, x, y, mirrored: false, shown, flash: None });
    }
}

/// Pixels as a float.
fn pixels(number: Fixed16) -> f32 {
    number.to_f32()
}

/// Index of the four lights by height.
fn light(y: f32) -> usize {
    match y {
        y if y < 74.0 => 0,
        y if y < 124.0 => 1,
        y if y < 168.0 => 2,
        _ => 3,
    }
}

/// Horizontal shake of up to two pixels after a local loss or a burst.
fn shake(game: &Drake, audience: &Audience<'_>) -> f32 {
    let cause = game.marks.recent(game.frame, 6).find(|mark| match mark.what {
        What::Down | What::Caught => audience.own.get(usize::from(mark.who)).copied().unwrap_or(false),
        What::Burst => true,
        _ => false,
    });
    let Some(mark) = cause else { return 0.0 };
    let age = game.frame.wrapping_sub(mark.frame) as i32;
    let size = if age < 3 { 2.0 } else { 1.0 };
    if age % 2 == 0 { size } else { -size }
}

fn shift(items: &mut [Item], right: f32) {
    if right == 0.0 {
        return;
    }
    for item in items {
        match item {
            Item::Image { x, .. } | Item::Fill { x, .. } | Item::Text { x, .. } => *x += right,
            Item::Panel { x, .. } => *x += right as i32,
        }
    }
}

/// Whether a craft flickers because it cannot be hit.
fn flickers(game: &Drake, seat: usize) -> bool {
    game.seats[seat].safe > 0 && game.bout.phase == Phase::Play && game.seats[seat].form != Form::Out
}
