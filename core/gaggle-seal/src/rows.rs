//! Ring buffer of frames, sealed and not yet sealed: per frame six bit sets over slots, a value and
//! a miss count per slot.
//!
//! The log owns it; the sealer writes entries of coming frames into it. Absent: streams, time,
//! packets.

use std::ops::Range;

use gaggle_kit::Frame;

use crate::shape::{Shape, ones, word_mask};

/// Bit sets kept per frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Set {
    /// Made: the slot's entry counts in this frame; in unsealed frames: it arrived.
    Made,
    /// The entry is the repetition of its value.
    Repeated,
    /// No entry is expected; in unsealed frames: the arrived entry says so.
    Passive,
    /// Present: a stream has the slot.
    Present,
    /// Spoken: that stream had an entry counted since it joined.
    Spoken,
    /// The row begins in this frame.
    Joined,
}

pub(crate) const SETS: usize = 6;

#[derive(Debug, Clone)]
pub(crate) struct Rows {
    words: usize,
    slots: usize,
    value_bytes: usize,
    /// Frames kept, a power of two, minus one.
    mask: usize,
    sets: Vec<u64>,
    values: Vec<u8>,
    /// Consecutive missed frames, saturating.
    missed: Vec<u16>,
}

impl Rows {
    pub(crate) fn new(shape: Shape, frames: usize) -> Rows {
        let frames = frames.next_power_of_two();
        let (words, slots, value_bytes) = (shape.words(), shape.slots(), shape.value_bytes());
        Rows {
            words,
            slots,
            value_bytes,
            mask: frames - 1,
            sets: vec![0; frames * SETS * words],
            values: vec![0; frames * slots * value_bytes],
            missed: vec![0; frames * slots],
        }
    }

    /// Frames the ring holds.
    pub(crate) fn frames(&self) -> usize {
        self.mask + 1
    }

    fn at(&self, frame: Frame) -> usize {
        frame.number() as usize & self.mask
    }

    #[inline]
    pub(crate) fn word(&self, frame: Frame, set: Set, word: usize) -> u64 {
        self.sets[(self.at(frame) * SETS + set as usize) * self.words + word]
    }

    #[inline]
    pub(crate) fn word_mut(&mut self, frame: Frame, set: Set, word: usize) -> &mut u64 {
        let at = (self.at(frame) * SETS + set as usize) * self.words + word;
        &mut self.sets[at]
    }

    #[inline]
    pub(crate) fn has(&self, frame: Frame, set: Set, slot: usize) -> bool {
        self.word(frame, set, slot / 64) >> (slot % 64) & 1 == 1
    }

    #[inline]
    pub(crate) fn put(&mut self, frame: Frame, set: Set, slot: usize, on: bool) {
        let word = self.word_mut(frame, set, slot / 64);
        let bit = 1 << (slot % 64);
        *word = if on { *word | bit } else { *word & !bit };
    }

    #[inline]
    pub(crate) fn value(&self, frame: Frame, slot: usize) -> &[u8] {
        let at = (self.at(frame) * self.slots + slot) * self.value_bytes;
        &self.values[at..at + self.value_bytes]
    }

    #[inline]
    pub(crate) fn value_mut(&mut self, frame: Frame, slot: usize) -> &mut [u8] {
        let at = (self.at(frame) * self.slots + slot) * self.value_bytes;
        &mut self.values[at..at + self.value_bytes]
    }

    pub(crate) fn missed(&self, frame: Frame, slot: usize) -> u16 {
        self.missed[self.at(frame) * self.slots + slot]
    }

    pub(crate) fn set_missed(&mut self, frame: Frame, slot: usize, run: u16) {
        let at = self.at(frame) * self.slots + slot;
        self.missed[at] = run;
    }

    /// Empties the sets of a frame.
    pub(crate) fn clear(&mut self, frame: Frame) {
        let at = self.at(frame) * SETS * self.words;
        self.sets[at..at + SETS * self.words].fill(0);
    }

    /// Copies the value of a slot from the frame before.
    #[inline]
    pub(crate) fn keep_value(&mut self, frame: Frame, slot: usize) {
        let size = self.value_bytes;
        let from = (self.at(frame.previous()) * self.slots + slot) * size;
        let to = (self.at(frame) * self.slots + slot) * size;
        self.values.copy_within(from..from + size, to);
    }

    /// Copies a frame from the one before, for some slots: their entries become repetitions.
    pub(crate) fn carry(&mut self, frame: Frame, slots: &Range<usize>) {
        let before = frame.previous();
        for word in slots.start / 64..slots.end.div_ceil(64) {
            let mask = word_mask(slots, word);
            let made = self.word(before, Set::Made, word);
            for (set, bits) in [
                (Set::Made, made),
                (Set::Repeated, made),
                (Set::Passive, self.word(before, Set::Passive, word)),
                (Set::Present, self.word(before, Set::Present, word)),
                (Set::Spoken, self.word(before, Set::Spoken, word)),
                (Set::Joined, 0),
            ] {
                let into = self.word_mut(frame, set, word);
                *into = *into & !mask | bits & mask;
            }
        }
        let size = self.value_bytes;
        let from = (self.at(before) * self.slots + slots.start) * size;
        let to = (self.at(frame) * self.slots + slots.start) * size;
        self.values.copy_within(from..from + slots.len() * size, to);
    }

    /// Counts missed frames after the sets of a frame are known.
    pub(crate) fn count_missed(&mut self, frame: Frame, slots: &Range<usize>) {
        let row = self.at(frame) * self.slots;
        for word in slots.start / 64..slots.end.div_ceil(64) {
            let (first, end) = ((word * 64).max(slots.start), (word * 64 + 64).min(slots.end));
            self.missed[row + first..row + end].fill(0);
            let missed = self.missed_word(frame, word) & word_mask(slots, word);
            for slot in ones(missed).map(|bit| word * 64 + bit) {
                let joined = self.has(frame, Set::Joined, slot);
                let before = if joined { 0 } else { self.missed(frame.previous(), slot) };
                self.missed[row + slot] = before.saturating_add(1);
            }
        }
    }

    /// Rows that are present, not passive and have no entry.
    #[inline]
    pub(crate) fn missed_word(&self, frame: Frame, word: usize) -> u64 {
        let of = |set| self.word(frame, set, word);
        of(Set::Present) & !of(Set::Passive) & !of(Set::Made)
    }

    /// Slots whose kind differs from the frame before, or whose row is another.
    #[inline]
    pub(crate) fn kind_changes(&self, frame: Frame, word: usize) -> u64 {
        let differs = |set| self.word(frame, set, word) ^ self.word(frame.previous(), set, word);
        differs(Set::Made)
            | differs(Set::Passive)
            | differs(Set::Present)
            | self.word(frame, Set::Joined, word)
    }

    /// Slots with an entry in both frames that is not the repetition of the one before.
    #[inline]
    pub(crate) fn value_changes(&self, frame: Frame, word: usize) -> u64 {
        self.word(frame, Set::Made, word)
            & self.word(frame.previous(), Set::Made, word)
            & !self.word(frame, Set::Repeated, word)
            & !self.word(frame, Set::Joined, word)
    }

    /// Slots whose kind, row or value differs from the frame before, or that repeat a new value for
    /// the first time.
    pub(crate) fn changes(&self, frame: Frame, word: usize) -> u64 {
        let before = |set| self.word(frame.previous(), set, word);
        let is_new = before(Set::Made) & !before(Set::Repeated);
        let repeats = self.word(frame, Set::Made, word) & self.word(frame, Set::Repeated, word);
        self.kind_changes(frame, word) | self.value_changes(frame, word) | is_new & repeats
    }
}
