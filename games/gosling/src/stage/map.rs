//! The map: reed, nests, goslings, pikes and feathers, and the part that is on the screen.
//!
//! Called by the stage last. Absent: the reed itself, which is `scenery`.

use gaggle_scene::{Bitmap, Color, palette};

use super::Painter;
use super::figures::Look;
use super::scenery::{TILE, Tiles};
use crate::water::{NOWHERE, Swimmer};
use crate::{Mode, Reed, SEATS};

/// The reed as a picture of so many pixels a tile.
pub(super) fn picture(reed: &Reed, scale: i32) -> Bitmap {
    let tiles = Tiles { reed };
    let (across, down) = reed.tile_size();
    let mut out = Bitmap::new(across as i32 * scale, down as i32 * scale);
    for (x, y) in (0..down as i32).flat_map(|y| (0..across as i32).map(move |x| (x, y))) {
        let color = if tiles.is_open(x, y) { palette::NIGHT[0] } else { palette::SEDGE[1] };
        out.rect(x * scale, y * scale, scale, scale, color);
    }
    out
}

/// Draws the map in its corner, or on the foot of an upright screen.
pub(super) fn draw(painter: &mut Painter<'_>) {
    let (now, reed) = (painter.moment.now, painter.moment.reed);
    let (across, down) = reed.tile_size();
    let (camera, is_great) = (painter.camera, now.setup.mode == Mode::Great);
    let scale = if is_great { 1 } else { 2 };
    let (wide, tall) = (across as i32 * scale, down as i32 * scale);
    let (x, y) = if camera.is_upright {
        let (screen, area) = (camera.screen, camera.area);
        (screen.x + screen.width - wide - 8, area.y + area.height + 7)
    } else {
        let board = camera.board;
        (board.x + board.width - wide - 9, board.y + board.height - tall - 9)
    };
    painter.scene.panel((x - 4, y - 4, wide + 8, tall + 8), palette::INK, 0.86, Some(palette::MIST[0]));
    if let Some(image) = painter.scenery.map() {
        painter.scene.image(image, x as f32, y as f32);
    }
    let place = |at: (i32, i32)| {
        // Units from the middle of the first cell; its tile is the second.
        let on = |units: i32| (units + 4_096 + 2_048) * scale / 4_096;
        (x + on(at.0), y + on(at.1))
    };
    for (nth, nest) in reed.nests().iter().enumerate() {
        let (i, j) = place(reed.place(Swimmer::at(*nest, 0)));
        let color = if now.setup.mode == Mode::Free {
            palette::FIRE[5]
        } else {
            Look::of(now.setup.mode, nth as u8, 0).color()
        };
        frame(painter, (i - 4, j - 4, 8, 8), color);
        frame(painter, (i - 3, j - 3, 6, 6), palette::INK);
    }
    for feather in now.feathers.list.iter().filter(|feather| feather.cell != NOWHERE) {
        let (i, j) = place(reed.place(Swimmer::at(feather.cell, 0)));
        let white = Color::hex(0xff_ffff);
        painter.scene.fill(i, j - 1, 1, 3, white);
        painter.scene.fill(i - 1, j, 3, 1, white);
    }
    for pike in now.pikes.iter().filter(|pike| pike.is_out) {
        let (i, j) = place(reed.place(pike.at));
        let color = if pike.shy > 0 { palette::MIST[1] } else { palette::BAD };
        painter.scene.fill(i - 1, j - 1, 3, 3, color);
        painter.scene.fill(i, j, 1, 1, palette::INK);
    }
    let brood = now.chicks[painter.hero].brood;
    for slot in (0..SEATS).filter(|slot| now.chicks[*slot].is_swimming()) {
        let chick = &now.chicks[slot];
        let (i, j) = place(reed.place(chick.at));
        let color = Look::of(now.setup.mode, chick.brood, slot).color();
        if painter.audience.is_own(slot) {
            painter.scene.fill(i - 2, j - 2, 5, 5, palette::INK);
            painter.scene.fill(i - 1, j - 1, 3, 3, Color::hex(0xff_ffff));
        } else if chick.brood == brood && now.setup.mode != Mode::Free {
            painter.scene.fill(i - 1, j - 1, 2, 2, color);
        } else {
            painter.scene.fill(i, j - 1, 1, 1, color);
            painter.scene.fill(i - 1, j, 3, 1, color);
        }
    }
    let (left, top, width, height) = camera.seen();
    let (x0, y0) = ((left * scale / TILE).max(0), (top * scale / TILE).max(0));
    let (x1, y1) = (((left + width) * scale / TILE).min(wide), ((top + height) * scale / TILE).min(tall));
    frame(painter, (x + x0, y + y0, x1 - x0, y1 - y0), palette::MOON_SHADE);
}

fn frame(painter: &mut Painter<'_>, (x, y, wide, tall): (i32, i32, i32, i32), color: Color) {
    painter.scene.fill(x, y, wide, 1, color);
    painter.scene.fill(x, y + tall - 1, wide, 1, color);
    painter.scene.fill(x, y, 1, tall, color);
    painter.scene.fill(x + wide - 1, y, 1, tall, color);
}
