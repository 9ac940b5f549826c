//! Byte reader and writer over given buffers, used by every decoder.
//!
//! Numbers are little-endian; counts and other small numbers are varints (LEB128, shortest form
//! only). Neither side allocates. Absent: fields smaller than a byte (`bits.rs`).

use thiserror::Error;

use crate::{DecodeError, Varint, unzigzag, zigzag};

/// Reads values from untrusted bytes. Every method takes the name of what is read, so that errors
/// say where they occurred.
///
/// ```
/// use gaggle_kit::{ByteReader, DecodeError};
///
/// let mut r = ByteReader::new(&[7, 0x2c, 0x01, 2, 10, 20]);
/// assert_eq!(r.u8("kind")?, 7);
/// assert_eq!(r.u16("length")?, 300);
/// let scores = r.count("scores", 8)?;
/// assert_eq!(r.take("scores", scores)?, [10, 20]);
/// r.finish("results")?;
/// # Ok::<(), DecodeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ByteReader<'a> {
    bytes: &'a [u8],
    /// Levels of nesting that may still be entered.
    levels: u8,
}

const LEVELS_MAX: u8 = 64;

impl<'a> ByteReader<'a> {
    /// A reader at the first of these bytes.
    pub const fn new(bytes: &'a [u8]) -> ByteReader<'a> {
        ByteReader { bytes, levels: LEVELS_MAX }
    }

    /// A reader of a value of fixed size.
    ///
    /// # Errors
    /// If the number of bytes differs.
    #[inline]
    pub fn exactly(what: &'static str, bytes: &'a [u8], size: usize) -> Result<ByteReader<'a>, DecodeError> {
        match bytes.len() {
            len if len < size => Err(DecodeError::Truncated { what, needed: size, left: len }),
            len if len > size => Err(DecodeError::TrailingBytes { what, left: len - size }),
            _ => Ok(ByteReader::new(bytes)),
        }
    }

    /// Number of unread bytes.
    pub const fn remaining(&self) -> usize {
        self.bytes.len()
    }

    /// Whether everything has been read.
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Reads the next `count` bytes.
    ///
    /// # Errors
    /// If there are fewer.
    #[inline]
    pub fn take(&mut self, what: &'static str, count: usize) -> Result<&'a [u8], DecodeError> {
        let Some((taken, rest)) = self.bytes.split_at_checked(count) else {
            return Err(DecodeError::Truncated { what, needed: count, left: self.remaining() });
        };
        self.bytes = rest;
        Ok(taken)
    }

    /// Reads the next `N` bytes.
    ///
    /// # Errors
    /// If there are fewer.
    #[inline]
    pub fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], DecodeError> {
        let Some((taken, rest)) = self.bytes.split_first_chunk::<N>() else {
            return Err(DecodeError::Truncated { what, needed: N, left: self.remaining() });
        };
        self.bytes = rest;
        Ok(*taken)
    }

    /// All remaining bytes, for a payload that ends with its packet.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.bytes)
    }

    /// Reads a flag: one byte, 0 or 1.
    ///
    /// # Errors
    /// If there is no byte, or another value.
    #[inline]
    pub fn bool(&mut self, what: &'static str) -> Result<bool, DecodeError> {
        match self.u8(what)? {
            0 => Ok(false),
            1 => Ok(true),
            value => Err(DecodeError::Unknown { what, value: u64::from(value) }),
        }
    }

    /// Reads a number of 1 to 10 bytes, 7 bits each, lowest first, the top bit set on all but the
    /// last.
    ///
    /// # Errors
    /// If the bytes end within it, it exceeds 64 bits, or a shorter form exists.
    #[inline]
    pub fn varint(&mut self, what: &'static str) -> Result<u64, DecodeError> {
        match self.bytes {
            [byte @ 0..0x80, rest @ ..] => {
                self.bytes = rest;
                Ok(u64::from(*byte))
            }
            _ => self.long_varint(what),
        }
    }

    fn long_varint(&mut self, what: &'static str) -> Result<u64, DecodeError> {
        let mut value = 0;
        for (index, &byte) in self.bytes.iter().take(Varint::SIZE_MAX).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * index);
            if byte < 0x80 {
                // The tenth byte contains bit 63 alone; a last byte of zero is redundant.
                if byte == 0 || (index == Varint::SIZE_MAX - 1 && byte > 1) {
                    return Err(DecodeError::NotCanonical { what });
                }
                self.bytes = &self.bytes[index + 1..];
                return Ok(value);
            }
        }
        if self.remaining() >= Varint::SIZE_MAX {
            return Err(DecodeError::NotCanonical { what });
        }
        Err(DecodeError::Truncated { what, needed: self.remaining() + 1, left: self.remaining() })
    }

    /// Reads a varint up to `max`.
    ///
    /// # Errors
    /// As [`ByteReader::varint`], and [`DecodeError::OutOfRange`] beyond `max`.
    pub fn varint_max(&mut self, what: &'static str, max: u64) -> Result<u64, DecodeError> {
        let value = self.varint(what)?;
        if value > max {
            return Err(DecodeError::out_of_range(what, value, 0u64, max));
        }
        Ok(value)
    }

    /// Reads a signed number as a varint: 0, −1, 1, −2, 2 … See [`zigzag`].
    ///
    /// # Errors
    /// As [`ByteReader::varint`].
    pub fn zigzag(&mut self, what: &'static str) -> Result<i64, DecodeError> {
        self.varint(what).map(unzigzag)
    }

    /// Reads a count as a varint, at most `max`. Call it before allocating.
    ///
    /// # Errors
    /// As [`ByteReader::varint`], and [`DecodeError::CountTooLarge`] beyond `max`.
    pub fn count(&mut self, what: &'static str, max: usize) -> Result<usize, DecodeError> {
        let count = self.varint(what)?;
        match usize::try_from(count) {
            Ok(fits) if fits <= max => Ok(fits),
            _ => Err(DecodeError::CountTooLarge { what, count, max: max as u64 }),
        }
    }

    /// Reads bytes with their count in front, at most `max`.
    ///
    /// # Errors
    /// As [`ByteReader::count`], and if there are fewer bytes than announced.
    pub fn counted(&mut self, what: &'static str, max: usize) -> Result<&'a [u8], DecodeError> {
        let count = self.count(what, max)?;
        self.take(what, count)
    }

    /// Reads a value nested in another: lists of lists, trees. At most 64 levels, so that no bytes
    /// can exhaust the stack.
    ///
    /// # Errors
    /// Those of `inside`, or [`DecodeError::CountTooLarge`] levels.
    pub fn nested<T>(
        &mut self,
        inside: impl FnOnce(&mut ByteReader<'a>) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        let Some(levels) = self.levels.checked_sub(1) else {
            let max = u64::from(LEVELS_MAX);
            return Err(DecodeError::CountTooLarge { what: "levels", count: max + 1, max });
        };
        self.levels = levels;
        let result = inside(self);
        self.levels = levels + 1;
        result
    }

    /// Ends reading.
    ///
    /// # Errors
    /// If bytes are left over.
    pub fn finish(self, what: &'static str) -> Result<(), DecodeError> {
        match self.remaining() {
            0 => Ok(()),
            left => Err(DecodeError::TrailingBytes { what, left }),
        }
    }
}

/// Receives encoded bytes: a `Vec<u8>` to send them, or a [`StateHasher`](crate::StateHasher) to
/// compare them.
///
/// ```
/// use gaggle_kit::{ByteSink, StateHasher};
///
/// fn greet(out: &mut impl ByteSink) {
///     out.put(b"honk");
/// }
/// let (mut bytes, mut hasher) = (Vec::new(), StateHasher::new());
/// greet(&mut bytes);
/// greet(&mut hasher);
/// assert_eq!(StateHasher::of(&bytes), hasher.finish());
/// ```
pub trait ByteSink {
    /// Appends the next bytes.
    fn put(&mut self, bytes: &[u8]);
}

impl ByteSink for Vec<u8> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Writes values into a given buffer.
///
/// ```
/// use gaggle_kit::{BufferFull, ByteWriter};
///
/// let mut buffer = [0; 8];
/// let mut w = ByteWriter::new(&mut buffer);
/// w.u8(7)?;
/// w.u16(300)?;
/// w.varint(300)?;
/// assert_eq!(w.u64(1), Err(BufferFull { needed: 8, left: 3 }));
/// assert_eq!(w.finish(), [7, 0x2c, 0x01, 0xac, 0x02]);
/// # Ok::<(), BufferFull>(())
/// ```
#[derive(Debug)]
pub struct ByteWriter<'a> {
    buffer: &'a mut [u8],
    written: usize,
}

/// The buffer has no space for the next value, of which nothing was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the buffer is full: {needed} more bytes were to be written and {left} are left; enlarge it")]
pub struct BufferFull {
    /// Bytes to be written, rounded up to whole ones.
    pub needed: usize,
    /// Bytes left in the buffer, rounded down to whole ones.
    pub left: usize,
}

impl<'a> ByteWriter<'a> {
    /// A writer at the start of this buffer.
    pub const fn new(buffer: &'a mut [u8]) -> ByteWriter<'a> {
        ByteWriter { buffer, written: 0 }
    }

    /// Number of bytes written.
    pub const fn written(&self) -> usize {
        self.written
    }

    /// Number of bytes that still fit.
    pub const fn remaining(&self) -> usize {
        self.buffer.len() - self.written
    }

    /// Writes bytes unchanged.
    ///
    /// # Errors
    /// If they don't fit.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), BufferFull> {
        let left = self.remaining();
        let Some(room) = self.buffer[self.written..].get_mut(..bytes.len()) else {
            return Err(BufferFull { needed: bytes.len(), left });
        };
        room.copy_from_slice(bytes);
        self.written += bytes.len();
        Ok(())
    }

    /// Writes the count of the bytes, then the bytes.
    ///
    /// # Errors
    /// If they don't fit together.
    pub fn counted(&mut self, bytes: &[u8]) -> Result<(), BufferFull> {
        let count = Varint::new(bytes.len() as u64);
        let needed = count.len() + bytes.len();
        if needed > self.remaining() {
            return Err(BufferFull { needed, left: self.remaining() });
        }
        self.bytes(&count)?;
        self.bytes(bytes)
    }

    /// Writes a flag as one byte.
    ///
    /// # Errors
    /// If it doesn't fit.
    pub fn bool(&mut self, flag: bool) -> Result<(), BufferFull> {
        self.u8(u8::from(flag))
    }

    /// Writes a number in 1 to 10 bytes.
    ///
    /// # Errors
    /// If it doesn't fit.
    #[inline]
    pub fn varint(&mut self, value: u64) -> Result<(), BufferFull> {
        self.bytes(&Varint::new(value))
    }

    /// Writes a signed number in 1 to 10 bytes, fewer the nearer it is to zero.
    ///
    /// # Errors
    /// If it doesn't fit.
    #[inline]
    pub fn zigzag(&mut self, value: i64) -> Result<(), BufferFull> {
        self.varint(zigzag(value))
    }

    /// The written bytes.
    pub fn finish(self) -> &'a mut [u8] {
        &mut self.buffer[..self.written]
    }
}

macro_rules! whole_integers {
    ($($integer:ident),*) => {
        impl ByteReader<'_> {$(
            #[doc = concat!("The next `", stringify!($integer), "`, little-endian.")]
            ///
            /// # Errors
            /// If there are too few bytes.
            #[inline]
            pub fn $integer(&mut self, what: &'static str) -> Result<$integer, DecodeError> {
                self.array(what).map($integer::from_le_bytes)
            }
        )*}

        impl ByteWriter<'_> {$(
            #[doc = concat!("Writes a `", stringify!($integer), "`, little-endian.")]
            ///
            /// # Errors
            /// If it doesn't fit.
            #[inline]
            pub fn $integer(&mut self, value: $integer) -> Result<(), BufferFull> {
                self.bytes(&value.to_le_bytes())
            }
        )*}
    };
}

whole_integers!(u8, u16, u32, u64, u128, i8, i16, i32, i64, i128);

#[cfg(test)]
mod tests {
    use super::*;

    /// Published LEB128 forms, and both ends of each length.
    #[test]
    fn varints_have_one_form_each() {
        let table: [(u64, &[u8]); 9] = [
            (0, &[0]),
            (1, &[1]),
            (127, &[0x7f]),
            (128, &[0x80, 0x01]),
            (624_485, &[0xe5, 0x8e, 0x26]),
            (16_383, &[0xff, 0x7f]),
            (16_384, &[0x80, 0x80, 0x01]),
            (1 << 63, &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01]),
            (u64::MAX, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
        ];
        for (value, bytes) in table {
            assert_eq!(&*Varint::new(value), bytes);
            assert_eq!(Varint::size_of(value), bytes.len());
            let mut r = ByteReader::new(bytes);
            assert_eq!(r.varint("n"), Ok(value));
            assert!(r.is_empty());
            for cut in 0..bytes.len() {
                let cut_short = ByteReader::new(&bytes[..cut]).varint("n");
                assert_eq!(cut_short, Err(DecodeError::Truncated { what: "n", needed: cut + 1, left: cut }));
            }
        }
        for bits in 0..64 {
            assert_eq!(Varint::size_of(1 << bits), Varint::new(1 << bits).len());
        }
    }

    #[test]
    fn redundant_varints_are_rejected() {
        let not_canonical = Err(DecodeError::NotCanonical { what: "n" });
        for bytes in [
            &[0x80, 0x00][..],
            &[0xff, 0x80, 0x00],
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02],
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x80, 0x01],
            &[0x80; 32],
        ] {
            assert_eq!(ByteReader::new(bytes).varint("n"), not_canonical, "{bytes:x?}");
        }
    }

    #[test]
    fn failed_read_or_write_changes_nothing() {
        let mut r = ByteReader::new(&[1, 2, 3]);
        assert_eq!(r.u32("size"), Err(DecodeError::Truncated { what: "size", needed: 4, left: 3 }));
        assert_eq!(r.u16("size"), Ok(0x0201));
        assert_eq!(r.clone().finish("it"), Err(DecodeError::TrailingBytes { what: "it", left: 1 }));
        assert_eq!(r.bool("flag"), Err(DecodeError::Unknown { what: "flag", value: 3 }));

        let mut buffer = [0; 3];
        let mut w = ByteWriter::new(&mut buffer);
        assert_eq!(w.counted(b"abc"), Err(BufferFull { needed: 4, left: 3 }));
        assert_eq!(w.u32(0), Err(BufferFull { needed: 4, left: 3 }));
        w.counted(b"ab").unwrap();
        assert_eq!(w.remaining(), 0);
        assert_eq!(w.finish(), [2, b'a', b'b']);
    }

    #[test]
    fn impossible_counts_are_rejected_before_allocation() {
        let huge = Varint::new(u64::MAX);
        let refusal = DecodeError::CountTooLarge { what: "eggs", count: u64::MAX, max: 8 };
        assert_eq!(ByteReader::new(&huge).count("eggs", 8), Err(refusal));
        assert_eq!(ByteReader::new(&[9]).counted("eggs", 8).map_err(|e| e.what()), Err("eggs"));
        assert_eq!(ByteReader::new(&[8]).count("eggs", 8), Ok(8));
    }
}
