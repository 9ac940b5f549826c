//! Angles with sine, cosine and arctangent, by integers alone.
//!
//! Games and [`plane`](crate::plane) use them. Absent: floats, vectors.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

use bytemuck::{Pod, Zeroable};

use crate::{DecodeError, Fixed, Input, Shape};

/// A direction: a turn has 65,536 units, so addition wraps around by itself and every bit pattern
/// is valid. Zero points along x, a quarter turn along y.
///
/// ```
/// use gaggle_kit::{Angle, Fixed16};
///
/// let aim = Angle::from_degrees(30);
/// let speed = Fixed16::from_int(10);
/// let (dx, dy) = (speed * aim.cos(), speed * aim.sin());
/// assert_eq!((dx.to_string(), dy.to_string()), ("8.66043".into(), "4.99969".into()));
/// assert_eq!(Angle::atan2(dy, dx), aim);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Pod, Zeroable)]
#[repr(transparent)]
pub struct Angle(u16);

impl Angle {
    /// Direction of positive x.
    pub const ZERO: Angle = Angle(0);
    /// Direction of positive y.
    pub const QUARTER: Angle = Angle(1 << 14);
    /// Direction of negative x.
    pub const HALF: Angle = Angle(1 << 15);

    /// An angle in units, 65,536 per turn.
    pub const fn from_bits(units: u16) -> Angle {
        Angle(units)
    }

    /// The angle in units, 65,536 per turn.
    pub const fn to_bits(self) -> u16 {
        self.0
    }

    /// An angle in degrees, rounded to the nearest unit: about 182 per degree.
    pub const fn from_degrees(degrees: i32) -> Angle {
        let degrees = degrees.rem_euclid(360) as u32;
        Angle(((degrees * (1 << 16) + 180) / 360) as u16)
    }

    /// An angle in turns; whole turns are dropped.
    ///
    /// ```
    /// use gaggle_kit::{Angle, Fixed16};
    /// assert_eq!(Angle::from_turns(Fixed16::lit("-1.75")), Angle::QUARTER);
    /// ```
    pub const fn from_turns<const FRACTION: u32>(turns: Fixed<FRACTION>) -> Angle {
        Angle(turns.fract().rescale::<16>().to_bits() as u16)
    }

    /// Shortest rotation to `there` in units: positive from x toward y; half a turn is −32,768.
    ///
    /// ```
    /// use gaggle_kit::Angle;
    /// let (here, there) = (Angle::from_bits(100), Angle::from_bits(65_500));
    /// assert_eq!(here.delta_to(there), -136);
    /// ```
    pub const fn delta_to(self, there: Angle) -> i16 {
        there.0.wrapping_sub(self.0) as i16
    }

    /// Rotates by the shortest rotation toward `there`, by at most `units_max`.
    #[must_use]
    pub const fn rotated_towards(self, there: Angle, units_max: u16) -> Angle {
        let way = self.delta_to(there);
        if way.unsigned_abs() <= units_max {
            there
        } else if way < 0 {
            Angle(self.0.wrapping_sub(units_max))
        } else {
            Angle(self.0.wrapping_add(units_max))
        }
    }

    /// Sine, the y coordinate on the unit circle.
    ///
    /// Error at most half a step plus 2⁻²⁹; exact for quarter turns, and exactly symmetric.
    #[inline]
    pub const fn sin<const FRACTION: u32>(self) -> Fixed<FRACTION> {
        let in_quarter = (self.0 & 0x3fff) as i64;
        let rising = if self.0 & 0x4000 == 0 { in_quarter } else { 0x4000 - in_quarter };
        let sine =
            round(sine_of_quarter(rising), 32 - Fixed::<FRACTION>::ONE.to_bits().trailing_zeros()) as i32;
        Fixed::from_bits(if self.0 & 0x8000 == 0 { sine } else { -sine })
    }

    /// Cosine, the x coordinate on the unit circle. As exact as [`Angle::sin`].
    #[inline]
    pub const fn cos<const FRACTION: u32>(self) -> Fixed<FRACTION> {
        Angle(self.0.wrapping_add(Angle::QUARTER.0)).sin()
    }

    /// Direction of (x, y); zero if both are zero. Error at most 0.502 units for all inputs, and
    /// exactly symmetric.
    #[inline]
    pub const fn atan2<const FRACTION: u32>(y: Fixed<FRACTION>, x: Fixed<FRACTION>) -> Angle {
        let (x, y) = (x.to_bits(), y.to_bits());
        let (along, up) = (x.unsigned_abs() as u64, y.unsigned_abs() as u64);
        let mut units = if along == 0 && up == 0 {
            0
        } else if up <= along {
            units_of_slope((up << 30) / along)
        } else {
            Angle::QUARTER.0 - units_of_slope((along << 30) / up)
        };
        if x < 0 {
            units = Angle::HALF.0 - units;
        }
        if y < 0 {
            units = units.wrapping_neg();
        }
        Angle(units)
    }
}

/// sin(π/2 · t) in 2⁻³², for t in 2⁻¹⁴ from 0 to 1.
///
/// t times a polynomial in t²: the best approximation of its degree, error 2.7 · 10⁻¹¹, with
/// coefficients in 2⁻³². Products stay below 2³³ · 2²⁸.
const fn sine_of_quarter(t: i64) -> i64 {
    let square = t * t;
    let mut sum = -14_739;
    sum = 688_288 + round(sum * square, 28);
    sum = -20_107_567 + round(sum * square, 28);
    sum = 342_277_127 + round(sum * square, 28);
    sum = -2_774_394_665 + round(sum * square, 28);
    sum = 6_746_518_852 + round(sum * square, 28);
    round(sum * t, 14)
}

/// atan(slope) in units, rounded, for slopes in 2⁻³⁰ from 0 to 1.
///
/// The slope times a polynomial in its square: the best approximation of its degree, error 0.0012
/// units, with coefficients in 2⁻³² turns. Products stay below 2³⁰ · 2³⁰.
const fn units_of_slope(slope: u64) -> u16 {
    let slope = slope as i64;
    let square = round(slope * slope, 30);
    let mut sum = -3_116_915;
    sum = 16_255_537 + round(sum * square, 30);
    sum = -40_213_976 + round(sum * square, 30);
    sum = 67_460_137 + round(sum * square, 30);
    sum = -95_721_629 + round(sum * square, 30);
    sum = 136_487_218 + round(sum * square, 30);
    sum = -227_844_697 + round(sum * square, 30);
    sum = 683_565_195 + round(sum * square, 30);
    round(sum * slope, 30 + 16) as u16
}

const fn round(value: i64, places: u32) -> i64 {
    (value + (1 << (places - 1))) >> places
}

impl Add for Angle {
    type Output = Angle;
    fn add(self, turn: Angle) -> Angle {
        Angle(self.0.wrapping_add(turn.0))
    }
}

impl AddAssign for Angle {
    fn add_assign(&mut self, turn: Angle) {
        *self = *self + turn;
    }
}

impl Sub for Angle {
    type Output = Angle;
    fn sub(self, turn: Angle) -> Angle {
        Angle(self.0.wrapping_sub(turn.0))
    }
}

impl SubAssign for Angle {
    fn sub_assign(&mut self, turn: Angle) {
        *self = *self - turn;
    }
}

impl Neg for Angle {
    type Output = Angle;
    fn neg(self) -> Angle {
        Angle(self.0.wrapping_neg())
    }
}

/// A multiple of the angle, modulo a turn.
impl Mul<i32> for Angle {
    type Output = Angle;
    fn mul(self, times: i32) -> Angle {
        Angle(self.0.wrapping_mul(times as u16))
    }
}

impl fmt::Display for Angle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (u32::from(self.0) * 3_600 + (1 << 15)) >> 16;
        write!(f, "{}.{}°", tenths / 10, tenths % 10)
    }
}

impl fmt::Debug for Angle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} ({})", self.0)
    }
}

/// An angle as input, such as an aim.
impl Input for Angle {
    const SIZE: usize = 2;

    fn shape(shape: &mut Shape) {
        shape.word("Angle");
    }

    fn write(&self, out: &mut [u8]) {
        self.0.write(out);
    }

    fn read(bytes: &[u8]) -> Result<Angle, DecodeError> {
        u16::read(bytes).map(Angle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fixed8, Fixed16};

    #[test]
    fn quarter_turns_are_exact() {
        for (angle, sin, cos) in
            [(Angle::ZERO, 0, 1), (Angle::QUARTER, 1, 0), (Angle::HALF, 0, -1), (-Angle::QUARTER, -1, 0)]
        {
            assert_eq!((angle.sin(), angle.cos()), (Fixed8::from_int(sin), Fixed8::from_int(cos)));
            assert_eq!((angle.sin(), angle.cos()), (Fixed::<30>::from_int(sin), Fixed::<30>::from_int(cos)));
            assert_eq!(Angle::atan2(Fixed8::from_int(sin), Fixed8::from_int(cos)), angle);
        }
        assert_eq!(Angle::from_degrees(45).sin(), Fixed16::lit("0.70711"));
        assert_eq!(Angle::atan2(Fixed16::ZERO, Fixed16::ZERO), Angle::ZERO);
        assert_eq!(Angle::atan2(Fixed16::MIN, Fixed16::MIN), Angle::from_degrees(225));
        assert_eq!(Angle::atan2(Fixed16::ZERO, Fixed16::MIN), Angle::HALF);
    }

    /// Every direction is recovered from its sine and cosine, and mirrored directions mirror
    /// exactly.
    #[test]
    fn every_direction_is_recovered_from_sine_and_cosine() {
        for units in 0..=u16::MAX {
            let angle = Angle::from_bits(units);
            assert_eq!(Angle::atan2::<30>(angle.sin(), angle.cos()), angle);
            assert_eq!((-angle).sin::<16>(), -angle.sin::<16>());
            assert_eq!((-angle).cos::<16>(), angle.cos::<16>());
            assert_eq!((Angle::HALF - angle).sin::<16>(), angle.sin::<16>());
        }
    }

    #[test]
    fn rotations_take_shorter_way() {
        let (a, b) = (Angle::from_degrees(350), Angle::from_degrees(20));
        assert_eq!(a.rotated_towards(b, 1_000), Angle::from_bits(a.to_bits().wrapping_add(1_000)));
        assert_eq!(b.rotated_towards(a, 1_000), Angle::from_bits(b.to_bits() - 1_000));
        assert_eq!(a.rotated_towards(b, u16::MAX), b);
        assert_eq!(Angle::ZERO.delta_to(Angle::HALF), i16::MIN);
        assert_eq!(Angle::from_degrees(-90) * 3, Angle::QUARTER);
        assert_eq!(Angle::from_degrees(i32::MIN), Angle::from_degrees(i32::MIN.rem_euclid(360)));
        assert_eq!(format!("{} {:?}", Angle::QUARTER, Angle::from_bits(65_535)), "90.0° 360.0° (65535)");
    }
}
