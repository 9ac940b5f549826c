//! Effects of events: sparks, feathers, splashes, dust, rising numbers, geese that fly off.
//!
//! Called by `stage.rs`. Each is a function of a game event (`Mark`) and its age, so that every
//! screen and replay shows the same. Absent: simulated state.

use std::fmt::Write;

use gaggle_scene::{Color, Scene, chance, palette, sine};
use palette::{FIRE, INK, MOON, NIGHT, SEDGE, TEXT};

use super::poses::{CELL, CENTER, FEET, Pose, light};
use super::{Painter, goose_shown};
use crate::cue::{Kind, Mark, NO_SLOT};
use crate::hern::Hern;
use crate::player::SEATS;
use crate::{Gander, arena};

/// Frames a feather takes to come down.
const FEATHER_FRAMES: f32 = 90.0;
/// Frames a number rises, and pixels it rises.
const POINTS_FRAMES: f32 = 44.0;
const POINTS_RISE: f32 = 12.0;
/// Frames the longest effect lasts.
const LONGEST: u32 = 150;

impl Painter<'_> {
    /// Draws geese that fly off, behind all others.
    pub(super) fn departures(&mut self, game: &Gander) {
        let now = game.frame;
        for mark in game.marks.recent(now, LONGEST) {
            let age = now.wrapping_sub(mark.frame) as f32 + self.between;
            match mark.kind {
                Kind::Clang => self.make_off(mark, usize::from(mark.look), age),
                Kind::Unseated => self.make_off(mark, 0, age),
                Kind::Leave if mark.by != NO_SLOT => self.ride_off(mark, age),
                Kind::HernDown => self.fall_apart(mark, age),
                _ => {}
            }
        }
    }

    /// Draws all other effects, behind the nearer fire.
    pub(super) fn effects(&mut self, game: &Gander) {
        let now = game.frame;
        for mark in game.marks.recent(now, LONGEST) {
            let age = now.wrapping_sub(mark.frame) as f32 + self.between;
            self.effect(game, mark, age);
        }
    }

    fn effect(&mut self, game: &Gander, mark: &Mark, age: f32) {
        let (x, y) = (f32::from(mark.x), f32::from(mark.y));
        let look = usize::from(mark.look);
        match mark.kind {
            Kind::Clang => {
                self.flash(mark, look, age);
                self.spark(x, y - 14.0, 8.0, age);
                self.feathers(mark, plume(look), age);
            }
            Kind::Unseated => {
                self.flash(mark, look, age);
                self.spark(x, y - 14.0, 10.0, age);
                self.feathers(mark, plume(0), age);
            }
            Kind::Bounce => self.spark(x, y, 4.0, age * 1.4),
            Kind::HernDown => {
                self.spark(x, y, 12.0, age * 0.8);
                self.feathers(mark, Color::hex(0x8a7ea0), age);
            }
            Kind::Splash => self.splash(x, age, mark.who),
            Kind::Rise | Kind::Free => self.splash(x, age * 1.5, 40),
            Kind::EggTaken | Kind::Points => self.points(mark, age),
            Kind::ExtraMount => self.extra_mount(game, mark, age),
            Kind::Hatch => self.shell(x, y, age, mark.frame),
            Kind::Mounted => self.dust(x, y, age),
            Kind::Cry => self.cry(mark, age),
            Kind::LedgeDrop => self.ledge_dust(usize::from(mark.who), age, 60.0),
            _ => {}
        }
    }

    /// Draws a goose that flies off without its rider.
    fn make_off(&mut self, mark: &Mark, look: usize, age: f32) {
        if age < 3.0 {
            return;
        }
        let dir = if mark.left { -1.0 } else { 1.0 };
        let run = (age * 0.9 + age * age * 0.02).min(700.0);
        let x = f32::from(mark.x) + dir * run;
        let y = f32::from(mark.y) - age * 0.35 - age * age * 0.004;
        let pose = [Pose::Up, Pose::Mid, Pose::Down, Pose::Mid][(age / 4.0) as usize % 4];
        let image = self.geese.bare(look, pose, light(y));
        self.goose_once(image, x, y, mark.left, goose_shown(x));
    }

    /// Draws the knight of a player that left, flying off.
    fn ride_off(&mut self, mark: &Mark, age: f32) {
        let dir = if mark.left { -1.0 } else { 1.0 };
        let x = f32::from(mark.x) + dir * age * 1.4;
        let y = f32::from(mark.y) - age * 0.4 - age * age * 0.008;
        let pose = [Pose::Up, Pose::Down, Pose::Mid][(age / 5.0) as usize % 3];
        let image = self.geese.ridden(usize::from(mark.look), pose, light(y));
        let shown = (goose_shown(x) as f32 * (1.0 - age / LONGEST as f32)) as u8;
        self.goose_once(image, x, y, mark.left, shown);
    }

    /// Draws the loser of a joust in plain white for 3 frames.
    fn flash(&mut self, mark: &Mark, look: usize, age: f32) {
        if age < 3.0 {
            let image = self.geese.ridden(look, Pose::Up, 0);
            let center = if mark.left { CELL.0 - 1 - CENTER } else { CENTER };
            let at = (f32::from(mark.x) - center as f32, f32::from(mark.y) - FEET as f32);
            self.scene.art.push(gaggle_scene::Item::Image {
                image,
                x: at.0,
                y: at.1,
                mirrored: mark.left,
                shown: 16,
                flash: Some(MOON),
            });
        }
    }

    fn spark(&mut self, x: f32, y: f32, radius: f32, age: f32) {
        if age >= 8.0 {
            return;
        }
        let reach = radius * (0.5 + age / 9.0);
        for ray in 0..8 {
            let angle = ray as f32 * std::f32::consts::FRAC_PI_4 + 0.2;
            let (dx, dy) = (sine(angle + std::f32::consts::FRAC_PI_2), sine(angle));
            let end = if ray % 2 == 0 { reach } else { reach * 0.6 };
            let mut along = 2.0 + age * 0.7;
            while along < end {
                let color = if along > end * 0.6 { FIRE[4] } else { FIRE[6] };
                self.scene.dot(x + dx * along, y + dy * along, color);
                along += 1.0;
            }
        }
        if age < 4.0 {
            self.scene.blend(x - 1.0, y - 1.0, 3.0, 3.0, MOON, 1.0);
        }
    }

    fn feathers(&mut self, mark: &Mark, color: Color, age: f32) {
        if age >= FEATHER_FRAMES || self.calm {
            return;
        }
        for feather in 0..7 {
            let id = mark.frame as i32 ^ i32::from(mark.who) << 8;
            let own = |purpose| chance(feather, id, purpose);
            // Feathers are thrown first and then fall.
            let thrown = 1.0 - 1.0 / (1.0 + age * 0.18);
            let x = f32::from(mark.x)
                + (own(1) - 0.5) * 44.0 * thrown
                + sine(age * 0.07 + own(2) * 6.0) * 4.0 * thrown;
            let y = f32::from(mark.y) - 12.0 + (own(3) - 0.7) * 30.0 * thrown + age * 0.3;
            if age > FEATHER_FRAMES * (0.6 + own(4) * 0.4) || y > arena::FIRE as f32 {
                continue;
            }
            let turn = ((age * 0.08 + own(5) * 4.0) as i32).rem_euclid(4);
            feather_at(self.scene, x, y, turn, color);
        }
    }

    fn splash(&mut self, x: f32, age: f32, who: u8) {
        if age >= 24.0 {
            return;
        }
        for drop in 0..11 {
            let own = |purpose| chance(drop, i32::from(who), purpose);
            let (vx, vy) = ((own(1) - 0.5) * 1.5, 0.7 + own(2) * 1.3);
            let y = arena::FIRE as f32 + 2.0 - vy * age + 0.055 * age * age;
            if y < arena::FIRE as f32 + 4.0 {
                let x = x + vx * age;
                self.scene.dot(x, y, if drop % 3 == 0 { FIRE[6] } else { FIRE[4] });
                self.scene.dot(x, y + 1.0, FIRE[3]);
                if drop % 2 == 1 {
                    self.scene.dot(x, y + 2.0, FIRE[2]);
                }
            }
        }
    }

    fn points(&mut self, mark: &Mark, age: f32) {
        if age >= POINTS_FRAMES || mark.value == 0 {
            return;
        }
        let seat = usize::from(mark.by).min(SEATS - 1);
        let color = palette::SEAT[seat].mix(TEXT, 0.4);
        let mut text = String::new();
        gaggle_scene::font::thousands(u32::from(mark.value), &mut text);
        // Above the knight that took it.
        let start = if mark.kind == Kind::EggTaken { 22.0 } else { 8.0 };
        let y = f32::from(mark.y) - start - (age / POINTS_FRAMES) * POINTS_RISE;
        let x = f32::from(mark.x).clamp(16.0, arena::WIDTH as f32 - 16.0);
        self.scene.text(&text, x, y.max(18.0), color).centered().outlined(INK);
        if mark.kind == Kind::EggTaken {
            for glint in 0..5 {
                let angle = glint as f32 * 1.2566 + 0.3;
                let far = 4.0 + age * 0.8;
                if age < 12.0 {
                    let (dx, dy) = (sine(angle + std::f32::consts::FRAC_PI_2) * far, sine(angle) * far);
                    self.scene.dot(
                        f32::from(mark.x) + dx,
                        f32::from(mark.y) + dy,
                        if age < 6.0 { FIRE[6] } else { color },
                    );
                }
            }
        }
    }

    fn extra_mount(&mut self, game: &Gander, mark: &Mark, age: f32) {
        if age < 90.0 {
            let seat = usize::from(mark.by).min(SEATS - 1);
            let player = &game.players[seat];
            let (x, y) = if player.riding() {
                ((player.mover.x / arena::PX) as f32, (player.mover.y / arena::PX) as f32)
            } else {
                (f32::from(mark.x), f32::from(mark.y))
            };
            let y = y - 40.0 - age * 0.1;
            self.scene.image(self.creatures.lives[seat], x - 12.0, y);
            self.scene.text("+1", x + 1.0, y + 1.0, palette::SEAT[seat].mix(TEXT, 0.4)).outlined(INK);
        }
    }

    fn shell(&mut self, x: f32, y: f32, age: f32, frame: u32) {
        if age >= 30.0 {
            return;
        }
        for bit in 0..6 {
            let own = |purpose| chance(bit, frame as i32, purpose);
            let x = x + (own(1) - 0.5) * 1.2 * age;
            let fall = y - 6.0 - (0.5 + own(2)) * age + 0.06 * age * age;
            if fall < y {
                self.scene.dot(x, fall, Color::hex(0xf1e6cb));
            }
        }
    }

    /// Draws dust at the feet of a goose.
    pub(super) fn dust(&mut self, x: f32, y: f32, age: f32) {
        if age >= 18.0 {
            return;
        }
        for puff in 0..5 {
            let side = puff as f32 - 2.0;
            let x = x + side * (2.0 + age * 0.35);
            let y = y - 1.0 - age * 0.12 * (1.0 + (puff % 2) as f32);
            let size = if age < 6.0 { 2.0 } else { 1.0 };
            self.scene.blend(x, y, size, size, SEDGE[4], 0.55 - age * 0.025);
        }
    }

    /// Draws dust below a ledge that shakes or has dropped.
    pub(super) fn ledge_dust(&mut self, number: usize, age: f32, frames: f32) {
        let Some(ledge) = arena::LEDGE.get(number) else { return };
        if age >= frames {
            return;
        }
        for grain in 0..ledge.width / 5 {
            let own = |purpose| chance(grain, number as i32, purpose);
            let time = (age * 1.2 + own(1) * 40.0) % 40.0;
            let x = (ledge.x as f32 + own(2) * ledge.width as f32).rem_euclid(arena::WIDTH as f32);
            let y = ledge.bottom() as f32 + time * (0.4 + own(3) * 0.7);
            self.scene.blend(x, y, 1.0, 1.0, palette::PEAT[4], 0.8 - time * 0.018);
        }
    }

    /// Draws a dead Hern that falls and burns out.
    fn fall_apart(&mut self, mark: &Mark, age: f32) {
        if age >= 50.0 {
            return;
        }
        let dir = if mark.left { -1.0 } else { 1.0 };
        let x = f32::from(mark.x) + dir * age * 0.8;
        let y = f32::from(mark.y) + age * age * 0.03;
        let ghost = Hern { left: mark.left, open: true, beat: 10, ..Hern::default() };
        let shown = (16.0 - age / 3.2).max(0.0) as u8;
        self.hern_at(&ghost, x, y, shown, (age < 2.0).then_some(MOON));
    }

    /// Draws waves of a Hern's cry at the edge it will come from.
    fn cry(&mut self, mark: &Mark, age: f32) {
        if age >= f32::from(crate::hern::CRY_FRAMES) || (age / 15.0) as i32 % 2 == 1 {
            return;
        }
        let from_left = !mark.left;
        let x = if from_left { 2.0 } else { arena::WIDTH as f32 - 10.0 };
        let y = f32::from(mark.y);
        for ring in 0..3 {
            let out = ring as f32 * 3.0;
            let x = if from_left { x + out } else { x + 7.0 - out };
            let half = 2.0 + out * 0.6;
            self.scene.blend(x, y - half, 1.0, half * 2.0, if ring == 0 { FIRE[5] } else { FIRE[3] }, 1.0);
        }
    }

    /// Draws sparks of the fire, in every frame.
    pub(super) fn embers(&mut self) {
        if self.calm {
            return;
        }
        let width = self.view.art_width as f32;
        let left = self.view.left as f32;
        for ember in 0..46 {
            let own = |purpose| chance(ember, purpose, 0);
            let high = (own(1) * 150.0 + self.time * (0.2 + own(4) * 0.5)) % 150.0;
            if own(3) <= high / 170.0 {
                continue;
            }
            let x = own(2) * width - left + sine(high * 0.09 + ember as f32) * 5.0;
            let y = arena::FIRE as f32 - high;
            let color = match high {
                0.0..50.0 => FIRE[5],
                50.0..95.0 => FIRE[4],
                _ => FIRE[3],
            };
            self.scene.dot(x, y, color);
            if own(5) > 0.75 && high < 80.0 {
                self.scene.dot(x, y + 1.0, FIRE[3]);
            }
        }
    }

    /// Draws bubbles that swell on the fire and burst.
    pub(super) fn bubbles(&mut self) {
        for place in 0..6 {
            let period = 80.0 + place as f32 * 13.0;
            let turn = (self.time / period).floor();
            let age = self.time - turn * period;
            let own = |purpose| chance(place, turn as i32, purpose);
            let x = if own(1) < 0.5 { own(2) * 58.0 } else { 312.0 + own(2) * 68.0 };
            let y = (arena::FIRE + super::blaze::NEARER) as f32;
            match age {
                0.0..20.0 => {
                    let size = 1.0 + (age / 6.0).floor();
                    self.scene.blend(x - size, y - size, size * 2.0, size, FIRE[5], 1.0);
                    self.scene.blend(x - size + 1.0, y - size, 1.0, 1.0, FIRE[6], 1.0);
                }
                20.0..34.0 => {
                    let up = age - 20.0;
                    for side in [-1.0, 0.0, 1.0] {
                        self.scene.dot(x + side * up * 0.4, y - 3.0 - up * 0.9 + up * up * 0.07, FIRE[5]);
                    }
                }
                _ => {}
            }
        }
    }

    /// Draws one flame of a burning plank.
    pub(super) fn flame(&mut self, x: f32, y: f32, height: i32, seed: f32) {
        for up in 0..height {
            let part = up as f32 / height as f32;
            let half = ((height - up) as f32 * 0.35).floor();
            let sway = (sine(self.time * 0.3 + seed + up as f32 * 0.9) * part * 1.6).floor();
            let color = match part {
                p if p < 0.35 => FIRE[5],
                p if p < 0.7 => FIRE[4],
                _ => FIRE[3],
            };
            self.scene.blend(x - half + sway, y - up as f32, half * 2.0 + 1.0, 1.0, color, 1.0);
        }
    }
}

/// Draws a feather of 3 pixels in one of 4 turns.
fn feather_at(scene: &mut Scene, x: f32, y: f32, turn: i32, color: Color) {
    const SHAPES: [[(i32, i32); 4]; 4] = [
        [(2, 0), (1, 1), (0, 2), (2, 0)],
        [(0, 0), (1, 0), (1, 1), (2, 1)],
        [(1, 0), (2, 0), (0, 1), (0, 2)],
        [(0, 0), (0, 1), (1, 1), (1, 2)],
    ];
    let shade = color.mix(NIGHT[2], 0.35);
    for (dx, dy) in SHAPES[turn as usize] {
        scene.dot(x + dx as f32, y + dy as f32, if (dx + dy) & 1 == 1 { color } else { shade });
    }
}

/// Color of the feathers of a look.
fn plume(look: usize) -> Color {
    match look {
        0..SEATS => Color::hex(0xeef3fa),
        4 => Color::hex(0xa59dc4),
        5 => Color::hex(0x9dbfca),
        _ => Color::hex(0xcdb6ea),
    }
}

/// A number as text, without separators.
pub(super) fn number(value: impl std::fmt::Display) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write!(text, "{value}");
    text
}
