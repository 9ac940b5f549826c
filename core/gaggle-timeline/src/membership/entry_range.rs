//! Consecutive entries of one stream in a message, with values and controls.
//!
//! Reports, views and feeds carry it. Absent: whether the receiver may take it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use gaggle_kit::{ByteReader, DecodeError, Frame, Varint};

use super::codec;
use super::held::{EntryControl, Held};
use crate::entries::Entries;
use crate::roster::StreamId;

/// Most entries of a range: those held of one stream with the largest window and delay.
pub(crate) const TAIL_ENTRIES_MAX: usize = 4 * 90 + 3;
/// Bytes of one value: the inputs of all players on one peer.
pub(crate) const VALUE_BYTES_MAX: usize = 4_096;

/// Most copied ranges fit into buffers of this size, which then need not grow.
const BUFFER_BYTES: usize = 16;

/// Consecutive entries of one stream. A repeated value is stored once, so that a few bytes from the
/// network never become many.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct EntryRange {
    pub(crate) stream: StreamId,
    /// Frame of the first entry.
    pub(crate) from: Frame,
    pub(crate) count: u32,
    value_bytes: usize,
    /// For each value, the number of entries up to the last one that has it.
    ends: Vec<u32>,
    values: Vec<u8>,
    /// Non-empty controls of the entries, in order.
    extras: Vec<(Frame, EntryControl)>,
}

impl EntryRange {
    /// Copies the held entries from `from` up to `to`.
    pub(crate) fn copy(
        stream: StreamId,
        held: &Held,
        from: Frame,
        to: Frame,
        entries: &dyn Entries,
    ) -> EntryRange {
        let mut tail = EntryRange::from(stream, from);
        let mut value = Vec::with_capacity(BUFFER_BYTES);
        tail.values.reserve(BUFFER_BYTES);
        let mut frame = from;
        while frame <= held.through().min(to) && (tail.count as usize) < TAIL_ENTRIES_MAX {
            value.clear();
            entries.write(stream, frame, &mut value);
            if !tail.push(&value, held.extras(frame)) {
                break;
            }
            frame = frame.next();
        }
        tail
    }

    /// A range without entries yet.
    pub(crate) fn from(stream: StreamId, from: Frame) -> EntryRange {
        let (ends, values, extras) = (Vec::new(), Vec::new(), Vec::new());
        EntryRange { stream, from, count: 0, value_bytes: 0, ends, values, extras }
    }

    /// Adds an entry. All values must have the same size: an entry of another size is rejected, and
    /// so are all after it.
    pub(crate) fn push(&mut self, value: &[u8], extras: EntryControl) -> bool {
        if self.count > 0 && value.len() != self.value_bytes {
            return false;
        }
        self.value_bytes = value.len();
        let last = self.values.len().saturating_sub(value.len());
        self.count += 1;
        match self.ends.last_mut() {
            Some(end) if self.values[last..] == *value => *end = self.count,
            _ => {
                self.ends.push(self.count);
                self.values.extend_from_slice(value);
            }
        }
        if extras.is_some() {
            self.extras.push((self.through(), extras));
        }
        true
    }

    /// Approximate memory use in bytes.
    pub(crate) fn weight(&self) -> usize {
        size_of::<EntryRange>()
            + self.values.len()
            + self.ends.len() * size_of::<u32>()
            + self.extras.len() * size_of::<(Frame, EntryControl)>()
    }

    /// Frame of the last entry; the one before `from` if there is none.
    pub(crate) fn through(&self) -> Frame {
        self.from.saturating_add(self.count).previous()
    }

    pub(crate) fn value(&self, frame: Frame) -> &[u8] {
        let nth = self.ends.partition_point(|end| *end <= frame.since(self.from));
        &self.values[nth * self.value_bytes..(nth + 1) * self.value_bytes]
    }

    /// Values in order, each once for as long as it repeats.
    pub(crate) fn values(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).map(|nth| &self.values[nth * self.value_bytes..(nth + 1) * self.value_bytes])
    }

    pub(crate) fn extras(&self, frame: Frame) -> EntryControl {
        self.extras.iter().find(|(at, _)| *at == frame).map_or(EntryControl::NONE, |(_, extras)| *extras)
    }

    /// Removes duplicates: entries that are in several ranges are sent once.
    pub(crate) fn merge(tails: Vec<EntryRange>) -> Vec<EntryRange> {
        // Sorted by stream and beginning, the longest first. A heap, because the library's sort
        // needs ten times its code size in a page.
        let key = |(nth, tail): (usize, &EntryRange)| (tail.stream, tail.from, Reverse(tail.count), nth);
        let mut order: BinaryHeap<Reverse<_>> = tails.iter().enumerate().map(key).map(Reverse).collect();
        let mut tails: Vec<Option<EntryRange>> = tails.into_iter().map(Some).collect();
        let mut merged: Vec<EntryRange> = Vec::new();
        while let Some(Reverse((.., nth))) = order.pop() {
            let Some(tail) = tails[nth].take() else { continue };
            let covered = merged.last().is_some_and(|last| {
                last.stream == tail.stream && (tail.count == 0 || tail.through() <= last.through())
            });
            if !covered {
                merged.push(tail);
            }
        }
        merged
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        codec::put_stream(out, self.stream);
        codec::put_frame(out, self.from);
        out.extend_from_slice(&Varint::new(self.count.into()));
        if self.count == 0 {
            return;
        }
        out.extend_from_slice(&Varint::new(self.value_bytes as u64));
        let mut before = 0;
        for (nth, end) in self.ends.iter().enumerate() {
            out.extend_from_slice(&Varint::new((end - before - 1).into()));
            out.extend_from_slice(&self.values[nth * self.value_bytes..(nth + 1) * self.value_bytes]);
            before = *end;
        }
        out.extend_from_slice(&Varint::new(self.extras.len() as u64));
        for (frame, extras) in &self.extras {
            out.extend_from_slice(&Varint::new(frame.since(self.from).into()));
            codec::put_extras(out, *extras);
        }
    }

    pub(crate) fn decode(r: &mut ByteReader<'_>) -> Result<EntryRange, DecodeError> {
        let stream = codec::stream(r)?;
        let mut tail = EntryRange::from(stream, codec::frame(r, "first frame of a tail")?);
        tail.count = r.count("entries of a tail", TAIL_ENTRIES_MAX)? as u32;
        if tail.count == 0 {
            return Ok(tail);
        }
        tail.value_bytes = r.count("bytes of a value", VALUE_BYTES_MAX)?;
        let mut told = 0;
        while told < tail.count {
            let same = r.count("repetitions", (tail.count - told - 1) as usize)? as u32;
            let value = r.take("value", tail.value_bytes)?;
            let last = tail.values.len().saturating_sub(tail.value_bytes);
            if told > 0 && tail.values[last..] == *value {
                return Err(DecodeError::NotCanonical { what: "repetitions" });
            }
            told += 1 + same;
            tail.ends.push(told);
            tail.values.extend_from_slice(value);
        }
        let says = r.count("entries that say anything", tail.count as usize)?;
        let mut next = 0;
        for _ in 0..says {
            let nth = r.varint_max("entry that says something", u64::from(tail.count) - 1)? as u32;
            if nth < next {
                return Err(DecodeError::NotCanonical { what: "entry that says something" });
            }
            next = nth + 1;
            tail.extras.push((tail.from.saturating_add(nth), codec::extras(r)?));
        }
        Ok(tail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::membership::held::Join;
    use crate::roster::Incarnation;
    use gaggle_kit::{PeerId, SlotSet};

    fn stream(peer: u128) -> StreamId {
        StreamId { peer: PeerId::from_u128(peer), incarnation: Incarnation(9) }
    }

    fn tail(peer: u128, from: u32, values: &[u8]) -> EntryRange {
        let mut tail = EntryRange::from(stream(peer), Frame::new(from));
        for value in values {
            tail.push(&[*value, 0], EntryControl::NONE);
        }
        tail
    }

    #[test]
    fn entry_ranges_round_trip_and_truncations_fail() {
        let mut tail = tail(1, 40, &[5, 5, 5, 6, 5]);
        let join = Join { stream: stream(2), slots: SlotSet::first(2) };
        tail.push(&[7, 7], EntryControl { join: Some(join), end: false });
        tail.push(&[7, 7], EntryControl { join: None, end: true });
        assert_eq!(tail.through(), Frame::new(46));
        assert_eq!(tail.value(Frame::new(42)), [5, 0]);
        assert_eq!(tail.value(Frame::new(43)), [6, 0]);
        assert_eq!(tail.value(Frame::new(46)), [7, 7]);
        assert!(tail.extras(Frame::new(46)).end);
        let mut bytes = Vec::new();
        tail.encode(&mut bytes);
        assert_eq!(EntryRange::decode(&mut ByteReader::new(&bytes)), Ok(tail));
        for length in 0..bytes.len() {
            assert!(EntryRange::decode(&mut ByteReader::new(&bytes[..length])).is_err(), "{length}");
        }
    }

    #[test]
    fn inputs_without_bytes_travel_too() {
        let mut tail = EntryRange::from(stream(1), Frame::new(3));
        for _ in 0..9 {
            tail.push(&[], EntryControl::NONE);
        }
        let mut bytes = Vec::new();
        tail.encode(&mut bytes);
        assert_eq!(EntryRange::decode(&mut ByteReader::new(&bytes)), Ok(tail));
    }

    #[test]
    fn range_held_by_several_is_sent_once() {
        let tails = vec![tail(1, 5, &[1, 2]), tail(2, 5, &[1]), tail(1, 4, &[0, 1, 2]), tail(1, 6, &[2, 3])];
        let merged = EntryRange::merge(tails);
        assert_eq!(merged, [tail(1, 4, &[0, 1, 2]), tail(1, 6, &[2, 3]), tail(2, 5, &[1])]);
    }

    #[test]
    fn ranges_beyond_all_frames_are_rejected() {
        let mut bytes = Vec::new();
        tail(1, u32::MAX - 2, &[1, 2]).encode(&mut bytes);
        assert!(matches!(
            EntryRange::decode(&mut ByteReader::new(&bytes)),
            Err(DecodeError::OutOfRange { what: "first frame of a tail", .. })
        ));
    }
}
