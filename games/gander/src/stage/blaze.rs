//! The fire: two bands of waves, the nearer in front of everything, and the rock below.
//!
//! Called by `stage.rs`. Absent: flames of bridges (`ground.rs`), sparks (`effects.rs`).

use gaggle_scene::{Bitmap, Color, View, bayer, chance, noise, palette, sine};
use palette::{FIRE, PEAT};

use crate::arena;

/// Rows between the crests of the far and the near band.
pub(super) const NEARER: i32 = 6;
/// Most rows of a wave above the surface.
const CREST: i32 = 3;
/// Rows of fire below the surface; rock follows.
const DEEP: i32 = 46;

/// One of the two bands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Blaze {
    left: i32,
    /// Row of the picture at which its image starts.
    pub(super) top: i32,
    near: bool,
}

impl Blaze {
    pub(super) fn new(view: View, near: bool) -> Blaze {
        let nearer = if near { NEARER } else { 0 };
        Blaze { left: view.left, top: arena::FIRE + nearer - CREST, near }
    }

    /// Empty image of the band's size.
    pub(super) fn image(&self, view: View) -> Bitmap {
        let rows = view.art_height - view.top - self.top;
        Bitmap::new(view.art_width, rows.clamp(1, DEEP + 2 * CREST))
    }

    /// Draws the band at `time`, in frames.
    pub(super) fn draw(&self, out: &mut Bitmap, time: f32) {
        out.clear();
        let phase = if self.near { 2.0 } else { 0.0 };
        for x in 0..out.width() {
            let across = (x - self.left) as f32;
            let wave = sine(across * 0.07 + time * 0.031 + phase) * 1.6 + sine(across * 0.19 - time * 0.05);
            let surface = CREST + (wave + 0.5).floor() as i32;
            let mut crust = false;
            for y in surface..out.height() {
                let depth = y - surface;
                if depth % 6 == 0 || depth == 4 {
                    let row = (depth / 6) as f32;
                    let purpose = if self.near { 95 } else { 91 };
                    crust = noise((across + time * 0.12) / 11.0 + row * 3.7, purpose) > 0.7;
                }
                out.set(x, y, ember(x, y, depth, crust));
            }
        }
    }
}

fn ember(x: i32, y: i32, depth: i32, crust: bool) -> Color {
    if crust && depth > 3 && depth < 34 {
        return if depth % 6 == 0 { FIRE[4] } else { FIRE[0].mix(FIRE[1], (depth % 6) as f32 / 6.0) };
    }
    let (here, below, share) = match depth {
        0 => (FIRE[6], FIRE[6], 0.0),
        1 => (FIRE[5], FIRE[5], 0.0),
        2..4 => (FIRE[4], FIRE[4], 0.0),
        4..9 => (FIRE[3], FIRE[2], (depth - 4) as f32 / 5.0),
        9..18 => (FIRE[2], FIRE[1], (depth - 9) as f32 / 9.0),
        18..40 => (FIRE[1], FIRE[0], (depth - 18) as f32 / 22.0),
        _ => (FIRE[0], PEAT[0], ((depth - 40) as f32 / 60.0).min(1.0)),
    };
    if share > bayer(x, y) { below } else { here }
}

/// Image of the rock below the fire, for tall screens. It starts where the near band's image ends.
pub(super) fn bedrock(view: View) -> Option<Bitmap> {
    let first = arena::FIRE + NEARER + CREST + DEEP - 2;
    let rows = view.art_height - view.top - first;
    if rows <= 0 {
        return None;
    }
    let mut out = Bitmap::new(view.art_width, rows);
    for y in 0..rows {
        let depth = (y + DEEP) as f32;
        let glow = (1.0 - depth / 300.0).max(0.0);
        for x in 0..view.art_width {
            let across = (x - view.left) as f32;
            let vein = (noise(across / 26.0 + depth / 60.0, 61) - 0.5
                + (noise(depth / 19.0 + across / 90.0, 62) - 0.5) * 0.9)
                .abs();
            let mut color = PEAT[0].mix(PEAT[1], if bayer(x, y) > 0.5 { 0.6 } else { 0.2 });
            if chance(x >> 4, y >> 3, 4) > 0.9 && y & 7 < 2 {
                color = PEAT[2];
            }
            if vein < 0.016 {
                color = FIRE[1].mix(FIRE[3], glow);
            } else if vein < 0.04 {
                color = color.mix(FIRE[1], 0.75 * glow + 0.15);
            }
            if depth < 60.0 && (60.0 - depth) / 14.0 > bayer(x, y) {
                color = FIRE[0];
            }
            out.set(x, y, color);
        }
    }
    Some(out)
}

/// Row of the picture at which the image of [`bedrock`] starts.
pub(super) const BEDROCK: i32 = arena::FIRE + NEARER + CREST + DEEP - 2;
