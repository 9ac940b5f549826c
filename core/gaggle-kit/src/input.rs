//! What one player does in one frame.

use crate::{ByteReader, DecodeError, Shape};

/// What one player does in one frame: small, comparable, and with a wire form of fixed size.
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
    /// Bytes on the wire, the same for every value.
    const SIZE: usize;

    /// Describes what the bytes mean: see [`State::shape`](crate::State::shape).
    fn shape(shape: &mut Shape) {
        shape.number(Self::SIZE as u64);
    }

    /// Writes exactly [`Input::SIZE`] bytes.
    ///
    /// # Panics
    /// If `out` is not that long: the caller's bug, never a peer's.
    fn write(&self, out: &mut [u8]);

    /// Reads exactly [`Input::SIZE`] bytes, written by anybody.
    ///
    /// # Errors
    /// If the bytes are too few or no value is written so.
    fn read(bytes: &[u8]) -> Result<Self, DecodeError>;

    /// One input that stands for two, when two samples must share one frame (a stalled tick, a
    /// shrinking input delay). The default takes the later one, which is right for held buttons;
    /// a press that lasts a single frame should be kept by OR-ing it in.
    #[must_use]
    fn merge(earlier: Self, later: Self) -> Self {
        let _ = earlier;
        later
    }

    /// The same input once more, when one sample must fill two frames (a growing input delay).
    /// The default repeats it; one-shot presses should be cleared so that they count once.
    #[must_use]
    fn repeat(self) -> Self {
        self
    }

    /// What begins with this sample, if `before` was the sample before it. A key that is still down
    /// is not pressed a second time: one-shot presses that are in both samples should be cleared.
    /// The default does so only if nothing changed.
    #[must_use]
    fn begun_since(self, before: Self) -> Self {
        if self == before { self.repeat() } else { self }
    }

    /// The same input, from somebody who is new to the seat: what the game keeps in it is not
    /// theirs. A room says so with the first inputs of whoever sits down where somebody else sat
    /// last; a game that keeps nothing in seats that were left need not know. The default says
    /// nothing.
    #[must_use]
    fn mark_new_player(self) -> Self {
        self
    }
}

/// What `#[input(one_shot)]` can be written on: presses that count once.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be `one_shot`",
    note = "`#[input(one_shot)]` is for `bool`, integers used as sets of bits, and arrays of these"
)]
pub trait OneShot: Input {
    /// What is pressed in either.
    #[must_use]
    fn merge(self, other: Self) -> Self;

    /// What is pressed here and not there.
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

// One by one, because `Default` is not there for arrays of any length.
macro_rules! array_inputs {
    ($($count:literal)*) => {$(
        impl<T: Input> Input for [T; $count] {
            const SIZE: usize = $count * T::SIZE;

            fn shape(shape: &mut Shape) {
                shape.number($count);
                T::shape(shape);
            }

            fn write(&self, out: &mut [u8]) {
                assert_eq!(out.len(), Self::SIZE, "an input has its size");
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
                assert_eq!(out.len(), Self::SIZE, "an input has its size");
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
        assert!(out.is_empty(), "an input has its size");
    }

    fn read(bytes: &[u8]) -> Result<Self, DecodeError> {
        ByteReader::exactly(DecodeError::UNNAMED, bytes, 0).map(|_| ())
    }
}
