//! Trait of inputs: the actions of one player in one frame.
//!
//! Games implement it, engines use it. Absent: prediction, delay.

use crate::{ByteReader, DecodeError, Shape};

/// Actions of one player in one frame: small, comparable, and with an encoding of fixed size.
///
/// Implemented for integers, `bool`, and arrays and tuples of inputs; derive it for your own
/// structs and enums. `Default` is the neutral input: nothing pressed.
///
/// ```
/// use gaggle_kit::Input;
///
/// #[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Input)]
/// struct Pad {
///     stick: (i8, i8),
///     #[input(one_shot)]
///     jump: bool,
/// }
///
/// let mut bytes = [0; Pad::SIZE];
/// Pad { stick: (1, -1), jump: true }.write(&mut bytes);
/// assert_eq!(bytes, [1, 255, 1]);
/// assert_eq!(Pad::read(&bytes)?.stick, (1, -1));
/// # Ok::<(), gaggle_kit::DecodeError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of an input",
    note = "derive `Input` for your own types; floats and `usize` differ between machines"
)]
pub trait Input: Copy + Eq + Default + 'static {
    /// Encoded size in bytes, the same for every value.
    const SIZE: usize;

    /// Describes the meaning of the bytes: see [`State::shape`](crate::State::shape).
    fn shape(shape: &mut Shape) {
        shape.number(Self::SIZE as u64);
    }

    /// Writes exactly [`Input::SIZE`] bytes.
    ///
    /// # Panics
    /// If `out` has another length, a bug of the caller.
    fn write(&self, out: &mut [u8]);

    /// Reads exactly [`Input::SIZE`] untrusted bytes.
    ///
    /// # Errors
    /// If the bytes are too few or encode no value.
    fn read(bytes: &[u8]) -> Result<Self, DecodeError>;

    /// One input for two samples that must share a frame (a stalled tick, a shrinking input delay).
    /// The default takes the later one, which suits held buttons; presses of a single frame should
    /// be combined by OR.
    #[must_use]
    fn merge(earlier: Self, later: Self) -> Self {
        let _ = earlier;
        later
    }

    /// The same input for a second frame (a growing input delay). The default repeats it; one-shot
    /// presses should be cleared, so that they count once.
    #[must_use]
    fn repeat(self) -> Self {
        self
    }

    /// Actions that are new in this sample since the sample `before`. A key still held is not
    /// pressed again: one-shot presses in both samples should be cleared. The default does so only
    /// if nothing changed.
    #[must_use]
    fn begun_since(self, before: Self) -> Self {
        if self == before { self.repeat() } else { self }
    }

    /// Marks the input as one of a new player of the slot: state the game keeps for the slot
    /// belongs to another player. Rooms mark the first inputs of a player in a slot that another
    /// player had before; games without state per slot can ignore it. The default marks nothing.
    #[must_use]
    fn mark_new_player(self) -> Self {
        self
    }
}

/// Types that `#[input(one_shot)]` accepts: presses that count once.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be `one_shot`",
    note = "`#[input(one_shot)]` is for `bool`, integers used as sets of bits, and arrays of these"
)]
pub trait OneShot: Input {
    /// Presses of either input.
    #[must_use]
    fn merge(self, other: Self) -> Self;

    /// Presses of this input that are not in the other.
    #[must_use]
    fn without(self, other: Self) -> Self;
}

macro_rules! integer_inputs {
    ($($integer:ident),*) => {$(
        impl Input for $integer {
            const SIZE: usize = size_of::<$integer>();

            fn shape(shape: &mut Shape) {
                shape.word(stringify!($integer));
            }

            #[inline]
            fn write(&self, out: &mut [u8]) {
                out.copy_from_slice(&self.to_le_bytes());
            }

            #[inline]
            fn read(bytes: &[u8]) -> Result<Self, DecodeError> {
                ByteReader::exactly(DecodeError::UNNAMED, bytes, Self::SIZE)?.$integer(DecodeError::UNNAMED)
            }
        }

        impl OneShot for $integer {
            fn merge(self, other: Self) -> Self {
                self | other
            }

            fn without(self, other: Self) -> Self {
                self & !other
            }
        }
    )*};
}

integer_inputs!(u8, u16, u32, u64, i8, i16, i32, i64);

impl Input for bool {
    const SIZE: usize = 1;

    fn shape(shape: &mut Shape) {
        shape.word("bool");
    }

    fn write(&self, out: &mut [u8]) {
        out.copy_from_slice(&[u8::from(*self)]);
    }

    fn read(bytes: &[u8]) -> Result<Self, DecodeError> {
        ByteReader::exactly(DecodeError::UNNAMED, bytes, Self::SIZE)?.bool(DecodeError::UNNAMED)
    }
}

impl OneShot for bool {
    fn merge(self, other: Self) -> Self {
        self | other
    }

    fn without(self, other: Self) -> Self {
        self & !other
    }
}

// Listed one by one, because `Default` does not exist for arrays of any length.
macro_rules! array_inputs {
    ($($count:literal)*) => {$(
        impl<T: Input> Input for [T; $count] {
            const SIZE: usize = $count * T::SIZE;

            fn shape(shape: &mut Shape) {
                shape.number($count);
                T::shape(shape);
            }

            fn write(&self, out: &mut [u8]) {
                assert_eq!(out.len(), Self::SIZE, "an input has a fixed size");
                for (index, value) in self.iter().enumerate() {
                    value.write(&mut out[index * T::SIZE..][..T::SIZE]);
                }
            }

            fn read(bytes: &[u8]) -> Result<Self, DecodeError> {
                let mut r = ByteReader::exactly(DecodeError::UNNAMED, bytes, Self::SIZE)?;
                let mut values = Self::default();
                for value in &mut values {
                    *value = T::read(r.take(DecodeError::UNNAMED, T::SIZE)?)?;
                }
                Ok(values)
            }

            fn merge(earlier: Self, later: Self) -> Self {
                std::array::from_fn(|index| T::merge(earlier[index], later[index]))
            }

            fn repeat(self) -> Self {
                self.map(T::repeat)
            }

            fn begun_since(self, before: Self) -> Self {
                std::array::from_fn(|index| T::begun_since(self[index], before[index]))
            }

            fn mark_new_player(self) -> Self {
                self.map(T::mark_new_player)
            }
        }

        impl<T: OneShot> OneShot for [T; $count] {
            fn merge(self, other: Self) -> Self {
                std::array::from_fn(|index| OneShot::merge(self[index], other[index]))
            }

            fn without(self, other: Self) -> Self {
                std::array::from_fn(|index| self[index].without(other[index]))
            }
        }
    )*};
}

array_inputs!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32);

macro_rules! tuple_inputs {
    ($(($($part:ident $index:tt),*))*) => {$(
        impl<$($part: Input),*> Input for ($($part,)*) {
            const SIZE: usize = 0 $(+ $part::SIZE)*;

            fn shape(shape: &mut Shape) {
                shape.word(stringify!($($index),*));
                $($part::shape(shape);)*
            }

            fn write(&self, out: &mut [u8]) {
                assert_eq!(out.len(), Self::SIZE, "an input has a fixed size");
                $(
                    let (part, out) = out.split_at_mut($part::SIZE);
                    self.$index.write(part);
                )*
                let _ = out;
            }

            fn read(bytes: &[u8]) -> Result<Self, DecodeError> {
                let mut r = ByteReader::exactly(DecodeError::UNNAMED, bytes, Self::SIZE)?;
                Ok(($($part::read(r.take(DecodeError::UNNAMED, $part::SIZE)?)?,)*))
            }

            fn merge(earlier: Self, later: Self) -> Self {
                ($($part::merge(earlier.$index, later.$index),)*)
            }

            fn repeat(self) -> Self {
                ($($part::repeat(self.$index),)*)
            }

            fn begun_since(self, before: Self) -> Self {
                ($($part::begun_since(self.$index, before.$index),)*)
            }

            fn mark_new_player(self) -> Self {
                ($($part::mark_new_player(self.$index),)*)
            }
        }
    )*};
}

tuple_inputs! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
}

impl Input for () {
    const SIZE: usize = 0;

    fn write(&self, out: &mut [u8]) {
        assert!(out.is_empty(), "an input has a fixed size");
    }

    fn read(bytes: &[u8]) -> Result<Self, DecodeError> {
        ByteReader::exactly(DecodeError::UNNAMED, bytes, 0).map(|_| ())
    }
}
