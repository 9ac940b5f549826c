//! The picture and the sounds of a state: a scene for one screen.
//!
//! Called by pages, demos and tests once a picture. Geese are drawn between the frame before and
//! this one; all else is a function of the frame and of recent events, so that every screen shows
//! the same. Absent: changes of the state, input.

// Nothing drawn is part of the simulated state.
#![allow(clippy::float_arithmetic)]

mod actors;
mod backdrop;
mod blaze;
mod creatures;
mod effects;
#[rustfmt::skip] // The data is a picture.
mod fen_parts;
mod figures;
#[rustfmt::skip] // The data is a picture.
mod goose_parts;
mod ground;
mod hud;
mod materials;
mod poses;
#[rustfmt::skip] // The data is a picture.
mod rider_parts;
mod sounds;
mod turf;

use gaggle_scene::{Album, Bitmap, Color, ImageId, Item, Scene, View, lettering, palette};

use crate::Gander;
use crate::arena::{self, LEDGE, PX};
use crate::cue::Kind;
use crate::player::SEATS;
use crate::rider::RIDERS;

use backdrop::{BLEED, Backdrop};
use blaze::Blaze;
use creatures::Creatures;
use poses::{CELL, CENTER, FEET, Geese};
use turf::Turf;

pub use figures::Figures;
pub use sounds::{RECIPES, recipe};

/// Properties of a screen's players that change the picture.
#[derive(Debug, Clone, Copy, Default)]
pub struct Audience<'a> {
    /// Display names by slot; empty for none.
    pub names: [&'a str; SEATS],
    /// Slots that are played at this screen.
    pub own: [bool; SEATS],
    /// Quality of each player's link, 0 to 3 bars; none for local players and bots.
    pub bars: [Option<u8>; SEATS],
    /// Less motion: no shake, no drift, no feathers, slow fire. The rules do not change.
    pub calm: bool,
    /// Omits captions in the middle of the picture, where the page has its own.
    pub plain: bool,
    /// Omits the players' plaques and names as well: the game is only scenery.
    pub bare: bool,
}

/// Images and memory of one screen, needed to draw any state on it.
#[derive(Debug, Clone)]
pub struct Stage {
    view: View,
    album: Album,
    geese: Geese,
    creatures: Creatures,
    turf: Turf,
    backdrop: Backdrop,
    back: ImageId,
    fires: [(Blaze, ImageId); 2],
    bedrock: Option<ImageId>,
    well_flown: ImageId,
    eased: [Eased; SEATS + RIDERS],
    /// Times the backdrop and the fires were last drawn for.
    drifted: Option<f32>,
    flickered: Option<f32>,
    pictures: u64,
}

/// Offset of a goose that a rollback has moved, while it fades.
#[derive(Debug, Clone, Copy, Default)]
struct Eased {
    x: f32,
    y: f32,
    /// Frame in which it was last halved.
    frame: u32,
}

/// Corrections of more pixels than `CUT` are shown at once; below `NOTICEABLE` a change is ordinary
/// flight.
const CUT: f32 = 8.0;
const NOTICEABLE: f32 = 3.5;

/// Frames between two drawings of mist and stars, and of the fires. They move slower than a pixel a
/// frame, and drawing them is most of what a picture costs.
const DRIFT_FRAMES: f32 = 3.0;
const FLICKER_FRAMES: f32 = 2.0;

/// `time` rounded down to a multiple of `frames`.
fn step(time: f32, frames: f32) -> f32 {
    (time / frames).floor() * frames
}

impl Stage {
    /// Paints all images for a screen.
    pub fn new(view: View) -> Stage {
        let mut album = Album::default();
        let geese = Geese::bake(&mut album);
        let creatures = Creatures::bake(&mut album);
        let turf = Turf::bake(&mut album);
        let backdrop = Backdrop::paint(view);
        let back = album.add(Bitmap::new(view.art_width, view.art_height));
        let fires = [false, true].map(|near| {
            let blaze = Blaze::new(view, near);
            (blaze, album.add(blaze.image(view)))
        });
        let bedrock = blaze::bedrock(view).map(|image| album.add(image));
        let well_flown = album.add(lettering("WELL FLOWN", &palette::LETTERING, 1, 1));
        let eased = [Eased::default(); SEATS + RIDERS];
        Stage {
            view,
            album,
            geese,
            creatures,
            turf,
            backdrop,
            back,
            fires,
            bedrock,
            well_flown,
            eased,
            drifted: None,
            flickered: None,
            pictures: 0,
        }
    }

    /// Images that scenes of this stage refer to.
    pub fn album(&self) -> &Album {
        &self.album
    }

    /// Screen it was made for.
    pub fn view(&self) -> View {
        self.view
    }

    /// Number of pictures drawn, which is independent of resimulated frames.
    pub fn pictures(&self) -> u64 {
        self.pictures
    }

    /// Draws a picture `between` (0 to 1) frames after `before`; 1 is `now`.
    pub fn draw(
        &mut self,
        now: &Gander,
        before: &Gander,
        between: f32,
        audience: &Audience<'_>,
        scene: &mut Scene,
    ) {
        scene.clear();
        self.pictures += 1;
        let between = between.clamp(0.0, 1.0);
        // Up to here a float can hold 1/64 of a frame.
        let time = (now.frame % (1 << 18)) as f32 + between - 1.0;
        let drift = if audience.calm { 0.0 } else { time };
        let drift = step(drift, DRIFT_FRAMES);
        if self.drifted != Some(drift) {
            self.drifted = Some(drift);
            self.backdrop.draw(self.album.redraw(self.back), drift);
        }
        let pace = step(if audience.calm { time / 4.0 } else { time }, FLICKER_FRAMES);
        if self.flickered != Some(pace) {
            self.flickered = Some(pace);
            for (blaze, image) in self.fires {
                blaze.draw(self.album.redraw(image), pace);
            }
        }
        let shake = if audience.calm { (0.0, 0.0) } else { shake(now, audience) };
        let mut painter = Painter {
            view: self.view,
            scene,
            geese: &self.geese,
            creatures: &self.creatures,
            turf: &self.turf,
            eased: &mut self.eased,
            well_flown: self.well_flown,
            well_flown_width: self.album.image(self.well_flown).width() as f32,
            between,
            time,
            calm: audience.calm,
        };
        painter.world(now, before, self.back, &self.fires, self.bedrock);
        shift(&mut painter.scene.art, shake);
        if !audience.bare {
            painter.plaques(now, audience);
            painter.pad_names(now, audience);
        }
        if !audience.plain {
            painter.captions(now);
        }
        sounds::cues(now, audience, &mut scene.cues);
    }
}

/// Everything one picture is drawn from, and into.
struct Painter<'a> {
    view: View,
    scene: &'a mut Scene,
    geese: &'a Geese,
    creatures: &'a Creatures,
    turf: &'a Turf,
    eased: &'a mut [Eased; SEATS + RIDERS],
    well_flown: ImageId,
    well_flown_width: f32,
    between: f32,
    /// Time of the picture in frames.
    time: f32,
    calm: bool,
}

impl Painter<'_> {
    /// Draws the world from back to front.
    fn world(
        &mut self,
        now: &Gander,
        before: &Gander,
        back: ImageId,
        fires: &[(Blaze, ImageId); 2],
        bedrock: Option<ImageId>,
    ) {
        let (left, top) = (-self.view.left as f32, -self.view.top as f32);
        self.scene.image(back, left, top);
        self.scene.image(fires[0].1, left, fires[0].0.top as f32);
        self.hand_behind(now);
        self.ledges(now);
        self.bridges(now);
        let rock = &LEDGE[arena::HEARTHSTONE];
        self.scene.image(
            self.turf.rock,
            (rock.x - turf::MARGIN.0) as f32,
            (rock.top - turf::MARGIN.1) as f32,
        );
        self.sign(now);
        self.pads(now);
        self.embers();
        self.departures(now);
        self.herns(now, before);
        self.eggs(now, before);
        self.riders(now, before);
        self.knights(now, before);
        self.idlers(now);
        self.hand_in_front(now);
        self.effects(now);
        self.scene.image(fires[1].1, left, fires[1].0.top as f32);
        if let Some(bedrock) = bedrock {
            self.scene.image(bedrock, left, blaze::BEDROCK as f32);
        }
        self.bubbles();
    }

    /// Draws a goose wherever it is visible: twice near the edge of the fen.
    fn goose(&mut self, image: ImageId, x: f32, y: f32, left: bool, shown: u8) {
        for x in [x, x - arena::WIDTH as f32, x + arena::WIDTH as f32] {
            self.goose_once(image, x, y, left, shown.min(goose_shown(x)));
        }
    }

    /// Draws a goose in one place.
    fn goose_once(&mut self, image: ImageId, x: f32, y: f32, left: bool, shown: u8) {
        let center = if left { CELL.0 - 1 - CENTER } else { CENTER };
        self.push(image, x - center as f32, y - FEET as f32, left, shown, None);
    }

    /// Draws an image wherever it is visible: twice near the edge of the fen.
    fn everywhere(&mut self, image: ImageId, x: f32, y: f32, width: f32) {
        for x in copies(x, width, self.view) {
            self.push(image, x, y, false, 16, None);
        }
    }

    fn push(&mut self, image: ImageId, x: f32, y: f32, mirrored: bool, shown: u8, flash: Option<Color>) {
        let beyond = (self.view.left + 60) as f32;
        if shown > 0 && x > -beyond && x < arena::WIDTH as f32 + beyond {
            self.scene.art.push(Item::Image { image, x, y, mirrored, shown, flash });
        }
    }
}

/// Sub-pixels as fractional pixels.
fn pixels(sub: i32) -> f32 {
    sub as f32 / PX as f32
}

/// Opacity of a goose, 0 to 16: beyond the edge of the fen it fades.
fn goose_shown(x: f32) -> u8 {
    let beyond = (-x).max(x - arena::WIDTH as f32).max(0.0);
    (16.0 - beyond / BLEED as f32 * 12.0).max(0.0) as u8
}

/// Places in which an image at `x` is visible, as the fen wraps.
fn copies(x: f32, width: f32, view: View) -> impl Iterator<Item = f32> {
    let (from, to) = (-view.left as f32, (arena::WIDTH + view.left) as f32);
    let turn = arena::WIDTH as f32;
    [x - turn, x, x + turn].into_iter().filter(move |x| x + width > from && *x < to)
}

/// Offset of the whole picture after a fall of a local knight or of a ledge, up to 2 pixels.
fn shake(game: &Gander, audience: &Audience<'_>) -> (f32, f32) {
    let cause = game.marks.recent(game.frame, 6).find(|mark| match mark.kind {
        Kind::Unseated => audience.own.get(usize::from(mark.who)).copied().unwrap_or(false),
        Kind::LedgeDrop => true,
        _ => false,
    });
    let Some(mark) = cause else { return (0.0, 0.0) };
    let age = game.frame.wrapping_sub(mark.frame) as i32;
    let size = if age < 3 { 2.0 } else { 1.0 };
    (if age % 2 == 0 { size } else { -size }, if age % 3 == 0 { 1.0 } else { 0.0 })
}

fn shift(items: &mut [Item], (right, down): (f32, f32)) {
    if (right, down) == (0.0, 0.0) {
        return;
    }
    for item in items {
        match item {
            Item::Image { x, y, .. } | Item::Fill { x, y, .. } | Item::Text { x, y, .. } => {
                *x += right;
                *y += down;
            }
            Item::Panel { x, y, .. } => {
                *x += right as i32;
                *y += down as i32;
            }
        }
    }
}
