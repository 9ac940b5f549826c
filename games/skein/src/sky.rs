//! The world: units, bounds, lanes, and geometry.
//!
//! Called by every part of the simulation. Absent: state.

use gaggle_kit::{Angle, Fixed16};

/// Units in a pixel: places and speeds are counted in 1/256 px.
pub const PX: i32 = 256;
/// Width of the world in pixels.
pub const WIDTH: i32 = 640;
/// Height of the world in pixels.
pub const HEIGHT: i32 = 360;
/// Geese stay to the right of this column, in pixels.
pub const LEFT: i32 = 16;
/// Geese stay to the left of this column, in pixels.
pub const RIGHT: i32 = 440;
/// Geese stay below this row, in pixels.
pub const TOP: i32 = 40;
/// Geese stay above this row, in pixels.
pub const BOTTOM: i32 = 316;
/// Rows in which enemies come, in pixels.
pub const LANES: [i32; 5] = [70, 120, 170, 220, 270];

/// A place or a vector in units: to the right, and down.
pub type Spot = (i32, i32);

/// A place given in pixels.
pub const fn at(x: i32, y: i32) -> Spot {
    (x * PX, y * PX)
}

/// Vector of this length in a direction: 0 is right, a quarter turn is down.
pub fn polar(angle: Angle, length: i32) -> Spot {
    let along = |share: Fixed16| ((i64::from(share.to_bits()) * i64::from(length) + 0x8000) >> 16) as i32;
    (along(angle.cos()), along(angle.sin()))
}

/// The direction from one place to another.
pub fn aim(from: Spot, to: Spot) -> Angle {
    Angle::atan2(Fixed16::from_bits(to.1 - from.1), Fixed16::from_bits(to.0 - from.0))
}

/// Whether two places are at most this many pixels apart.
pub fn within(a: Spot, b: Spot, pixels: i32) -> bool {
    let (x, y) = (i64::from(a.0 - b.0), i64::from(a.1 - b.1));
    let reach = i64::from(pixels) * i64::from(PX);
    x * x + y * y <= reach * reach
}

/// Whether two places are at most `across` and `down` units apart.
pub fn boxed(a: Spot, b: Spot, across: i32, down: i32) -> bool {
    (a.0 - b.0).abs() <= across && (a.1 - b.1).abs() <= down
}

/// Moves a coordinate toward another by at most `step`.
pub fn toward(from: i32, to: i32, step: i32) -> i32 {
    from + (to - from).clamp(-step, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polar_of_aim_leads_back() {
        for (x, y) in [(100, 0), (0, 70), (-300, 40), (12, -99)] {
            let way = polar(aim((5, 5), (5 + x * PX, 5 + y * PX)), 512);
            let scale = |part: i32, other: i32| part * other;
            assert_eq!(way.0.signum(), x.signum());
            assert!((scale(way.0, y) - scale(way.1, x)).abs() < 300, "{x} {y}: {way:?}");
        }
    }

    #[test]
    fn distance_is_round_and_box_is_square() {
        assert!(within(at(0, 0), at(3, 4), 5));
        assert!(!within(at(0, 0), at(4, 4), 5));
        assert!(boxed(at(0, 0), at(4, 4), 4 * PX, 4 * PX));
        assert_eq!(toward(10, 300, 64), 74);
    }
}
