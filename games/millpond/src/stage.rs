//! The pond as a picture: what is drawn where, and what is heard. Reads the state, never writes it.
//!
//! The view follows a boat. Everything that moves is drawn a part of a frame before where it is, by
//! its velocity, so that a screen of any rate moves smoothly.

// Pictures are looked at, never simulated.
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

/// Art pixels of the window through which the pond is seen, as all games of the arcade have.
pub const WINDOW: (i32, i32) = (384, 216);

/// Who is looking, as far as it changes the picture.
#[derive(Debug, Clone, Copy, Default)]
pub struct Audience<'a> {
    /// What the seats are called; empty for none.
    pub names: [&'a str; SEATS],
    /// Which seats are played here.
    pub own: [bool; SEATS],
    /// How good each link is, 0 to 3 bars; none for oneself and for bots.
    pub bars: [Option<u8>; SEATS],
    /// Less motion: no ripples, no drift. The game is the same.
    pub calm: bool,
    /// Leave out captions in the middle of the picture: somebody else writes them.
    pub plain: bool,
    /// Leave out plaques, list and map as well: the game is only scenery.
    pub bare: bool,
    /// Whose boat is followed; without, one's own.
    pub follow: Option<usize>,
    /// List and map stand right below the plaques, and the boat above the middle: thumbs are at the
    /// bottom. List and map also do while they would cover one's own boat.
    pub raised: bool,
    /// Shows who holds what, also what lies still.
    pub holders: bool,
}

/// Everything needed to draw a pond on one screen: images, made once, and where the view was last.
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
    /// A stage for a screen.
    pub fn new(view: View) -> Stage {
        let mut album = Album::default();
        let ground = album.add(shore::paint());
        let flotsam = Flotsam::bake(&mut album);
        let boats = Boats::bake(&mut album);
        let emblems = std::array::from_fn(|seat| album.add(emblem::emblem(seat, palette::SEATS_SIX[seat])));
        let day = album.add(lettering("THE WHEEL TURNS", &palette::LETTERING, 1, 1));
        Stage { view, album, ground, flotsam, boats, emblems, day, camera: None }
    }

    /// The images scenes of this stage refer to.
    pub fn album(&self) -> &Album {
        &self.album
    }

    /// The screen it was made for.
    pub fn view(&self) -> View {
        self.view
    }

    /// Draws a moment so much (0 to 1) of a frame after the one before `pond`'s.
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

    /// Where a place of the pond was drawn last, in art pixels of the window.
    pub fn seen_at(&self, place: Vec2) -> (i32, i32) {
        let (left, top) = self.camera.unwrap_or_default();
        ((pixels(place[0]) - left) as i32, (pixels(place[1]) - top) as i32)
    }

    /// The top left corner of the window: about the boat that is followed, looking a little ahead,
    /// never far beyond the shore.
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
        // Thumbs lie over the lower corners: the boat stays above them, also where the pond ends.
        let (aim, beyond) = if audience.raised { (WINDOW.1 / 3, WINDOW.1) } else { (WINDOW.1 / 2, 0) };
        let y = clamp(target.1 - aim as f32, top, high, HEIGHT + beyond);
        // It glides after the boat; a leap across the pond is a cut.
        let camera = match self.camera {
            Some((from_x, from_y)) if (from_x - x).abs() + (from_y - y).abs() < 160.0 && !audience.calm => {
                (from_x + (x - from_x) * 0.12, from_y + (y - from_y) * 0.12)
            }
            _ => (x, y),
        };
        self.camera = Some(camera);
        // Whole screen pixels, or still water would shimmer.
        let scale = self.view.scale as f32;
        ((camera.0 * scale).round() / scale, (camera.1 * scale).round() / scale)
    }
}

/// What drawing one picture needs.
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
    /// Time in frames.
    time: f32,
    calm: bool,
}

impl Painter<'_> {
    /// Back to front.
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

    /// Where something is drawn: as far before its place as the frame is not over.
    fn shown(&self, place: Vec2, velocity: Vec2) -> (f32, f32) {
        let back = (1.0 - self.between) / RATE as f32;
        let [x, y] = [0, 1].map(|axis| pixels(place[axis]) - pixels(velocity[axis]) * back);
        (x - self.camera.0, y - self.camera.1)
    }

    /// A place on the screen.
    fn on_screen(&self, x: f32, y: f32) -> (f32, f32) {
        (x - self.camera.0, y - self.camera.1)
    }

    /// Whether something about this place can be seen.
    fn sees(&self, (x, y): (f32, f32), margin: f32) -> bool {
        let (left, top) = (self.view.left as f32, self.view.top as f32);
        let (right, bottom) = (self.view.art_width as f32 - left, self.view.art_height as f32 - top);
        (-left - margin..right + margin).contains(&x) && (-top - margin..bottom + margin).contains(&y)
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

/// Which of the four lights falls on something at this height of the pond: the far bank burns.
fn light(y: f32) -> usize {
    match y {
        y if y < 200.0 => 0,
        y if y < 340.0 => 1,
        y if y < 450.0 => 2,
        _ => 3,
    }
}
