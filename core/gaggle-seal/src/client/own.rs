//! Own entries of a client: one value per frame, kept until their frame can no longer be taken
//! back.
//!
//! `Client` fills it and writes packets from it. Absent: acknowledgements, the log.

use gaggle_kit::{BitWriter, BufferFull, Frame};
use thiserror::Error;

use crate::packet::{ENTRIES_MAX, EntrySpan, write_entries};

/// Entries kept, a power of two.
const KEPT: u32 = 256;

/// Why an entry is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum EntryError {
    /// The frame has an entry already, or a later one has.
    #[error(
        "frame {frame} cannot have an entry, the newest is of frame {newest}; make entries in order of frames"
    )]
    NotAhead {
        /// Frame of the entry.
        frame: Frame,
        /// Newest frame that has one.
        newest: Frame,
    },
    /// The entry needs one value for each local slot, of the match's size.
    #[error("an entry has {0} values of other size or number than the match; give one per local slot")]
    WrongValues(usize),
    /// There is no earlier entry that it could repeat.
    #[error("the first entry repeats nothing; give its value")]
    NothingToRepeat,
}

#[derive(Debug)]
pub(crate) struct OwnEntries {
    slots: usize,
    value_bytes: usize,
    /// First of the frames without a gap up to `newest`; later than that if there are no entries.
    first: Frame,
    newest: Frame,
    has_value: bool,
    values: Vec<u8>,
    /// Whether each entry of each slot is a repetition.
    repeated: Vec<bool>,
    passive: Vec<bool>,
}

impl OwnEntries {
    pub(crate) fn new(slots: usize, value_bytes: usize) -> OwnEntries {
        let kept = KEPT as usize;
        OwnEntries {
            slots,
            value_bytes,
            first: Frame::new(1),
            newest: Frame::START,
            has_value: false,
            values: vec![0; kept * slots * value_bytes],
            repeated: vec![false; kept * slots],
            passive: vec![false; kept],
        }
    }

    pub(crate) fn newest(&self) -> Frame {
        self.newest
    }

    pub(crate) fn has(&self, frame: Frame) -> bool {
        self.first <= frame && frame <= self.newest
    }

    pub(crate) fn is_passive(&self, frame: Frame) -> bool {
        self.passive[at(frame)]
    }

    fn value_at(&self, frame: Frame, slot: usize) -> std::ops::Range<usize> {
        let start = (at(frame) * self.slots + slot) * self.value_bytes;
        start..start + self.value_bytes
    }

    fn begin(&mut self, frame: Frame) -> Result<(), EntryError> {
        if frame <= self.newest {
            return Err(EntryError::NotAhead { frame, newest: self.newest });
        }
        if frame != self.newest.next() {
            self.first = frame;
        }
        Ok(())
    }

    fn end(&mut self, frame: Frame) {
        self.newest = frame;
        self.first = self.first.max((frame + 1) - KEPT);
    }

    /// Adds an entry; `None` repeats the slot's value in the entry before.
    pub(crate) fn push(&mut self, frame: Frame, values: &[Option<&[u8]>]) -> Result<(), EntryError> {
        let fits = |value: &Option<&[u8]>| value.is_none_or(|value| value.len() == self.value_bytes);
        if values.len() != self.slots || !values.iter().all(fits) {
            return Err(EntryError::WrongValues(values.len()));
        }
        if !self.has_value && values.contains(&None) {
            return Err(EntryError::NothingToRepeat);
        }
        let before = self.newest;
        self.begin(frame)?;
        for (slot, value) in values.iter().enumerate() {
            let (from, to) = (self.value_at(before, slot), self.value_at(frame, slot));
            match value {
                Some(value) => self.values[to].copy_from_slice(value),
                None => self.values.copy_within(from, to.start),
            }
            self.repeated[at(frame) * self.slots + slot] = value.is_none();
        }
        self.passive[at(frame)] = false;
        self.has_value = true;
        self.end(frame);
        Ok(())
    }

    /// Adds an entry that says that no further entries follow.
    pub(crate) fn push_passive(&mut self, frame: Frame) -> Result<(), EntryError> {
        let before = self.newest;
        self.begin(frame)?;
        for slot in 0..self.slots {
            // A later entry may repeat the value before.
            let (from, to) = (self.value_at(before, slot), self.value_at(frame, slot));
            self.values.copy_within(from, to.start);
            self.repeated[at(frame) * self.slots + slot] = true;
        }
        self.passive[at(frame)] = true;
        self.end(frame);
        Ok(())
    }

    /// Entries after a frame, oldest first. `None` if there are none.
    pub(crate) fn after(&self, frame: Frame, most: u32) -> Option<EntrySpan> {
        let first = self.first.max(frame.next());
        if first > self.newest {
            return None;
        }
        let count = (self.newest.since(first) + 1).min(most).min(ENTRIES_MAX);
        let bit = |index| u128::from(self.is_passive(first + index)) << index;
        let passive = (0..count).fold(0, |passive, index| passive | bit(index));
        Some(EntrySpan { first, count, passive })
    }

    pub(crate) fn write(&self, span: &EntrySpan, w: &mut BitWriter<'_>) -> Result<(), BufferFull> {
        for slot in 0..self.slots {
            write_entries(w, span, |index| {
                let frame = span.first + index;
                let value = &self.values[self.value_at(frame, slot)];
                (value, self.repeated[at(frame) * self.slots + slot])
            })?;
        }
        Ok(())
    }
}

fn at(frame: Frame) -> usize {
    (frame.number() % KEPT) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::read_entries;
    use crate::shape::Shape;
    use gaggle_kit::{BitReader, DecodeError, Prng};

    #[test]
    fn entries_round_trip_with_gaps_and_passive_ones() {
        for seed in 0..300 {
            let mut random = Prng::new(seed);
            let (slots, value_bytes) = (1 + random.below(3) as usize, 1 + random.below(9) as usize);
            let mut own = OwnEntries::new(slots, value_bytes);
            let mut frame = Frame::START;
            for _ in 0..random.below(40) + 1 {
                frame += 1 + u32::from(random.chance(1, 9)) * 3;
                if random.chance(1, 6) {
                    own.push_passive(frame).unwrap();
                    continue;
                }
                let mut bytes = vec![0; slots * value_bytes];
                random.fill(&mut bytes);
                let changes = !own.has_value || random.chance(1, 3);
                let values: Vec<_> =
                    bytes.chunks(value_bytes).map(|value| changes.then_some(value)).collect();
                own.push(frame, &values).unwrap();
            }
            let span = own.after(Frame::START, 100).unwrap();
            let mut buffer = [0; 4_000];
            let mut w = BitWriter::new(&mut buffer);
            span.write(Frame::START, &mut w).unwrap();
            own.write(&span, &mut w).unwrap();
            let bytes = w.finish().to_vec();
            let mut r = BitReader::new(&bytes);
            let read = EntrySpan::read(&mut r, Frame::START, span.passive != 0).unwrap();
            assert_eq!(read, span);
            let shape = Shape::new(slots, value_bytes).unwrap();
            for slot in 0..slots {
                read_entries::<DecodeError>(&mut r, shape, &read, |index, value, repeated| {
                    let frame = span.first + index;
                    assert_eq!(value, &own.values[own.value_at(frame, slot)], "seed {seed} {frame}");
                    assert_eq!(repeated, own.repeated[at(frame) * slots + slot]);
                    Ok(())
                })
                .unwrap();
            }
            r.finish("entries").unwrap();
        }
    }

    #[test]
    fn entry_that_cannot_be_is_named() {
        let mut own = OwnEntries::new(1, 1);
        assert_eq!(own.push(Frame::new(3), &[None]), Err(EntryError::NothingToRepeat));
        assert_eq!(own.push(Frame::new(3), &[Some(&[1, 2])]), Err(EntryError::WrongValues(1)));
        own.push(Frame::new(3), &[Some(&[1])]).unwrap();
        let error = own.push(Frame::new(3), &[None]).unwrap_err();
        assert_eq!(error, EntryError::NotAhead { frame: Frame::new(3), newest: Frame::new(3) });
        (4..400).for_each(|frame| own.push(Frame::new(frame), &[None]).unwrap());
        assert!(!own.has(Frame::new(143)) && own.has(Frame::new(144)));
    }
}
