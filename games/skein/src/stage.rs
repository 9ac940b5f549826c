//! The game as a picture: what is drawn and heard. It reads the state and never writes it.
//!
//! Called by pages and tools. Effects are a function of the frame and of game events (`Mark`), so
//! every screen shows the same. Absent: rules.

// Pictures are never simulated, so floats are allowed.
#![allow(clippy::float_arithmetic)]

mod actors;
mod backdrop;
mod bosses;
mod effects;
mod figures;
mod hern;
mod hud;
mod land;
mod roost;
mod sounds;
#[rustfmt::skip] // The data is a picture.
mod sprites;

use gaggle_scene::{Album, ImageId, Item, Scene, View, palette};

use crate::cue::Kind;
use crate::sky::PX;
use crate::{FLOCK, Phase, SEATS, Skein};

use backdrop::{Backdrop, DAWN_STEPS, Sky};
use bosses::BossArt;
use figures::Figures;

pub use roost::{Roosting, place as roost_place};
pub use sounds::{RECIPES, recipe};

/// Names of the stages, in their order.
pub const STAGE_NAMES: [&str; 5] =
    ["Leaving the Fen", "Smoke over the Mere", "Cold Moon", "The Squall", "First Frost"];

/// Settings of one screen.
#[derive(Debug, Clone, Copy, Default)]
pub struct Audience<'a> {
    /// Player names by slot; empty for none.
    pub names: [&'a str; SEATS],
    /// Slots of local players.
    pub own: [bool; SEATS],
    /// The code of the room; empty for none.
    pub room: &'a str,
    /// Less motion: no shake, no drift, no strobing. The game is the same.
    pub calm: bool,
    /// No captions in the middle of the picture.
    pub plain: bool,
    /// No plaques and no course bar either: the game is only a background.
    pub bare: bool,
}

/// Everything needed to draw a game on one screen.
#[derive(Debug, Clone)]
pub struct Stage {
    view: View,
    album: Album,
    figures: Figures,
    backdrop: Backdrop,
    boss: BossArt,
    is_quiet: bool,
    pictures: u64,
}

impl Stage {
    /// A stage for a screen.
    pub fn new(view: View) -> Stage {
        let mut album = Album::default();
        let figures = Figures::bake(&mut album);
        let boss = BossArt::bake(&mut album);
        let backdrop = Backdrop::new(view, &mut album);
        Stage { view, album, figures, backdrop, boss, is_quiet: false, pictures: 0 }
    }

    /// Sets whether the background is two fifths darker, so that fire stands out more.
    pub fn set_quiet_sky(&mut self, is_quiet: bool) {
        self.is_quiet = is_quiet;
    }

    /// Images to which scenes of this stage refer.
    pub fn album(&self) -> &Album {
        &self.album
    }

    /// Screen for which it was made.
    pub fn view(&self) -> View {
        self.view
    }

    /// Pictures drawn so far.
    pub fn pictures(&self) -> u64 {
        self.pictures
    }

    /// Draws the moment between `before` and `now` at this fraction, 0 to 1.
    pub fn draw(
        &mut self,
        now: &Skein,
        before: &Skein,
        between: f32,
        audience: &Audience<'_>,
        scene: &mut Scene,
    ) {
        scene.clear();
        self.pictures += 1;
        let between = between.clamp(0.0, 1.0);
        // Up to 2^18 frames, over an hour, an `f32` distinguishes a sixty-fourth of a frame.
        let time = (now.frame % (1 << 18)) as f32 + between - 1.0;
        let drift = if audience.calm { 0.0 } else { time };
        let sky = Sky { is_quiet: self.is_quiet, ..sky_of(now) };
        self.backdrop.draw(sky, drift, &mut self.album, scene);
        let mut painter =
            Painter { scene, figures: &self.figures, boss: &self.boss, between, time, audience };
        painter.world(now, before);
        let shake = if audience.calm { (0.0, 0.0) } else { shake(now, audience) };
        shift(&mut painter.scene.art, shake);
        if !audience.bare {
            painter.plaques(now);
            painter.course(now);
        }
        if !audience.plain {
            painter.captions(now);
        }
        sounds::cues(now, audience, &mut scene.cues);
    }
}

/// Which sky a moment has: the dawn comes up with the hurts of the last boss.
fn sky_of(game: &Skein) -> Sky {
    let stage = usize::from(game.course.stage.clamp(1, 5)) - 1;
    let boss = &game.boss;
    let (stage, dawn) = match game.course.phase {
        Phase::Roost if stage < 4 => (stage + 1, 0),
        Phase::Roost => (stage, DAWN_STEPS),
        Phase::Over if game.course.is_dawn => (stage, DAWN_STEPS),
        _ if boss.kind == 5 => {
            let hurts = u32::from(boss.full.saturating_sub(boss.hp));
            (stage, (hurts * u32::from(DAWN_STEPS) / u32::from(boss.full.max(1))) as u8)
        }
        _ => (stage, 0),
    };
    Sky { stage, dawn, is_quiet: false }
}

/// Context of drawing one picture.
struct Painter<'a> {
    scene: &'a mut Scene,
    figures: &'a Figures,
    boss: &'a BossArt,
    between: f32,
    /// Time of the picture in frames.
    time: f32,
    audience: &'a Audience<'a>,
}

impl Painter<'_> {
    /// Draws the world, back to front.
    fn world(&mut self, now: &Skein, before: &Skein) {
        effects::far_skein(self, now);
        effects::rain(self, now);
        bosses::draw(self, now, before);
        effects::bolts(self, now);
        actors::wakes(self, now, before);
        actors::enemies(self, now, before);
        effects::behind(self, now);
        actors::quills(self, now);
        actors::embers(self, now);
        actors::crumbs(self, now);
        actors::geese(self, now, before);
        effects::rings(self, now);
        effects::before(self, now);
    }

    fn plaques(&mut self, now: &Skein) {
        hud::plaques(self, now);
    }

    fn course(&mut self, now: &Skein) {
        hud::course(self, now);
    }

    fn captions(&mut self, now: &Skein) {
        hud::captions(self, now);
    }

    fn image(&mut self, image: ImageId, x: f32, y: f32) {
        self.scene.image(image, x, y);
    }

    fn faded(&mut self, image: ImageId, x: f32, y: f32, shown: u8, is_bright: bool) {
        let flash = is_bright.then_some(palette::FIRE[6]);
        self.scene.art.push(Item::Image { image, x, y, mirrored: false, shown, flash });
    }

    /// Interpolated place in pixels. After a jump, the new place.
    fn between(&self, before: (i32, i32), now: (i32, i32)) -> (f32, f32) {
        let jumped = (before.0 - now.0).abs() > 40 * PX || (before.1 - now.1).abs() > 40 * PX;
        let part = if jumped { 1.0 } else { self.between };
        let along = |from: i32, to: i32| (from as f32 + (to - from) as f32 * part) / PX as f32;
        (along(before.0, now.0), along(before.1, now.1))
    }

    fn is_own(&self, which: usize) -> bool {
        self.audience.own.get(which).copied().unwrap_or(false)
    }

    /// Name shown at a goose.
    fn name(&self, which: usize) -> &str {
        const USUAL: [&str; FLOCK] =
            ["Wren", "Hob", "Ottilie", "Big Tam", "Maud", "Pip", "a young one", "a young one"];
        match self.audience.names.get(which) {
            Some(name) if !name.is_empty() => name,
            _ => USUAL[which % FLOCK],
        }
    }
}

/// Shakes the picture by two pixels when a local goose is hit or a boss is beaten.
fn shake(game: &Skein, audience: &Audience<'_>) -> (f32, f32) {
    let cause = game.marks.recent(game.frame, 10).find(|mark| match mark.kind {
        Kind::Fall => {
            let own = audience.own.get(usize::from(mark.who)).copied().unwrap_or(false);
            own && game.frame.wrapping_sub(mark.frame) < 6
        }
        Kind::BossDown => true,
        _ => false,
    });
    let Some(mark) = cause else { return (0.0, 0.0) };
    let age = game.frame.wrapping_sub(mark.frame);
    (if age.is_multiple_of(2) { 2.0 } else { -2.0 }, if age.is_multiple_of(3) { 1.0 } else { 0.0 })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bots::{Bot, Strength};
    use crate::sky::{HEIGHT, WIDTH};
    use crate::{Pad, Setup};
    use gaggle_scene::Canvas;

    #[test]
    fn every_stage_and_boss_can_be_drawn() {
        let view = View::fit(1280, 720, WIDTH, HEIGHT);
        let (mut stage, mut scene) = (Stage::new(view), Scene::default());
        let mut canvas = Canvas::new(view);
        for number in 1..=5 {
            for wave in [6, 8] {
                let mut game = Skein::new(Setup { stage: number, wave, ..Setup::default() }, 3);
                let mut bots: Vec<Bot> = (0..3).map(|seat| Bot::new(seat, Strength::Sharp, 3)).collect();
                for frame in 0..500 {
                    let mut pads = [Pad::NONE; SEATS];
                    bots.iter_mut().for_each(|bot| pads[bot.seat()] = bot.play(&game));
                    let before = game;
                    game.step(&pads, std::array::from_fn(|seat| seat < 3));
                    if frame % 100 == 99 {
                        let calm = frame % 200 == 99;
                        let audience = Audience { calm, own: [true; SEATS], ..Audience::default() };
                        stage.draw(&game, &before, 0.5, &audience, &mut scene);
                        canvas.paint(&scene, stage.album());
                        assert!(scene.art.len() > 60, "stage {number}");
                    }
                }
            }
        }
        assert_eq!(stage.pictures(), 50);
    }
}
