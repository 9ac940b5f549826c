//! Geometry of the fen: size, ledges, pads, and arithmetic of positions that wrap.
//!
//! Used by all rules and the picture. Absent: what changes during a match (`ledges.rs`, `pits.rs`).

/// Sub-pixels in a pixel: the unit of positions and velocities.
pub const PX: i32 = 256;

/// Width of the fen in pixels. Left and right edge are the same place.
pub const WIDTH: i32 = 384;
/// Height of the fen in pixels.
pub const HEIGHT: i32 = 216;
/// Width in sub-pixels: x is from 0 to `SPAN` − 1.
pub const SPAN: i32 = WIDTH * PX;
/// Row of pixels above which nothing flies.
pub const CEILING: i32 = 14;
/// Row of the surface of the fire.
pub const FIRE: i32 = 205;
/// Row below which a body or egg is lost: 7 pixels into the fire.
pub const DROWN: i32 = FIRE + 7;

/// Least y of any body, in sub-pixels: far enough above the picture for any bounce.
pub const Y_MIN: i32 = -64 * PX;
/// Greatest y of any body, in sub-pixels.
pub const Y_MAX: i32 = (HEIGHT + 64) * PX;

/// A strip of solid ground. One whose right end is beyond [`WIDTH`] wraps around the edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ledge {
    /// Name in messages of tests.
    pub name: &'static str,
    /// Left end, in pixels.
    pub x: i32,
    /// Row that feet stand on.
    pub top: i32,
    /// Length in pixels.
    pub width: i32,
    /// Thickness in pixels.
    pub depth: i32,
}

/// Number of ledges.
pub const LEDGES: usize = 6;
/// Index of the top ledge, which wraps around the edge.
pub const HIGH_SEDGE: usize = 0;
/// Index of the long ledge below the moon.
pub const LONG_EYOT: usize = 1;
/// Index of the short ledge on the right.
pub const MOONSTEP: usize = 2;
/// Index of the middle ledge, which wraps around the edge.
pub const MERE: usize = 3;
/// Index of the ledge above the rock.
pub const LOW_EYOT: usize = 4;
/// Index of the rock at the bottom, which is always there.
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
    /// Whether a body from `x - half` to `x + half`, in sub-pixels, is above or below this ledge.
    #[inline]
    pub const fn spans(&self, x: i32, half: i32) -> bool {
        wrap(x - self.x * PX + half) < self.width * PX + 2 * half
    }

    /// First free row below it.
    #[inline]
    pub const fn bottom(&self) -> i32 {
        self.top + self.depth
    }

    /// Horizontal middle, in sub-pixels.
    #[inline]
    pub const fn middle(&self) -> i32 {
        wrap((self.x + self.width / 2) * PX)
    }
}

/// A flat stone on which knights and riders appear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StonePad {
    /// Index of the ledge it lies on.
    pub ledge: usize,
    /// Horizontal middle, in pixels.
    pub x: i32,
}

/// Number of pads, one for each slot.
pub const PADS: usize = 4;

/// All pads; slot *n* prefers pad *n*.
pub const PAD: [StonePad; PADS] = [
    StonePad { ledge: HEARTHSTONE, x: 252 },
    StonePad { ledge: LONG_EYOT, x: 163 },
    StonePad { ledge: MERE, x: 30 },
    StonePad { ledge: MOONSTEP, x: 275 },
];

/// Brings `x`, in sub-pixels, back into the fen.
#[inline]
pub const fn wrap(x: i32) -> i32 {
    // Movement never exceeds one turn, so the divisions are rarely reached.
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

/// Signed distance from `from` to `to` by the shorter way around: positive if `to` is on the right.
#[inline]
pub const fn apart(from: i32, to: i32) -> i32 {
    let d = wrap(to - from);
    if d > SPAN / 2 { d - SPAN } else { d }
}

/// Row of pixels of a y in sub-pixels. Lances in one row are level, because the picture shows them
/// level.
#[inline]
pub const fn row(y: i32) -> i32 {
    y.div_euclid(PX)
}

/// Whether fire and no rock is below this x, in sub-pixels.
#[inline]
pub const fn over_pit(x: i32) -> bool {
    !LEDGE[HEARTHSTONE].spans(x, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shorter_way_across_edge_is_taken() {
        assert_eq!(apart(10 * PX, 30 * PX), 20 * PX);
        assert_eq!(apart(370 * PX, 6 * PX), 20 * PX);
        assert_eq!(apart(6 * PX, 370 * PX), -20 * PX);
        assert_eq!(wrap(-1), SPAN - 1);
        assert_eq!(wrap(SPAN), 0);
        assert_eq!(wrap(-3 * SPAN - 1), SPAN - 1);
    }

    #[test]
    fn ledge_across_edge_is_one_piece() {
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
    fn goose_fits_between_any_two_ledges() {
        for upper in LEDGE {
            for lower in LEDGE.iter().filter(|lower| lower.top > upper.top) {
                let meet = (0..WIDTH).any(|x| upper.spans(x * PX, 0) && lower.spans(x * PX, 0));
                assert!(!meet || lower.top - upper.bottom() > 32, "{} over {}", upper.name, lower.name);
            }
        }
    }
}
