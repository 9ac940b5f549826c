//! The game as a picture: what is drawn where, and what is heard. Reads the state, never writes it.
//!
//! Everything that moves is drawn a part of a frame before where it is, by its velocity, so that a
//! screen of any rate moves smoothly. What drifts and flutters is a function of the frame and of
//! what happened.

// Pictures are looked at, never simulated.
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

/// Who is looking, as far as it changes the picture.
#[derive(Debug, Clone, Copy, Default)]
pub struct Audience<'a> {
    /// What the seats are called; empty for none.
    pub names: [&'a str; SEATS],
    /// Which seats are played here.
    pub own: [bool; SEATS],
    /// How good each link is, 0 to 3 bars; none for oneself and for bots.
    pub bars: [Option<u8>; SEATS],
    /// Less motion: no shake, no drift, no feathers. The game is the same.
    pub calm: bool,
    /// Leave out captions in the middle of the picture: somebody else writes them.
    pub plain: bool,
    /// Leave out plaques and names as well: the game is only scenery.
    pub bare: bool,
}

/// Everything needed to draw a game on one screen: images, made once.
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

/// Large text over the field.
#[derive(Debug, Clone, Copy)]
struct Letters {
    go: ImageId,
    won: ImageId,
    draw: ImageId,
    over: ImageId,
}

impl Stage {
    /// A stage for a screen.
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
            draw: big("NOBODY", 1),
            over: big("WELL BRAWLED", 1),
        };
        Stage { view, album, fliers, things, backdrop, back, emblems, numbers, letters }
    }

    /// The images scenes of this stage refer to.
    pub fn album(&self) -> &Album {
        &self.album
    }

    /// The screen it was made for.
    pub fn view(&self) -> View {
        self.view
    }

    /// Draws a moment so much (0 to 1) of a frame after the one before `game`'s.
    pub fn draw(&mut self, game: &Drake, between: f32, audience: &Audience<'_>, scene: &mut Scene) {
        scene.clear();
        let between = between.clamp(0.0, 1.0);
        // Seventy minutes of frames still leave a float sixty-fourths of a frame.
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

/// What drawing one picture needs.
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
    /// Time in frames.
    time: f32,
    calm: bool,
}

impl Painter<'_> {
    /// Back to front.
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

    /// Where something is drawn: as far before its place as the frame is not over.
    fn shown(&self, place: Vec2, velocity: Vec2) -> (f32, f32) {
        let back = (1.0 - self.between) / RATE as f32;
        (pixels(place[0]) - pixels(velocity[0]) * back, pixels(place[1]) - pixels(velocity[1]) * back)
    }

    /// An image about a place.
    fn about(&mut self, image: ImageId, (x, y): (f32, f32), shown: u8) {
        let picture = self.album.image(image);
        let (x, y) = (x - (picture.width() / 2) as f32, y - (picture.height() / 2) as f32);
        self.scene.art.push(Item::Image { image, x, y, mirrored: false, shown, flash: None });
    }
}

/// A fixed-point number of pixels.
fn pixels(number: Fixed16) -> f32 {
    number.to_f32()
}

/// Which of the four lights falls on something at this height.
fn light(y: f32) -> usize {
    match y {
        y if y < 74.0 => 0,
        y if y < 124.0 => 1,
        y if y < 168.0 => 2,
        _ => 3,
    }
}

/// Everything moves by up to two pixels when one is brought down, or something bursts near.
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

/// Whether somebody's picture flickers because nothing can happen to him.
fn flickers(game: &Drake, seat: usize) -> bool {
    game.seats[seat].safe > 0 && game.bout.phase == Phase::Play && game.seats[seat].form != Form::Out
}
