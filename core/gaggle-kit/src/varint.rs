//! Variable-length numbers: LEB128, and the zigzag mapping that makes signed ones small.
//!
//! Writers use them. Absent: reading (`bytes.rs`, `bits.rs`).

use std::ops::Deref;

/// A number in its 1 to 10 bytes, to append to any buffer.
///
/// ```
/// use gaggle_kit::Varint;
/// let mut out = vec![1];
/// out.extend_from_slice(&Varint::new(300));
/// assert_eq!(out, [1, 0xac, 0x02]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Varint {
    bytes: [u8; Varint::SIZE_MAX],
    size: u8,
}

impl Varint {
    /// Bytes of the largest number: 64 bits in groups of 7.
    pub const SIZE_MAX: usize = 10;

    /// Shortest form of this number.
    #[inline]
    pub const fn new(mut value: u64) -> Varint {
        let mut varint = Varint { bytes: [0; Varint::SIZE_MAX], size: 1 };
        while value >= 0x80 {
            varint.bytes[varint.size as usize - 1] = value as u8 | 0x80;
            varint.size += 1;
            value >>= 7;
        }
        varint.bytes[varint.size as usize - 1] = value as u8;
        varint
    }

    /// Encoded size of this number in bytes.
    pub const fn size_of(value: u64) -> usize {
        // `| 1`: zero takes one byte.
        ((value | 1).ilog2() as usize) / 7 + 1
    }
}

impl Deref for Varint {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.size)]
    }
}

/// Moves the sign into the lowest bit, so that numbers near zero stay small: 0, −1, 1, −2 become 0,
/// 1, 2, 3.
///
/// ```
/// use gaggle_kit::{unzigzag, zigzag};
/// assert_eq!(zigzag(-2), 3);
/// assert_eq!(unzigzag(zigzag(i64::MIN)), i64::MIN);
/// ```
#[inline]
pub const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// Inverse of [`zigzag`].
#[inline]
pub const fn unzigzag(folded: u64) -> i64 {
    (folded >> 1) as i64 ^ -((folded & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zigzag_keeps_small_numbers_small() {
        for (signed, folded) in
            [(0, 0), (-1, 1), (1, 2), (-2, 3), (i64::MAX, u64::MAX - 1), (i64::MIN, u64::MAX)]
        {
            assert_eq!(zigzag(signed), folded);
            assert_eq!(unzigzag(folded), signed);
        }
    }
}
