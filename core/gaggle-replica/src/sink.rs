//! Where bits are written to: a packet, or a register.

use gaggle_kit::{BitWriter, BufferFull};

/// Takes bits.
pub(crate) trait Sink {
    /// The low `count` bits of a value.
    fn bits(&mut self, value: u64, count: u32) -> Result<(), BufferFull>;

    /// A flag.
    #[inline]
    fn bool(&mut self, flag: bool) -> Result<(), BufferFull> {
        self.bits(u64::from(flag), 1)
    }
}

impl Sink for BitWriter<'_> {
    #[inline]
    fn bits(&mut self, value: u64, count: u32) -> Result<(), BufferFull> {
        BitWriter::bits(self, value, count)
    }
}

/// Up to 128 bits, without a buffer: several times as quick as a packet, and what most differences fit in.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Register {
    held: u128,
    count: u32,
}

impl Sink for Register {
    #[inline]
    fn bits(&mut self, value: u64, count: u32) -> Result<(), BufferFull> {
        if self.count + count > u128::BITS {
            return Err(BufferFull { needed: count as usize, left: (u128::BITS - self.count) as usize });
        }
        if count > 0 {
            let value = value & u64::MAX >> (64 - count);
            self.held |= u128::from(value) << (self.count & 127);
        }
        self.count += count;
        Ok(())
    }
}

impl Register {
    /// Writes what is held to a packet.
    #[inline]
    pub(crate) fn write(&self, w: &mut BitWriter<'_>) -> Result<(), BufferFull> {
        w.bits(self.held as u64, self.count.min(64))?;
        if self.count > 64 { w.bits((self.held >> 64) as u64, self.count - 64) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gaggle_kit::{BitReader, Prng};

    #[test]
    fn a_register_holds_what_a_packet_would() {
        let mut random = Prng::new(3);
        for _ in 0..2_000 {
            let (mut register, mut left) = (Register::default(), 128);
            let mut parts = Vec::new();
            while left > 0 {
                let count = random.below(left.min(64) + 1);
                let value = u64::from(random.next_u32()) << 32 | u64::from(random.next_u32());
                register.bits(value, count).unwrap();
                parts.push((value, count));
                left -= count;
                if random.chance(1, 8) {
                    break;
                }
            }
            assert!(register.bits(0, left + 1).is_err());
            let mut buffer = [0; 20];
            let mut w = BitWriter::new(&mut buffer);
            w.bits(0b101, 3).unwrap();
            register.write(&mut w).unwrap();
            assert_eq!(w.written() as u32, 3 + register.count);
            let mut r = BitReader::new(w.finish());
            assert_eq!(r.bits("head", 3), Ok(0b101));
            for (value, count) in parts {
                let low = if count == 0 { 0 } else { value & u64::MAX >> (64 - count) };
                assert_eq!(r.bits("part", count), Ok(low));
            }
        }
    }
}
