//! Sprites: flat pixel data, lit by a cold moon above and a fire below.
//!
//! Rows of letters name materials of four tones each. Baking adds the outline, the moonlit and the
//! firelit edge, once for each light. Called by games when they make their images. Absent: the
//! data.

use crate::{Bitmap, Color, palette};

/// Number of lights: 0 is far above the fire, 3 right over it.
pub const LIGHTS: usize = 4;

/// Colors of a material by light.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tones {
    /// Color of edges that face the moon.
    pub moon: Color,
    /// Color of surfaces between the edges.
    pub base: Color,
    /// Color of edges in shadow.
    pub shade: Color,
    /// Color of edges that face the fire.
    pub fire: Color,
}

impl Tones {
    /// Tones from four numbers `0xrrggbb`.
    pub const fn hex(moon: u32, base: u32, shade: u32, fire: u32) -> Tones {
        Tones {
            moon: Color::hex(moon),
            base: Color::hex(base),
            shade: Color::hex(shade),
            fire: Color::hex(fire),
        }
    }

    /// The same color in any light, as for eyes and lance tips.
    pub const fn flat(color: Color) -> Tones {
        Tones { moon: color, base: color, shade: color, fire: color }
    }

    /// Tones of cloth of this color.
    pub fn cloth(color: Color) -> Tones {
        Tones {
            moon: color.mix(Color::hex(0xff_ffff), 0.45),
            base: color,
            shade: color.mix(palette::NIGHT[1], 0.38),
            fire: color.mix(palette::FIRE[4], 0.55),
        }
    }

    /// Tones of the darker side of that cloth.
    pub fn cloth_shade(color: Color) -> Tones {
        Tones {
            moon: color,
            base: color.mix(palette::NIGHT[1], 0.38),
            shade: color.mix(palette::NIGHT[1], 0.55),
            fire: color.mix(palette::FIRE[3], 0.5),
        }
    }
}

/// A letter of sprite data and its tones.
pub type Material = (char, Tones);

/// A piece of a sprite: rows of letters, placed in the sprite's cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Columns from the left of the cell; may be outside of it.
    pub x: i32,
    /// Rows from the top of the cell; may be outside of it.
    pub y: i32,
    /// One letter per pixel; `.` is empty.
    pub rows: &'static [&'static str],
}

/// Parts stacked in a cell, from back to front.
#[derive(Debug, Clone)]
pub struct Sprite {
    width: i32,
    height: i32,
    letters: Vec<char>,
}

/// Letter of a transparent pixel.
const EMPTY: char = '.';
/// Letter of the line below a part that crosses the sprite.
const LINE: char = 'k';

impl Sprite {
    /// An empty cell of this size in pixels.
    pub fn new(width: i32, height: i32) -> Sprite {
        Sprite { width, height, letters: vec![EMPTY; (width * height) as usize] }
    }

    fn at(&self, x: i32, y: i32) -> char {
        let inside = x >= 0 && y >= 0 && x < self.width && y < self.height;
        if inside { self.letters[(y * self.width + x) as usize] } else { EMPTY }
    }

    /// Adds a part in front of the others, moved by `dx`, `dy`.
    pub fn put(&mut self, part: &Part, dx: i32, dy: i32) -> &mut Sprite {
        self.place(part, dx, dy, false)
    }

    /// Adds a part in front, with a dark line below its first row where it crosses others, as a
    /// lance does.
    pub fn put_across(&mut self, part: &Part, dx: i32, dy: i32) -> &mut Sprite {
        self.place(part, dx, dy, true)
    }

    fn place(&mut self, part: &Part, dx: i32, dy: i32, line: bool) -> &mut Sprite {
        for (down, row) in (0..).zip(part.rows) {
            for (right, letter) in (0..).zip(row.chars()) {
                if letter == EMPTY {
                    continue;
                }
                let (x, y) = (part.x + dx + right, part.y + dy + down);
                self.set(x, y, letter);
                let below = part.rows.get(1).and_then(|row| row.chars().nth(right as usize)).unwrap_or(EMPTY);
                if line && down == 0 && below == EMPTY && self.at(x, y + 1) != EMPTY {
                    self.set(x, y + 1, LINE);
                }
            }
        }
        self
    }

    /// Sets one letter, for shapes that are computed.
    pub fn set(&mut self, x: i32, y: i32, letter: char) {
        if x >= 0 && y >= 0 && x < self.width && y < self.height {
            self.letters[(y * self.width + x) as usize] = letter;
        }
    }

    /// Image of the sprite in one light. The first list that has a letter defines it.
    ///
    /// # Panics
    /// If a letter has no material: the data is wrong.
    pub fn bake(&self, materials: &[&[Material]], light: usize, outline: bool) -> Bitmap {
        let mut out = Bitmap::new(self.width, self.height);
        for y in 0..self.height {
            for x in 0..self.width {
                let letter = self.at(x, y);
                if letter != EMPTY {
                    out.set(x, y, self.lit(x, y, find(materials, letter), light));
                } else if outline
                    && [(-1, 0), (1, 0), (0, -1), (0, 1)]
                        .iter()
                        .any(|(dx, dy)| self.at(x + dx, y + dy) != EMPTY)
                {
                    out.set(x, y, palette::INK);
                }
            }
        }
        out
    }

    fn lit(&self, x: i32, y: i32, tones: &Tones, light: usize) -> Color {
        if self.at(x, y - 1) == EMPTY {
            return tones.moon;
        }
        let below = (1..4).find(|down| self.at(x, y + down) == EMPTY);
        match (below, light) {
            (Some(1), 0) => tones.shade,
            (Some(1), 1) => tones.shade.mix(tones.fire, 0.55),
            (Some(1), _) => tones.fire,
            (Some(2), 0 | 1) => tones.base.mix(tones.shade, 0.6),
            (Some(2), 2) => tones.base.mix(tones.fire, 0.28),
            (Some(2), _) => tones.base.mix(tones.fire, 0.6),
            (Some(3), 3..) => tones.base.mix(tones.fire, 0.25),
            _ => tones.base,
        }
    }
}

fn find<'a>(materials: &[&'a [Material]], letter: char) -> &'a Tones {
    let known = materials.iter().flat_map(|list| list.iter()).find(|(known, _)| *known == letter);
    // Not `{letter:?}`, which adds 3 kB of Unicode tables to each page.
    &known.unwrap_or_else(|| panic!("no material for the letter {letter}")).1
}

#[cfg(test)]
mod tests {
    use super::*;

    const TONES: Tones = Tones::hex(0x11_1111, 0x22_2222, 0x33_3333, 0x44_4444);
    const BLOCK: Part = Part { x: 1, y: 1, rows: &["WWW", "WWW", "WWW", "WWW", "WWW"] };

    fn column(light: usize) -> Vec<Option<u32>> {
        let mut sprite = Sprite::new(5, 7);
        sprite.put(&BLOCK, 0, 0);
        let baked = sprite.bake(&[&[('W', TONES)]], light, true);
        (0..7).map(|y| baked.get(2, y).map(Color::rgb)).collect()
    }

    #[test]
    fn edges_are_moonlit_above_firelit_below_inked_around() {
        let ink = Some(palette::INK.rgb());
        assert_eq!(column(0)[..3], [ink, Some(0x11_1111), Some(0x22_2222)]);
        assert_eq!(column(0)[5..], [Some(0x33_3333), ink]);
        assert_eq!(column(2)[5..], [Some(0x44_4444), ink]);
    }

    #[test]
    fn more_rows_are_lit_nearer_to_fire() {
        let warm = |light| {
            column(light).iter().flatten().filter(|rgb| **rgb > 0x22_2222 && **rgb <= 0x44_4444).count()
        };
        assert!(warm(3) > warm(2), "{} {}", warm(3), warm(2));
    }

    #[test]
    fn part_put_across_has_line_below_where_it_crosses() {
        let lance = Part { x: 0, y: 3, rows: &["LLLLL"] };
        let mut sprite = Sprite::new(5, 7);
        sprite.put(&BLOCK, 0, 0).put_across(&lance, 0, 0);
        assert_eq!((0..5).map(|x| sprite.at(x, 4)).collect::<String>(), ".kkk.");
    }
}
