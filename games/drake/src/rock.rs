//! Rocks: they drift around the center of the coop and break in two when hit.
//!
//! The referee's rules scatter, step and break them. Absent: when one is hit.

use gaggle_kit::{Fixed16, Prng, State};
use gaggle_replica::{Field, Kind};

use crate::field::{self, BOTTOM, LEFT, MIDDLE, RIGHT, TOP, Vec2};

/// Rocks at most; more are dropped.
pub const ROCKS: usize = 24;

/// Size class of a rock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State, Field)]
pub enum Size {
    /// The smallest, which does not break.
    #[default]
    Small,
    /// Breaks into two small ones.
    Middling,
    /// Breaks into two middling ones.
    Large,
}

impl Size {
    /// Pixels from the center to the edge.
    pub const fn radius(self) -> i32 {
        match self {
            Size::Small => 4,
            Size::Middling => 8,
            Size::Large => 13,
        }
    }

    /// Size of its halves; none if it does not break.
    pub const fn smaller(self) -> Option<Size> {
        match self {
            Size::Small => None,
            Size::Middling => Some(Size::Small),
            Size::Large => Some(Size::Middling),
        }
    }
}

/// A drifting rock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State, Kind)]
#[kind(smoothing = 0.15, snap_distance = 80.0, priority = 2)]
pub struct Rock {
    /// Position of the center.
    #[kind(range = 0.0..=384.0, precision = 1.0 / 16.0, moved_by = velocity)]
    pub place: Vec2,
    /// Velocity in pixels per second.
    #[kind(range = -256.0..=256.0, precision = 1.0 / 8.0)]
    pub velocity: Vec2,
    /// Size class, constant.
    #[kind(constant)]
    pub size: Size,
    /// Number of its picture, modulo the pictures of its size.
    #[kind(constant)]
    pub look: u8,
}

/// Gain of velocity around the center per frame, in pixels per second.
const WHIRL: Fixed16 = Fixed16::lit("0.22");
const DRIFT_MAX: Fixed16 = Fixed16::from_int(34);
const KEEPS: Fixed16 = Fixed16::lit("0.95");

impl Rock {
    /// A rock at a random place away from all nests.
    pub fn scattered(size: Size, random: &mut Prng) -> Rock {
        let mut place = MIDDLE;
        for _ in 0..16 {
            place = [
                Fixed16::from_int(random.range(LEFT + 30..=RIGHT - 30)),
                Fixed16::from_int(random.range(TOP + 24..=BOTTOM - 24)),
            ];
            if (0..field::SEATS).all(|seat| !field::is_within(place, field::nest(seat), 44)) {
                break;
            }
        }
        let velocity = [random.range(-20..=20), random.range(-20..=20)].map(Fixed16::from_int);
        Rock { place, velocity, size, look: random.below(256) as u8 }
    }

    /// One frame: it drifts and is drawn around the center.
    pub fn step(&mut self, clockwise: bool) {
        let out = field::direction(field::offset(MIDDLE, self.place));
        let quarter = if clockwise { 1 << 14 } else { 3 << 14 };
        let round = gaggle_kit::Angle::from_bits(out.to_bits().wrapping_add(quarter));
        self.velocity =
            field::clamp_length(field::add(self.velocity, field::from_polar(round, WHIRL)), DRIFT_MAX);
        self.place = field::moved(self.place, self.velocity);
        field::keep_inside(&mut self.place, &mut self.velocity, self.size.radius(), KEEPS);
    }

    /// Two halves that fly apart across the direction `hit`; none of the smallest size.
    pub fn halves(&self, hit: Vec2, random: &mut Prng) -> [Option<Rock>; 2] {
        let Some(size) = self.size.smaller() else { return [None; 2] };
        let across = field::direction(hit).to_bits();
        [1_u16, 3].map(|quarter| {
            let aside = gaggle_kit::Angle::from_bits(across.wrapping_add(quarter << 14));
            let speed = Fixed16::from_int(random.range(16..=30));
            Some(Rock {
                place: field::add(self.place, field::from_polar(aside, Fixed16::from_int(size.radius()))),
                velocity: field::add(self.velocity, field::from_polar(aside, speed)),
                size,
                look: random.below(256) as u8,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rocks_stay_inside_and_circle_in_turning_direction() {
        for clockwise in [false, true] {
            let mut random = Prng::new(3);
            let mut rock = Rock::scattered(Size::Middling, &mut random);
            let mut turned = 0_i64;
            for _ in 0..3_000 {
                let before = field::direction(field::offset(MIDDLE, rock.place));
                rock.step(clockwise);
                assert!(field::inside(rock.place));
                turned += i64::from(before.delta_to(field::direction(field::offset(MIDDLE, rock.place))));
            }
            assert_eq!(turned > 0, clockwise, "{turned}");
        }
    }

    #[test]
    fn rock_breaks_twice_and_then_vanishes() {
        let mut random = Prng::new(1);
        let rock = Rock { place: MIDDLE, size: Size::Large, ..Rock::default() };
        let hit = [Fixed16::ONE, Fixed16::ZERO];
        let [one, other] = rock.halves(hit, &mut random).map(Option::unwrap);
        assert_eq!((one.size, other.size), (Size::Middling, Size::Middling));
        let small = one.halves(hit, &mut random)[0].unwrap();
        assert_eq!(small.halves(hit, &mut random), [None, None]);
    }
}
