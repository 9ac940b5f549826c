//! Quantization of floats into as few bits as range and precision require.
//!
//! Codecs use it: no other code of this crate encodes floats. The operations used here are exact or
//! rounded by IEEE 754, so they are the same on every platform. Absent: simulation with floats.

#![expect(clippy::float_arithmetic, reason = "floats are converted to integers and back here")]

use std::ops::RangeInclusive;

use thiserror::Error;

use crate::{BitReader, BitWriter, BufferFull, DecodeError, bits_for};

/// Converts `f32` to steps of a precision and back.
///
/// Steps are multiples of the precision, so zero is exact, and a converted value converts to
/// itself: a sender that keeps the rounded value agrees with the receiver. Values in the range are
/// accurate to half the precision; those beyond are clamped, and NaN becomes the value nearest to
/// zero.
///
/// ```
/// use gaggle_kit::{BitReader, BitWriter, Quantizer};
///
/// const ANGLE: Quantizer = match Quantizer::new(-3.15, 3.15, 0.01) {
///     Ok(quantizer) => quantizer,
///     Err(_) => panic!("range and precision fit"),
/// };
/// assert_eq!(ANGLE.bits(), 10);
///
/// let mut buffer = [0; 2];
/// let mut w = BitWriter::new(&mut buffer);
/// ANGLE.write(&mut w, 1.2345)?;
/// let received = ANGLE.read(&mut BitReader::new(w.finish()), "angle")?;
/// assert_eq!(received, 1.23);
/// assert_eq!(ANGLE.to_steps(received), 123);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantizer {
    precision: f64,
    steps_min: i32,
    steps_max: i32,
}

/// Range and precision that no quantizer can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum QuantizerError {
    /// The range is empty, or one of its ends is not finite, also after rounding to steps.
    #[error(
        "the range is empty or not finite; give a finite lower and higher end, apart by at least one step"
    )]
    NoRange,
    /// The precision is zero, negative, or finer than an `f32` of that magnitude can represent.
    #[error("the precision is not above zero or finer than an f32 of that size; choose a larger one")]
    NoPrecision,
}

impl Quantizer {
    /// A quantizer for values from `min` to `max` in steps of `precision`.
    ///
    /// # Errors
    /// If range or precision are invalid.
    pub const fn new(min: f32, max: f32, precision: f32) -> Result<Quantizer, QuantizerError> {
        if !(min.is_finite() && max.is_finite() && min <= max) {
            return Err(QuantizerError::NoRange);
        }
        let largest = if min.abs() > max.abs() { min.abs() } else { max.abs() };
        // At most 2^22 steps from zero: each is at least two units of an f32's 24 bits, so rounding
        // never changes the step.
        if !(precision.is_finite() && precision > 0.0) || largest / precision > 4_194_304.0 {
            return Err(QuantizerError::NoPrecision);
        }
        let precision = precision as f64;
        let steps_min = floor(min as f64 / precision);
        let steps_max = -floor(-(max as f64) / precision);
        // The outermost steps may be one precision beyond the range, which may exceed any f32.
        let limit = f32::MAX as f64;
        if steps_min as f64 * precision < -limit || steps_max as f64 * precision > limit {
            return Err(QuantizerError::NoRange);
        }
        Ok(Quantizer { precision, steps_min, steps_max })
    }

    /// Bits per value.
    pub const fn bits(&self) -> u32 {
        bits_for(&self.steps())
    }

    /// Range of steps.
    pub const fn steps(&self) -> RangeInclusive<i64> {
        self.steps_min as i64..=self.steps_max as i64
    }

    /// The nearest step.
    pub fn to_steps(&self, value: f32) -> i32 {
        // `as` makes NaN 0, and infinities the ends of i32.
        let steps = (f64::from(value) / self.precision).round() as i32;
        steps.clamp(self.steps_min, self.steps_max)
    }

    /// Value of a step; steps beyond the range are clamped.
    pub fn from_steps(&self, steps: i32) -> f32 {
        (f64::from(steps.clamp(self.steps_min, self.steps_max)) * self.precision) as f32
    }

    /// Writes the nearest step.
    ///
    /// # Errors
    /// If it doesn't fit.
    pub fn write(&self, w: &mut BitWriter<'_>, value: f32) -> Result<(), BufferFull> {
        w.ranged(i64::from(self.to_steps(value)), &self.steps())
    }

    /// Reads a value.
    ///
    /// # Errors
    /// If there are too few bits, or they stand for a step beyond the range.
    pub fn read(&self, r: &mut BitReader<'_>, what: &'static str) -> Result<f32, DecodeError> {
        let steps = r.ranged(what, &self.steps())?;
        Ok(self.from_steps(steps as i32))
    }
}

/// `f64::floor` for constants.
const fn floor(value: f64) -> i32 {
    let towards_zero = value as i32;
    if towards_zero as f64 > value { towards_zero - 1 } else { towards_zero }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prng;

    #[test]
    fn values_are_within_half_precision_and_then_stable() {
        let mut random = Prng::new(1);
        for (min, max, precision) in [
            (-1.0, 1.0, 0.001),
            (0.0, 4096.0, 1.0 / 64.0),
            (-1000.0, -999.0, 0.01),
            (-16_000.0, 16_000.0, 0.01),
            (0.1, 0.9, 0.3),
            (5.0, 5.0, 0.5),
            (-1e30, 1e30, 1e25),
            (0.0, 1e-30, 1e-34),
        ] {
            let quantizer = Quantizer::new(min, max, precision).unwrap();
            for _ in 0..10_000 {
                let value = min + (max - min) * (random.next_u32() >> 8) as f32 / 16_777_215.0;
                let value = value.clamp(min, max);
                let steps = quantizer.to_steps(value);
                let rounded = quantizer.from_steps(steps);
                let off = (f64::from(value) - f64::from(rounded)).abs();
                // A step's value is itself rounded to an f32.
                let bound = f64::from(precision) / 2.0 + f64::from(value.abs()) * f64::from(f32::EPSILON);
                assert!(off <= bound, "{value} of {quantizer:?} came back as {rounded}");
                assert_eq!(quantizer.to_steps(rounded), steps, "{value} of {quantizer:?}");
            }
            for steps in quantizer.steps().step_by(7) {
                let steps = steps as i32;
                assert_eq!(quantizer.to_steps(quantizer.from_steps(steps)), steps, "{quantizer:?}");
            }
        }
    }

    #[test]
    fn nan_and_values_beyond_range_are_clamped() {
        let quantizer = Quantizer::new(-10.0, 20.0, 0.5).unwrap();
        for (value, expected) in [
            (f32::NAN, 0.0),
            (f32::INFINITY, 20.0),
            (f32::NEG_INFINITY, -10.0),
            (f32::MAX, 20.0),
            (-0.0, 0.0),
            (f32::MIN_POSITIVE, 0.0),
            (19.8, 20.0),
        ] {
            assert_eq!(quantizer.from_steps(quantizer.to_steps(value)), expected, "{value}");
        }
        assert_eq!(quantizer.from_steps(i32::MAX), 20.0);
        let above = Quantizer::new(5.0, 6.0, 0.5).unwrap();
        assert_eq!(above.from_steps(above.to_steps(f32::NAN)), 5.0);
        // 61 steps leave 3 patterns of 6 bits unused.
        assert_eq!(quantizer.bits(), 6);
        let refusal = DecodeError::OutOfRange { what: "x", value: 41, min: -20, max: 40 };
        assert_eq!(quantizer.read(&mut BitReader::new(&[61]), "x"), Err(refusal));
    }

    #[test]
    fn impossible_range_or_precision_is_rejected() {
        for (min, max, precision, expected) in [
            (1.0, 0.0, 0.1, QuantizerError::NoRange),
            (f32::NAN, 1.0, 0.1, QuantizerError::NoRange),
            (0.0, f32::INFINITY, 0.1, QuantizerError::NoRange),
            (0.0, f32::MAX, 1e38, QuantizerError::NoRange),
            (-f32::MAX, 0.0, 1e38, QuantizerError::NoRange),
            (0.0, 1.0, 0.0, QuantizerError::NoPrecision),
            (0.0, 1.0, -1.0, QuantizerError::NoPrecision),
            (0.0, 1.0, f32::NAN, QuantizerError::NoPrecision),
            (1_000_000.0, 1_000_001.0, 0.001, QuantizerError::NoPrecision),
        ] {
            assert_eq!(Quantizer::new(min, max, precision), Err(expected), "{min} {max} {precision}");
        }
    }
}
