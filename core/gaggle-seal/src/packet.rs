//! Unreliable packets between client and referee: their headers, and entries.
//!
//! `Client` and `Referee` write and read them; the sealed frames after a merged packet's header are
//! in `lanes.rs`. Absent: which end may send what.

use gaggle_kit::{BitReader, BitWriter, BufferFull, ByteReader, DecodeError, Frame};

use crate::lanes::{read_value, write_value};
use crate::lineage::Epoch;
use crate::shape::{Shape, VALUE_BYTES_MAX};

/// Most entries of one packet.
pub const ENTRIES_MAX: u32 = 128;

const UP: u8 = 0;
const MERGED: u8 = 1;
const KIND_MASK: u8 = 0b0000_0001;

const UP_READY: u8 = 0b0000_0010;
const UP_LEAVING: u8 = 0b0000_0100;
const UP_GAP: u8 = 0b0000_1000;
const UP_TIME: u8 = 0b0001_0000;
const UP_LANES: u8 = 0b0010_0000;
const UP_PASSIVE: u8 = 0b0100_0000;
const UP_ENTRIES: u8 = 0b1000_0000;

const MERGED_TIME: u8 = 0b0000_0010;
const MERGED_ACK: u8 = 0b0000_0100;

/// Value for "not measured yet", or "no clock received yet".
pub(crate) const NONE: u8 = 255;

/// Clocks of both ends, every 100 ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeBlock {
    /// Sender's clock in ms, wrapping.
    pub(crate) clock_ms: u16,
    /// Last clock heard from the receiver.
    pub(crate) echo_ms: u16,
    /// How long the echoed clock was held in ms, or [`NONE`] if none was received.
    pub(crate) hold_ms: u8,
}

impl TimeBlock {
    fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.clock_ms.to_le_bytes());
        out.extend_from_slice(&self.echo_ms.to_le_bytes());
        out.push(self.hold_ms);
    }

    fn read(r: &mut ByteReader<'_>) -> Result<TimeBlock, DecodeError> {
        Ok(TimeBlock { clock_ms: r.u16("clock")?, echo_ms: r.u16("echoed clock")?, hold_ms: r.u8("hold")? })
    }

    /// Round trip in ms, if the block echoes a clock.
    pub(crate) fn rtt_ms(self, now_ms: u16) -> Option<u16> {
        let gone = now_ms.wrapping_sub(self.echo_ms);
        (self.hold_ms != NONE).then(|| gone.saturating_sub(u16::from(self.hold_ms)))
    }
}

/// The frame nearest to `near` with these low 16 bits.
pub(crate) fn complete(low: u16, near: Frame) -> Option<Frame> {
    let difference = low.wrapping_sub(near.number() as u16) as i16;
    let number = i64::from(near.number()) + i64::from(difference);
    u32::try_from(number).ok().map(Frame::new).filter(|frame| *frame != Frame::NEVER)
}

/// Header of a client's packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Up {
    pub(crate) epoch_low: u8,
    pub(crate) incarnation_low: u8,
    /// Low 16 bits of the last frame sealed in all lanes.
    pub(crate) sealed_low: u16,
    /// Whether the client has no row and could play.
    pub(crate) is_ready: bool,
    pub(crate) is_leaving: bool,
    /// Whether it received frames that build on others it does not hold.
    pub(crate) has_gap: bool,
    pub(crate) time: Option<TimeBlock>,
    /// Whether the lead of each lane over the least one follows.
    pub(crate) has_lanes: bool,
    pub(crate) has_entries: bool,
    pub(crate) has_passive: bool,
}

impl Up {
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        out.push(
            UP | flag(self.is_ready, UP_READY)
                | flag(self.is_leaving, UP_LEAVING)
                | flag(self.has_gap, UP_GAP)
                | flag(self.time.is_some(), UP_TIME)
                | flag(self.has_lanes, UP_LANES)
                | flag(self.has_entries, UP_ENTRIES)
                | flag(self.has_passive, UP_PASSIVE),
        );
        out.extend_from_slice(&[self.epoch_low, self.incarnation_low]);
        out.extend_from_slice(&self.sealed_low.to_le_bytes());
        if let Some(time) = self.time {
            time.write(out);
        }
    }

    pub(crate) fn read(r: &mut ByteReader<'_>) -> Result<Up, DecodeError> {
        let [flags, epoch_low, incarnation_low, sealed0, sealed1] = r.array::<5>("packet")?;
        if flags & KIND_MASK != UP {
            return Err(DecodeError::Unknown { what: "packet of a client", value: flags.into() });
        }
        if flags & UP_PASSIVE != 0 && flags & UP_ENTRIES == 0 {
            return Err(DecodeError::NotCanonical { what: "passive entries" });
        }
        let time = if flags & UP_TIME != 0 { Some(TimeBlock::read(r)?) } else { None };
        Ok(Up {
            epoch_low,
            incarnation_low,
            sealed_low: u16::from_le_bytes([sealed0, sealed1]),
            is_ready: flags & UP_READY != 0,
            is_leaving: flags & UP_LEAVING != 0,
            has_gap: flags & UP_GAP != 0,
            time,
            has_lanes: flags & UP_LANES != 0,
            has_entries: flags & UP_ENTRIES != 0,
            has_passive: flags & UP_PASSIVE != 0,
        })
    }
}

/// Header of a merged packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Merged {
    pub(crate) epoch: Epoch,
    pub(crate) incarnation_low: u8,
    /// Low 16 bits of the last sealed frame.
    pub(crate) sealed_low: u16,
    /// Number of the receiver's entries held beyond the sealed frame. `None`: it has no row.
    pub(crate) ahead: Option<u8>,
    pub(crate) time: Option<(TimeBlock, Option<i8>)>,
}

impl Merged {
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        let flags = flag(self.time.is_some(), MERGED_TIME) | flag(self.ahead.is_some(), MERGED_ACK);
        out.extend_from_slice(&[MERGED | flags, self.epoch.low(), self.incarnation_low]);
        out.extend_from_slice(&self.sealed_low.to_le_bytes());
        if let Some(ahead) = self.ahead {
            out.push(ahead);
        }
        if let Some((time, low)) = self.time {
            time.write(out);
            out.push(low.map_or(0x80, |low| low as u8));
        }
    }

    /// Only the epoch's low bits are sent; the receiver compares them with its own.
    pub(crate) fn read(r: &mut ByteReader<'_>) -> Result<Merged, DecodeError> {
        let [flags, epoch_low, incarnation_low, sealed0, sealed1] = r.array::<5>("merged packet")?;
        if flags & KIND_MASK != MERGED || flags & !(KIND_MASK | MERGED_TIME | MERGED_ACK) != 0 {
            return Err(DecodeError::Unknown { what: "merged packet", value: flags.into() });
        }
        let ahead = if flags & MERGED_ACK != 0 { Some(r.u8("entries held")?) } else { None };
        let time = if flags & MERGED_TIME != 0 {
            let (time, low) = (TimeBlock::read(r)?, r.i8("slack")?);
            Some((time, (low != i8::MIN).then_some(low)))
        } else {
            None
        };
        Ok(Merged {
            epoch: Epoch(epoch_low.into()),
            incarnation_low,
            sealed_low: u16::from_le_bytes([sealed0, sealed1]),
            ahead,
            time,
        })
    }
}

/// Numbers of the entries of a packet, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntrySpan {
    pub(crate) first: Frame,
    pub(crate) count: u32,
    /// Bit i: entry i says that no further entries of the stream follow.
    pub(crate) passive: u128,
}

impl EntrySpan {
    pub(crate) fn is_passive(&self, index: u32) -> bool {
        self.passive >> index & 1 == 1
    }

    /// Entries are numbered relative to the sealed frame in the header.
    pub(crate) fn write(&self, sealed: Frame, w: &mut BitWriter<'_>) -> Result<(), BufferFull> {
        w.varint(u64::from(self.first.since(sealed)))?;
        w.bits(u64::from(self.count) - 1, 7)?;
        if self.passive != 0 {
            for index in 0..self.count {
                w.bool(self.is_passive(index))?;
            }
        }
        Ok(())
    }

    pub(crate) fn read(
        r: &mut BitReader<'_>,
        sealed: Frame,
        has_passive: bool,
    ) -> Result<EntrySpan, DecodeError> {
        let ahead = r.varint("first entry")?;
        let count = r.bits("entries", 7)? as u32 + 1;
        let last = u64::from(sealed.number()) + ahead + u64::from(count);
        if ahead == 0 || ahead > 1 << 20 || last >= u64::from(u32::MAX) {
            return Err(DecodeError::out_of_range("first entry", ahead, 1u64, 1 << 20));
        }
        let mut passive = 0;
        if has_passive {
            for index in 0..count {
                passive |= u128::from(r.bool("passive entry")?) << index;
            }
            if passive == 0 {
                return Err(DecodeError::NotCanonical { what: "passive entries" });
            }
        }
        Ok(EntrySpan { first: sealed + ahead as u32, count, passive })
    }
}

/// Writes one slot's entries: the first whole, others as a value or as the repetition before.
pub(crate) fn write_entries<'a>(
    w: &mut BitWriter<'_>,
    span: &EntrySpan,
    mut entry: impl FnMut(u32) -> (&'a [u8], bool),
) -> Result<(), BufferFull> {
    let mut is_first = true;
    for index in (0..span.count).filter(|index| !span.is_passive(*index)) {
        let (value, is_repeated) = entry(index);
        if is_first {
            w.bool(is_repeated)?;
            write_value(w, value)?;
        } else {
            w.bool(!is_repeated)?;
            if !is_repeated {
                write_value(w, value)?;
            }
        }
        // After an entry without a value the next one is written whole.
        is_first = index + 1 < span.count && span.is_passive(index + 1);
    }
    Ok(())
}

/// Reads one slot's entries and hands each to `take`.
pub(crate) fn read_entries<E: From<DecodeError>>(
    r: &mut BitReader<'_>,
    shape: Shape,
    span: &EntrySpan,
    mut take: impl FnMut(u32, &[u8], bool) -> Result<(), E>,
) -> Result<(), E> {
    let mut buffer = [0; VALUE_BYTES_MAX];
    let value = &mut buffer[..shape.value_bytes()];
    let mut is_first = true;
    for index in (0..span.count).filter(|index| !span.is_passive(*index)) {
        let is_repeated = if is_first {
            let is_repeated = r.bool("repetition")?;
            read_value(r, value)?;
            is_repeated
        } else if r.bool("another value")? {
            read_value(r, value)?;
            false
        } else {
            true
        };
        take(index, value, is_repeated)?;
        is_first = index + 1 < span.count && span.is_passive(index + 1);
    }
    Ok(())
}
