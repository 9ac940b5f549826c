//! Pictures and sound cues of the pond, drawn by the arcade from a [`Pond`] it does not change.
//!
//! The view follows a boat. Moving things are drawn up to a frame back along their velocity, for
//! screens of any rate. Absent: game state, sound output.

// Pictures are never simulated, so floats are allowed.
#![allow(clippy::float_arithmetic)]

mod arrow;
mod boats;
mod effects;
mod flotsam;
mod hud;
mod shore;
mod sounds;

use gaggle_kit::Fixed16;
use gaggle_scene::{Album, ImageId, Item, Scene, View, emblem, lettering, palette};

use crate::pond::Pond;
use crate::water::{HEIGHT, RATE, SEATS, Vec2, WIDTH};

use boats::Boats;
use flotsam::Flotsam;

pub use sounds::{RECIPES, recipe};

/// Art pixels of the window onto the pond, as in all games of the arcade.
pub const WINDOW: (i32, i32) = (384, 216);

/// Viewer settings that change the picture.
#[derive(Debug, Clone, Copy, Default)]
pub struct Audience<'a> {
    /// Names by seat; empty for none.
    pub names: [&'a str; SEATS],
    /// By seat: whether a local player plays it.
    pub own: [bool; SEATS],
    /// Link quality by seat, 0 to 3 bars; none for local players and bots.
    pub bars: [Option<u8>; SEATS],
    /// Less motion: no ripples, no drift.
    pub calm: bool,
    /// Leaves out captions in the middle, which the caller writes.
    pub plain: bool,
    /// Leaves out plaques, list and map: the pond as a background.
    pub bare: bool,
    /// Seat of the boat to follow; none follows the local player's.
    pub follow: Option<usize>,
    /// For touch screens: list and map below the plaques, boat above the middle. List and map also
    /// move there while they would cover a local boat.
    pub raised: bool,
    /// Shows the authority of all things, also of those at rest.
    pub holders: bool,
}

/// Images for one screen size, made once, and the last position of the camera.
#[derive(Debug, Clone)]
pub struct Stage {
    view: View,
    album: Album,
    ground: ImageId,
    flotsam: Flotsam,
    boats: Boats,
    emblems: [ImageId; SEATS],
    day: ImageId,
    camera: Option<(f32, f32)>,
}

impl Stage {
    /// Paints all images for a view.
    pub fn new(view: View) -> Stage {
        let mut album = Album::default();
        let ground = album.add(shore::paint());
        let flotsam = Flotsam::bake(&mut album);
        let boats = Boats::bake(&mut album);
        let emblems = std::array::from_fn(|seat| album.add(emblem::emblem(seat, palette::SEATS_SIX[seat])));
        let day = album.add(lettering("THE WHEEL TURNS", &palette::LETTERING, 1, 1));
        Stage { view, album, ground, flotsam, boats, emblems, day, camera: None }
    }

    /// Images that scenes of this stage refer to.
    pub fn album(&self) -> &Album {
        &self.album
    }

    /// View it was made for.
    pub fn view(&self) -> View {
        self.view
    }

    /// Draws `pond` at `between`, from 0 (its previous frame) to 1 (its present one).
    pub fn draw(&mut self, pond: &Pond, between: f32, audience: &Audience<'_>, scene: &mut Scene) {
        scene.clear();
        let between = between.clamp(0.0, 1.0);
        let time = (pond.frame % (1 << 18)) as f32 + between - 1.0;
        let camera = self.follow(pond, between, audience);
        let raised = audience.raised || hud::covers_own_boat(pond, audience, camera);
        let audience = &Audience { raised, ..*audience };
        let mut painter = Painter {
            view: self.view,
            scene,
            album: &self.album,
            flotsam: &self.flotsam,
            boats: &self.boats,
            emblems: &self.emblems,
            day: self.day,
            camera,
            between,
            time,
            calm: audience.calm,
        };
        painter.world(pond, self.ground, audience);
        if !audience.bare {
            painter.arrows(pond, audience);
            painter.plaques(pond, audience);
            painter.list(pond, audience);
            painter.map(pond, audience);
        }
        if !audience.plain {
            painter.captions(pond);
        }
        sounds::cues(pond, audience, camera, &mut scene.cues);
    }

    /// Where a place of the pond was last drawn, in art pixels of the window.
    pub fn seen_at(&self, place: Vec2) -> (i32, i32) {
        let (left, top) = self.camera.unwrap_or_default();
        ((pixels(place[0]) - left) as i32, (pixels(place[1]) - top) as i32)
    }

    /// Top left corner of the window: a little ahead of the followed boat, and never far beyond the
    /// shore.
    fn follow(&mut self, pond: &Pond, between: f32, audience: &Audience<'_>) -> (f32, f32) {
        let own = audience.own.iter().position(|own| *own).or(audience.follow).unwrap_or(0);
        let boat = pond.boats[own].or_else(|| pond.boats.iter().flatten().next().copied());
        let back = (1.0 - between) / RATE as f32;
        let target = boat.map_or((WIDTH as f32 / 2.0, HEIGHT as f32 / 2.0), |boat| {
            let ahead = if audience.calm { 0.0 } else { 0.35 };
            let [x, y] =
                [0, 1].map(|axis| pixels(boat.place[axis]) + pixels(boat.velocity[axis]) * (ahead - back));
            (x, y)
        });
        let (left, top) = (self.view.left as f32, self.view.top as f32);
        let (wide, high) = (self.view.art_width as f32, self.view.art_height as f32);
        let clamp = |at: f32, bleed: f32, seen: f32, size: i32| {
            let (low, high) = (bleed, size as f32 - seen + bleed);
            if low < high { at.clamp(low, high) } else { (low + high) / 2.0 }
        };
        let x = clamp(target.0 - (WINDOW.0 / 2) as f32, left, wide, WIDTH);
        // Thumbs cover the lower corners, so the boat stays above them, also at the pond's end.
        let (aim, beyond) = if audience.raised { (WINDOW.1 / 3, WINDOW.1) } else { (WINDOW.1 / 2, 0) };
        let y = clamp(target.1 - aim as f32, top, high, HEIGHT + beyond);
        // Follow smoothly; cut after a leap across the pond.
        let camera = match self.camera {
            Some((from_x, from_y)) if (from_x - x).abs() + (from_y - y).abs() < 160.0 && !audience.calm => {
                (from_x + (x - from_x) * 0.12, from_y + (y - from_y) * 0.12)
            }
            _ => (x, y),
        };
        self.camera = Some(camera);
        // Whole screen pixels, so that still water does not shimmer.
        let scale = self.view.scale as f32;
        ((camera.0 * scale).round() / scale, (camera.1 * scale).round() / scale)
    }
}

/// Borrowed parts for drawing one picture.
struct Painter<'a> {
    view: View,
    scene: &'a mut Scene,
    album: &'a Album,
    flotsam: &'a Flotsam,
    boats: &'a Boats,
    emblems: &'a [ImageId; SEATS],
    day: ImageId,
    camera: (f32, f32),
    between: f32,
    /// Time of the picture in frames.
    time: f32,
    calm: bool,
}

impl Painter<'_> {
    /// Draws all layers of the world, back to front.
    fn world(&mut self, pond: &Pond, ground: ImageId, audience: &Audience<'_>) {
        let (left, top) = (-self.view.left, -self.view.top);
        self.scene.fill(left, top, self.view.art_width, self.view.art_height, palette::SEDGE[0]);
        self.scene.image(ground, -self.camera.0, -self.camera.1);
        self.glints(pond);
        self.race(pond);
        self.wheel(pond);
        self.paddles(pond);
        self.things(pond, audience);
        self.rowers(pond);
        self.jetties(pond, audience);
        self.effects(pond);
    }

    /// Position to draw at: back along the velocity by the rest of the frame.
    fn shown(&self, place: Vec2, velocity: Vec2) -> (f32, f32) {
        let back = (1.0 - self.between) / RATE as f32;
        let [x, y] = [0, 1].map(|axis| pixels(place[axis]) - pixels(velocity[axis]) * back);
        (x - self.camera.0, y - self.camera.1)
    }

    /// A place of the pond in the window.
    fn on_screen(&self, x: f32, y: f32) -> (f32, f32) {
        (x - self.camera.0, y - self.camera.1)
    }

    /// Whether a place is in the window or within `margin` of it.
    fn sees(&self, (x, y): (f32, f32), margin: f32) -> bool {
        let (left, top) = (self.view.left as f32, self.view.top as f32);
        let (right, bottom) = (self.view.art_width as f32 - left, self.view.art_height as f32 - top);
        (-left - margin..right + margin).contains(&x) && (-top - margin..bottom + margin).contains(&y)
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

/// Index of the four lights by height on the pond.
fn light(y: f32) -> usize {
    match y {
        y if y < 200.0 => 0,
        y if y < 340.0 => 1,
        y if y < 450.0 => 2,
        _ => 3,
    }
}
