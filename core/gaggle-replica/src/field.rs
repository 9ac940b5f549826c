//! Types that fields of a kind can have, and their conversion to words.
//!
//! A word is an `i32`, which can be compared, predicted and sent: `codec` predicts and writes
//! words, `rotation.rs` makes those of a rotation. Absent: packets, objects.

#![expect(clippy::float_arithmetic, reason = "numbers of a game become steps, and numbers again for display")]

use gaggle_kit::{Angle, Fixed};

use crate::{Axis, ObjectId};

/// A type that fields of a kind can have.
///
/// `f32` and [`Fixed`] need a range and a precision; integers may have a range and otherwise use
/// all of their type; `bool`, [`Angle`], [`ObjectId`], arrays of these and enums that derive
/// `Field` take none.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a replicated kind",
    note = "derive `Field` for an enum without data; put larger contents into a blob"
)]
pub trait Field: Sized {
    /// Number of words it takes.
    const WORDS: usize;
    /// How its words are predicted and shown.
    const ENCODING: Encoding;
    /// The same within a range, if the type can have one.
    const RANGED: Option<Encoding> = None;
    /// Range of its words, if the type itself has one.
    const AXIS: Option<Axis> = None;
    /// Number of steps the type can distinguish on either side of zero.
    const STEPS_MAX: i32 = i32::MAX;
    /// Meaning of its words beyond encoding and range, such as the names of variants.
    const MEANING: &'static str = "";

    /// Writes the words. There is one axis for all of them, or one each.
    fn to_words(&self, axes: &[Axis], words: &mut [i32]);

    /// The value these words stand for.
    fn from_words(axes: &[Axis], words: &[i32]) -> Self;

    /// The value of words between two received ones, for smoothed display. Called only for
    /// encodings that can be interpolated.
    fn from_interpolated(axes: &[Axis], words: &[f64]) -> Self;
}

/// How words change from one tick to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Change gradually: predicted on a line, shown between two received values.
    Continuous,
    /// Change abruptly: predicted unchanged, shown as received. Small differences take few bits.
    Discrete,
    /// Change gradually around a turn of 2^`bits` steps.
    Angle {
        /// Bits of a turn.
        bits: u32,
    },
    /// The four words of a rotation: three components of `bits` bits, and which one is left out.
    Rotation {
        /// Bits of a component.
        bits: u32,
    },
    /// Use all 32 bits; differences of such words have no meaning.
    Opaque,
}

impl Encoding {
    /// Whether values between two received ones are meaningful.
    pub const fn glides(self) -> bool {
        matches!(self, Encoding::Continuous | Encoding::Angle { .. } | Encoding::Rotation { .. })
    }
}

/// One field of a kind, as its derive describes it.
#[derive(Debug, Clone, Copy)]
pub struct FieldShape {
    pub(crate) name: &'static str,
    pub(crate) nature: Encoding,
    pub(crate) means: &'static str,
    pub(crate) words: usize,
    pub(crate) axes: &'static [Axis],
    pub(crate) constant: bool,
    pub(crate) moved_by: Option<&'static str>,
    pub(crate) steps: bool,
}

impl FieldShape {
    /// A field with ranges: one for all of its words, or one each.
    ///
    /// # Panics
    /// If the type cannot have them; in a constant this is a compile error.
    pub const fn ranged<T: Field>(name: &'static str, axes: &'static [Axis]) -> FieldShape {
        assert!(axes.len() == 1 || axes.len() == T::WORDS, "give one range for all, or one for each element");
        let Some(nature) = T::RANGED else { panic!("this type cannot have a range") };
        let mut index = 0;
        while index < axes.len() {
            let (min, max) = axes[index].steps();
            assert!(
                min >= -T::STEPS_MAX && max <= T::STEPS_MAX,
                "precision is finer than the type has at that size"
            );
            index += 1;
        }
        FieldShape::new(name, nature, T::WORDS, axes)
    }

    /// A field whose type needs no range.
    ///
    /// # Panics
    /// If the type needs a range; in a constant this is a compile error.
    pub const fn unranged<T: Field>(name: &'static str) -> FieldShape {
        let axes: &'static [Axis] = match const { &T::AXIS } {
            Some(axis) => std::slice::from_ref(axis),
            None => {
                assert!(
                    matches!(T::ENCODING, Encoding::Opaque | Encoding::Angle { .. }),
                    "numbers need a range and a precision: #[kind(range = -1.0..=1.0, precision = 0.01)]"
                );
                &[]
            }
        };
        FieldShape { means: T::MEANING, ..FieldShape::new(name, T::ENCODING, T::WORDS, axes) }
    }

    /// A direction sent in 2^`bits` steps.
    ///
    /// # Panics
    /// If `bits` is 0 or above 24.
    pub const fn angle(name: &'static str, bits: u32) -> FieldShape {
        assert!(bits > 0 && bits <= 24, "a direction must have 1 to 24 bits");
        FieldShape::new(name, Encoding::Angle { bits }, 1, &[])
    }

    /// A rotation sent in three components of `bits` each.
    ///
    /// # Panics
    /// If `bits` is below 4 or above 15.
    pub const fn rotation(name: &'static str, bits: u32) -> FieldShape {
        assert!(bits >= 4 && bits <= 15, "a component of a rotation must have 4 to 15 bits");
        FieldShape::new(name, Encoding::Rotation { bits }, 4, &[])
    }

    const fn new(name: &'static str, nature: Encoding, words: usize, axes: &'static [Axis]) -> FieldShape {
        FieldShape { name, nature, means: "", words, axes, constant: false, moved_by: None, steps: false }
    }

    /// The same field, sent once and never changing.
    #[must_use]
    pub const fn constant(self) -> FieldShape {
        FieldShape { constant: true, ..self }
    }

    /// The same field, as a position whose velocity in units per second is the field of this name.
    ///
    /// # Panics
    /// If the field is no number.
    #[must_use]
    pub const fn moved_by(self, velocity: &'static str) -> FieldShape {
        assert!(matches!(self.nature, Encoding::Continuous), "`moved_by` needs a field of numbers");
        FieldShape { moved_by: Some(velocity), ..self }
    }

    /// The same field, shown as received, without interpolation.
    #[must_use]
    pub const fn discrete(self) -> FieldShape {
        FieldShape { steps: true, ..self }
    }

    /// Whether it is shown between two received values.
    pub const fn is_interpolated(&self) -> bool {
        self.nature.glides() && !self.steps
    }

    /// Number of words it takes.
    pub const fn words(&self) -> usize {
        self.words
    }

    /// Ranges of its words.
    pub const fn axes(&self) -> &'static [Axis] {
        self.axes
    }

    /// Bits its value takes when it is sent without a baseline.
    pub(crate) const fn bits(&self) -> u32 {
        match self.nature {
            Encoding::Angle { bits } => bits * self.words as u32,
            Encoding::Rotation { bits } => 2 + 3 * bits,
            Encoding::Opaque => 32 * self.words as u32,
            // One bit more: a velocity has a flag for zero.
            Encoding::Continuous | Encoding::Discrete => {
                let mut bits = 1;
                let mut index = 0;
                while index < self.words {
                    bits += self.axis(index).bits();
                    index += 1;
                }
                bits
            }
        }
    }

    /// Range of one of its words.
    pub(crate) const fn axis(&self, word: usize) -> Axis {
        self.axes[if self.axes.len() == 1 { 0 } else { word }]
    }
}

#[inline]
fn axis(axes: &[Axis], word: usize) -> &Axis {
    &axes[word.min(axes.len() - 1)]
}

impl Field for f32 {
    const WORDS: usize = 1;
    const ENCODING: Encoding = Encoding::Continuous;
    const RANGED: Option<Encoding> = Some(Encoding::Continuous);
    // Each of 2^22 steps is at least two of an f32's 24 bits wide: no rounding moves a value to
    // another step.
    const STEPS_MAX: i32 = 1 << 22;

    #[inline]
    fn to_words(&self, axes: &[Axis], words: &mut [i32]) {
        words[0] = axis(axes, 0).step_of(f64::from(*self));
    }

    #[inline]
    fn from_words(axes: &[Axis], words: &[i32]) -> f32 {
        axis(axes, 0).value_of(f64::from(words[0])) as f32
    }

    fn from_interpolated(axes: &[Axis], words: &[f64]) -> f32 {
        axis(axes, 0).value_of(words[0]) as f32
    }
}

impl<const FRACTION: u32> Field for Fixed<FRACTION> {
    const WORDS: usize = 1;
    const ENCODING: Encoding = Encoding::Continuous;
    const RANGED: Option<Encoding> = Some(Encoding::Continuous);

    #[inline]
    fn to_words(&self, axes: &[Axis], words: &mut [i32]) {
        words[0] = axis(axes, 0).step_of(f64::from(self.to_bits()) / one::<FRACTION>());
    }

    #[inline]
    fn from_words(axes: &[Axis], words: &[i32]) -> Fixed<FRACTION> {
        Self::from_interpolated(axes, &[f64::from(words[0])])
    }

    fn from_interpolated(axes: &[Axis], words: &[f64]) -> Fixed<FRACTION> {
        // Beyond the range of the type, `as` gives the nearer end.
        Fixed::from_bits((axis(axes, 0).value_of(words[0]) * one::<FRACTION>()).round() as i32)
    }
}

/// Units of a fixed-point number that make one.
const fn one<const FRACTION: u32>() -> f64 {
    (1_u64 << FRACTION) as f64
}

macro_rules! counts {
    ($($integer:ident)*) => {$(
        impl Field for $integer {
            const WORDS: usize = 1;
            const ENCODING: Encoding = Encoding::Discrete;
            const RANGED: Option<Encoding> = Some(Encoding::Discrete);
            const AXIS: Option<Axis> = Some(Axis::whole($integer::MIN as i64, $integer::MAX as i64));

            #[inline]
            fn to_words(&self, axes: &[Axis], words: &mut [i32]) {
                words[0] = axis(axes, 0).clamp(i64::from(*self));
            }

            #[inline]
            fn from_words(_: &[Axis], words: &[i32]) -> $integer {
                // The range in the source may be wider than the type.
                words[0].clamp($integer::MIN.into(), $integer::MAX.into()) as $integer
            }

            fn from_interpolated(axes: &[Axis], words: &[f64]) -> $integer {
                Self::from_words(axes, &[words[0].round() as i32])
            }
        }
    )*};
}

counts!(u8 i8 u16 i16);

impl Field for bool {
    const WORDS: usize = 1;
    const ENCODING: Encoding = Encoding::Discrete;
    const AXIS: Option<Axis> = Some(Axis::whole(0, 1));
    const MEANING: &'static str = "bool";

    #[inline]
    fn to_words(&self, _: &[Axis], words: &mut [i32]) {
        words[0] = i32::from(*self);
    }

    #[inline]
    fn from_words(_: &[Axis], words: &[i32]) -> bool {
        words[0] != 0
    }

    fn from_interpolated(_: &[Axis], words: &[f64]) -> bool {
        words[0] >= 0.5
    }
}

/// Without a range all 32 bits count.
macro_rules! wide_counts {
    ($($integer:ident)*) => {$(
        impl Field for $integer {
            const WORDS: usize = 1;
            const ENCODING: Encoding = Encoding::Opaque;
            const RANGED: Option<Encoding> = Some(Encoding::Discrete);
            const MEANING: &'static str = stringify!($integer);

            #[inline]
            fn to_words(&self, axes: &[Axis], words: &mut [i32]) {
                words[0] = axes.first().map_or(*self as i32, |axis| axis.clamp(i64::from(*self)));
            }

            #[inline]
            fn from_words(_: &[Axis], words: &[i32]) -> $integer {
                words[0] as $integer
            }

            fn from_interpolated(_: &[Axis], words: &[f64]) -> $integer {
                words[0].round() as i32 as $integer
            }
        }
    )*};
}

wide_counts!(u32 i32);

impl Field for u64 {
    const WORDS: usize = 2;
    const ENCODING: Encoding = Encoding::Opaque;
    const MEANING: &'static str = "u64";

    fn to_words(&self, _: &[Axis], words: &mut [i32]) {
        words[0] = *self as i32;
        words[1] = (*self >> 32) as i32;
    }

    fn from_words(_: &[Axis], words: &[i32]) -> u64 {
        u64::from(words[0] as u32) | u64::from(words[1] as u32) << 32
    }

    fn from_interpolated(axes: &[Axis], words: &[f64]) -> u64 {
        Self::from_words(axes, &[words[0] as i32, words[1] as i32])
    }
}

impl Field for ObjectId {
    const WORDS: usize = 2;
    const ENCODING: Encoding = Encoding::Opaque;
    const MEANING: &'static str = "object";

    fn to_words(&self, axes: &[Axis], words: &mut [i32]) {
        self.to_bits().to_words(axes, words);
    }

    fn from_words(axes: &[Axis], words: &[i32]) -> ObjectId {
        ObjectId::from_bits(u64::from_words(axes, words))
    }

    fn from_interpolated(axes: &[Axis], words: &[f64]) -> ObjectId {
        ObjectId::from_bits(u64::from_interpolated(axes, words))
    }
}

/// `None` is sent as the id that no object has.
impl Field for Option<ObjectId> {
    const WORDS: usize = 2;
    const ENCODING: Encoding = Encoding::Opaque;
    const MEANING: &'static str = "object or none";

    fn to_words(&self, axes: &[Axis], words: &mut [i32]) {
        self.map_or(0, ObjectId::to_bits).to_words(axes, words);
    }

    fn from_words(axes: &[Axis], words: &[i32]) -> Option<ObjectId> {
        match u64::from_words(axes, words) {
            0 => None,
            bits => Some(ObjectId::from_bits(bits)),
        }
    }

    fn from_interpolated(axes: &[Axis], words: &[f64]) -> Option<ObjectId> {
        Self::from_words(axes, &[words[0] as i32, words[1] as i32])
    }
}

impl<T: Field, const N: usize> Field for [T; N] {
    const WORDS: usize = N * T::WORDS;
    const ENCODING: Encoding = T::ENCODING;
    const RANGED: Option<Encoding> = T::RANGED;
    const AXIS: Option<Axis> = T::AXIS;
    const STEPS_MAX: i32 = T::STEPS_MAX;
    const MEANING: &'static str = T::MEANING;

    #[inline]
    fn to_words(&self, axes: &[Axis], words: &mut [i32]) {
        for (index, element) in self.iter().enumerate() {
            element.to_words(own_axes::<T>(axes, index), &mut words[index * T::WORDS..][..T::WORDS]);
        }
    }

    #[inline]
    fn from_words(axes: &[Axis], words: &[i32]) -> [T; N] {
        std::array::from_fn(|index| {
            T::from_words(own_axes::<T>(axes, index), &words[index * T::WORDS..][..T::WORDS])
        })
    }

    fn from_interpolated(axes: &[Axis], words: &[f64]) -> [T; N] {
        std::array::from_fn(|index| {
            T::from_interpolated(own_axes::<T>(axes, index), &words[index * T::WORDS..][..T::WORDS])
        })
    }
}

/// Axes of one element of an array.
#[inline]
fn own_axes<T: Field>(axes: &[Axis], index: usize) -> &[Axis] {
    if axes.len() <= 1 { axes } else { &axes[index * T::WORDS..][..T::WORDS] }
}

/// A direction in a plane, for `#[kind(angle = …)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a direction",
    note = "`#[kind(angle = 10)]` is for an `f32` in radians or an `Angle`"
)]
pub trait Direction: Sized {
    /// The step, of 2^`bits` in a turn, that it points to.
    fn to_step(&self, bits: u32) -> i32;

    /// The direction of a step, or of a point between two.
    fn from_step(step: f64, bits: u32) -> Self;
}

/// An angle in radians.
impl Direction for f32 {
    fn to_step(&self, bits: u32) -> i32 {
        let steps = f64::from(1 << bits);
        let turns = f64::from(*self) / std::f64::consts::TAU;
        // The fraction first, so that a large angle does not saturate. NaN becomes 0.
        ((turns - turns.floor()) * steps).round() as i32 & ((1 << bits) - 1)
    }

    /// From −π up to π.
    fn from_step(step: f64, bits: u32) -> f32 {
        let steps = f64::from(1 << bits);
        let turns = step / steps;
        ((turns - (turns + 0.5).floor()) * std::f64::consts::TAU) as f32
    }
}

impl Direction for Angle {
    fn to_step(&self, bits: u32) -> i32 {
        let units = u32::from(self.to_bits());
        let step =
            if bits >= 16 { units << (bits - 16) } else { (units + (1 << (15 - bits))) >> (16 - bits) };
        step as i32 & ((1 << bits) - 1)
    }

    fn from_step(step: f64, bits: u32) -> Angle {
        let units = (step * 65_536.0 / f64::from(1 << bits)).round() as i64;
        Angle::from_bits(units as u16)
    }
}

/// Sent in as many steps as an `Angle` has units, or fewer with `#[kind(angle = …)]`.
impl Field for Angle {
    const WORDS: usize = 1;
    const ENCODING: Encoding = Encoding::Angle { bits: 16 };

    fn to_words(&self, _: &[Axis], words: &mut [i32]) {
        words[0] = self.to_step(16);
    }

    fn from_words(_: &[Axis], words: &[i32]) -> Angle {
        Angle::from_bits(words[0] as u16)
    }

    fn from_interpolated(_: &[Axis], words: &[f64]) -> Angle {
        Angle::from_step(words[0], 16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gaggle_kit::Fixed16;

    /// The value read back is within the precision, and stays the same when written again.
    fn check<T: Field + PartialEq + std::fmt::Debug>(value: &T, axes: &[Axis], expected: &T) {
        let mut words = [0; 8];
        let words = &mut words[..T::WORDS];
        value.to_words(axes, words);
        assert_eq!(T::from_words(axes, words), *expected, "{value:?}");
        let before = words.to_vec();
        expected.to_words(axes, words);
        assert_eq!(words, before, "{value:?} changes when written again");
    }

    #[test]
    fn field_read_back_is_within_precision_and_stable() {
        check(&1.26_f32, &[Axis::number(-2.0, 2.0, 0.5)], &1.5);
        check(
            &Fixed16::lit("-99.123"),
            &[Axis::number(-100.0, 100.0, 0.01)],
            &Fixed16::from_bits(-6_495_928),
        );
        check(&Fixed16::lit("1.25"), &[Axis::number(-100.0, 100.0, 0.125)], &Fixed16::lit("1.25"));
        check(&200_u8, &[<u8 as Field>::AXIS.unwrap()], &200);
        check(&200_u8, &[Axis::whole(0, 99)], &99);
        check(&-5_i16, &[<i16 as Field>::AXIS.unwrap()], &-5);
        check(&true, &[Axis::whole(0, 1)], &true);
        check(&u32::MAX, &[], &u32::MAX);
        check(&u32::MAX, &[Axis::whole(0, 1_000_000)], &1_000_000);
        check(&(u64::MAX - 7), &[], &(u64::MAX - 7));
        check(&[1_u32, 2, 3], &[], &[1, 2, 3]);
        check(&Some(ObjectId::from_bits(7 << 32 | 9)), &[], &Some(ObjectId::from_bits(7 << 32 | 9)));
        check(&None::<ObjectId>, &[], &None);
        let axes = [Axis::number(0.0, 1.0, 0.5), Axis::number(0.0, 8.0, 2.0)];
        check(&[0.3_f32, 5.1], &axes, &[0.5, 6.0]);
        check(&[[0.3_f32, 5.1]; 2], &[axes, axes].concat(), &[[0.5, 6.0]; 2]);
    }

    #[test]
    fn direction_beyond_full_turn_wraps() {
        use std::f32::consts::PI;
        for (radians, step) in [(0.0, 0), (PI / 2.0, 256), (-PI / 2.0, 768), (9.0 * PI, 512), (-0.0001, 0)] {
            assert_eq!(radians.to_step(10), step, "{radians}");
        }
        assert_eq!(f32::NAN.to_step(10), 0);
        assert!((f32::from_step(768.0, 10) + PI / 2.0).abs() < 1e-6);
        for step in 0..1 << 10 {
            assert_eq!(f32::from_step(f64::from(step), 10).to_step(10), step);
            assert_eq!(Angle::from_step(f64::from(step), 10).to_step(10), step);
        }
        assert_eq!(Angle::from_bits(65_535).to_step(10), 0);
        assert_eq!(Angle::from_bits(9).to_step(20), 144);
    }
}
