//! What one player does in one frame.

use crate::DecodeError;

/// What one player does in one frame: small, comparable, and with a wire form of fixed size.
///
/// Implemented for integers, `bool`, and arrays and tuples of inputs; derive it for your own structs
/// and enums. `Default` is the neutral input: nothing pressed.
pub trait Input: Copy + Eq + Default + 'static {
    /// Bytes on the wire, the same for every value.
    const SIZE: usize;

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
}

macro_rules! integer_inputs {
    ($($integer:ty),*) => {$(
        impl Input for $integer {
            const SIZE: usize = size_of::<$integer>();

            fn write(&self, out: &mut [u8]) {
                out.copy_from_slice(&self.to_le_bytes());
            }

            fn read(bytes: &[u8]) -> Result<Self, DecodeError> {
                let bytes = bytes.try_into().map_err(|_| DecodeError::Truncated {
                    what: "input",
                    needed: Self::SIZE,
                    left: bytes.len(),
                })?;
                Ok(Self::from_le_bytes(bytes))
            }
        }
    )*};
}

integer_inputs!(u8, u16, u32, u64, i8, i16, i32, i64);
