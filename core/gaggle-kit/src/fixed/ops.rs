//! Operators of [`Fixed`], which saturate and round as documented there.
//!
//! Games use them. Absent: functions for constants (`fixed.rs`).

use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, RangeInclusive, Sub, SubAssign};

use super::{Fixed, divide, saturate};
use crate::{DecodeError, InRange};

macro_rules! operators {
    ($($operator:ident $method:ident $assign:ident $assign_method:ident $other:ty => |$a:ident, $b:ident| $result:expr;)*) => {$(
        impl<const FRACTION: u32> $operator<$other> for Fixed<FRACTION> {
            type Output = Self;

            #[inline]
            fn $method(self, other: $other) -> Self {
                let ($a, $b) = (self, other);
                $result
            }
        }

        impl<const FRACTION: u32> $assign<$other> for Fixed<FRACTION> {
            #[inline]
            fn $assign_method(&mut self, other: $other) {
                *self = $operator::$method(*self, other);
            }
        }
    )*};
}

operators! {
    Add add AddAssign add_assign Self => |a, b| a.saturating_add(b);
    Sub sub SubAssign sub_assign Self => |a, b| a.saturating_sub(b);
    Mul mul MulAssign mul_assign Self => |a, b| a.saturating_mul(b);
    Div div DivAssign div_assign Self => |a, b| a.saturating_div(b);
    Mul mul MulAssign mul_assign i32 => |a, b| saturate(i64::from(a.0) * i64::from(b));
    Div div DivAssign div_assign i32 => |a, b| divide(i64::from(a.0), b);
}

impl<const FRACTION: u32> Mul<Fixed<FRACTION>> for i32 {
    type Output = Fixed<FRACTION>;

    #[inline]
    fn mul(self, number: Fixed<FRACTION>) -> Fixed<FRACTION> {
        number * self
    }
}

impl<const FRACTION: u32> Neg for Fixed<FRACTION> {
    type Output = Self;

    #[inline]
    fn neg(self) -> Self {
        Fixed(self.0.saturating_neg())
    }
}

/// Adds in order, which matters once a sum saturates.
impl<const FRACTION: u32> Sum for Fixed<FRACTION> {
    fn sum<I: Iterator<Item = Self>>(numbers: I) -> Self {
        numbers.fold(Fixed::ZERO, Fixed::saturating_add)
    }
}

/// Errors report the numbers in steps.
impl<const FRACTION: u32> InRange for Fixed<FRACTION> {
    type Bound = Self;

    fn check_range(&self, range: &RangeInclusive<Self>, what: &'static str) -> Result<(), DecodeError> {
        self.0.check_range(&(range.start().0..=range.end().0), what)
    }
}
