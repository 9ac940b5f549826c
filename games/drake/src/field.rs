//! Geometry of the coop: walls, nests, and motion inside them.
//!
//! Rules, bots and pictures call it. Absent: what moves.

use gaggle_kit::Fixed16;

/// Places are in art pixels, velocities in art pixels per second.
pub use gaggle_kit::plane::{Vec2, add, clamp_length, direction, from_polar, is_within, length, offset};

/// Art pixels across, as in all games of the arcade.
pub const WIDTH: i32 = 384;
/// Art pixels down, as in all games of the arcade.
pub const HEIGHT: i32 = 216;
/// Inner face of the left wall.
pub const LEFT: i32 = 12;
/// Inner face of the right wall.
pub const RIGHT: i32 = 372;
/// Inner face of the top wall.
pub const TOP: i32 = 26;
/// Inner face of the floor.
pub const BOTTOM: i32 = 204;
/// Seats: a player's seat has the number of its slot.
pub const SEATS: usize = 6;
/// Frames per second.
pub const RATE: i32 = 60;

/// Nests by seat, far from each other.
const NESTS: [(i32, i32); SEATS] = [(24, 60), (360, 170), (360, 60), (24, 170), (192, 36), (192, 194)];

/// Position of a seat's nest.
pub const fn nest(seat: usize) -> Vec2 {
    let (x, y) = NESTS[seat % SEATS];
    [Fixed16::from_int(x), Fixed16::from_int(y)]
}

/// Center of the coop.
pub const MIDDLE: Vec2 = [Fixed16::from_int((LEFT + RIGHT) / 2), Fixed16::from_int((TOP + BOTTOM) / 2)];

/// Position one frame later.
pub fn moved(place: Vec2, velocity: Vec2) -> Vec2 {
    [place[0] + velocity[0] / RATE, place[1] + velocity[1] / RATE]
}

/// Keeps a body of this radius inside the walls: a velocity into a wall is reversed and scaled by
/// `keeps`. Returns whether it met a wall.
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
    fn wall_reverses_and_damps_velocity() {
        let mut place = [Fixed16::from_int(5), Fixed16::from_int(100)];
        let mut velocity = [Fixed16::from_int(-60), Fixed16::from_int(10)];
        assert!(keep_inside(&mut place, &mut velocity, 6, Fixed16::HALF));
        assert_eq!(place[0], Fixed16::from_int(LEFT + 6));
        assert_eq!(velocity, [Fixed16::from_int(30), Fixed16::from_int(10)]);
        assert!(!keep_inside(&mut place, &mut velocity, 6, Fixed16::HALF));
    }

    #[test]
    fn extreme_distance_does_not_overflow_is_within() {
        let far = [Fixed16::MAX, Fixed16::MIN];
        assert!(!is_within(far, MIDDLE, 30_000) && is_within(MIDDLE, MIDDLE, 1));
    }
}
