//! Targets that bits are written to: a packet, or a register. `codec` and `record` write to them.
//! Absent: what the bits mean.

use gaggle_kit::{BitWriter, BufferFull};

/// Takes bits in order.
pub(crate) trait Sink {
    /// A value of `count` bits, 64 at most.
    fn bits(&mut self, value: u64, count: u32) -> Result<(), BufferFull>;

    /// A flag of one bit.
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

/// Up to 128 bits without a buffer: several times as fast as a packet, and most differences fit. It
/// accepts any number of bits and reports afterwards whether it holds them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Register {
    low: u64,
    high: u64,
    count: u32,
}

impl Sink for Register {
    #[inline]
    fn bits(&mut self, value: u64, count: u32) -> Result<(), BufferFull> {
        debug_assert!(count == 64 || count < 64 && value >> count == 0, "{value} in {count} bits");
        let before = self.count;
        self.count += count;
        if before < 64 {
            self.low |= value << before;
            if self.count > 64 {
                // Some of it is above, so not all 64 bits were free: the shift is less than 64.
                self.high = value >> ((64 - before) & 63);
            }
        } else {
            self.high |= value << (before & 63);
        }
        Ok(())
    }
}

impl Register {
    /// Number of bits written, held or not.
    #[inline]
    pub(crate) fn written(&self) -> u32 {
        self.count
    }

    /// Whether it holds all bits that were written.
    #[inline]
    pub(crate) fn is_whole(&self) -> bool {
        self.count <= 128
    }

    /// Writes a short head and the held bits to a packet.
    #[inline]
    pub(crate) fn write_after(&self, head: Register, w: &mut BitWriter<'_>) -> Result<(), BufferFull> {
        debug_assert!((1..64).contains(&head.count), "a head of 1 to 63 bits");
        let both = head.low | self.low << head.count;
        if head.count + self.count <= 64 {
            return w.bits(both, head.count + self.count);
        }
        w.bits(both, 64)?;
        let above = 64 - head.count;
        let rest = Register {
            low: self.low >> above | self.high << head.count,
            high: self.high >> above,
            count: self.count - above,
        };
        rest.write(w)
    }

    /// Writes the held bits to a packet.
    #[inline]
    pub(crate) fn write(&self, w: &mut BitWriter<'_>) -> Result<(), BufferFull> {
        w.bits(self.low, self.count.min(64))?;
        if self.count > 64 { w.bits(self.high, self.count - 64) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gaggle_kit::{BitReader, Prng};

    #[test]
    fn register_sink_holds_same_bits_as_packet() {
        let mut random = Prng::new(3);
        for _ in 0..2_000 {
            let (mut register, mut left) = (Register::default(), 128);
            let mut parts = Vec::new();
            while left > 0 {
                let count = random.below(left.min(64)) + 1;
                let value = u64::from(random.next_u32()) << 32 | u64::from(random.next_u32());
                let value = value & u64::MAX >> (64 - count);
                register.bits(value, count).unwrap();
                parts.push((value, count));
                left -= count;
                if random.chance(1, 8) {
                    break;
                }
            }
            assert!(register.is_whole());
            let mut beyond = register;
            for _ in 0..=left / 64 {
                beyond.bits(0, left % 64 + 1).unwrap();
                beyond.bits(0, 64).unwrap();
            }
            assert!(!beyond.is_whole());
            let mut buffer = [0; 20];
            let mut w = BitWriter::new(&mut buffer);
            w.bits(0b101, 3).unwrap();
            register.write(&mut w).unwrap();
            assert_eq!(w.written() as u32, 3 + register.count);
            let mut buffer = [0; 20];
            let mut together = BitWriter::new(&mut buffer);
            let head = Register { low: 0b101, high: 0, count: 3 };
            register.write_after(head, &mut together).unwrap();
            assert_eq!(together.finish(), w.finish());
            let mut buffer = [0; 20];
            let mut w = BitWriter::new(&mut buffer);
            w.bits(0b101, 3).unwrap();
            register.write(&mut w).unwrap();
            let mut r = BitReader::new(w.finish());
            assert_eq!(r.bits("head", 3), Ok(0b101));
            for (value, count) in parts {
                assert_eq!(r.bits("part", count), Ok(value));
            }
        }
    }
}
