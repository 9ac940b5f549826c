//! The reed bed as images, a strip of water and a strip of reeds for each row of tiles.
//!
//! Made by the stage as rows come into view. Absent: everything that moves.

use gaggle_scene::{Album, Bitmap, Color, ImageId, bayer, chance, noise, palette};

use super::camera::Camera;
use crate::water::is_open;
use crate::{Gosling, Mode, Reed};

/// Pixels of a tile.
pub(super) const TILE: i32 = 16;
/// Tiles of reed around the maze.
pub(super) const MARGIN: i32 = 7;
/// Pixels by which reeds rise above their tile.
pub(super) const RISE: i32 = 11;

/// One row of tiles.
#[derive(Debug, Clone)]
struct Row {
    water: ImageId,
    reeds: ImageId,
    is_painted: bool,
}

/// All rows of a maze.
#[derive(Debug, Clone, Default)]
pub(super) struct Scenery {
    rows: Vec<Row>,
    /// The maze they show.
    shown: Option<(u32, Mode)>,
    map: Option<ImageId>,
}

impl Scenery {
    /// Paints the rows that are on the screen and were not yet, and one more.
    pub(super) fn prepare(&mut self, reed: &Reed, game: &Gosling, camera: &Camera, album: &mut Album) {
        let shown = Some((game.seed, game.setup.mode));
        let count = reed.tile_size().1 as i32 + 2 * MARGIN;
        if self.shown != shown {
            self.shown = shown;
            let map = *self.map.get_or_insert_with(|| album.add(Bitmap::default()));
            *album.redraw(map) =
                super::map::picture(reed, if game.setup.mode == Mode::Great { 1 } else { 2 });
            while self.rows.len() < count as usize {
                let (water, reeds) = (album.add(Bitmap::default()), album.add(Bitmap::default()));
                self.rows.push(Row { water, reeds, is_painted: false });
            }
            self.rows.iter_mut().for_each(|row| row.is_painted = false);
        }
        let (_, top, _, height) = camera.seen();
        let first = (top.div_euclid(TILE) + MARGIN - 1).clamp(0, count);
        let last = ((top + height).div_euclid(TILE) + MARGIN + 2).clamp(0, count);
        let tiles = Tiles { reed };
        for nth in first..last {
            self.paint(&tiles, nth, album);
        }
        if let Some(next) = (0..count).find(|nth| !self.rows[*nth as usize].is_painted) {
            self.paint(&tiles, next, album);
        }
    }

    fn paint(&mut self, tiles: &Tiles<'_>, nth: i32, album: &mut Album) {
        let row = &mut self.rows[nth as usize];
        if !std::mem::replace(&mut row.is_painted, true) {
            *album.redraw(row.water) = tiles.water(nth - MARGIN);
            *album.redraw(row.reeds) = tiles.reeds(nth - MARGIN);
        }
    }

    /// The picture of the map.
    pub(super) fn map(&self) -> Option<ImageId> {
        self.map
    }

    /// Water and reeds of a row of tiles, if it has any.
    pub(super) fn row(&self, ty: i32) -> Option<(ImageId, ImageId)> {
        let row = self.rows.get(usize::try_from(ty + MARGIN).ok()?).filter(|row| row.is_painted)?;
        Some((row.water, row.reeds))
    }
}

/// Which tiles are reed.
pub(super) struct Tiles<'a> {
    pub(super) reed: &'a Reed,
}

impl Tiles<'_> {
    /// Whether a tile is drawn as water.
    pub(super) fn is_open(&self, tx: i32, ty: i32) -> bool {
        let (across, down) = self.reed.tile_size();
        if tx < 0 || ty < 0 || tx >= across as i32 || ty >= down as i32 {
            return false;
        }
        let cell = |tx: i32, ty: i32| ((ty / 2) * self.reed.size().0 as i32 + tx / 2) as u16;
        match (tx & 1, ty & 1) {
            (1, 1) => true,
            (0, 1) => tx > 0 && is_open(self.reed.exits(cell(tx - 1, ty)), 0),
            (1, 0) => ty > 0 && is_open(self.reed.exits(cell(tx, ty - 1)), 1),
            // Corners of nests and den.
            _ => self.reed.nests().iter().chain(&self.reed.den()).any(|nest| {
                let (x, y) = self.reed.spot(*nest);
                (tx - (2 * x as i32 + 1)).abs() <= 1 && (ty - (2 * y as i32 + 1)).abs() <= 1
            }),
        }
    }

    fn columns(&self) -> std::ops::Range<i32> {
        -MARGIN..self.reed.tile_size().0 as i32 + MARGIN
    }

    fn strip(&self, height: i32) -> Bitmap {
        Bitmap::new(self.columns().len() as i32 * TILE, height)
    }

    /// Water with glints, shadows of reeds and lily pads.
    fn water(&self, ty: i32) -> Bitmap {
        let mut out = self.strip(TILE);
        let [dark, light] = [0.2, 0.75].map(|share| palette::NIGHT[1].mix(palette::NIGHT[2], share));
        for tx in self.columns().filter(|tx| self.is_open(*tx, ty)) {
            for (x, y) in (0..TILE).flat_map(|y| (0..TILE).map(move |x| (x, y))) {
                let (wx, wy) = (tx * TILE + x, ty * TILE + y);
                let depth = noise(wx as f32 / 37.0, 3) * noise(wy as f32 / 29.0 + wx as f32 / 90.0, 5);
                let is_light = depth > 0.3 + bayer(wx, wy) * 0.25;
                out.set(self.column(tx) + x, y, if is_light { light } else { dark });
            }
        }
        for tx in self.columns().filter(|tx| chance(*tx, ty, 11) < 0.6) {
            let (x, y) =
                (self.column(tx) + (chance(tx, ty, 12) * 16.0) as i32, (chance(tx, ty, 15) * 16.0) as i32);
            let wide = 3 + (chance(tx, ty, 13) * 9.0) as i32;
            let color = if chance(tx, ty, 14) > 0.8 { palette::MIST[1] } else { palette::MIST[0] };
            for k in 0..wide {
                out.blend(x + k, y, color, if k > 0 && k < wide - 1 { 0.5 } else { 0.25 });
            }
        }
        for tx in self.columns().filter(|tx| self.is_open(*tx, ty)) {
            if !self.is_open(tx, ty - 1) {
                for (y, share) in [0.7, 0.45, 0.2].into_iter().enumerate() {
                    (0..TILE).for_each(|x| out.blend(self.column(tx) + x, y as i32, palette::INK, share));
                }
            }
            let is_cell = tx & 1 == 1 && ty & 1 == 1;
            let cell = ((ty / 2) * self.reed.size().0 as i32 + tx / 2) as u16;
            if is_cell && self.reed.exits(cell).count_ones() == 2 {
                pad(&mut out, self.column(tx) + 8, 8, (tx, ty));
            }
        }
        out
    }

    fn column(&self, tx: i32) -> i32 {
        (tx + MARGIN) * TILE
    }

    /// Tufts of reed: the moon on their tips, their feet dark in the water.
    fn reeds(&self, ty: i32) -> Bitmap {
        let mut out = self.strip(RISE + TILE);
        for tx in self.columns().filter(|tx| !self.is_open(*tx, ty)) {
            self.feet(&mut out, tx, ty);
        }
        for tx in self.columns().filter(|tx| !self.is_open(*tx, ty)) {
            self.blades(&mut out, tx, ty);
        }
        out
    }

    fn feet(&self, out: &mut Bitmap, tx: i32, ty: i32) {
        let x0 = self.column(tx);
        let (west, east) = (self.is_open(tx - 1, ty), self.is_open(tx + 1, ty));
        let deep = palette::SEDGE[0].mix(palette::SEDGE[1], 0.6);
        for (x, y) in (0..TILE).flat_map(|y| (0..TILE).map(move |x| (x, y))) {
            let edge = (if west { x } else { 9 }).min(if east { TILE - 1 - x } else { 9 });
            if edge < 1 && chance(tx * TILE + x, ty * TILE + y, 2) > 0.5 {
                continue;
            }
            let is_dark = chance(tx * TILE + x, (ty * TILE + y) >> 1, 1) > 0.55;
            out.set(x0 + x, RISE + y, if is_dark { palette::SEDGE[0] } else { deep });
        }
        if self.is_open(tx, ty + 1) {
            (0..TILE).for_each(|x| out.set(x0 + x, RISE + TILE - 1, palette::INK));
        }
    }

    fn blades(&self, out: &mut Bitmap, tx: i32, ty: i32) {
        let (x0, is_north) = (self.column(tx), self.is_open(tx, ty - 1));
        for (row, k) in (0..3).flat_map(|row| (0..8).map(move |k| (row, k))) {
            let x = x0 + k * 2 + (chance(tx * 31 + k, ty * 17 + row, 7) * 2.0) as i32;
            let base = RISE + 5 + row * 5;
            let cut = if is_north && row == 0 { 2 } else { 0 };
            let long = 6 + (chance(tx * 13 + k, ty * 7 + row, 8) * 6.0) as i32 - cut;
            let lean = (chance(tx + k, ty, 9) - 0.4) * 3.0;
            for j in 0..long {
                let up = j as f32 / long as f32;
                let mut color = if up < 0.3 {
                    palette::SEDGE[1]
                } else if up < 0.7 {
                    palette::SEDGE[1].mix(palette::SEDGE[2], 0.8)
                } else if chance(k, row, tx) > 0.62 {
                    palette::SEDGE[3]
                } else {
                    palette::SEDGE[2]
                };
                if j == long - 1 && chance(tx + k, ty + row, 10) > 0.55 {
                    color = palette::SEDGE[if chance(tx, ty + k, 11) > 0.8 { 4 } else { 3 }];
                }
                out.set(x + (lean * up * up).round() as i32, base - j, color);
            }
            if chance(tx * 5 + k, ty * 3 + row, 12) > 0.93 {
                let (x, y) = (x + lean.round() as i32, base - long);
                out.rect(x, y - 3, 1, 4, palette::PEAT[4]);
                out.set(x, y - 4, palette::BONE);
                out.rect(x + 1, y - 2, 1, 3, palette::PEAT[3]);
            }
        }
        if self.is_open(tx, ty + 1) {
            for x in (0..TILE).step_by(2) {
                let lit = chance(tx * TILE + x, ty, 21) > 0.5;
                out.set(x0 + x, RISE + TILE - 2, palette::SEDGE[if lit { 2 } else { 1 }]);
                out.set(x0 + x, RISE + TILE - 1, palette::SEDGE[1]);
            }
        }
    }
}

/// A lily pad: here a gosling can turn back.
fn pad(out: &mut Bitmap, x: i32, y: i32, (tx, ty): (i32, i32)) {
    let notch = (chance(tx, ty, 6) * 4.0) as i32;
    for (i, j) in (-3..=3_i32).flat_map(|j| (-5..=5_i32).map(move |i| (i, j))) {
        let is_notch = match notch {
            0 => j == 0 && i > 0,
            1 => i == 0 && j > 0,
            2 => j == 0 && i < 0,
            _ => i == j && i > 0,
        };
        if i * i * 9 + j * j * 24 <= 230 && !is_notch {
            out.set(x + i, y + j, palette::SEDGE[if j < -1 { 2 } else { 1 }]);
        }
    }
    out.blend(x - 3, y + 4, palette::INK, 0.4);
    if chance(tx, ty, 7) > 0.75 {
        let (pink, white) = (palette::SEAT[2], Color::hex(0xff_ffff));
        out.set(x + 3, y - 2, pink);
        out.set(x + 2, y - 2, pink.mix(white, 0.4));
        out.set(x + 4, y - 2, pink.mix(white, 0.4));
    }
}
