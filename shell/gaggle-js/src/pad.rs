//! Input of one player as 128 bits, whose fields only the JavaScript of the game knows.
//!
//! Rooms exchange it. Absent: names and types of fields.

use gaggle::Input;
use gaggle::kit::{ByteReader, DecodeError};

/// Words of 32 bits in an input.
const WORDS: usize = 4;
/// Bits that are presses of one frame. Fixed, because every peer repeats the inputs of the others
/// without a look at their fields.
const PRESSES: [u32; WORDS] = [0, 0, 0, 0xffff_0000];

/// One player's input in one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pad(pub [u32; WORDS]);

impl Pad {
    fn with(word: impl Fn(usize) -> u32) -> Pad {
        Pad(std::array::from_fn(word))
    }
}

impl Input for Pad {
    const SIZE: usize = 4 * WORDS;

    fn write(&self, out: &mut [u8]) {
        for (bytes, word) in out.chunks_exact_mut(4).zip(self.0) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
    }

    fn read(bytes: &[u8]) -> Result<Pad, DecodeError> {
        let mut r = ByteReader::exactly(DecodeError::UNNAMED, bytes, Pad::SIZE)?;
        let mut pad = Pad::default();
        for word in &mut pad.0 {
            *word = r.u32(DecodeError::UNNAMED)?;
        }
        Ok(pad)
    }

    fn merge(earlier: Pad, later: Pad) -> Pad {
        Pad::with(|nth| later.0[nth] | earlier.0[nth] & PRESSES[nth])
    }

    fn repeat(self) -> Pad {
        Pad::with(|nth| self.0[nth] & !PRESSES[nth])
    }

    fn begun_since(self, before: Pad) -> Pad {
        Pad::with(|nth| self.0[nth] & !(PRESSES[nth] & before.0[nth]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_pad_are_its_words() {
        let pad = Pad([1, 0x0203, 0, u32::MAX]);
        let mut bytes = [0; Pad::SIZE];
        pad.write(&mut bytes);
        assert_eq!(bytes, [1, 0, 0, 0, 3, 2, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255]);
        assert_eq!(Pad::read(&bytes), Ok(pad));
        assert!(Pad::read(&bytes[1..]).is_err());
    }

    #[test]
    fn press_counts_once_and_held_field_repeats() {
        let pad = |pressed: bool, held| Pad([held, 0, 0, u32::from(pressed) << 16]);
        assert_eq!(pad(true, 1).repeat(), pad(false, 1));
        assert_eq!(Pad::merge(pad(true, 1), pad(false, 0)), pad(true, 0), "a press is not lost");
        assert_eq!(pad(true, 1).begun_since(pad(true, 0)), pad(false, 1), "a held press is not new");
        assert_eq!(pad(true, 1).begun_since(pad(false, 1)), pad(true, 1));
    }
}
