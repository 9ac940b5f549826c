//! Bit reader and writer over given buffers, for packets in which a byte per field would be too
//! much.
//!
//! Codecs use them. The first bit is the lowest of the first byte, and a number's lowest bit comes
//! first. Unused bits of the last byte are zero. Absent: whole bytes (`bytes.rs`).

use std::ops::RangeInclusive;

use crate::{BufferFull, DecodeError, Varint, unzigzag, zigzag};

/// Writes values of any number of bits into a given buffer.
///
/// ```
/// use gaggle_kit::{BitReader, BitWriter};
///
/// let mut buffer = [0; 16];
/// let mut w = BitWriter::new(&mut buffer);
/// w.bool(true)?;
/// w.ranged(-2, &(-3..=3))?; // seven values: three bits
/// w.bits(0x1234, 13)?;
/// let bytes = w.finish();
/// assert_eq!(bytes.len(), 3);
///
/// let mut r = BitReader::new(bytes);
/// assert_eq!(r.bool("jumping")?, true);
/// assert_eq!(r.ranged("lane", &(-3..=3))?, -2);
/// assert_eq!(r.bits("score", 13)?, 0x1234);
/// r.finish("update")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct BitWriter<'a> {
    buffer: &'a mut [u8],
    /// Number of bits written.
    position: usize,
    /// Bits of the incomplete byte; higher bits are zero.
    pending: u64,
}

/// Most bits that fit into a word behind an incomplete byte.
const BITS_AT_ONCE: u32 = 56;

impl<'a> BitWriter<'a> {
    /// A writer at the start of this buffer. Overwrites the buffer's content, possibly beyond the
    /// final length.
    pub const fn new(buffer: &'a mut [u8]) -> BitWriter<'a> {
        BitWriter { buffer, position: 0, pending: 0 }
    }

    /// Number of bits written.
    pub const fn written(&self) -> usize {
        self.position
    }

    /// Number of bits that still fit.
    pub const fn remaining(&self) -> usize {
        self.buffer.len() * 8 - self.position
    }

    /// Writes the lowest `count` bits of a number.
    ///
    /// # Errors
    /// If they don't fit; nothing is written then.
    ///
    /// # Panics
    /// If `count` is more than 64, a bug of the caller.
    #[inline]
    pub fn bits(&mut self, value: u64, count: u32) -> Result<(), BufferFull> {
        assert!(count <= 64, "at most 64 bits at once");
        if count as usize > self.remaining() {
            return Err(self.full(count as usize));
        }
        self.put(value & low_bits(count), count);
        Ok(())
    }

    /// Appends bits that fit, with zeros above them.
    #[inline]
    fn put(&mut self, value: u64, count: u32) {
        let used = self.position as u32 % 8;
        let word = self.pending | value << used;
        let first = self.position / 8;
        if let Some(room) = self.buffer[first..].first_chunk_mut::<8>() {
            *room = word.to_le_bytes();
        } else {
            let room = &mut self.buffer[first..];
            room.copy_from_slice(&word.to_le_bytes()[..room.len()]);
        }
        self.position += count as usize;
        let end = used + count;
        if end < 64 {
            self.pending = word >> (end / 8 * 8);
        } else {
            // Bits beyond the word; `used` is zero if there are none.
            self.pending = if used == 0 { 0 } else { value >> (64 - used) };
            if end > 64 {
                self.buffer[first + 8] = self.pending as u8;
            }
        }
    }

    /// Writes a flag as one bit.
    ///
    /// # Errors
    /// If it doesn't fit.
    #[inline]
    pub fn bool(&mut self, flag: bool) -> Result<(), BufferFull> {
        self.bits(u64::from(flag), 1)
    }

    /// Writes a number of a range in as few bits as the range takes. Numbers outside are clamped.
    ///
    /// # Errors
    /// If it doesn't fit.
    ///
    /// # Panics
    /// If the range is empty, a bug of the caller.
    #[inline]
    pub fn ranged(&mut self, value: i64, range: &RangeInclusive<i64>) -> Result<(), BufferFull> {
        let value = value.clamp(*range.start(), *range.end());
        self.bits(value.wrapping_sub(*range.start()) as u64, bits_for(range))
    }

    /// Writes a number in groups of 7 bits with a continuation bit each: the bytes of a [`Varint`],
    /// at any bit position.
    ///
    /// # Errors
    /// If it doesn't fit.
    #[inline]
    pub fn varint(&mut self, value: u64) -> Result<(), BufferFull> {
        self.bytes(&Varint::new(value))
    }

    /// Writes a signed number, shorter if closer to zero. See [`zigzag`].
    ///
    /// # Errors
    /// If it doesn't fit.
    #[inline]
    pub fn zigzag(&mut self, value: i64) -> Result<(), BufferFull> {
        self.varint(zigzag(value))
    }

    /// Writes whole bytes at any bit position.
    ///
    /// # Errors
    /// If they don't fit; nothing is written then.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), BufferFull> {
        let count = bytes.len() * 8;
        if count > self.remaining() {
            return Err(self.full(count));
        }
        let (words, rest) = bytes.as_chunks::<4>();
        for &word in words {
            self.put(u64::from(u32::from_le_bytes(word)), 32);
        }
        for &byte in rest {
            self.put(u64::from(byte), 8);
        }
        Ok(())
    }

    /// Skips to the next whole byte with zero bits.
    pub const fn align(&mut self) {
        self.position = self.position.next_multiple_of(8);
        self.pending = 0;
    }

    /// The written bytes, padded with zero bits.
    pub fn finish(self) -> &'a mut [u8] {
        &mut self.buffer[..self.position.div_ceil(8)]
    }

    fn full(&self, count: usize) -> BufferFull {
        BufferFull { needed: count.div_ceil(8), left: self.remaining() / 8 }
    }
}

/// Reads the output of a [`BitWriter`] from untrusted bytes.
///
/// ```
/// use gaggle_kit::{BitReader, DecodeError};
///
/// let mut r = BitReader::new(&[0b0101_1101]);
/// assert_eq!(r.bits("kind", 3)?, 0b101);
/// assert_eq!(r.count("eggs", 4)?, 3);
/// assert_eq!(r.finish("update"), Err(DecodeError::NotCanonical { what: "update" }));
/// # Ok::<(), DecodeError>(())
/// ```
#[derive(Debug, Clone)]
pub struct BitReader<'a> {
    bytes: &'a [u8],
    /// Number of bits read.
    position: usize,
}

impl<'a> BitReader<'a> {
    /// A reader at the first bit of these bytes.
    pub const fn new(bytes: &'a [u8]) -> BitReader<'a> {
        BitReader { bytes, position: 0 }
    }

    /// Number of unread bits, including padding.
    pub const fn remaining(&self) -> usize {
        self.bytes.len() * 8 - self.position
    }

    /// Reads the next `count` bits.
    ///
    /// # Errors
    /// If there are fewer.
    ///
    /// # Panics
    /// If `count` is more than 64, a bug of the caller: bound a received count first.
    #[inline]
    pub fn bits(&mut self, what: &'static str, count: u32) -> Result<u64, DecodeError> {
        assert!(count <= 64, "at most 64 bits at once");
        if count as usize > self.remaining() {
            return Err(self.truncated(what, count as usize));
        }
        if count <= BITS_AT_ONCE {
            return Ok(self.take(count));
        }
        let low = self.take(32);
        Ok(low | self.take(count - 32) << 32)
    }

    /// At most [`BITS_AT_ONCE`] available bits.
    #[inline]
    fn take(&mut self, count: u32) -> u64 {
        let rest = &self.bytes[self.position / 8..];
        let word = match rest.first_chunk::<8>() {
            Some(word) => u64::from_le_bytes(*word),
            None => rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
        };
        let value = word >> (self.position % 8) & low_bits(count);
        self.position += count as usize;
        value
    }

    /// The next bits without reading them, the first one lowest: at least 57 of them are valid.
    /// `None` close to the end, where [`bits`](BitReader::bits) reads what is left.
    ///
    /// ```
    /// use gaggle_kit::BitReader;
    ///
    /// let mut r = BitReader::new(&[0b0110, 0, 0, 0, 0, 0, 0, 0, 1]);
    /// r.skip("head", 1)?;
    /// assert_eq!(r.peek().map(|word| word & 0b11), Some(0b11));
    /// # Ok::<(), gaggle_kit::DecodeError>(())
    /// ```
    #[inline]
    pub fn peek(&self) -> Option<u64> {
        let word = self.bytes.get(self.position / 8..)?.first_chunk::<8>()?;
        Some(u64::from_le_bytes(*word) >> (self.position % 8))
    }

    /// Skips bits, such as those of a [`peek`](BitReader::peek) that were used.
    ///
    /// # Errors
    /// If there are fewer.
    #[inline]
    pub fn skip(&mut self, what: &'static str, count: u32) -> Result<(), DecodeError> {
        if count as usize > self.remaining() {
            return Err(self.truncated(what, count as usize));
        }
        self.position += count as usize;
        Ok(())
    }

    /// Reads a flag.
    ///
    /// # Errors
    /// If there is no bit left.
    #[inline]
    pub fn bool(&mut self, what: &'static str) -> Result<bool, DecodeError> {
        Ok(self.bits(what, 1)? == 1)
    }

    /// Reads a number of a range.
    ///
    /// # Errors
    /// If there are too few bits, or the number is outside the range.
    ///
    /// # Panics
    /// If the range is empty, a bug of the caller.
    #[inline]
    pub fn ranged(&mut self, what: &'static str, range: &RangeInclusive<i64>) -> Result<i64, DecodeError> {
        let (min, max) = (*range.start(), *range.end());
        let above = self.bits(what, bits_for(range))?;
        let value = min.wrapping_add(above as i64);
        if above > max.wrapping_sub(min) as u64 {
            let value = min.saturating_add_unsigned(above);
            return Err(DecodeError::OutOfRange { what, value, min, max });
        }
        Ok(value)
    }

    /// Reads a count from 0 to `max`.
    ///
    /// # Errors
    /// If there are too few bits, or the count is larger.
    pub fn count(&mut self, what: &'static str, max: u32) -> Result<u32, DecodeError> {
        let count = self.bits(what, bits_for(&(0..=i64::from(max))))?;
        match u32::try_from(count) {
            Ok(fits) if fits <= max => Ok(fits),
            _ => Err(DecodeError::CountTooLarge { what, count, max: u64::from(max) }),
        }
    }

    /// Reads a number in groups of 7 bits.
    ///
    /// # Errors
    /// If the bits end within it, it exceeds 64 bits, or a shorter form exists.
    pub fn varint(&mut self, what: &'static str) -> Result<u64, DecodeError> {
        let mut value = 0;
        for index in 0..Varint::SIZE_MAX as u32 {
            let group = self.bits(what, 8)?;
            value |= (group & 0x7f) << (7 * index);
            if group < 0x80 {
                // The tenth group contains bit 63 alone; a last group of zero is redundant.
                let too_long = group == 0 && index > 0;
                let too_large = group > 1 && index == Varint::SIZE_MAX as u32 - 1;
                if too_long || too_large {
                    break;
                }
                return Ok(value);
            }
        }
        Err(DecodeError::NotCanonical { what })
    }

    /// Reads the output of [`BitWriter::zigzag`].
    ///
    /// # Errors
    /// As [`BitReader::varint`].
    pub fn zigzag(&mut self, what: &'static str) -> Result<i64, DecodeError> {
        self.varint(what).map(unzigzag)
    }

    /// Fills a buffer with whole bytes from any bit position.
    ///
    /// # Errors
    /// If there are fewer; nothing is read then.
    pub fn bytes(&mut self, what: &'static str, out: &mut [u8]) -> Result<(), DecodeError> {
        let count = out.len() * 8;
        if count > self.remaining() {
            return Err(self.truncated(what, count));
        }
        let (words, rest) = out.as_chunks_mut::<4>();
        for word in words {
            *word = (self.take(32) as u32).to_le_bytes();
        }
        for byte in rest {
            *byte = self.take(8) as u8;
        }
        Ok(())
    }

    /// Skips to the next whole byte.
    ///
    /// # Errors
    /// If the skipped bits are not zero.
    pub fn align(&mut self, what: &'static str) -> Result<(), DecodeError> {
        let padding = (self.position.next_multiple_of(8) - self.position) as u32;
        match self.take(padding) {
            0 => Ok(()),
            _ => Err(DecodeError::NotCanonical { what }),
        }
    }

    /// Ends reading.
    ///
    /// # Errors
    /// If bytes are left over, or the padding is not zero.
    pub fn finish(mut self, what: &'static str) -> Result<(), DecodeError> {
        self.align(what)?;
        match self.remaining() / 8 {
            0 => Ok(()),
            left => Err(DecodeError::TrailingBytes { what, left }),
        }
    }

    fn truncated(&self, what: &'static str, count: usize) -> DecodeError {
        DecodeError::Truncated { what, needed: count.div_ceil(8), left: self.remaining() / 8 }
    }
}

/// Number of bits that distinguish the numbers of a range.
///
/// ```
/// use gaggle_kit::bits_for;
/// assert_eq!(bits_for(&(0..=0)), 0);
/// assert_eq!(bits_for(&(-4..=3)), 3);
/// assert_eq!(bits_for(&(i64::MIN..=i64::MAX)), 64);
/// ```
///
/// # Panics
/// If the range is empty, a bug of the caller.
#[inline]
pub const fn bits_for(range: &RangeInclusive<i64>) -> u32 {
    assert!(*range.start() <= *range.end(), "a range without numbers");
    64 - (range.end().wrapping_sub(*range.start()) as u64).leading_zeros()
}

#[inline]
const fn low_bits(count: u32) -> u64 {
    match count {
        0 => 0,
        _ => u64::MAX >> (64 - count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Prng;

    #[test]
    fn bit_order_matches_protocol() {
        let mut buffer = [0xee; 4];
        let mut w = BitWriter::new(&mut buffer);
        w.bits(0b1, 1).unwrap();
        w.bits(0b01, 2).unwrap();
        w.bits(0b1_0000_0001, 9).unwrap();
        assert_eq!((w.written(), w.remaining()), (12, 20));
        w.align();
        w.bits(u64::MAX, 3).unwrap();
        assert_eq!(w.finish(), [0b0000_1011, 0b0000_1000, 0b0000_0111]);
    }

    /// Random values of all kinds read back, and every truncation is rejected.
    #[test]
    fn random_scripts_read_back() {
        for seed in 0..300 {
            let mut random = Prng::new(seed);
            let script: Vec<Value> = (0..random.below(40)).map(|_| Value::draw(&mut random)).collect();
            let mut buffer = vec![0; 2_000];
            random.fill(&mut buffer);
            let mut w = BitWriter::new(&mut buffer);
            script.iter().for_each(|value| value.write(&mut w).unwrap());
            let bytes = w.finish().to_vec();

            let mut r = BitReader::new(&bytes);
            script.iter().for_each(|value| value.check(&mut r).unwrap());
            r.finish("script").unwrap();

            for cut in 0..bytes.len() {
                let mut r = BitReader::new(&bytes[..cut]);
                let read = script.iter().try_for_each(|value| value.check(&mut r));
                assert!(
                    matches!(read, Err(DecodeError::Truncated { .. })),
                    "seed {seed} cut at {cut}: {read:?}"
                );

                let mut small = vec![0; cut];
                let mut w = BitWriter::new(&mut small);
                let full = script.iter().find_map(|value| value.write(&mut w).err()).expect("it cannot fit");
                assert!(full.needed > full.left);
            }
        }
    }

    #[test]
    fn ranges_take_fewest_bits_and_reject_numbers_beyond() {
        for (range, bits) in [(5..=5, 0), (0..=1, 1), (0..=7, 3), (0..=8, 4), (-1..=1, 2), (i64::MIN..=0, 64)]
        {
            assert_eq!(bits_for(&range), bits, "{range:?}");
        }
        let mut r = BitReader::new(&[0b11]);
        let refusal = DecodeError::OutOfRange { what: "lane", value: 2, min: -1, max: 1 };
        assert_eq!(r.ranged("lane", &(-1..=1)), Err(refusal));
        let refusal = DecodeError::CountTooLarge { what: "eggs", count: 7, max: 5 };
        assert_eq!(BitReader::new(&[7]).count("eggs", 5), Err(refusal));

        let mut buffer = [0; 1];
        let mut w = BitWriter::new(&mut buffer);
        w.ranged(100, &(-1..=1)).unwrap();
        assert_eq!(BitReader::new(w.finish()).ranged("lane", &(-1..=1)), Ok(1));
    }

    #[test]
    fn only_canonical_form_is_accepted() {
        let not_canonical = Err(DecodeError::NotCanonical { what: "n" });
        let mut r = BitReader::new(&[0b0000_0101]);
        r.bits("n", 2).unwrap();
        assert_eq!(r.finish("n"), not_canonical);
        let trailing = Err(DecodeError::TrailingBytes { what: "n", left: 1 });
        assert_eq!(BitReader::new(&[0]).finish("n"), trailing);
        assert_eq!(BitReader::new(&[0x80, 0]).varint("n").map(|_| ()), not_canonical);
        assert_eq!(BitReader::new(&[0xff; 20]).varint("n").map(|_| ()), not_canonical);
        let too_large = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02];
        assert_eq!(BitReader::new(&too_large).varint("n").map(|_| ()), not_canonical);
    }

    #[derive(Debug)]
    enum Value {
        Bits(u64, u32),
        Ranged(i64, RangeInclusive<i64>),
        Zigzag(i64),
        Bytes(Vec<u8>),
        Align,
    }

    impl Value {
        fn draw(random: &mut Prng) -> Value {
            match random.below(5) {
                0 => {
                    let count = random.below(65);
                    Value::Bits(random.next_u64() & low_bits(count), count)
                }
                1 => {
                    let (a, b) = (random.next_u64() as i64, random.next_u64() as i64 >> random.below(64));
                    let range = a.min(b)..=a.max(b);
                    Value::Ranged(if random.chance(1, 2) { a } else { b }, range)
                }
                2 => Value::Zigzag(random.next_u64() as i64 >> random.below(64)),
                3 => {
                    let mut bytes = vec![0; random.below(12) as usize];
                    random.fill(&mut bytes);
                    Value::Bytes(bytes)
                }
                _ => Value::Align,
            }
        }

        fn write(&self, w: &mut BitWriter<'_>) -> Result<(), BufferFull> {
            match self {
                Value::Bits(value, count) => w.bits(*value, *count),
                Value::Ranged(value, range) => w.ranged(*value, range),
                Value::Zigzag(value) => w.zigzag(*value),
                Value::Bytes(bytes) => w.bytes(bytes),
                Value::Align => {
                    w.align();
                    Ok(())
                }
            }
        }

        fn check(&self, r: &mut BitReader<'_>) -> Result<(), DecodeError> {
            match self {
                Value::Bits(value, count) => assert_eq!(r.bits("bits", *count)?, *value),
                Value::Ranged(value, range) => assert_eq!(r.ranged("ranged", range)?, *value),
                Value::Zigzag(value) => assert_eq!(r.zigzag("zigzag")?, *value),
                Value::Bytes(bytes) => {
                    let mut read = vec![0; bytes.len()];
                    r.bytes("bytes", &mut read)?;
                    assert_eq!(read, *bytes);
                }
                Value::Align => r.align("padding")?,
            }
            Ok(())
        }
    }
}
