//! Large lettering: the font enlarged with Scale2x, so that corners are round, and lit.
//!
//! Called by games for titles. Absent: the font (`font.rs`).

use crate::{Bitmap, Color, bayer, font, palette};

/// Image of a text, doubled in size `rounds` times, filled from the first color at the top to the
/// last. `track` is extra columns between letters.
pub fn lettering(text: &str, colors: &[Color], rounds: u32, track: i32) -> Bitmap {
    let mut mask = Mask::new(font::width(text, false, track) + 4, font::ROWS as i32 + 2);
    font::dots(text, false, track, |x, y| mask.set(x + 1, y + 1));
    for _ in 0..rounds {
        mask = mask.doubled();
    }
    let unit = 1 << rounds;
    let (top, bottom) = (unit as f32, (mask.height - 3 * unit) as f32);
    let mut out = Bitmap::new(mask.width + 4, mask.height + 6);
    for (x, y) in mask.dots() {
        for (dx, dy) in (-1..=3).flat_map(|dy| (-1..=1).map(move |dx| (dx, dy))) {
            out.set(x + 2 + dx, y + 2 + dy, palette::INK);
        }
    }
    for (x, y) in mask.dots() {
        if !mask.get(x, y + 1) {
            out.set(x + 2, y + 3, palette::FIRE[1]);
            out.set(x + 2, y + 4, palette::FIRE[0]);
        }
    }
    for (x, y) in mask.dots() {
        let share = (y as f32 - top) / (bottom - top) * (colors.len() as f32 - 1.0);
        let step = (share + bayer(x, y) * 0.8).floor().min(colors.len() as f32 - 1.0).max(0.0);
        let mut color = colors[step as usize];
        if !mask.get(x, y - 1) {
            color = color.mix(palette::MOON, 0.75);
        }
        if !mask.get(x, y + 1) {
            color = color.mix(palette::FIRE[4], 0.7);
        }
        out.set(x + 2, y + 2, color);
    }
    out
}

struct Mask {
    width: i32,
    height: i32,
    filled: Vec<bool>,
}

impl Mask {
    fn new(width: i32, height: i32) -> Mask {
        Mask { width, height, filled: vec![false; (width * height) as usize] }
    }

    fn get(&self, x: i32, y: i32) -> bool {
        let inside = x >= 0 && y >= 0 && x < self.width && y < self.height;
        inside && self.filled[(y * self.width + x) as usize]
    }

    fn set(&mut self, x: i32, y: i32) {
        self.filled[(y * self.width + x) as usize] = true;
    }

    fn dots(&self) -> impl Iterator<Item = (i32, i32)> {
        (0..self.height).flat_map(|y| (0..self.width).map(move |x| (x, y))).filter(|&(x, y)| self.get(x, y))
    }

    /// Scale2x: each pixel becomes four, and its neighbors decide about the corners.
    fn doubled(&self) -> Mask {
        let mut out = Mask::new(self.width * 2, self.height * 2);
        for y in 0..self.height {
            for x in 0..self.width {
                let here = self.get(x, y);
                let (up, down) = (self.get(x, y - 1), self.get(x, y + 1));
                let (left, right) = (self.get(x - 1, y), self.get(x + 1, y));
                let corners = [
                    (0, 0, left == up && left != down && up != right, up),
                    (1, 0, up == right && up != left && right != down, right),
                    (0, 1, down == left && down != right && left != up, left),
                    (1, 1, right == down && right != up && down != left, down),
                ];
                for (dx, dy, rounded, other) in corners {
                    if if rounded { other } else { here } {
                        out.set(2 * x + dx, 2 * y + dy);
                    }
                }
            }
        }
        out
    }
}
