//! Emblems of six slots, so that color alone never tells players apart.
//!
//! Called by games and menus. Absent: which player has which slot.

use crate::{Bitmap, Color};

/// Columns and rows of an emblem, in pixels.
pub const SIZE: i32 = 7;

/// Feather, horns, crown, star, leaf and ring.
const ROWS: [[&str; 7]; 6] = [
    ["....pp.", "..pppp.", ".pp.pp.", ".p.pp..", "ppppp..", "pp.....", "p......"],
    ["p.....p", "pp...pp", "pp...pp", ".pp.pp.", ".ppppp.", "..ppp..", "...p..."],
    ["...p...", "p.ppp.p", "pp.p.pp", "ppppppp", ".ppppp.", ".......", ".ppppp."],
    ["...p...", "..ppp..", ".ppppp.", "ppppppp", ".ppppp.", "..ppp..", "...p..."],
    ["...ppp.", ".ppppp.", ".pppppp", "pppp.pp", "ppp.pp.", ".p.pp..", "p......"],
    ["..ppp..", ".ppppp.", "pp...pp", "pp...pp", "pp...pp", ".ppppp.", "..ppp.."],
];

/// Emblem of a slot in a color; slots from 6 on repeat the first six.
pub fn emblem(seat: usize, color: Color) -> Bitmap {
    let mut out = Bitmap::new(SIZE, SIZE);
    let light = color.mix(Color::hex(0xff_ffff), 0.4);
    for (y, row) in (0..).zip(ROWS[seat % ROWS.len()]) {
        for (x, letter) in (0..).zip(row.chars()) {
            if letter == 'p' {
                let above = y > 0 && ROWS[seat % ROWS.len()][y as usize - 1].as_bytes()[x as usize] == b'p';
                out.set(x, y, if above { color } else { light });
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette;

    #[test]
    fn every_slot_has_shape_of_its_own() {
        let shapes: Vec<Bitmap> = (0..6).map(|seat| emblem(seat, palette::TEXT)).collect();
        for (seat, shape) in shapes.iter().enumerate() {
            assert!(shapes[..seat].iter().all(|other| other != shape));
        }
    }
}
