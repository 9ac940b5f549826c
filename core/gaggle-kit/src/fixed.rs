//! Fixed-point numbers, identical on every platform and in every build.
//!
//! Games and [`plane`](crate::plane) use them. Absent: text forms (`fixed/text.rs`), angles
//! (`angle.rs`).

mod ops;
mod text;

pub use text::ParseFixedError;

use bytemuck::{Pod, Zeroable};

/// A number in steps of 2⁻ᶠ, stored in an `i32`: `Fixed<8>` is 24.8, `Fixed<16>` is 16.16.
///
/// **Overflow**: operators saturate at [`Fixed::MIN`] and [`Fixed::MAX`] in every build; nothing
/// here panics for any value. `wrapping_` and `checked_` methods are as in the standard library.
/// **Division by zero** gives the limit with the sign of the dividend, and 0 for 0 / 0.
/// **Rounding**: to the nearest step, halves away from zero, so that a mirrored game stays
/// mirrored: `(-a) * b == -(a * b)`.
///
/// ```
/// use gaggle_kit::{Fixed16, Fixed8};
///
/// const GRAVITY: Fixed16 = Fixed16::lit("0.375");
/// let speed = GRAVITY * 3 - Fixed16::from_ratio(1, 8);
/// assert_eq!(speed.to_string(), "1");
///
/// // 60 frames a second: a speed of 100 a second is 1.66… a frame.
/// let per_frame = Fixed8::from_int(100) / 60;
/// assert_eq!(per_frame.to_bits(), 427);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Pod, Zeroable)]
#[repr(transparent)]
pub struct Fixed<const FRACTION: u32>(i32);

/// 24 bits before the point and 8 after it: up to ±8,388,607, in steps of about 0.004.
pub type Fixed8 = Fixed<8>;

/// 16 bits before the point and 16 after it: up to ±32,767, in steps of about 0.000015.
pub type Fixed16 = Fixed<16>;

impl<const FRACTION: u32> Fixed<FRACTION> {
    /// The number one.
    pub const ONE: Self = {
        assert!(FRACTION <= 30, "at most 30 binary places: a whole number and a sign must fit");
        Fixed(1 << FRACTION)
    };
    /// The number zero.
    pub const ZERO: Self = Fixed(0);
    /// One half, or 1 without binary places.
    pub const HALF: Self = Self::from_ratio(1, 2);
    /// The smallest step.
    pub const STEP: Self = Fixed(1);
    /// The largest number.
    pub const MAX: Self = Fixed(i32::MAX);
    /// The smallest number.
    pub const MIN: Self = Fixed(i32::MIN);

    /// A number in steps.
    #[inline]
    pub const fn from_bits(steps: i32) -> Self {
        Fixed(steps)
    }

    /// The number in steps.
    #[inline]
    pub const fn to_bits(self) -> i32 {
        self.0
    }

    /// A whole number, saturated.
    #[inline]
    pub const fn from_int(whole: i32) -> Self {
        saturate((whole as i64) << Self::PLACES)
    }

    /// A fraction, rounded.
    ///
    /// ```
    /// use gaggle_kit::Fixed16;
    /// assert_eq!(Fixed16::from_ratio(-2, 3).to_string(), "-0.66667");
    /// ```
    #[inline]
    pub const fn from_ratio(numerator: i32, denominator: i32) -> Self {
        divide((numerator as i64) << Self::PLACES, denominator)
    }

    /// The number in steps of another size, rounded.
    ///
    /// ```
    /// use gaggle_kit::{Fixed16, Fixed8};
    /// let fine = Fixed16::lit("1.503");
    /// assert_eq!(fine.rescale(), Fixed8::lit("1.504"));
    /// ```
    #[inline]
    pub const fn rescale<const TO: u32>(self) -> Fixed<TO> {
        let (from, to) = (Self::PLACES, Fixed::<TO>::PLACES);
        if to >= from {
            saturate((self.0 as i64) << (to - from))
        } else {
            Fixed(round(self.0 as i64, from - to) as i32)
        }
    }

    /// Largest whole number not above this one.
    #[inline]
    pub const fn floor(self) -> i32 {
        self.0 >> Self::PLACES
    }

    /// Smallest whole number not below this one.
    #[inline]
    pub const fn ceil(self) -> i32 {
        ((self.0 as i64 + Self::ONE.0 as i64 - 1) >> Self::PLACES) as i32
    }

    /// Nearest whole number; halves away from zero.
    #[inline]
    pub const fn round(self) -> i32 {
        round(self.0 as i64, Self::PLACES) as i32
    }

    /// Whole part, rounded toward zero.
    #[inline]
    pub const fn trunc(self) -> i32 {
        self.0 / Self::ONE.0
    }

    /// Part above [`Fixed::floor`]: never negative.
    #[inline]
    #[must_use]
    pub const fn fract(self) -> Self {
        Fixed(self.0 & (Self::ONE.0 - 1))
    }

    /// Absolute value; [`Fixed::MAX`] for [`Fixed::MIN`].
    #[inline]
    #[must_use]
    pub const fn abs(self) -> Self {
        Fixed(self.0.saturating_abs())
    }

    /// Sign as −1, 0 or 1.
    #[inline]
    pub const fn signum(self) -> i32 {
        self.0.signum()
    }

    /// Non-negative remainder of a division, less than the absolute value of `divisor`: for a world
    /// that wraps around. 0 if `divisor` is 0.
    ///
    /// ```
    /// use gaggle_kit::Fixed8;
    /// let width = Fixed8::from_int(320);
    /// assert_eq!((Fixed8::from_int(-5)).rem_euclid(width), Fixed8::from_int(315));
    /// ```
    #[inline]
    #[must_use]
    pub const fn rem_euclid(self, divisor: Self) -> Self {
        match divisor.0 {
            0 => Fixed(0),
            divisor => Fixed(self.0.wrapping_rem_euclid(divisor)),
        }
    }

    /// Division rounded toward zero, like that of integers. The operator rounds to the nearest
    /// step.
    ///
    /// ```
    /// use gaggle_kit::Fixed8;
    /// assert_eq!(Fixed8::from_bits(-20).div_trunc(3), Fixed8::from_bits(-6));
    /// assert_eq!(Fixed8::from_bits(-20) / 3, Fixed8::from_bits(-7));
    /// ```
    #[inline]
    #[must_use]
    pub const fn div_trunc(self, divisor: i32) -> Self {
        match divisor {
            0 => divide(self.0 as i64, 0),
            -1 => Fixed(self.0.saturating_neg()),
            divisor => Fixed(self.0 / divisor),
        }
    }

    /// Square root, rounded; 0 for negative numbers. Error at most half a step.
    ///
    /// ```
    /// use gaggle_kit::Fixed16;
    /// assert_eq!(Fixed16::from_int(2).sqrt().to_string(), "1.41422");
    /// ```
    #[inline]
    #[must_use]
    pub const fn sqrt(self) -> Self {
        if self.0 <= 0 { Fixed(0) } else { root((self.0 as u64) << Self::PLACES) }
    }

    /// Length of the vector (x, y), rounded: error at most half a step, without intermediate
    /// overflow.
    ///
    /// ```
    /// use gaggle_kit::Fixed8;
    /// let far = Fixed8::hypot(Fixed8::from_int(30_000), Fixed8::from_int(-40_000));
    /// assert_eq!(far, Fixed8::from_int(50_000));
    /// ```
    #[inline]
    #[must_use]
    pub const fn hypot(x: Self, y: Self) -> Self {
        let (x, y) = (x.0.unsigned_abs() as u64, y.0.unsigned_abs() as u64);
        root(x * x + y * y)
    }

    /// Value for drawing. Exact up to 24 bits, then rounded; never use it in a simulation.
    #[inline]
    #[expect(clippy::float_arithmetic, reason = "output only, and scaling by a power of two is exact")]
    pub fn to_f32(self) -> f32 {
        self.0 as f32 / Self::ONE.0 as f32
    }

    /// Value for measurements. Exact.
    #[inline]
    #[expect(clippy::float_arithmetic, reason = "output only, and scaling by a power of two is exact")]
    pub fn to_f64(self) -> f64 {
        f64::from(self.0) / f64::from(Self::ONE.0)
    }

    /// A number from outside (a mouse, a slider), rounded and saturated; 0 for NaN. Float
    /// computations differ between platforms: send the result instead of computing it on each peer.
    #[inline]
    pub fn from_f32(number: f32) -> Self {
        Self::from_f64(f64::from(number))
    }

    /// Converts like [`Fixed::from_f32`].
    #[inline]
    #[expect(clippy::float_arithmetic, reason = "scaling by a power of two is exact everywhere")]
    pub fn from_f64(number: f64) -> Self {
        // `as` saturates and makes NaN 0; `round` rounds halves away from zero, as everywhere here.
        Fixed((number * f64::from(Self::ONE.0)).round() as i32)
    }

    /// FRACTION, after the check in [`Fixed::ONE`].
    const PLACES: u32 = Self::ONE.0.trailing_zeros();
}

/// Arithmetic usable in constants, with explicit overflow behavior.
impl<const FRACTION: u32> Fixed<FRACTION> {
    /// Addition like `+`.
    #[inline]
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Fixed(self.0.saturating_add(other.0))
    }

    /// Subtraction like `-`.
    #[inline]
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Fixed(self.0.saturating_sub(other.0))
    }

    /// Multiplication like `*`.
    #[inline]
    #[must_use]
    pub const fn saturating_mul(self, other: Self) -> Self {
        saturate(self.product(other))
    }

    /// Division like `/`.
    #[inline]
    #[must_use]
    pub const fn saturating_div(self, other: Self) -> Self {
        divide((self.0 as i64) << Self::PLACES, other.0)
    }

    /// Sum, wrapped around on overflow: for cyclic quantities.
    #[inline]
    #[must_use]
    pub const fn wrapping_add(self, other: Self) -> Self {
        Fixed(self.0.wrapping_add(other.0))
    }

    /// Difference, wrapped around on overflow.
    #[inline]
    #[must_use]
    pub const fn wrapping_sub(self, other: Self) -> Self {
        Fixed(self.0.wrapping_sub(other.0))
    }

    /// Low 32 bits of the rounded product.
    #[inline]
    #[must_use]
    pub const fn wrapping_mul(self, other: Self) -> Self {
        Fixed(self.product(other) as i32)
    }

    /// Sum, or none on overflow.
    #[inline]
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        in_range(self.0 as i64 + other.0 as i64)
    }

    /// Difference, or none on overflow.
    #[inline]
    pub const fn checked_sub(self, other: Self) -> Option<Self> {
        in_range(self.0 as i64 - other.0 as i64)
    }

    /// Product, or none on overflow.
    #[inline]
    pub const fn checked_mul(self, other: Self) -> Option<Self> {
        in_range(self.product(other))
    }

    /// Quotient, or none on overflow or if `other` is 0.
    #[inline]
    pub const fn checked_div(self, other: Self) -> Option<Self> {
        match other.0 {
            0 => None,
            divisor => in_range(quotient((self.0 as i64) << Self::PLACES, divisor)),
        }
    }

    const fn product(self, other: Self) -> i64 {
        round(self.0 as i64 * other.0 as i64, Self::PLACES)
    }
}

#[inline]
const fn saturate<const FRACTION: u32>(steps: i64) -> Fixed<FRACTION> {
    if steps > i32::MAX as i64 {
        Fixed::MAX
    } else if steps < i32::MIN as i64 {
        Fixed::MIN
    } else {
        Fixed(steps as i32)
    }
}

#[inline]
const fn in_range<const FRACTION: u32>(steps: i64) -> Option<Fixed<FRACTION>> {
    if steps == steps as i32 as i64 { Some(Fixed(steps as i32)) } else { None }
}

/// Drops binary places, rounding to the nearest, halves away from zero. Products of two `i32` leave
/// space for the added half.
#[inline]
const fn round(value: i64, places: u32) -> i64 {
    if places == 0 {
        return value;
    }
    // The sign, −1 or 0, rounds negative halves down instead of up.
    (value + (1 << (places - 1)) + (value >> 63)) >> places
}

/// Quotient rounded to the nearest, halves away from zero.
#[inline]
const fn quotient(dividend: i64, divisor: i32) -> i64 {
    let size = divisor.unsigned_abs() as u64;
    let rounded = ((dividend.unsigned_abs() + size / 2) / size) as i64;
    if (dividend < 0) != (divisor < 0) { -rounded } else { rounded }
}

#[inline]
const fn divide<const FRACTION: u32>(dividend: i64, divisor: i32) -> Fixed<FRACTION> {
    match divisor {
        0 => saturate(dividend.signum() * i64::MAX),
        divisor => saturate(quotient(dividend, divisor)),
    }
}

/// Root rounded to the nearest; it is never exactly halfway.
#[inline]
const fn root<const FRACTION: u32>(square: u64) -> Fixed<FRACTION> {
    let root = square.isqrt();
    saturate(if square - root * root > root { root + 1 } else { root } as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prng;

    #[test]
    fn operators_saturate_and_never_panic() {
        let edges = [i32::MIN, i32::MIN + 1, -65_536, -1, 0, 1, 2, 65_535, 65_536, i32::MAX - 1, i32::MAX];
        for a in edges.map(Fixed16::from_bits) {
            for b in edges.map(Fixed16::from_bits) {
                let exact = |steps: i128| steps.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
                let (wide_a, wide_b) = (i128::from(a.to_bits()), i128::from(b.to_bits()));
                assert_eq!((a + b).to_bits(), exact(wide_a + wide_b));
                assert_eq!((a - b).to_bits(), exact(wide_a - wide_b));
                assert_eq!((a * b).to_bits(), exact(nearest(wide_a * wide_b, 65_536)));
                if b != Fixed16::ZERO {
                    assert_eq!((a / b).to_bits(), exact(nearest(wide_a * 65_536, wide_b)));
                    assert_eq!(
                        a.checked_div(b).is_some(),
                        i32::try_from(nearest(wide_a << 16, wide_b)).is_ok()
                    );
                }
                assert_eq!(
                    a.checked_mul(b).is_some(),
                    i32::try_from(nearest(wide_a * wide_b, 65_536)).is_ok()
                );
                _ = (a.rem_euclid(b), a.div_trunc(b.to_bits()), Fixed16::hypot(a, b), a.wrapping_mul(b));
                _ = (
                    a.sqrt(),
                    -a,
                    a.abs(),
                    a.rescale::<0>(),
                    a.rescale::<30>(),
                    a.ceil(),
                    a.floor(),
                    a.round(),
                );
            }
        }
        assert_eq!(Fixed16::ONE / Fixed16::ZERO, Fixed16::MAX);
        assert_eq!(-Fixed16::ONE / 0, Fixed16::MIN);
        assert_eq!(Fixed16::ZERO / Fixed16::ZERO, Fixed16::ZERO);
        assert_eq!(Fixed16::MIN / -1, Fixed16::MAX);
        assert_eq!(Fixed16::from_int(40_000), Fixed16::MAX);
    }

    #[test]
    fn products_and_quotients_round_to_nearest_step() {
        let mut random = Prng::new(1);
        for _ in 0..100_000 {
            // Small numbers as often as large ones.
            let mut draw = || random.next_u32() as i32 >> random.below(31);
            let (a, b) = (draw(), draw());
            let (x, y) = (Fixed8::from_bits(a), Fixed8::from_bits(b));
            if let Some(product) = x.checked_mul(y) {
                assert_eq!(i128::from(product.to_bits()), nearest(i128::from(a) * i128::from(b), 256));
                assert_eq!((-x) * y, -product, "{a} {b}");
            }
            if let Some(quotient) = x.checked_div(y) {
                assert_eq!(i128::from(quotient.to_bits()), nearest(i128::from(a) * 256, b.into()));
            }
            assert_eq!(
                x.rescale::<16>().rescale::<8>(),
                x.clamp(Fixed8::from_int(-32_768), Fixed16::MAX.rescale())
            );
        }
    }

    /// Other languages divide by multiplying and shifting; exact division agrees with them wherever
    /// they are exact.
    #[test]
    fn divisions_by_60_3_and_10_agree_with_reciprocals() {
        for steps in 0..16_384 {
            assert_eq!(Fixed8::from_bits(steps).div_trunc(3).to_bits(), (steps * 21_846) >> 16);
            assert_eq!(Fixed8::from_bits(-steps).div_trunc(3).to_bits(), -((steps * 21_846) >> 16));
            assert_eq!(Fixed8::from_bits(steps).div_trunc(10).to_bits(), (steps * 6_554) >> 16);
            assert_eq!(Fixed8::from_bits(-steps).div_trunc(10).to_bits(), -((steps * 6_554) >> 16));
            let per_frame = (i64::from(steps) * 17_477) >> 20;
            assert_eq!(i64::from(Fixed8::from_bits(steps).div_trunc(60).to_bits()), per_frame);
        }
    }

    #[test]
    fn floor_ceil_round_and_trunc_match_reference() {
        let check = |text: &str, [floor, ceil, round, trunc]: [i32; 4]| {
            let number: Fixed8 = text.parse().unwrap();
            assert_eq!(
                [number.floor(), number.ceil(), number.round(), number.trunc()],
                [floor, ceil, round, trunc]
            );
            assert_eq!(Fixed8::from_int(number.floor()) + number.fract(), number);
        };
        check("1.5", [1, 2, 2, 1]);
        check("-1.5", [-2, -1, -2, -1]);
        check("1.25", [1, 2, 1, 1]);
        check("-1.25", [-2, -1, -1, -1]);
        check("-3", [-3, -3, -3, -3]);
        assert_eq!((Fixed8::MAX.ceil(), Fixed8::MIN.floor()), (8_388_608, -8_388_608));
        assert_eq!((Fixed::<0>::MAX.ceil(), Fixed::<0>::from_int(7).round()), (i32::MAX, 7));
    }

    /// Nearest whole quotient, halves away from zero, by wide integers.
    fn nearest(dividend: i128, divisor: i128) -> i128 {
        let (size, by) = (dividend.abs(), divisor.abs());
        let rounded = (2 * size + by) / (2 * by);
        if (dividend < 0) != (divisor < 0) { -rounded } else { rounded }
    }
}
