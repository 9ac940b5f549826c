//! Places and ways in the plane, in fixed point: what games that move things about reckon with.
//!
//! A [`Vector`] is a plain array, so that states and replicated kinds hold it without knowing this module.
//!
//! ```
//! use gaggle_kit::Fixed16;
//! use gaggle_kit::plane::{add, length, near, slowed_to, way};
//!
//! let at = |x, y| [Fixed16::from_int(x), Fixed16::from_int(y)];
//! let (goose, pond) = (at(0, 0), at(30, 40));
//! assert_eq!(length(way(goose, pond)), Fixed16::from_int(50));
//!
//! let step = slowed_to(way(goose, pond), Fixed16::from_int(45));
//! assert!(near(add(goose, step), pond, 6));
//! ```

use crate::{Angle, Fixed16};

/// A place, a way or a velocity.
pub type Vector = [Fixed16; 2];

/// A way of this length in a direction.
pub fn along(heading: Angle, length: Fixed16) -> Vector {
    [heading.cos::<16>() * length, heading.sin::<16>() * length]
}

/// One and another.
pub fn add(a: Vector, b: Vector) -> Vector {
    [a[0] + b[0], a[1] + b[1]]
}

/// The way from `a` to `b`.
pub fn way(a: Vector, b: Vector) -> Vector {
    [b[0] - a[0], b[1] - a[1]]
}

/// How long a way is.
pub fn length(way: Vector) -> Fixed16 {
    Fixed16::hypot(way[0], way[1])
}

/// The direction of a way.
pub fn direction(way: Vector) -> Angle {
    Angle::atan2(way[1], way[0])
}

/// Whether two places are nearer than this, in whole units. Exact, and without a root.
pub fn near(a: Vector, b: Vector, distance: i32) -> bool {
    let [x, y] = way(a, b).map(|part| u64::from(part.to_bits().unsigned_abs()));
    let reach = u64::from(distance.max(0).unsigned_abs()) << 16;
    x * x + y * y < reach.saturating_mul(reach)
}

/// A velocity that is no faster than this.
pub fn slowed_to(velocity: Vector, speed: Fixed16) -> Vector {
    if length(velocity) > speed { along(direction(velocity), speed) } else { velocity }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: i32, y: i32) -> Vector {
        [Fixed16::from_int(x), Fixed16::from_int(y)]
    }

    #[test]
    fn a_way_has_a_length_and_a_direction_and_leads_there() {
        let (from, to) = (at(10, 20), at(13, 24));
        assert_eq!(length(way(from, to)), Fixed16::from_int(5));
        assert_eq!(add(from, way(from, to)), to);
        assert_eq!(direction(way(from, at(10, 90))), Angle::from_degrees(90));
        assert_eq!(along(Angle::ZERO, Fixed16::from_int(7)), at(7, 0));
    }

    #[test]
    fn near_is_exact_at_its_edge_and_does_not_overflow() {
        assert!(!near(at(0, 0), at(3, 4), 5));
        assert!(near(at(0, 0), [Fixed16::from_int(3), Fixed16::from_int(4) - Fixed16::from_bits(1)], 5));
        assert!(!near(at(-16_000, -16_000), at(16_000, 16_000), 30_000));
        assert!(near(at(-16_000, -16_000), at(16_000, 16_000), i32::MAX));
        assert!(!near(at(1, 1), at(1, 1), 0) && !near(at(1, 1), at(1, 2), -5));
    }

    #[test]
    fn only_what_is_too_fast_is_slowed() {
        assert_eq!(slowed_to(at(3, 4), Fixed16::from_int(5)), at(3, 4));
        assert_eq!(slowed_to(at(40, 0), Fixed16::from_int(5)), at(5, 0));
    }
}
