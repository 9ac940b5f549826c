//! Images of the ground: ledges of turf over stone, the rock, planks.
//!
//! Painted once by `stage.rs`. Absent: where and when they are drawn (`ground.rs`).

use gaggle_scene::{Album, Bitmap, Color, ImageId, bayer, chance, noise, palette};
use palette::{FIRE, INK, PEAT, SEDGE};

use crate::arena::{HEARTHSTONE, LEDGE, LEDGES, Ledge};

/// Pixels by which a ledge's image is larger on each side and above.
pub(super) const MARGIN: (i32, i32) = (3, 3);
/// Rows of a ledge's image: more than the longest root needs.
const LEDGE_ROWS: i32 = 26;
/// Rows of the rock that can be visible.
const ROCK_ROWS: i32 = 60;

/// Images of one album.
#[derive(Debug, Clone)]
pub(super) struct Turf {
    /// All ledges but the rock, by number.
    pub(super) ledges: [ImageId; LEDGES - 1],
    pub(super) rock: ImageId,
    /// Planks of a bridge: whole and burning.
    pub(super) planks: [ImageId; 2],
}

impl Turf {
    pub(super) fn bake(album: &mut Album) -> Turf {
        let ledges = std::array::from_fn(|number| album.add(ledge(&LEDGE[number], number as i32 + 1)));
        let rock = album.add(rock());
        let planks = [album.add(plank(false)), album.add(plank(true))];
        Turf { ledges, rock, planks }
    }
}

fn ledge(ledge: &Ledge, purpose: i32) -> Bitmap {
    let width = ledge.width;
    let mut out = Bitmap::new(width + 2 * MARGIN.0, LEDGE_ROWS);
    // The lower a ledge hangs, the more firelight is below it.
    let warm = ((ledge.top - 30) as f32 / 130.0).clamp(0.0, 1.0);
    let top = MARGIN.1;
    for along in 0..width {
        let x = MARGIN.0 + along;
        let edge = along.min(width - 1 - along);
        let deep = thickness(ledge, along, edge, purpose);
        for down in 0..deep {
            out.set(x, top + down, stone(along, down, deep, purpose, warm));
        }
        out.set(x, top + deep, INK);
        turf(&mut out, x, top, along, purpose);
        if chance(along, 8, purpose) > 0.93 && edge > 4 {
            let length = 2 + (chance(along, 9, purpose) * 5.0) as i32;
            for down in 0..length {
                let aside = if down > 2 { purpose & 1 } else { 0 };
                let color = if down == length - 1 { FIRE[1].mix(FIRE[3], warm) } else { PEAT[1] };
                out.set(x + aside, top + deep + down, color);
            }
        }
    }
    out.set(MARGIN.0 - 1, top + 1, SEDGE[2]);
    out.set(MARGIN.0 + width, top + 1, SEDGE[2]);
    out
}

fn thickness(ledge: &Ledge, along: i32, edge: i32, purpose: i32) -> i32 {
    let taper = (0.42 + edge as f32 / 15.0).min(1.0);
    let ragged = (noise((along + purpose * 31) as f32 / 6.0, purpose) - 0.45) * 6.0;
    let rough = (noise(along as f32 / 2.3, purpose + 7) - 0.5) * 2.5;
    ((ledge.depth as f32 + 2.0) * taper + ragged + rough + 0.5).floor().max(3.0) as i32
}

fn stone(along: i32, down: i32, deep: i32, purpose: i32, warm: f32) -> Color {
    let mut color = match down {
        0 | 1 => PEAT[3],
        _ if (down as f32) < deep as f32 * 0.55 => PEAT[2],
        _ => PEAT[1],
    };
    if down >= 2 {
        let course = down / 3;
        let shifted = along + course % 2 * 4;
        color = if down % 3 == 0 {
            color.mix(PEAT[0], 0.55)
        } else if shifted % 8 == 0 {
            color.mix(PEAT[0], 0.5)
        } else {
            color.mix(PEAT[4], chance(shifted / 8, course, purpose) * 0.22)
        };
    }
    match deep - 1 - down {
        0 => FIRE[1].mix(FIRE[3], warm),
        1 => color.mix(FIRE[0].mix(FIRE[2], warm), 0.35 + 0.5 * warm),
        2 => color.mix(FIRE[1], 0.15 + 0.5 * warm),
        3 | 4 => color.mix(FIRE[1], 0.35 * warm),
        _ => color,
    }
}

/// Draws a bright edge and blades of grass above it.
fn turf(out: &mut Bitmap, x: i32, top: i32, along: i32, purpose: i32) {
    let chance = |kind| chance(along, kind, purpose);
    out.set(x, top, if chance(1) > 0.25 { SEDGE[4] } else { SEDGE[3] });
    out.set(x, top + 1, if chance(2) > 0.4 { SEDGE[3] } else { SEDGE[2] });
    if chance(3) > 0.35 {
        out.set(x, top + 2, SEDGE[2]);
    }
    if chance(4) > 0.7 {
        out.set(x, top + 3, SEDGE[1]);
    }
    if chance(5) > 0.72 {
        out.set(x, top - 1, SEDGE[3]);
    }
    if chance(6) > 0.93 {
        out.set(x, top - 1, SEDGE[3]);
        out.set(x, top - 2, SEDGE[2]);
    }
}

fn rock() -> Bitmap {
    let width = LEDGE[HEARTHSTONE].width;
    let mut out = Bitmap::new(width + 2 * MARGIN.0, ROCK_ROWS + MARGIN.1);
    let (left, top) = MARGIN;
    for down in 0..ROCK_ROWS {
        let inset = if down < 5 {
            -down.min(2)
        } else {
            ((down - 5) as f32 * 0.55 + noise(down as f32 / 3.0, 77) * 3.0).floor() as i32 - 2
        };
        for along in inset..width - inset {
            let edge = (along - inset).min(width - inset - 1 - along);
            out.set(left + along, top + down, brick(along, down, edge));
        }
    }
    for along in -1..=width {
        let x = left + along;
        let chance = |kind, purpose| chance(along, kind, purpose);
        out.set(x, top, if chance(1, 50) > 0.2 { SEDGE[4] } else { SEDGE[3] });
        out.set(x, top + 1, SEDGE[3]);
        out.set(x, top + 2, if chance(2, 50) > 0.45 { SEDGE[2] } else { SEDGE[1] });
        if chance(3, 50) > 0.75 {
            out.set(x, top - 1, SEDGE[3]);
        }
        if chance(3, 51) > 0.6 {
            out.set(x, top + 3, SEDGE[1]);
        }
    }
    out
}

fn brick(along: i32, down: i32, edge: i32) -> Color {
    let row = (down - 1).div_euclid(7);
    let shifted = along + 400 + row.rem_euclid(2) * 9;
    let mut color = PEAT[2].mix(PEAT[1], (down as f32 / 16.0).min(1.0));
    if down > 2 {
        color = if (down - 1) % 7 == 0 || shifted % 18 == 0 {
            PEAT[0]
        } else {
            let own = color.mix(PEAT[4], chance(shifted / 18, row, 5) * 0.2);
            if (down - 1) % 7 == 1 { own.mix(PEAT[4], 0.25) } else { own }
        };
    }
    if edge < 12 && down > 1 {
        color = match edge {
            0 => FIRE[3],
            1 => color.mix(FIRE[3], 0.7),
            _ => color.mix(FIRE[1], (12 - edge) as f32 / 14.0),
        };
    }
    if down > 9 {
        color = color.mix(FIRE[1], ((down - 9) as f32 / 16.0).min(0.65));
    }
    color
}

/// A plank of 3 pixels and a gap, with firelight below.
fn plank(alight: bool) -> Bitmap {
    let mut out = Bitmap::new(4, 4);
    for x in 0..3 {
        let grain = chance(x, 3, 9);
        out.set(x, 0, if alight { FIRE[4] } else { SEDGE[3].mix(PEAT[4], 0.4 + grain * 0.3) });
        out.set(x, 1, if alight { FIRE[3] } else { PEAT[4] });
        out.set(x, 2, if alight { FIRE[1] } else { PEAT[3] });
        out.set(x, 3, if alight { FIRE[2] } else { FIRE[3].mix(FIRE[1], bayer(x, 0) * 0.5) });
    }
    out.set(3, 1, PEAT[1]);
    out
}
