//! Geometry of the pond: shore, current of the mill race, wind.
//!
//! Rules, bots and pictures call it. Absent: what floats.

use gaggle_kit::{Angle, Fixed16};

/// Places are in art pixels, velocities in art pixels per second.
pub use gaggle_kit::plane::{Vec2, add, clamp_length, direction, from_polar, is_within, length, offset};

/// Art pixels across the pond.
pub const WIDTH: i32 = 1_024;
/// Art pixels down the pond.
pub const HEIGHT: i32 = 576;
/// Art pixels from the edge of the pond to the water.
pub const SHORE: i32 = 26;
/// Seats: a player's seat has the number of its slot.
pub const SEATS: usize = 6;
/// Frames per second.
pub const RATE: i32 = 60;
/// Row of the middle of the mill race, which runs from the left edge to the wheel.
pub const RACE: i32 = 150;
/// Half the width of the race, in pixels.
pub const RACE_HALF: i32 = 46;
/// Position of the wheel, at the end of the race.
pub const WHEEL: (i32, i32) = (1_000, RACE);

/// A place in whole pixels.
pub const fn at(x: i32, y: i32) -> Vec2 {
    [Fixed16::from_int(x), Fixed16::from_int(y)]
}

/// Position one frame later.
pub fn moved(place: Vec2, velocity: Vec2) -> Vec2 {
    [place[0] + velocity[0] / RATE, place[1] + velocity[1] / RATE]
}

/// Keeps a body of this radius on the water. Returns whether it ran aground and stopped.
pub fn keep_afloat(place: &mut Vec2, velocity: &mut Vec2, radius: i32) -> bool {
    let mut met = false;
    for (axis, size) in [WIDTH, HEIGHT].into_iter().enumerate() {
        let (low, high) = (Fixed16::from_int(SHORE + radius), Fixed16::from_int(size - SHORE - radius));
        let aground = place[axis].clamp(low, high);
        if aground != place[axis] {
            (place[axis], velocity[axis]) = (aground, Fixed16::ZERO);
            met = true;
        }
    }
    met
}

/// Velocity of the water: only in the race, faster in its middle, twice as fast while the sluice
/// is open.
pub fn current(place: Vec2, sluice: bool) -> Vec2 {
    let aside = (place[1].floor() - RACE).abs();
    if aside >= RACE_HALF {
        return [Fixed16::ZERO; 2];
    }
    let speed = Fixed16::from_int(10) * (RACE_HALF - aside) / RACE_HALF;
    [if sluice { speed * 2 } else { speed }, Fixed16::ZERO]
}

/// Acceleration by the wind in a frame: mostly none, with gusts of a few seconds, each from
/// another direction.
pub fn wind(frame: u32) -> Vec2 {
    let (gust, since) = (frame / 1_500, frame % 1_500);
    if since >= 260 {
        return [Fixed16::ZERO; 2];
    }
    let heading = Angle::from_bits((gust.wrapping_mul(2_654_435_761) >> 16) as u16);
    from_polar(heading, Fixed16::lit("0.5"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn current_runs_in_race_only() {
        assert!(current(at(300, RACE), false)[0] > Fixed16::ZERO);
        assert_eq!(current(at(300, 400), true), [Fixed16::ZERO; 2]);
        assert_eq!(current(at(300, RACE), true)[0], current(at(300, RACE), false)[0] * 2);
    }

    #[test]
    fn wind_has_calms_and_gusts_from_many_directions() {
        let gusts: Vec<Vec2> = (0..8).map(|gust| wind(gust * 1_500 + 10)).collect();
        assert!(gusts.windows(2).all(|pair| pair[0] != pair[1]));
        assert_eq!(wind(700), [Fixed16::ZERO; 2]);
    }
}
