//! Vectors in the plane in fixed point, for games.
//!
//! Games call it. A [`Vec2`] is a plain array, so that states and replicated kinds can contain it
//! without this module. Absent: matrices, three dimensions.
//!
//! ```
//! use gaggle_kit::Fixed16;
//! use gaggle_kit::plane::{add, length, is_within, clamp_length, offset};
//!
//! let at = |x, y| [Fixed16::from_int(x), Fixed16::from_int(y)];
//! let (goose, pond) = (at(0, 0), at(30, 40));
//! assert_eq!(length(offset(goose, pond)), Fixed16::from_int(50));
//!
//! let step = clamp_length(offset(goose, pond), Fixed16::from_int(45));
//! assert!(is_within(add(goose, step), pond, 6));
//! ```

use crate::{Angle, Fixed16};

/// A position, an offset or a velocity.
pub type Vec2 = [Fixed16; 2];

/// A vector of this length in a direction.
pub fn from_polar(heading: Angle, length: Fixed16) -> Vec2 {
    [heading.cos::<16>() * length, heading.sin::<16>() * length]
}

/// Sum of two vectors.
pub fn add(a: Vec2, b: Vec2) -> Vec2 {
    [a[0] + b[0], a[1] + b[1]]
}

/// Vector from `a` to `b`.
pub fn offset(a: Vec2, b: Vec2) -> Vec2 {
    [b[0] - a[0], b[1] - a[1]]
}

/// Length of a vector.
pub fn length(way: Vec2) -> Fixed16 {
    Fixed16::hypot(way[0], way[1])
}

/// Direction of a vector.
pub fn direction(way: Vec2) -> Angle {
    Angle::atan2(way[1], way[0])
}

/// Whether two positions are closer than this many whole units. Exact, without a root.
pub fn is_within(a: Vec2, b: Vec2, distance: i32) -> bool {
    let [x, y] = offset(a, b).map(|part| u64::from(part.to_bits().unsigned_abs()));
    let reach = u64::from(distance.max(0).unsigned_abs()) << 16;
    x * x + y * y < reach.saturating_mul(reach)
}

/// The vector, shortened to at most this length.
pub fn clamp_length(velocity: Vec2, speed: Fixed16) -> Vec2 {
    if length(velocity) > speed { from_polar(direction(velocity), speed) } else { velocity }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: i32, y: i32) -> Vec2 {
        [Fixed16::from_int(x), Fixed16::from_int(y)]
    }

    #[test]
    fn offset_has_length_and_direction_and_leads_there() {
        let (from, to) = (at(10, 20), at(13, 24));
        assert_eq!(length(offset(from, to)), Fixed16::from_int(5));
        assert_eq!(add(from, offset(from, to)), to);
        assert_eq!(direction(offset(from, at(10, 90))), Angle::from_degrees(90));
        assert_eq!(from_polar(Angle::ZERO, Fixed16::from_int(7)), at(7, 0));
    }

    #[test]
    fn is_within_is_exact_at_edge_and_does_not_overflow() {
        assert!(!is_within(at(0, 0), at(3, 4), 5));
        assert!(is_within(at(0, 0), [Fixed16::from_int(3), Fixed16::from_int(4) - Fixed16::from_bits(1)], 5));
        assert!(!is_within(at(-16_000, -16_000), at(16_000, 16_000), 30_000));
        assert!(is_within(at(-16_000, -16_000), at(16_000, 16_000), i32::MAX));
        assert!(!is_within(at(1, 1), at(1, 1), 0) && !is_within(at(1, 1), at(1, 2), -5));
    }

    #[test]
    fn only_too_long_vector_is_shortened() {
        assert_eq!(clamp_length(at(3, 4), Fixed16::from_int(5)), at(3, 4));
        assert_eq!(clamp_length(at(40, 0), Fixed16::from_int(5)), at(5, 0));
    }
}
