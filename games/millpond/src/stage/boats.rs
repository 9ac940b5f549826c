//! Images of boats and their rowers, one per direction, and the drawing of ropes and wakes.
//!
//! `Stage` bakes them, `Painter` draws them. Absent: motion.

use gaggle_kit::Angle;
use gaggle_scene::{Album, ImageId, LIGHTS, Material, Sprite, Tones, palette, sine};
use palette::{BONE, INK, MIST, SEATS_SIX};

use super::{Painter, light, pixels};
use crate::pond::Pond;

/// Directions a boat is drawn in.
const HEADINGS: usize = 32;
const CELL: i32 = 31;
const QUARTER: f32 = std::f32::consts::FRAC_PI_2;

/// Image ids of boats by seat and direction.
#[derive(Debug, Clone)]
pub(super) struct Boats {
    images: Vec<ImageId>,
}

const WOOD: &[Material] = &[
    ('h', Tones::hex(0xf3dfb4, 0xa07848, 0x6c4e30, 0xf0a050)),
    ('d', Tones::hex(0x8a6848, 0x5c4434, 0x3c2c26, 0xa8602e)),
    ('p', Tones::hex(0xd0a878, 0x8a6840, 0x5e4630, 0xd08038)),
    ('f', Tones::hex(0xf0c9a0, 0xd9a77c, 0xa8744f, 0xff9a5a)),
    ('W', Tones::hex(0xffffff, 0xdbe3ee, 0xa3b0cb, 0xffb982)),
    ('o', Tones::hex(0xffcf6a, 0xf79a2e, 0xc56a1e, 0xffc04a)),
];

impl Boats {
    pub(super) fn bake(album: &mut Album) -> Boats {
        let mut images = Vec::with_capacity(SEATS_SIX.len() * HEADINGS * LIGHTS);
        for color in SEATS_SIX {
            let cloth: &[Material] = &[('s', Tones::cloth(color)), ('S', Tones::cloth_shade(color))];
            for heading in 0..HEADINGS {
                let sprite = traced(heading);
                for light in 0..LIGHTS {
                    images.push(album.add(sprite.bake(&[cloth, WOOD], light, true)));
                }
            }
        }
        Boats { images }
    }

    fn image(&self, seat: usize, heading: Angle, light: usize) -> ImageId {
        let step = usize::from(heading.to_bits().wrapping_add(1 << 10) >> 11);
        self.images[(seat * HEADINGS + step) * LIGHTS + light]
    }
}

fn traced(heading: usize) -> Sprite {
    let angle = heading as f32 * std::f32::consts::TAU / HEADINGS as f32;
    let (cos, sin) = (sine(angle + QUARTER), sine(angle));
    let mut sprite = Sprite::new(CELL, CELL);
    let half = CELL / 2;
    for y in 0..CELL {
        for x in 0..CELL {
            let (dx, dy) = ((x - half) as f32, (y - half) as f32);
            let letter = boat(dx * cos + dy * sin, dy * cos - dx * sin);
            if letter != '.' {
                sprite.set(x, y, letter);
            }
        }
    }
    sprite
}

/// Material of a boat at `u` ahead and `v` aside: hull, thwarts, a rower in the seat's color, a
/// goose in the bow.
fn boat(u: f32, v: f32) -> char {
    let side = v.abs();
    // Half the width at this length, blunt at the stern.
    let wide =
        if u > 0.0 { 5.6 * (1.0 - (u / 13.0) * (u / 13.0)) } else { 5.6 * (1.0 - (u / 17.0) * (u / 17.0)) };
    if !(-11.0..13.0).contains(&u) || side > wide.max(0.0) {
        return '.';
    }
    let within = |u0: f32, a: f32, b: f32| ((u - u0) / a) * ((u - u0) / a) + (v / b) * (v / b) <= 1.0;
    if within(6.6, 1.1, 0.9) {
        return 'o';
    }
    if within(4.6, 1.7, 1.5) || within(2.6, 2.2, 1.9) {
        return 'W';
    }
    if within(-2.2, 1.7, 1.7) {
        return 'f';
    }
    if within(-3.0, 2.9, 3.4) {
        return if side > 2.0 { 'S' } else { 's' };
    }
    if side > wide - 1.5 || u < -9.6 {
        return 'h';
    }
    if (u - 0.2).abs() < 0.9 || (u + 7.4).abs() < 0.9 {
        return 'p';
    }
    'd'
}

impl Painter<'_> {
    pub(super) fn rowers(&mut self, pond: &Pond) {
        for boat in pond.boats.iter().flatten() {
            let at = self.shown(boat.place, boat.velocity);
            let seat = usize::from(boat.seat) % SEATS_SIX.len();
            let (cos, sin) = (pixels(boat.heading.cos()), pixels(boat.heading.sin()));
            if let Some(towed) = boat.tow.and_then(|id| pond.find(id)) {
                let there = self.shown(towed.thing.place, towed.thing.velocity);
                self.rope((at.0 - cos * 10.0, at.1 - sin * 10.0), there);
            }
            self.wake(at, (cos, sin), pixels(boat.velocity[0]).hypot(pixels(boat.velocity[1])));
            self.oars(at, (cos, sin), boat.rows, seat);
            let image = self.boats.image(seat, boat.heading, light(pixels(boat.place[1])));
            self.about(image, at, 16);
        }
    }

    /// Draws a sagging rope.
    fn rope(&mut self, from: (f32, f32), to: (f32, f32)) {
        let steps = ((to.0 - from.0).abs().max((to.1 - from.1).abs()) as i32).clamp(1, 60);
        for step in 0..=steps {
            let part = step as f32 / steps as f32;
            let sag = part * (1.0 - part) * 8.0;
            let (x, y) = (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part + sag);
            self.scene.dot(x, y + 1.0, INK);
            self.scene.dot(x, y, if step % 3 == 0 { palette::PEAT[4] } else { BONE });
        }
    }

    fn oars(&mut self, (x, y): (f32, f32), (cos, sin): (f32, f32), rows: bool, seat: usize) {
        let swing = if rows { sine(self.time * 0.16 + seat as f32) * 0.8 } else { -0.9 };
        for side in [-1.0, 1.0] {
            for step in 0..11 {
                let out = 4.0 + step as f32;
                let along = -1.0 + swing * step as f32 * 0.55;
                let (px, py) = (x + cos * along - sin * out * side, y + sin * along + cos * out * side);
                let blade = step > 7;
                self.scene.dot(px, py + 1.0, INK);
                self.scene.dot(px, py, if blade { SEATS_SIX[seat].mix(BONE, 0.5) } else { palette::PEAT[4] });
            }
            if rows && !self.calm && swing.abs() > 0.55 {
                let (px, py) = (x - sin * 14.0 * side, y + cos * 14.0 * side);
                self.scene.blend(px - 1.0, py, 3.0, 1.0, MIST[2], 0.6);
            }
        }
    }

    /// Draws two lines that spread behind a boat.
    fn wake(&mut self, (x, y): (f32, f32), (cos, sin): (f32, f32), speed: f32) {
        if self.calm || speed < 14.0 {
            return;
        }
        let length = (speed / 3.2) as i32;
        for step in 0..length {
            let (far, out) = (9.0 + step as f32 * 1.4, 3.0 + step as f32 * 0.42);
            let share = 0.5 * (1.0 - step as f32 / length as f32);
            for side in [-1.0, 1.0] {
                let (px, py) = (x - cos * far - sin * out * side, y - sin * far + cos * out * side);
                self.scene.blend(px, py, 1.0, 1.0, MIST[2], share);
            }
        }
    }
}
