//! Sizes that every packet, record and log of one match share.
//!
//! Log, lanes, packets and journal take a [`Shape`]; both ends compute it from the settings of the
//! match. Absent: time, rows, values.

use std::ops::Range;

use gaggle_kit::Slot;
use thiserror::Error;

/// Slots of one match.
pub const SLOTS_MAX: usize = Slot::COUNT_MAX;
/// Bytes of one slot's input.
pub const VALUE_BYTES_MAX: usize = 64;
/// Bytes of one unreliable packet: what a link carries in one datagram.
pub const PACKET_BYTES_MAX: usize = 1_097;
/// Slots of one stream: local players of one process.
pub const STREAM_SLOTS_MAX: usize = 8;

/// Most bits of one frame of one lane: a packet without its header.
const LANE_BITS_MAX: usize = 1_060 * 8;
/// Most streams that may join in one frame; others wait for the next.
pub const JOINS_PER_FRAME_MAX: usize = 8;
/// Bits of a lane block that do not depend on its slots: numbers, flags and names of streams.
const BLOCK_BITS: usize = 120 + JOINS_PER_FRAME_MAX * 160;
/// Most bits of a slot beside its value: number of slots skipped before it, and kind.
const SLOT_BITS: usize = 5;

/// Slots, bytes per input, and the sizes computed from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    slots: u16,
    value_bytes: u8,
    lane_slots: u16,
}

/// Sizes that are out of range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ShapeError {
    /// There is no slot, or more than [`SLOTS_MAX`].
    #[error("{0} slots; a sealed match has 1 to 1024")]
    Slots(usize),
    /// There is no byte per input, or more than [`VALUE_BYTES_MAX`].
    #[error("{0} bytes per input; a sealed match has 1 to 64")]
    ValueBytes(usize),
}

impl Shape {
    /// The shape of a match with so many slots and bytes per input.
    ///
    /// # Errors
    /// If either is zero or too large.
    pub const fn new(slots: usize, value_bytes: usize) -> Result<Shape, ShapeError> {
        if slots == 0 || slots > SLOTS_MAX {
            return Err(ShapeError::Slots(slots));
        }
        if value_bytes == 0 || value_bytes > VALUE_BYTES_MAX {
            return Err(ShapeError::ValueBytes(value_bytes));
        }
        // One frame of one lane always fits in one packet, whatever changes in it.
        let fit = (LANE_BITS_MAX - BLOCK_BITS) / (8 * value_bytes + SLOT_BITS);
        let lanes = slots.div_ceil(fit);
        let lane_slots = slots.div_ceil(lanes);
        Ok(Shape { slots: slots as u16, value_bytes: value_bytes as u8, lane_slots: lane_slots as u16 })
    }

    /// Slots of the match, numbered from 0.
    pub const fn slots(self) -> usize {
        self.slots as usize
    }

    /// Bytes of one slot's input.
    pub const fn value_bytes(self) -> usize {
        self.value_bytes as usize
    }

    /// Number of lanes, groups of slots that are sent together.
    pub const fn lanes(self) -> usize {
        self.slots().div_ceil(self.lane_slots as usize)
    }

    /// Slots of a lane.
    pub const fn lane(self, lane: usize) -> Range<usize> {
        let first = lane * self.lane_slots as usize;
        let end = first + self.lane_slots as usize;
        first..if end < self.slots() { end } else { self.slots() }
    }

    /// 64-bit words of a set of slots.
    pub(crate) const fn words(self) -> usize {
        self.slots().div_ceil(64)
    }
}

/// The slots of one stream, in the order of the values in its entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StreamSlots {
    slots: [Slot; STREAM_SLOTS_MAX],
    count: u8,
}

impl StreamSlots {
    /// The given slots. `None` if there are none, too many, or one twice.
    pub fn new(slots: &[Slot]) -> Option<StreamSlots> {
        let mut list = [Slot::default(); STREAM_SLOTS_MAX];
        list.get_mut(..slots.len())?.copy_from_slice(slots);
        let is_twice = |(index, slot)| slots[..index].contains(slot);
        if slots.is_empty() || slots.iter().enumerate().any(is_twice) {
            return None;
        }
        Some(StreamSlots { slots: list, count: slots.len() as u8 })
    }

    /// The slots in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Slot> + '_ {
        self.slots[..usize::from(self.count)].iter().copied()
    }

    /// Numbers of the slots, for indexing.
    pub(crate) fn indexes(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.iter().map(Slot::index)
    }

    /// One slot of a match.
    pub(crate) fn one(slot: usize) -> StreamSlots {
        let mut slots = StreamSlots { slots: [Slot::default(); STREAM_SLOTS_MAX], count: 1 };
        slots.slots[0] = Slot::at(slot);
        slots
    }

    /// Number of slots of the stream.
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// Never true for slots made by [`StreamSlots::new`].
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// First slot, which names the row.
    pub(crate) const fn first(&self) -> usize {
        self.slots[0].index()
    }
}

/// The set bits of a word, lowest first.
pub(crate) fn ones(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if word == 0 {
            return None;
        }
        let bit = word.trailing_zeros() as usize;
        word &= word - 1;
        Some(bit)
    })
}

/// The bits of `range` that lie in word number `word`.
pub(crate) const fn word_mask(range: &Range<usize>, word: usize) -> u64 {
    let (first, end) = (word * 64, word * 64 + 64);
    if range.end <= first || range.start >= end {
        return 0;
    }
    let low = range.start.saturating_sub(first);
    let high = if range.end < end { range.end - first } else { 64 };
    let above = if high == 64 { u64::MAX } else { (1 << high) - 1 };
    above & (u64::MAX << low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_cover_every_slot_once_for_every_shape() {
        for slots in [1, 2, 63, 64, 65, 255, 256, 606, 607, 1_000, 1_024] {
            for value_bytes in [1, 2, 3, 8, 16, 33, 64] {
                let shape = Shape::new(slots, value_bytes).unwrap();
                let covered: Vec<usize> = (0..shape.lanes()).flat_map(|lane| shape.lane(lane)).collect();
                assert_eq!(covered, (0..slots).collect::<Vec<_>>());
                let widest = (0..shape.lanes()).map(|lane| shape.lane(lane).len()).max().unwrap();
                assert!(widest * (8 * value_bytes + SLOT_BITS) + BLOCK_BITS <= LANE_BITS_MAX);
            }
        }
        assert_eq!(Shape::new(0, 1), Err(ShapeError::Slots(0)));
        assert_eq!(Shape::new(1_025, 1), Err(ShapeError::Slots(1_025)));
        assert_eq!(Shape::new(1, 65), Err(ShapeError::ValueBytes(65)));
    }

    #[test]
    fn word_masks_match_their_ranges() {
        for range in [0..0, 0..1, 3..64, 63..65, 64..128, 100..700, 0..1_024] {
            for word in 0..16 {
                let expected = (0..64)
                    .filter(|bit| range.contains(&(word * 64 + bit)))
                    .fold(0u64, |mask, bit| mask | 1 << bit);
                assert_eq!(word_mask(&range, word), expected, "{range:?} {word}");
                assert_eq!(ones(expected).fold(0, |mask, bit| mask | 1u64 << bit), expected);
            }
        }
    }

    #[test]
    fn stream_slots_reject_empty_doubled_and_too_many() {
        assert_eq!(StreamSlots::new(&[]), None);
        assert_eq!(StreamSlots::new(&[Slot::at(3), Slot::at(3)]), None);
        assert_eq!(StreamSlots::new(&[Slot::at(0); 9]), None);
        let slots = StreamSlots::new(&[Slot::at(7), Slot::at(3)]).unwrap();
        assert_eq!(slots.indexes().collect::<Vec<_>>(), [7, 3]);
    }
}
