//! Range and precision of one number, and the whole steps it is sent in.
//!
//! Fields and `codec` use it: no other place turns a game's numbers into integers. Division,
//! multiplication and rounding of `f64` give the same step on every platform. Absent: fields,
//! packets.

#![expect(clippy::float_arithmetic, reason = "this is where a game's numbers become steps and back")]

use gaggle_kit::bits_for;

/// Range and precision of a number: a value is a whole number of steps.
///
/// Steps are multiples of the precision, so zero is exact, and a quantized value is unchanged by
/// quantizing it again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    min: i32,
    max: i32,
    precision: f64,
}

impl Axis {
    /// Numbers from `min` to `max`, sent to within half of `precision`.
    ///
    /// # Panics
    /// If the range is empty or reaches 2³⁰ steps on either side of zero. In a constant, which is
    /// where the derive puts it, this is a compile error.
    pub const fn number(min: f64, max: f64, precision: f64) -> Axis {
        assert!(
            min.is_finite() && max.is_finite() && min <= max,
            "a range must have a lower and a higher end"
        );
        assert!(precision > 0.0 && precision.is_finite(), "a precision must be above zero");
        let (low, high) = (floor(min / precision), -floor(-max / precision));
        let bound = (1_i64 << 30) as f64;
        assert!(
            low > -bound && high < bound,
            "a range must have fewer than 2^30 steps on either side of zero"
        );
        Axis { min: low as i32, max: high as i32, precision }
    }

    /// Whole numbers from `min` to `max`.
    ///
    /// # Panics
    /// If the range is empty or wider than 31 bits.
    pub const fn whole(min: i64, max: i64) -> Axis {
        assert!(min <= max, "a range must have a lower and a higher end");
        assert!(min >= i32::MIN as i64 && max <= i32::MAX as i64, "a range must lie within an i32");
        assert!(max - min <= i32::MAX as i64, "a range must be at most 31 bits wide");
        Axis { min: min as i32, max: max as i32, precision: 1.0 }
    }

    /// First and last step of the range.
    pub const fn steps(&self) -> (i32, i32) {
        (self.min, self.max)
    }

    /// Size of one step.
    pub const fn precision(&self) -> f64 {
        self.precision
    }

    /// Bits needed to number the steps.
    pub const fn bits(&self) -> u32 {
        bits_for(&(self.min as i64..=self.max as i64))
    }

    /// Step nearest to a value. Values beyond the range become its nearer end, NaN the step nearest
    /// to zero.
    #[inline]
    pub fn step_of(&self, value: f64) -> i32 {
        nearest(value / self.precision).clamp(self.min, self.max)
    }

    /// Value of a step; the step may be fractional, for smoothed display.
    #[inline]
    pub fn value_of(&self, step: f64) -> f64 {
        step * self.precision
    }

    /// Nearest step within the range.
    #[inline]
    pub(crate) fn clamp(&self, step: i64) -> i32 {
        step.clamp(self.min as i64, self.max as i64) as i32
    }

    /// Whether this step is in the range.
    #[inline]
    pub(crate) fn contains(&self, step: i64) -> bool {
        (self.min as i64..=self.max as i64).contains(&step)
    }
}

/// Whole number nearest to a value, of two the one farther from zero. NaN is 0, infinities are the
/// ends of `i32`. A call of `round` would cost as much as the rest of quantizing.
#[inline]
pub(crate) fn nearest(value: f64) -> i32 {
    (value + 0.5_f64.copysign(value)) as i32
}

/// `f64::floor` for constants, within the range of an `i64`.
const fn floor(value: f64) -> f64 {
    let towards_zero = value as i64 as f64;
    if towards_zero > value { towards_zero - 1.0 } else { towards_zero }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gaggle_kit::Prng;

    #[test]
    fn value_read_back_is_within_half_precision_and_stable() {
        let mut random = Prng::new(1);
        for (min, max, precision) in
            [(0.0, 512.0, 1.0 / 512.0), (-64.0, 64.0, 1.0 / 32.0), (-3.0, 7.0, 0.3), (-1e6, 1e6, 0.01)]
        {
            let axis = Axis::number(min, max, precision);
            for _ in 0..2_000 {
                let value = min + (max - min) * f64::from(random.next_u32()) / f64::from(u32::MAX);
                let step = axis.step_of(value);
                let back = axis.value_of(f64::from(step));
                assert!(
                    (back - value).abs() <= precision * 0.500_001,
                    "{value} of {axis:?} was read back as {back}"
                );
                assert_eq!(axis.step_of(back), step);
            }
        }
    }

    #[test]
    fn value_not_finite_or_out_of_range_is_clamped() {
        let axis = Axis::number(-10.0, 20.0, 0.5);
        assert_eq!(axis.steps(), (-20, 40));
        assert_eq!(axis.bits(), 6);
        for (value, step) in [(f64::NAN, 0), (f64::INFINITY, 40), (-11.0, -20), (0.2, 0), (0.3, 1)] {
            assert_eq!(axis.step_of(value), step, "{value}");
        }
        assert_eq!(Axis::number(5.0, 6.0, 0.5).step_of(f64::NAN), 10);
    }
}
