//! The sky behind the coop: broken moon, stars, smoke, burning fen.
//!
//! `Stage` paints it once and redraws stars and smoke. Absent: game state.

use gaggle_scene::{Bitmap, Color, View, bayer, chance, noise, palette, sine};
use palette::{FIRE, INK, MIST, MOON, MOON_SHADE, NIGHT, PLUM, STAR};

use super::wicker;
use crate::field::{BOTTOM, HEIGHT, LEFT, RIGHT, TOP};

/// Center of the moon, in pixels.
const MOON_AT: (f32, f32) = (214.0, 112.0);
const MOON_RADIUS: f32 = 66.0;

/// Backdrop of one view.
#[derive(Debug, Clone)]
pub(super) struct Backdrop {
    left: i32,
    top: i32,
    still: Bitmap,
}

/// Smoke: row, half its height, color, opacity, noise seed, pixels per frame.
const SMOKE: [(i32, i32, Color, f32, i32, f32); 3] =
    [(150, 12, MIST[0], 0.3, 3, 0.06), (182, 14, PLUM[2], 0.5, 8, 0.1), (206, 10, FIRE[1], 0.4, 12, -0.08)];

impl Backdrop {
    pub(super) fn paint(view: View) -> Backdrop {
        let (left, top) = (view.left, view.top);
        let mut still = Bitmap::new(view.art_width, view.art_height);
        sky(&mut still, top);
        moon(&mut still, left, top);
        fen(&mut still, left, top);
        // Darker inside the coop, so that fliers stand out against the moon.
        shade(&mut still, left, top);
        wicker::weave(&mut still, left, top);
        Backdrop { left, top, still }
    }

    /// Draws the backdrop at a time in frames.
    pub(super) fn draw(&self, out: &mut Bitmap, time: f32) {
        out.copy_from(&self.still);
        self.stars(out, time);
        for (y, half, color, share, purpose, drift) in SMOKE {
            for x in 0..out.width() {
                let along = (x - self.left) as f32 + time * drift;
                let cloud = noise(along / 52.0 + purpose as f32 * 9.0, purpose) * 0.7
                    + noise(along / 17.0, purpose + 5) * 0.3;
                let dense = cloud * 1.7 - 0.45;
                if dense <= 0.0 {
                    continue;
                }
                for dy in -half..=half {
                    let row = self.top + y + dy;
                    if !wicker::covers(x - self.left, y + dy)
                        && (1.0 - dy.abs() as f32 / half as f32) * dense > bayer(x, row)
                    {
                        out.blend(x, row, color, share);
                    }
                }
            }
        }
    }

    fn stars(&self, out: &mut Bitmap, time: f32) {
        for star in 0..out.width() * out.height().min(260) / 700 {
            let x = (chance(star, 1, 0) * out.width() as f32) as i32;
            let high = chance(star, 2, 0);
            let y = (high * high.sqrt() * (self.top + 150) as f32) as i32;
            let (right, down) = ((x - self.left) as f32 - MOON_AT.0, (y - self.top) as f32 - MOON_AT.1);
            let near_moon = right * right + down * down < (MOON_RADIUS + 6.0) * (MOON_RADIUS + 6.0);
            let bright = chance(star, 3, 0) + 0.25 * sine(time * 0.03 + star as f32);
            if near_moon || bright < 0.3 || wicker::covers(x - self.left, y - self.top) {
                continue;
            }
            out.blend(x, y, STAR, if bright > 0.95 { 0.9 } else { 0.35 });
        }
    }
}

fn sky(out: &mut Bitmap, top: i32) {
    let stops = [
        (-140, INK),
        (-30, NIGHT[0]),
        (40, NIGHT[1]),
        (96, NIGHT[2]),
        (140, NIGHT[3].mix(PLUM[1], 0.3)),
        (172, PLUM[2]),
        (200, FIRE[0]),
        (240, FIRE[1]),
    ];
    for y in 0..out.height() {
        let row = y - top;
        let next = stops.iter().position(|(start, _)| row <= *start).unwrap_or(stops.len() - 1).max(1);
        let ((from, above), (to, below)) = (stops[next - 1], stops[next]);
        let share = ((row - from) as f32 / (to - from) as f32).clamp(0.0, 1.0);
        for x in 0..out.width() {
            let step = (share * 4.0 + bayer(x, y)).floor() / 4.0;
            out.set(x, y, above.mix(below, step));
        }
    }
}

/// A moon with pieces broken out of it.
fn moon(out: &mut Bitmap, left: i32, top: i32) {
    let bites = [(262.0, 72.0, 26.0), (246.0, 158.0, 19.0), (156.0, 142.0, 13.0), (287.0, 116.0, 17.0)];
    for y in 0..out.height() {
        for x in 0..out.width() {
            let (wx, wy) = ((x - left) as f32, (y - top) as f32);
            let (dx, dy) = (wx - MOON_AT.0, wy - MOON_AT.1);
            let far = (dx * dx + dy * dy).sqrt();
            let bitten = bites.iter().any(|(bx, by, radius)| {
                let (ex, ey) = (wx - bx, wy - by);
                let rim = radius + (noise((wx + wy * 0.7) / 5.0, 61) - 0.5) * 6.0;
                ex * ex + ey * ey < rim * rim
            });
            let rim = MOON_RADIUS + (noise((wx - wy) / 9.0, 17) - 0.5) * 2.0;
            if far < rim && !bitten {
                let gray = noise(wx / 13.0 + wy / 31.0, 5) * 0.55 + noise(wy / 11.0 - wx / 40.0, 9) * 0.45;
                let face = if gray > 0.5 + bayer(x, y) * 0.16 { MOON_SHADE } else { MOON };
                // Darker than what flies before it.
                let cold = MIST[0].mix(NIGHT[3], 0.35);
                let dark = 0.6 + 0.16 * (dy / MOON_RADIUS) + 0.1 * (dx / MOON_RADIUS);
                out.set(x, y, face.mix(cold, dark.clamp(0.4, 0.86)));
            } else if far < MOON_RADIUS + 60.0 && !(bitten && far < MOON_RADIUS) {
                let glow = 1.0 - (far - MOON_RADIUS) / 60.0;
                if glow * glow * 0.55 > bayer(x, y) {
                    out.blend(x, y, MIST[1], if glow > 0.7 { 0.26 } else { 0.15 });
                }
            }
        }
    }
}

/// Trees and a line of fire far below.
fn fen(out: &mut Bitmap, left: i32, top: i32) {
    for x in 0..out.width() {
        let u = (x - left) as f32;
        let glow = 196.0 - noise(u / 40.0, 71) * 10.0;
        for y in (top + glow as i32).max(0)..out.height() {
            let deep = (y - top) as f32 - glow;
            let share = (deep / 40.0).clamp(0.0, 1.0);
            if share > bayer(x, y) * 0.9 {
                out.blend(x, y, FIRE[2], 0.35);
            }
        }
        let trees = HEIGHT as f32 - 2.0 - noise(u / 30.0, 23) * 10.0 - noise(u / 5.0, 29) * 4.0;
        let tree = top + trees as i32;
        out.rect(x, tree, 1, out.height() - tree, PLUM[0]);
        if noise(u / 22.0, 31) > 0.55 {
            out.set(x, tree, FIRE[2]);
            out.set(x, tree - 1, if chance(x, 3, 9) > 0.5 { FIRE[3] } else { FIRE[1] });
        }
        // Fire below the trees.
        for y in (tree + 8).max(0)..out.height() {
            let row = (y - top) as f32;
            if noise(u / 17.0 + (row / 3.0).floor() * 5.3, 91) > 0.6 + bayer(x, y) * 0.25 {
                out.set(x, y, FIRE[1]);
            }
        }
    }
}

fn shade(out: &mut Bitmap, left: i32, top: i32) {
    for y in TOP..BOTTOM {
        for x in LEFT..RIGHT {
            let edge = (x - LEFT).min(RIGHT - 1 - x).min(y - TOP).min(BOTTOM - 1 - y);
            let dark = if edge < 10 { 0.34 - edge as f32 * 0.02 } else { 0.14 };
            out.blend(left + x, top + y, NIGHT[0], dark);
        }
    }
}
