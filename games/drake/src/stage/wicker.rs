//! Walls of the coop, woven willow on ropes.
//!
//! `Backdrop` paints them once. Absent: collisions, which are in `field`.

use gaggle_scene::{Bitmap, Color, palette};
use palette::{BONE, FIRE, INK, MOON, PEAT};

use crate::field::{BOTTOM, LEFT, RIGHT, TOP};

/// Thickness of a wall in pixels.
const THICK: i32 = 8;

/// Whether a wall covers this place.
pub(super) fn covers(x: i32, y: i32) -> bool {
    let outer = (LEFT - THICK..RIGHT + THICK).contains(&x) && (TOP - THICK..BOTTOM + THICK).contains(&y);
    outer && !((LEFT..RIGHT).contains(&x) && (TOP..BOTTOM).contains(&y))
}

/// Paints the walls into a bitmap.
pub(super) fn weave(out: &mut Bitmap, left: i32, top: i32) {
    ropes(out, left, top);
    for y in TOP - THICK - 1..=BOTTOM + THICK {
        for x in LEFT - THICK - 1..=RIGHT + THICK {
            if covers(x, y) {
                let lying = !(TOP..BOTTOM).contains(&y);
                out.set(
                    left + x,
                    top + y,
                    if lying { withe(x, y, TOP - THICK, BOTTOM) } else { withe(y, x, LEFT - THICK, RIGHT) },
                );
            }
        }
    }
    edges(out, left, top);
    for (x, y) in [(LEFT, TOP), (RIGHT, TOP), (LEFT, BOTTOM), (RIGHT, BOTTOM)] {
        knot(out, left + x, top + y);
    }
}

/// Color of one wall pixel: withies two pixels thick cross posts ten pixels apart.
fn withe(along: i32, across: i32, near: i32, far: i32) -> Color {
    let row = if across < near + THICK { across - near } else { across - far };
    let (course, part) = (row / 2, row % 2);
    let post = (along + course * 5).rem_euclid(10);
    let lit = [PEAT[4].mix(BONE, 0.3).mix(FIRE[3], 0.14), PEAT[3].mix(FIRE[2], 0.12)][part as usize];
    match post {
        0 => INK,
        1 => PEAT[2],
        4 | 5 if part == 0 => lit.mix(BONE, 0.22),
        9 => PEAT[2],
        _ => lit.mix(PEAT[2], if course % 2 == 0 { 0.0 } else { 0.25 }),
    }
}

/// Light from the moon above and from fire below, with dark outlines.
fn edges(out: &mut Bitmap, left: i32, top: i32) {
    for x in LEFT - THICK..RIGHT + THICK {
        let inner = (LEFT..RIGHT).contains(&x);
        let warm = FIRE[3].mix(PEAT[3], 0.3);
        out.set(left + x, top + TOP - THICK, MOON.mix(PEAT[4], 0.45));
        out.set(left + x, top + TOP - THICK - 1, INK);
        out.set(left + x, top + BOTTOM + THICK - 1, warm);
        out.set(left + x, top + BOTTOM + THICK, INK);
        if inner {
            out.set(left + x, top + TOP - 1, FIRE[1].mix(PEAT[2], 0.5));
            out.set(left + x, top + TOP, INK);
            out.set(left + x, top + BOTTOM, MOON.mix(PEAT[4], 0.5));
            out.set(left + x, top + BOTTOM - 1, INK);
        }
    }
    for y in TOP - THICK..BOTTOM + THICK {
        let warm = ((y - 60) as f32 / 200.0).clamp(0.0, 0.6);
        out.set(left + LEFT - THICK, top + y, PEAT[4].mix(FIRE[3], warm));
        out.set(left + LEFT - THICK - 1, top + y, INK);
        out.set(left + RIGHT + THICK - 1, top + y, PEAT[3].mix(FIRE[3], warm));
        out.set(left + RIGHT + THICK, top + y, INK);
        if (TOP..BOTTOM).contains(&y) {
            out.set(left + LEFT, top + y, INK);
            out.set(left + RIGHT - 1, top + y, INK);
            out.set(left + RIGHT, top + y, PEAT[4].mix(FIRE[3], warm));
        }
    }
}

/// Two ropes that hold the coop.
fn ropes(out: &mut Bitmap, left: i32, top: i32) {
    for x in [LEFT - 6, RIGHT + 4] {
        for y in -top..TOP - THICK {
            let twist = (y + x).rem_euclid(4) < 2;
            out.set(left + x, top + y, if twist { BONE.mix(PEAT[3], 0.5) } else { PEAT[3] });
            out.set(left + x + 1, top + y, if twist { PEAT[3] } else { PEAT[2] });
        }
    }
}

fn knot(out: &mut Bitmap, x: i32, y: i32) {
    const ROWS: [&str; 9] = [
        "..kkkkk..",
        ".kbbcbbk.",
        "kbcbbbcbk",
        "kbbccbbbk",
        "kcbbbbcbk",
        "kbbcbbbbk",
        "kbcbbcbbk",
        ".kbbbbbk.",
        "..kkkkk..",
    ];
    let rope = BONE.mix(PEAT[4], 0.3);
    out.stamp(x - 4, y - 4, &ROWS, |letter| match letter {
        'k' => INK,
        'c' => PEAT[3],
        _ => rope,
    });
}
