//! The fen as a place: its size, its seam, its ledges and pads, and the arithmetic of positions.
//!
//! Nothing here changes during a match. Which ledges are there at the moment is `ledges.rs`, what
//! burns is `pits.rs`.

/// Sub-pixels in a pixel. Positions and velocities are whole numbers of these.
pub const PX: i32 = 256;

/// Width of the fen in pixels. The left and the right edge are the same place.
pub const WIDTH: i32 = 384;
/// Height of the fen in pixels.
pub const HEIGHT: i32 = 216;
/// Width in sub-pixels: every x is from 0 up to but not including this.
pub const SPAN: i32 = WIDTH * PX;
/// Nothing flies above this row.
pub const CEILING: i32 = 14;
/// The surface of the fire.
pub const FIRE: i32 = 205;
/// Whoever sinks below this row is gone: seven pixels into the fire.
pub const DROWN: i32 = FIRE + 7;

/// Nothing is ever higher than this, in sub-pixels: far enough above the picture for whatever
/// bounces.
pub const Y_MIN: i32 = -64 * PX;
/// Nor lower than this.
pub const Y_MAX: i32 = (HEIGHT + 64) * PX;

/// A solid strip of ground, in pixels. `x` may lie so far right that the ledge wraps around the
/// seam.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ledge {
    /// What it is called.
    pub name: &'static str,
    /// Left end in pixels.
    pub x: i32,
    /// The row feet stand on.
    pub top: i32,
    /// How long it is.
    pub width: i32,
    /// How deep it is.
    pub depth: i32,
}

/// How many ledges there are.
pub const LEDGES: usize = 6;
/// The two halves at the top, one ledge around the seam.
pub const HIGH_SEDGE: usize = 0;
/// The long one under the moon.
pub const LONG_EYOT: usize = 1;
/// The step on the right.
pub const MOONSTEP: usize = 2;
/// The two halves in the middle, one ledge around the seam.
pub const MERE: usize = 3;
/// The low one.
pub const LOW_EYOT: usize = 4;
/// The rock at the bottom, which nothing removes.
pub const HEARTHSTONE: usize = 5;

/// All ledges, from top to bottom.
pub const LEDGE: [Ledge; LEDGES] = [
    Ledge { name: "High Sedge", x: 334, top: 51, width: 88, depth: 7 },
    Ledge { name: "Long Eyot", x: 104, top: 63, width: 118, depth: 8 },
    Ledge { name: "Moonstep", x: 236, top: 111, width: 78, depth: 7 },
    Ledge { name: "Mere", x: 340, top: 120, width: 120, depth: 8 },
    Ledge { name: "Low Eyot", x: 128, top: 145, width: 90, depth: 7 },
    Ledge { name: "Hearthstone", x: 62, top: 193, width: 246, depth: 40 },
];

impl Ledge {
    /// Whether any of `half` sub-pixels to either side of `x` is over this ledge.
    #[inline]
    pub const fn spans(&self, x: i32, half: i32) -> bool {
        wrap(x - self.x * PX + half) < self.width * PX + 2 * half
    }

    /// The first row below it that is free again.
    #[inline]
    pub const fn bottom(&self) -> i32 {
        self.top + self.depth
    }

    /// Its middle, in sub-pixels.
    #[inline]
    pub const fn middle(&self) -> i32 {
        wrap((self.x + self.width / 2) * PX)
    }
}

/// Where somebody may appear: a flat stone on a ledge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StonePad {
    /// The ledge it lies on.
    pub ledge: usize,
    /// Its middle, in pixels.
    pub x: i32,
}

/// How many pads there are: one for each seat.
pub const PADS: usize = 4;

/// The pads; seat *n* prefers pad *n*.
pub const PAD: [StonePad; PADS] = [
    StonePad { ledge: HEARTHSTONE, x: 252 },
    StonePad { ledge: LONG_EYOT, x: 163 },
    StonePad { ledge: MERE, x: 30 },
    StonePad { ledge: MOONSTEP, x: 275 },
];

/// Brings an x back into the fen.
#[inline]
pub const fn wrap(x: i32) -> i32 {
    // One turn is all that movement ever needs; anything farther off is not worth a division here.
    if x < 0 {
        let x = x + SPAN;
        if x < 0 { x.rem_euclid(SPAN) } else { x }
    } else if x < SPAN {
        x
    } else {
        let x = x - SPAN;
        if x < SPAN { x } else { x % SPAN }
    }
}

/// The shorter way from `from` to `to` around the fen: positive if it leads right.
#[inline]
pub const fn apart(from: i32, to: i32) -> i32 {
    let d = wrap(to - from);
    if d > SPAN / 2 { d - SPAN } else { d }
}

/// The row of pixels an y lies in. Two lances are level when they share a row: what the picture
/// shows is what counts.
#[inline]
pub const fn row(y: i32) -> i32 {
    y.div_euclid(PX)
}

/// Whether there is fire and no rock below this x.
#[inline]
pub const fn over_pit(x: i32) -> bool {
    !LEDGE[HEARTHSTONE].spans(x, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shorter_way_leads_across_the_seam() {
        assert_eq!(apart(10 * PX, 30 * PX), 20 * PX);
        assert_eq!(apart(370 * PX, 6 * PX), 20 * PX);
        assert_eq!(apart(6 * PX, 370 * PX), -20 * PX);
        assert_eq!(wrap(-1), SPAN - 1);
        assert_eq!(wrap(SPAN), 0);
        assert_eq!(wrap(-3 * SPAN - 1), SPAN - 1);
    }

    #[test]
    fn a_ledge_across_the_seam_is_one_piece() {
        let mere = &LEDGE[MERE];
        for x in [340, 383, 0, 75] {
            assert!(mere.spans(x * PX, 0), "{x}");
        }
        for x in [339, 76, 200] {
            assert!(!mere.spans(x * PX, 0), "{x}");
        }
        assert!(mere.spans(78 * PX, 3 * PX));
    }

    #[test]
    fn every_pad_lies_on_its_ledge() {
        for pad in PAD {
            assert!(LEDGE[pad.ledge].spans(pad.x * PX, -14 * PX), "{}", LEDGE[pad.ledge].name);
        }
    }

    #[test]
    fn a_goose_fits_between_any_ledge_and_the_one_above() {
        for upper in LEDGE {
            for lower in LEDGE.iter().filter(|lower| lower.top > upper.top) {
                let meet = (0..WIDTH).any(|x| upper.spans(x * PX, 0) && lower.spans(x * PX, 0));
                assert!(!meet || lower.top - upper.bottom() > 32, "{} over {}", upper.name, lower.name);
            }
        }
    }
}
