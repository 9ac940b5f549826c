//! Range checks of the derives' `range = …`.
//!
//! Derived decoders call them. Absent: ranges of bits (`bits.rs`).

use std::fmt::Debug;
use std::ops::RangeInclusive;

use crate::DecodeError;

/// Types that `#[state(range = …)]` and `#[input(range = …)]` accept: integers, fixed-point
/// numbers, and arrays, vectors and options of them, each element of which must be in the range.
///
/// ```
/// use gaggle_kit::InRange;
/// assert!([1_u8, 8].check_range(&(0..=8), "dice").is_ok());
/// let error = [1_u8, 9].check_range(&(0..=8), "dice").unwrap_err();
/// assert_eq!(error.to_string(), "dice is 9, but may only be 0 to 8");
/// ```
#[diagnostic::on_unimplemented(message = "`{Self}` has no order for `range` to check")]
pub trait InRange {
    /// Type of the range's ends.
    type Bound: Debug;

    /// Checks that all values are in the range.
    ///
    /// # Errors
    /// [`DecodeError::OutOfRange`] with the first value that is not.
    fn check_range(&self, range: &RangeInclusive<Self::Bound>, what: &'static str)
    -> Result<(), DecodeError>;
}

macro_rules! integers_in_range {
    ($($integer:ty),*) => {$(
        impl InRange for $integer {
            type Bound = $integer;

            #[inline]
            fn check_range(&self, range: &RangeInclusive<$integer>, what: &'static str) -> Result<(), DecodeError> {
                if range.contains(self) {
                    return Ok(());
                }
                Err(DecodeError::out_of_range(what, *self, *range.start(), *range.end()))
            }
        }
    )*};
}

integers_in_range!(u8, u16, u32, u64, u128, i8, i16, i32, i64, i128);

impl<T: InRange> InRange for [T] {
    type Bound = T::Bound;

    fn check_range(&self, range: &RangeInclusive<T::Bound>, what: &'static str) -> Result<(), DecodeError> {
        self.iter().try_for_each(|value| value.check_range(range, what))
    }
}

impl<T: InRange, const N: usize> InRange for [T; N] {
    type Bound = T::Bound;

    fn check_range(&self, range: &RangeInclusive<T::Bound>, what: &'static str) -> Result<(), DecodeError> {
        self.as_slice().check_range(range, what)
    }
}

impl<T: InRange> InRange for Vec<T> {
    type Bound = T::Bound;

    fn check_range(&self, range: &RangeInclusive<T::Bound>, what: &'static str) -> Result<(), DecodeError> {
        self.as_slice().check_range(range, what)
    }
}

impl<T: InRange> InRange for Option<T> {
    type Bound = T::Bound;

    fn check_range(&self, range: &RangeInclusive<T::Bound>, what: &'static str) -> Result<(), DecodeError> {
        self.as_slice().check_range(range, what)
    }
}
