//! The game as a picture: what is drawn where, and what is heard. Reads the state, never writes it.
//!
//! Called by pages and tools. Animations are functions of frame and marks; only the camera has a
//! state. Absent: rules.

// Pictures are looked at, never simulated.
#![allow(clippy::float_arithmetic)]

mod actors;
mod camera;
mod easing;
mod figures;
mod hud;
mod map;
mod scenery;
mod sounds;
#[rustfmt::skip] // The data is a picture.
mod sprites;

use gaggle_scene::{Album, Item, Scene, View};

use crate::cue::Kind;
use crate::{Gosling, Reed, SEATS, Wish};

use camera::Camera;
use easing::Easing;
use figures::Figures;
use scenery::Scenery;

pub use camera::{HEIGHT, WIDTH};
pub use hud::BROOD_NAMES;
pub use sounds::RECIPES;

/// Names of bots and of players without one.
pub const USUAL_NAMES: [&str; 16] = [
    "Wren", "Hob", "Ottilie", "Tam", "Nib", "Maud", "Ash", "Pip", "Agnes", "Moss", "Kestrel", "Fen",
    "Sorrel", "Tansy", "Yarrow", "Dock",
];

/// Frames a player reads that a wish came too late, and from one time to the next.
const LATE_FRAMES: u32 = 90;
const LATE_AGAIN_FRAMES: u32 = 300;

/// What changes the picture from one screen to another.
#[derive(Debug, Clone, Copy, Default)]
pub struct Audience<'a> {
    /// Names of players by slot; empty or missing for none.
    pub names: &'a [&'a str],
    /// Slots of this screen's players, one bit each.
    pub own: u64,
    /// What the first own player wishes now: the picture shows where it leads.
    pub wish: Wish,
    /// Slot to follow if none is own; none for the gosling that carries most.
    pub watched: Option<usize>,
    /// The code of the room; empty for none.
    pub room: &'a str,
    /// A wish of an own player came too late since the last picture: the picture says so, once
    /// in ten seconds.
    pub late: bool,
    /// Less motion: a camera that steps, no glints, no blinking, no shake.
    pub calm: bool,
    /// Captions are left out.
    pub plain: bool,
    /// No plaques and no map either: the game is only scenery.
    pub bare: bool,
}

impl Audience<'_> {
    /// Whether a slot is played here.
    pub fn is_own(&self, slot: usize) -> bool {
        slot < SEATS && self.own >> slot & 1 == 1
    }

    /// The slot the camera follows.
    pub fn hero(&self, game: &Gosling) -> usize {
        let own = self.own.trailing_zeros() as usize;
        let is_here = |slot: &usize| *slot < SEATS && game.chicks[*slot].is_here();
        Some(own).filter(is_here).or(self.watched.filter(is_here)).unwrap_or_else(|| fullest(game))
    }

    /// Name to show for a slot.
    pub fn name(&self, slot: usize) -> &str {
        match self.names.get(slot) {
            Some(name) if !name.is_empty() => name,
            _ => USUAL_NAMES[slot % USUAL_NAMES.len()],
        }
    }
}

/// The gosling that carries most.
fn fullest(game: &Gosling) -> usize {
    let swimming = game.chicks.iter().enumerate().filter(|(_, chick)| chick.is_swimming());
    swimming.max_by_key(|(slot, chick)| (chick.load, usize::MAX - slot)).map_or(0, |(slot, _)| slot)
}

/// Everything needed to draw a game on one screen.
#[derive(Debug, Clone)]
pub struct Stage {
    view: View,
    album: Album,
    figures: Figures,
    scenery: Scenery,
    camera: Camera,
    easing: Easing,
    /// The frame in which a player was told last of a wish that came too late.
    late: Option<u32>,
    pictures: u64,
}

impl Stage {
    /// A stage for a screen.
    pub fn new(view: View) -> Stage {
        let mut album = Album::default();
        let figures = Figures::bake(&mut album);
        Stage {
            view,
            album,
            figures,
            scenery: Scenery::default(),
            camera: Camera::new(view),
            easing: Easing::default(),
            late: None,
            pictures: 0,
        }
    }

    /// The images scenes of this stage refer to.
    pub fn album(&self) -> &Album {
        &self.album
    }

    /// The screen it was made for.
    pub fn view(&self) -> View {
        self.view
    }

    /// Pictures drawn so far.
    pub fn pictures(&self) -> u64 {
        self.pictures
    }

    /// The part of the world on the screen: left, top, width and height in pixels of the reed.
    pub fn seen(&self) -> (i32, i32, i32, i32) {
        self.camera.seen()
    }

    /// Draws the moment `between` (0 to 1) of the way from `before` to `now`.
    pub fn draw(
        &mut self,
        now: &Gosling,
        before: &Gosling,
        between: f32,
        audience: &Audience<'_>,
        scene: &mut Scene,
    ) {
        scene.clear();
        self.pictures += 1;
        let reed = now.reed();
        let hero = audience.hero(now);
        self.easing.follow(now, &reed);
        self.note_late(now.frame, audience.late);
        let (between, easing) = (between.clamp(0.0, 1.0), &self.easing);
        let moment = Moment { now, before, between, reed: &reed, easing };
        self.camera.follow(&moment, hero, audience);
        self.scenery.prepare(&reed, now, &self.camera, &mut self.album);
        let mut painter = Painter {
            scene,
            figures: &self.figures,
            scenery: &self.scenery,
            camera: &self.camera,
            moment,
            audience,
            hero,
            is_late: self.late.is_some_and(|since| now.frame.wrapping_sub(since) < LATE_FRAMES),
        };
        actors::world(&mut painter);
        let shake = if audience.calm { 0.0 } else { shake(now, audience) };
        shift(&mut painter.scene.art, shake);
        if !audience.bare {
            hud::draw(&mut painter);
            map::draw(&mut painter);
        }
        if !audience.plain && !audience.bare {
            hud::captions(&mut painter);
        }
        sounds::cues(now, &reed, audience, hero, &mut scene.cues);
    }

    /// A player is told once in ten seconds.
    fn note_late(&mut self, frame: u32, is_late: bool) {
        if is_late && self.late.is_none_or(|since| frame.wrapping_sub(since) >= LATE_AGAIN_FRAMES) {
            self.late = Some(frame);
        }
    }
}

/// Two states and a moment between them.
#[derive(Clone, Copy)]
struct Moment<'a> {
    now: &'a Gosling,
    before: &'a Gosling,
    between: f32,
    reed: &'a Reed,
    easing: &'a Easing,
}

impl Moment<'_> {
    /// Pixels of a place in units: the middle of the first cell is at 24, 24.
    fn pixels(place: (i32, i32)) -> (f32, f32) {
        (place.0 as f32 / 256.0 + 24.0, place.1 as f32 / 256.0 + 24.0)
    }

    /// A place between two frames, in pixels; a jump is not interpolated.
    fn place(&self, before: (i32, i32), now: (i32, i32)) -> (f32, f32) {
        let has_jumped = (before.0 - now.0).abs() + (before.1 - now.1).abs() > 2_048;
        let part = if has_jumped { 1.0 } else { self.between };
        let (from, to) = (Moment::pixels(before), Moment::pixels(now));
        (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part)
    }

    /// Where a gosling is shown.
    fn chick(&self, slot: usize) -> (f32, f32) {
        let [before, now] = [self.before, self.now].map(|game| self.reed.place(game.chicks[slot].at));
        let eased = self.easing.place(slot, self.time(), Moment::pixels(now));
        eased.unwrap_or_else(|| self.place(before, now))
    }

    /// Where a pike is shown.
    fn pike(&self, which: usize) -> (f32, f32) {
        let [before, now] = [self.before, self.now].map(|game| self.reed.place(game.pikes[which].at));
        self.place(before, now)
    }

    /// The moment in frames.
    fn time(&self) -> f32 {
        (self.now.frame % (1 << 18)) as f32 + self.between - 1.0
    }
}

/// What drawing one picture needs.
struct Painter<'a> {
    scene: &'a mut Scene,
    figures: &'a Figures,
    scenery: &'a Scenery,
    camera: &'a Camera,
    moment: Moment<'a>,
    audience: &'a Audience<'a>,
    /// The slot the camera follows.
    hero: usize,
    /// Its player is told that a wish came too late.
    is_late: bool,
}

impl Painter<'_> {
    /// Place on the screen of a place in the reed, in whole pixels.
    fn at(&self, place: (f32, f32)) -> (f32, f32) {
        let (x, y) = self.camera.offset();
        ((place.0 - x).round(), (place.1 - y).round())
    }
}

/// Pixels by which the picture shakes when an own gosling is caught.
fn shake(game: &Gosling, audience: &Audience<'_>) -> f32 {
    let is_hit = |kind, who: u8| kind == Kind::Caught && audience.is_own(who.into());
    let hit = game.marks.recent(game.frame, 6).find(|mark| is_hit(mark.kind, mark.who));
    hit.map_or(0.0, |mark| if game.frame.wrapping_sub(mark.frame).is_multiple_of(2) { 2.0 } else { -2.0 })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mode, Setup, round};
    use gaggle_kit::{Frame, SlotSet};
    use gaggle_scene::Canvas;
    use gaggle_timeline::{Game, Inputs};

    fn played(mode: Mode, frames: u32, round_frames: u16, mut each: impl FnMut(&Gosling, &Gosling)) {
        let mut game = Gosling::new(Setup { round_frames, ..Setup::of(mode) }, 3);
        for frame in (1..=frames).map(Frame::new) {
            let before = game.clone();
            game.tick(&Inputs::confirmed(
                frame,
                &[Wish::to((frame.number() / 40 % 4) as u8); 64],
                SlotSet::first(3),
            ));
            each(&game, &before);
        }
    }

    #[test]
    fn every_mode_can_be_drawn_through_result() {
        for mode in [Mode::Broods, Mode::Free, Mode::Great] {
            let view = View::fit(1280, 720, WIDTH, HEIGHT);
            let (mut stage, mut scene) = (Stage::new(view), Scene::default());
            let mut canvas = Canvas::new(view);
            played(mode, 1_200, 900, |now, before| {
                if now.frame.is_multiple_of(100) {
                    let calm = now.frame.is_multiple_of(200);
                    let audience = Audience { calm, own: 1, room: "FENWIK", ..Audience::default() };
                    stage.draw(now, before, 0.5, &audience, &mut scene);
                    canvas.paint(&scene, stage.album());
                    assert!(scene.art.len() > 100, "{mode:?}: {}", scene.art.len());
                }
            });
            assert_eq!(stage.pictures(), 12);
        }
    }

    /// Texts of a scene, with their places.
    fn texts(scene: &Scene) -> impl Iterator<Item = (&str, f32, f32)> {
        scene.art.iter().filter_map(|item| match item {
            Item::Text { words, x, y, .. } => Some((scene.text_of(*words), *x, *y)),
            _ => None,
        })
    }

    #[test]
    fn upright_phone_shows_gosling_load_and_clock_all_round() {
        let view = View::at_scale(390, 844, WIDTH, HEIGHT, 2, 2);
        let (mut stage, mut scene) = (Stage::new(view), Scene::default());
        let (mut outside, mut loads) = (0, [0; 13]);
        let on_screen = |x: f32, y: f32| {
            let (x, y) = (x as i32 + view.left, y as i32 + view.top);
            (0..view.art_width).contains(&x) && (0..view.art_height).contains(&y)
        };
        played(Mode::Broods, round::FRAMES.into(), round::FRAMES, |now, before| {
            if now.clock.phase == crate::Phase::Result {
                return;
            }
            let audience = Audience { own: 1, ..Audience::default() };
            stage.draw(now, before, 1.0, &audience, &mut scene);
            let (left, top, width, height) = stage.seen();
            let (x, y) = Moment::pixels(now.reed().place(now.chicks[0].at));
            let is_seen = (left + 8..left + width - 8).contains(&(x as i32))
                && (top + 8..top + height - 8).contains(&(y as i32));
            // The way home after a bite is a glide.
            outside += u32::from(!is_seen && now.chicks[0].is_swimming());
            let clock = texts(&scene).find(|(text, ..)| text.contains(':')).expect("a clock");
            assert!(on_screen(clock.1, clock.2), "{clock:?}");
            // A full square for each crumb carried, all of them on the screen.
            let squares = scene.art.iter().filter(|item| match item {
                Item::Fill { x, y, width, height, color, .. } => {
                    (*width, *height) == (4.0, 4.0)
                        && *color == gaggle_scene::palette::MOON
                        && on_screen(*x, *y)
                        && on_screen(*x + 3.0, *y + 3.0)
                }
                _ => false,
            });
            assert_eq!(squares.count(), usize::from(now.chicks[0].load), "frame {}", now.frame);
            loads[usize::from(now.chicks[0].load)] += 1;
        });
        assert_eq!(outside, 0, "frames in which it was outside of the view");
        assert!(loads.iter().filter(|frames| **frames > 0).count() > 8, "{loads:?}");
    }

    #[test]
    fn late_wish_is_told_once_in_ten_seconds() {
        let view = View::fit(1280, 720, WIDTH, HEIGHT);
        let (mut stage, mut scene) = (Stage::new(view), Scene::default());
        let mut told = Vec::new();
        played(Mode::Broods, 700, 900, |now, before| {
            let late = [200, 250, 350, 600].contains(&now.frame);
            let audience = Audience { own: 1, late, ..Audience::default() };
            stage.draw(now, before, 1.0, &audience, &mut scene);
            if texts(&scene).any(|(text, ..)| text == "Your turn came too late.") {
                told.push(now.frame);
            }
        });
        let wanted: Vec<u32> = (200..290).chain(600..690).collect();
        assert_eq!(told, wanted);
    }
}
