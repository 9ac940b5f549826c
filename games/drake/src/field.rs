//! The coop: where its walls and nests are, and how to reckon with places in it.

use gaggle_kit::Fixed16;

/// Places are in art pixels, velocities in art pixels a second.
pub use gaggle_kit::plane::{Vec2, add, clamp_length, direction, from_polar, is_within, length, offset};

/// Art pixels across and down, as all games of the arcade have.
pub const WIDTH: i32 = 384;
/// Art pixels down.
pub const HEIGHT: i32 = 216;
/// The inner faces of the walls.
pub const LEFT: i32 = 12;
/// The inner face of the right wall.
pub const RIGHT: i32 = 372;
/// The inner face of the top wall.
pub const TOP: i32 = 26;
/// The inner face of the floor.
pub const BOTTOM: i32 = 204;
/// Seats in the coop.
pub const SEATS: usize = 6;
/// Frames in a second.
pub const RATE: i32 = 60;

/// Where the nests are, by seat: holes in the wicker, each as far from the next as can be.
const NESTS: [(i32, i32); SEATS] = [(24, 60), (360, 170), (360, 60), (24, 170), (192, 36), (192, 194)];

/// Where the nest of a seat is.
pub const fn nest(seat: usize) -> Vec2 {
    let (x, y) = NESTS[seat % SEATS];
    [Fixed16::from_int(x), Fixed16::from_int(y)]
}

/// The middle of the coop.
pub const MIDDLE: Vec2 = [Fixed16::from_int((LEFT + RIGHT) / 2), Fixed16::from_int((TOP + BOTTOM) / 2)];

/// What one frame of this velocity leads to.
pub fn moved(place: Vec2, velocity: Vec2) -> Vec2 {
    [place[0] + velocity[0] / RATE, place[1] + velocity[1] / RATE]
}

/// Keeps a body of this radius inside the walls; a velocity against a wall is thrown back, and a
/// part of it lost. Says whether it met one.
pub fn keep_inside(place: &mut Vec2, velocity: &mut Vec2, radius: i32, keeps: Fixed16) -> bool {
    let mut met = false;
    for (axis, (low, high)) in [(LEFT, RIGHT), (TOP, BOTTOM)].into_iter().enumerate() {
        let (low, high) = (Fixed16::from_int(low + radius), Fixed16::from_int(high - radius));
        let outward = if place[axis] < low {
            place[axis] = low;
            velocity[axis] < Fixed16::ZERO
        } else if place[axis] > high {
            place[axis] = high;
            velocity[axis] > Fixed16::ZERO
        } else {
            continue;
        };
        met = true;
        if outward {
            velocity[axis] = -velocity[axis] * keeps;
        }
    }
    met
}

/// Whether a place is inside the walls.
pub fn inside(place: Vec2) -> bool {
    let [x, y] = place.map(Fixed16::floor);
    (LEFT..RIGHT).contains(&x) && (TOP..BOTTOM).contains(&y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nests_lie_inside_and_apart() {
        for seat in 0..SEATS {
            assert!(inside(nest(seat)));
            for other in 0..seat {
                assert!(!is_within(nest(seat), nest(other), 60), "{seat} and {other}");
            }
        }
    }

    #[test]
    fn a_wall_throws_back_what_runs_against_it() {
        let mut place = [Fixed16::from_int(5), Fixed16::from_int(100)];
        let mut velocity = [Fixed16::from_int(-60), Fixed16::from_int(10)];
        assert!(keep_inside(&mut place, &mut velocity, 6, Fixed16::HALF));
        assert_eq!(place[0], Fixed16::from_int(LEFT + 6));
        assert_eq!(velocity, [Fixed16::from_int(30), Fixed16::from_int(10)]);
        assert!(!keep_inside(&mut place, &mut velocity, 6, Fixed16::HALF));
    }

    #[test]
    fn far_places_are_not_near_however_far() {
        let far = [Fixed16::MAX, Fixed16::MIN];
        assert!(!is_within(far, MIDDLE, 30_000) && is_within(MIDDLE, MIDDLE, 1));
    }
}
