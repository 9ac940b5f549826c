//! The land far below: trees, fires, water with the fire in it, banks and reeds.
//!
//! Painted by `backdrop` with its sky. Absent: what moves on the water.

use gaggle_scene::{Bitmap, Color, View, bayer, chance, noise, palette};

use super::backdrop::{HORIZON, LAST, NIGHT_BEFORE, Sky};
use crate::sky::{HEIGHT, WIDTH};

const NIGHT: [Color; 4] = palette::NIGHT;
const MIST: [Color; 3] = palette::MIST;
const PLUM: [Color; 3] = palette::PLUM;
const FIRE: [Color; 7] = palette::FIRE;
const INK: Color = palette::INK;

/// The row at which water begins.
const WATER: i32 = 303;
/// Banks in the water: middle, width, lower row, height.
const BANKS: [(i32, i32, i32, i32); 5] =
    [(70, 130, 318, 5), (390, 190, 322, 6), (600, 90, 314, 4), (230, 70, 311, 3), (500, 60, 330, 4)];

/// An image being painted, in pixels of the world.
struct Brush<'a> {
    out: &'a mut Bitmap,
    left: i32,
    top: i32,
    sky: Sky,
}

impl Brush<'_> {
    fn rect(&mut self, x: i32, y: i32, wide: i32, tall: i32, color: Color) {
        self.out.rect(x + self.left, y + self.top, wide, tall, self.sky.toned(color));
    }

    fn line(&mut self, from: (i32, i32), to: (i32, i32), color: Color) {
        let moved = |(x, y): (i32, i32)| (x + self.left, y + self.top);
        self.out.line(moved(from), moved(to), self.sky.toned(color));
    }

    /// Draws a dithered light around a place.
    fn halo(&mut self, x: i32, y: i32, radius: i32, color: Color) {
        for down in -radius..=radius {
            for across in -radius..=radius {
                let (dx, dy) = (across as f32, down as f32 * 1.6);
                let far = (dx * dx + dy * dy).sqrt() / radius as f32;
                let (px, py) = (x + across + self.left, y + down + self.top);
                if far < 1.0 && (1.0 - far) * 0.7 > bayer(px, py) && self.out.get(px, py).is_some() {
                    self.out.blend(px, py, self.sky.toned(color), 0.3);
                }
            }
        }
    }
}

/// Paints the land; `glow` is the amount of firelight, 0 to 1.
pub(super) fn paint(out: &mut Bitmap, view: View, glow: f32, sky: Sky) {
    out.clear();
    let (wide, bottom) = (view.art_width, view.art_height);
    let brush = &mut Brush { out, left: view.left, top: view.top, sky };
    let columns = -view.left..wide - view.left;
    let rows = WATER..bottom - view.top;
    trees(brush, columns.clone(), glow);
    water(brush, columns.clone(), rows.clone());
    if sky.stage != LAST {
        fires(brush, glow);
    }
    if sky.stage == 1 {
        mill(brush, 500, 312);
    }
    BANKS.into_iter().for_each(|bank| island(brush, bank));
    reeds(brush, columns, rows.end);
}

fn trees(brush: &mut Brush<'_>, columns: std::ops::Range<i32>, glow: f32) {
    let dark = PLUM[2].mix(FIRE[0], 0.4).mix(NIGHT[1], 1.0 - glow.max(0.4));
    for x in columns {
        let along = x as f32;
        let mut tall = HORIZON as f32 - noise(along / 50.0, 41) * 4.0;
        let grove = noise(along / 30.0, 43);
        if grove > 0.4 {
            tall -= ((grove - 0.4) / 0.6).sqrt() * 9.0 * (0.7 + 0.5 * noise(along / 8.0, 44));
            tall -= noise(along / 3.0, 45) * 2.0;
        }
        // A tree here and there stands out.
        if chance(x, 9, 41) > 0.8 {
            tall -= 1.0 + (chance(x, 8, 41) * 2.0).floor();
        }
        brush.rect(x, tall as i32, 1, WATER + 1 - tall as i32, dark);
    }
}

fn water(brush: &mut Brush<'_>, columns: std::ops::Range<i32>, rows: std::ops::Range<i32>) {
    let light = brush.sky.light();
    // The sea at dawn is lit by the sky, not by fires.
    let (near, far) = match brush.sky.stage {
        NIGHT_BEFORE => (NIGHT[1], MIST[0]),
        LAST => (NIGHT[1].mix(PLUM[1], light), MIST[0].mix(FIRE[4].mix(PLUM[2], 0.4), light)),
        _ => (PLUM[1], FIRE[1]),
    };
    for x in columns {
        for y in rows.clone() {
            let deep = (y - WATER) as f32 / (HEIGHT - WATER) as f32;
            let step = ((deep * 6.0 + bayer(x, y)).floor() / 5.0).clamp(0.0, 1.0);
            brush.rect(x, y, 1, 1, far.mix(near, step));
        }
    }
}

fn fires(brush: &mut Brush<'_>, glow: f32) {
    for nth in 0..(26.0 * glow) as i32 {
        let x = (chance(nth, 21, 0) * WIDTH as f32) as i32;
        brush.halo(x, 297, 12, FIRE[3]);
        let tall = 2 + (chance(nth, 22, 0) * 5.0) as i32;
        for up in 0..tall {
            let color = [FIRE[5], FIRE[4], FIRE[3]][(up * 3 / tall) as usize % 3];
            let half = (tall - up) / 2;
            brush.rect(x - half, 299 - up, 2 * half + 1, 1, color);
        }
        // Its light lies on the water.
        for down in 0..5 {
            let off = (chance(nth, 23, down) * 5.0) as i32 - 2;
            brush.rect(x + off, 305 + down * 3, 2 + down, 1, FIRE[2]);
        }
    }
}

/// A dark bank with grass, its edge lit by the fire.
fn island(brush: &mut Brush<'_>, (middle, wide, low, tall): (i32, i32, i32, i32)) {
    let half = wide as f32 / 2.0;
    let is_cold = matches!(brush.sky.stage, NIGHT_BEFORE | LAST);
    let edge = if is_cold { MIST[0] } else { FIRE[2] };
    for off in -wide / 2..=wide / 2 {
        let out = off as f32 / half;
        let round = (1.0 - out * out).max(0.0).sqrt();
        let rise = tall as f32 * round * (0.6 + 0.6 * noise(off as f32 / 7.0, middle));
        let top = low - rise as i32;
        brush.rect(middle + off, top, 1, low - top + 1, PLUM[0].mix(PLUM[1], 0.4));
        brush.rect(middle + off, top, 1, 1, PLUM[1].mix(edge, 0.25));
        if chance(off, 3, middle) > 0.5 {
            brush.rect(middle + off, top - 1, 1, 1, PLUM[0]);
        }
    }
}

/// The mill on the horizon of the second stage.
fn mill(brush: &mut Brush<'_>, x: i32, y: i32) {
    let color = PLUM[0].mix(PLUM[1], 0.5);
    for down in 0..40 {
        let half = 5 + down * 18 / 100;
        brush.rect(x - half, y - 40 + down, half * 2, 1, color);
        brush.rect(x + half - 1, y - 40 + down, 1, 1, FIRE[2]);
        brush.rect(x - half, y - 40 + down, 1, 1, MIST[0]);
    }
    brush.rect(x - 6, y - 45, 12, 5, color);
    brush.rect(x - 4, y - 47, 8, 2, color);
    brush.rect(x - 1, y - 18, 2, 3, FIRE[4]);
    for (dx, dy) in [(26, 9), (-9, 26), (-26, -9), (9, -26)] {
        brush.line((x, y - 43), (x + dx, y - 43 + dy), color);
        for side in 1..5 {
            let (sx, sy) = (-dy * side / 27, dx * side / 27);
            let (from, to) = ((x + dx / 3 + sx, y - 43 + dy / 3 + sy), (x + dx + sx, y - 43 + dy + sy));
            brush.line(from, to, color);
        }
    }
}

/// Reeds close by, some with a cattail, and the bank they stand on.
fn reeds(brush: &mut Brush<'_>, columns: std::ops::Range<i32>, bottom: i32) {
    let reed = INK.mix(PLUM[0], 0.6);
    let wide = (columns.end - columns.start) as f32;
    for nth in 0..150 {
        let x0 = columns.start as f32 + chance(nth, 51, 0) * wide;
        let tall = 8.0 + chance(nth, 52, 0) * 26.0;
        let lean = -4.0 - chance(nth, 53, 0) * 12.0;
        for up in 0..tall as i32 {
            let part = up as f32 / tall;
            let wide = if part < 0.6 { 2 } else { 1 };
            brush.rect((x0 + lean * part * part) as i32, HEIGHT - up, wide, 1, reed);
        }
        if chance(nth, 54, 0) > 0.6 {
            brush.rect((x0 + lean) as i32 - 1, HEIGHT - tall as i32 - 4, 3, 6, INK.mix(PLUM[1], 0.6));
        }
    }
    for x in columns {
        let bank = HEIGHT - 4 - (noise(x as f32 / 14.0, 66) * 6.0) as i32;
        brush.rect(x, bank, 1, bottom - bank, INK.mix(PLUM[0], 0.5));
    }
}
