//! Header of a packet: the link it belongs to, its tick, and its acknowledgements. Intake reads it,
//! the replicator writes it. Absent: records, times.

use gaggle_kit::{ByteReader, DecodeError};

/// Bytes of the header without acknowledgements.
const FIXED_BYTES: usize = 14;
/// Most words of acknowledgements.
pub(crate) const ACK_WORDS_MAX: usize = 4;
/// Bytes of the longest header.
pub(crate) const HEADER_BYTES_MAX: usize = FIXED_BYTES + 4 * ACK_WORDS_MAX;
/// Most records in a packet.
pub(crate) const RECORDS_MAX: u16 = (1 << 13) - 1;
/// Unit of [`Header::held`], in µs.
pub(crate) const HELD_UNIT_US: u64 = 4_000;
/// Value of [`Header::held`] if the time was longer, or no packet was received.
pub(crate) const HELD_NONE: u8 = u8::MAX;

/// Header of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// Start of the link it belongs to, see [`mark`].
    pub(crate) mark: u32,
    /// Low bits of the packet's number on this link.
    pub(crate) seq: u16,
    /// Low bits of the sender's tick.
    pub(crate) tick: u16,
    /// Time within the tick at which the values were taken, in 256ths of an interval.
    pub(crate) phase: u8,
    /// Low bits of the number of the newest packet received.
    pub(crate) ack: u16,
    /// Time since that packet arrived, in units of [`HELD_UNIT_US`].
    pub(crate) held: u8,
    /// Whether inputs come before the records.
    pub(crate) inputs: bool,
    /// Number of records that follow.
    pub(crate) records: u16,
    /// Number of words of acknowledgements, 1 to 4.
    pub(crate) ack_words: usize,
    /// Bit *i* stands for the packet *i* + 1 before `ack`.
    pub(crate) acks: u128,
}

impl Header {
    /// Bytes of this header.
    pub(crate) fn bytes(&self) -> usize {
        FIXED_BYTES + 4 * self.ack_words
    }

    /// Writes the header to the start of a packet.
    ///
    /// # Panics
    /// If there is no room for it.
    pub(crate) fn write(&self, out: &mut [u8]) {
        let counts = self.records << 3 | u16::from(self.inputs) << 2 | (self.ack_words as u16 - 1);
        out[..4].copy_from_slice(&self.mark.to_le_bytes());
        out[4..6].copy_from_slice(&self.seq.to_le_bytes());
        out[6..8].copy_from_slice(&self.tick.to_le_bytes());
        out[8] = self.phase;
        out[9..11].copy_from_slice(&self.ack.to_le_bytes());
        out[11] = self.held;
        out[12..14].copy_from_slice(&counts.to_le_bytes());
        out[FIXED_BYTES..self.bytes()].copy_from_slice(&self.acks.to_le_bytes()[..4 * self.ack_words]);
    }

    /// Reads a header; the rest of the packet follows.
    pub(crate) fn read(r: &mut ByteReader<'_>) -> Result<Header, DecodeError> {
        let mark = r.u32("mark")?;
        let (seq, tick) = (r.u16("packet number")?, r.u16("tick")?);
        let phase = r.u8("phase")?;
        let (ack, held) = (r.u16("acknowledged packet")?, r.u8("holding time")?);
        let counts = r.u16("counts")?;
        let ack_words = usize::from(counts & 3) + 1;
        let mut acks = [0; 16];
        acks[..4 * ack_words].copy_from_slice(r.take("acknowledgements", 4 * ack_words)?);
        Ok(Header {
            mark,
            seq,
            tick,
            phase,
            ack,
            held,
            inputs: counts & 4 != 0,
            records: counts >> 3,
            ack_words,
            acks: u128::from_le_bytes(acks),
        })
    }
}

/// Mark of packets from the side with epoch `from` to the side with epoch `to`. It distinguishes
/// packets sent before a restart of either side from present ones.
pub(crate) fn mark(from: u32, to: u32) -> u32 {
    // Odd factors give different epochs different marks; the rotation distinguishes directions.
    from.wrapping_mul(0x9e37_79b1) ^ to.wrapping_mul(0x85eb_ca77).rotate_left(13)
}

/// The number with these low bits that is nearest to a known one.
pub(crate) fn widen(near: u32, low: u16) -> u32 {
    near.wrapping_add(low.wrapping_sub(near as u16) as i16 as u32)
}

/// Packets of a link that have arrived.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Received {
    /// Number of the newest; 0 before any.
    newest: u32,
    /// Bit *i* stands for the packet *i* + 1 before it.
    before: u128,
}

impl Received {
    /// Number of a packet with these low bits; `None` if it is a duplicate or too old to tell.
    pub(crate) fn fresh(&self, low: u16) -> Option<u32> {
        let seq = widen(self.newest, low);
        // Numbers begin with 1. The nearest to a small one can be below zero, which is a very large
        // unsigned number.
        if seq == 0 || seq.wrapping_sub(self.newest) as i32 > i32::from(i16::MAX) {
            return None;
        }
        if seq > self.newest {
            return Some(seq);
        }
        let age = self.newest - seq;
        (age > 0 && age <= 128 && self.before >> (age - 1) & 1 == 0).then_some(seq)
    }

    /// Notes a packet that [`Received::fresh`] let through.
    pub(crate) fn note(&mut self, seq: u32) {
        if seq > self.newest {
            let ahead = seq - self.newest;
            // The packet that was the newest gets a bit, if there was one.
            let newest = u128::from(self.newest > 0);
            self.before = match ahead {
                1..=127 => self.before << ahead | newest << (ahead - 1),
                128 => newest << 127,
                _ => 0,
            };
            self.newest = seq;
        } else {
            self.before |= 1 << (self.newest - seq - 1);
        }
    }

    /// The newest packet, and which of those before it arrived.
    pub(crate) fn acks(&self) -> (u32, u128) {
        (self.newest, self.before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gaggle_kit::Prng;

    #[test]
    fn packet_head_reads_back_and_truncated_head_is_rejected() {
        for ack_words in 1..=4 {
            let header = Header {
                mark: 0xfe01_0203,
                seq: 0xabcd,
                tick: 0x1234,
                phase: 200,
                ack: 0xffff,
                held: 7,
                inputs: ack_words % 2 == 0,
                records: RECORDS_MAX,
                ack_words,
                acks: 0x1122_3344_5566_7788_99aa_bbcc_ddee_ff01 >> (128 - 32 * ack_words),
            };
            let mut bytes = [0; HEADER_BYTES_MAX];
            header.write(&mut bytes);
            let bytes = &bytes[..header.bytes()];
            assert_eq!(Header::read(&mut ByteReader::new(bytes)), Ok(header));
            for cut in 0..bytes.len() {
                assert!(Header::read(&mut ByteReader::new(&bytes[..cut])).is_err());
            }
        }
    }

    #[test]
    fn packet_number_across_wrap_is_widened() {
        for (near, low, wide) in [
            (0, 1, 1),
            (65_535, 0, 65_536),
            (65_536, 65_535, 65_535),
            (200_000, 3_392, 200_000),
            (70_000, 4_465, 70_001),
        ] {
            assert_eq!(widen(near, low), wide);
        }
    }

    /// Compares with a set of all packets that ever arrived.
    #[test]
    fn packet_received_twice_is_taken_once() {
        let mut random = Prng::new(2);
        let mut received = Received::default();
        let mut taken = std::collections::BTreeSet::new();
        let mut newest = 0u32;
        for round in 0..200_000u32 {
            let next = if random.chance(1, 1_000) { 200 } else { round / 2 - newest.min(round / 2) };
            let seq = (newest + next).saturating_sub(random.below(150)).max(1);
            match received.fresh(seq as u16) {
                Some(wide) => {
                    assert_eq!(wide, seq);
                    assert!(taken.insert(seq), "{seq} twice");
                    received.note(seq);
                }
                None => assert!(taken.contains(&seq) || newest - seq > 128, "{seq} rejected at {newest}"),
            }
            newest = newest.max(seq);
            let (ack, bits) = received.acks();
            assert_eq!(ack, taken.last().copied().unwrap_or(0));
            for age in [1, 2, 5, 31, 64, 127, 128] {
                let expected = ack >= age && taken.contains(&(ack - age));
                assert_eq!(bits >> (age - 1) & 1 == 1, expected, "{age} before {ack}");
            }
        }
        assert!(newest > 80_000, "numbers wrapped");
    }
}
