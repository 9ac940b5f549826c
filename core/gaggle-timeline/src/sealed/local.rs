//! Own entries: samples of local input become entries of frames, and entries become bytes.
//!
//! `Sealed` calls it once per frame. Absent: which frames are sealed, time, other players.

use gaggle_kit::{Frame, Input, Slot, SlotSet};
use gaggle_seal::{Client, EntryError, STREAM_SLOTS_MAX};

use super::settle::OwnSpan;
use crate::input_log::{LocalStream, Past};
use crate::sealed::RefusedInput;

/// Frames between the due entry and the newest one up to which those between are made: the delay
/// is being raised. More were slept through.
const STEP_FRAMES: u32 = 3;

/// Entries of the local players.
#[derive(Debug)]
pub(super) struct LocalEntries<I> {
    stream: LocalStream<I>,
    slots: SlotSet,
    /// First frame of the entries without gap.
    first: Frame,
    is_open: bool,
    is_passive: bool,
    /// The entry before, which the next may repeat.
    last: Vec<I>,
    bytes: Vec<u8>,
}

impl<I: Input> LocalEntries<I> {
    /// `frames` is a power of two.
    pub(super) fn new(slots: SlotSet, frames: usize) -> Self {
        let mut stream = LocalStream::new(slots.len(), frames);
        stream.set_slots(slots);
        LocalEntries {
            stream,
            slots,
            first: Frame::NEVER,
            is_open: false,
            is_passive: false,
            last: vec![I::default(); slots.len()],
            bytes: vec![0; slots.len() * I::SIZE],
        }
    }

    /// Slots of the local players, whether they play yet or not.
    pub(super) fn slots(&self) -> SlotSet {
        self.slots
    }

    pub(super) fn sample(&mut self, slot: Slot, input: I) -> bool {
        self.stream.sample(slot, input)
    }

    pub(super) fn span(&self) -> OwnSpan {
        OwnSpan { slots: self.slots, first: self.first, newest: self.stream.newest() }
    }

    /// Newest frame with an entry.
    pub(super) fn newest(&self) -> Frame {
        self.stream.newest()
    }

    /// Frames the newest entry is ahead of the simulated frame.
    pub(super) fn input_delay(&self) -> u32 {
        self.stream.input_delay()
    }

    /// No entries are made until this ends: the players look on.
    pub(super) fn set_passive(&mut self, is_passive: bool) {
        self.is_passive = is_passive;
    }

    pub(super) fn is_passive(&self) -> bool {
        self.is_passive
    }

    /// Whether the last frame had an entry, and the next follows it.
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// No entries until the next [`record`](LocalEntries::record): the players have no row.
    pub(super) fn close(&mut self) {
        self.is_open = false;
        self.first = Frame::NEVER;
    }

    /// Makes the entries that simulating `next` needs. Frames up to `settled` are sealed: what is
    /// made for them can only be refused.
    pub(super) fn record(
        &mut self,
        next: Frame,
        delay: u32,
        settled: Frame,
        client: &mut Client,
        past: &mut Past<I>,
    ) {
        let due = next + delay;
        if self.is_passive {
            self.close();
            if !client.is_passive() {
                // Fails only if the frame has an entry already.
                let _ = client.set_passive(due);
            }
            return;
        }
        if self.is_open && due < self.stream.newest() {
            // The game went back further than any delay is long.
            return;
        }
        if !self.is_open || due > self.stream.newest() + STEP_FRAMES {
            // Frames that were slept through are never spoken for.
            self.stream.skip_to(due.previous());
            (self.first, self.is_open) = (due, true);
        }
        let LocalEntries { stream, slots, last, bytes, .. } = self;
        stream.record(next, delay, |frame, entry| {
            if frame > settled {
                slots.iter().zip(entry).for_each(|(slot, input)| past.put(frame, slot, *input));
            }
            push(client, frame, last, entry, bytes);
            last.copy_from_slice(entry);
        });
    }

    /// A refused entry counts in no frame. Its presses may count in the next one.
    pub(super) fn note_refused(&mut self, frame: Frame, rule: RefusedInput, age_max: u32) {
        let newest = self.stream.newest();
        if rule == RefusedInput::Merge && self.first <= frame && newest.since(frame) <= age_max {
            self.stream.merge_again(frame);
        }
    }

    /// Frames after `kept` are open again: the entries made for them count until they are sealed.
    pub(super) fn restore(&self, kept: Frame, past: &mut Past<I>) {
        let first = self.first.max(kept.next()).max(self.stream.oldest());
        for number in first.number()..=self.stream.newest().number() {
            let frame = Frame::new(number);
            let entry = self.stream.entry(frame);
            self.slots.iter().zip(entry).for_each(|(slot, input)| past.put(frame, slot, *input));
        }
    }
}

/// Passes an entry on: as bytes, or as the repetition of the entry before.
fn push<I: Input>(client: &mut Client, frame: Frame, last: &[I], entry: &[I], bytes: &mut [u8]) {
    let mut values = [None; STREAM_SLOTS_MAX];
    let mut chunks = bytes.chunks_exact_mut(I::SIZE);
    for ((value, input), last) in values.iter_mut().zip(entry).zip(last) {
        let Some(chunk) = chunks.next() else { break };
        input.write(chunk);
        *value = (last.repeat() != *input).then_some(&*chunk);
    }
    let Err(EntryError::NothingToRepeat) = client.set_entry(frame, &values[..entry.len()]) else { return };
    // The first entry of a match has nothing to repeat.
    let mut all = [None; STREAM_SLOTS_MAX];
    all.iter_mut().zip(bytes.chunks_exact(I::SIZE)).for_each(|(value, chunk)| *value = Some(chunk));
    let _ = client.set_entry(frame, &all[..entry.len()]);
}
