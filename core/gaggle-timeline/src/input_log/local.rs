//! Stream of the local peer: one entry per frame, made from samples of local input.
//!
//! Input delay is the distance of the newest entry from the simulation. To raise it, a sample is
//! written into two entries; to lower it, two are merged. Either waits briefly for a sample equal
//! to the last entry, so that no press is lost or doubled. Absent: peers, packets.

use gaggle_kit::{Frame, Input, Slot, SlotSet};

/// Ticks to wait for such a sample before the delay is changed anyway.
const STEP_PATIENCE_TICKS: u32 = 6;

/// Entries of the local players.
#[derive(Debug)]
pub(crate) struct LocalStream<I> {
    /// Number of local players.
    players: usize,
    /// Their slots; empty until the peer is admitted.
    slots: SlotSet,
    /// Content of the next entry, one input per player.
    sample: Vec<I>,
    /// Slots whose `sample` is not in an entry yet.
    untold: SlotSet,
    /// Ring of entries, one input per local slot each.
    entries: Vec<I>,
    /// Whether each entry of the ring differs from what its receiver would have predicted.
    changes: Vec<bool>,
    frames_mask: u32,
    newest: Frame,
    /// Ticks for which a change of delay has been waiting.
    step_waits: u32,
    /// Frame to simulate when entries were last written.
    recorded_for: Frame,
    /// Frames the newest entry is ahead of the simulated frame.
    input_delay: u32,
    /// Newest entry that differs from its prediction.
    newest_change: Frame,
}

impl<I: Input> LocalStream<I> {
    /// `frames` is a power of two.
    pub(crate) fn new(players: usize, frames: usize) -> Self {
        LocalStream {
            players,
            slots: SlotSet::EMPTY,
            sample: vec![I::default(); players],
            untold: SlotSet::EMPTY,
            entries: vec![I::default(); frames * players],
            changes: vec![false; frames],
            frames_mask: frames as u32 - 1,
            newest: Frame::START,
            step_waits: 0,
            recorded_for: Frame::START,
            input_delay: 0,
            newest_change: Frame::START,
        }
    }

    /// Begins a new stream after this frame; its first entries are neutral.
    pub(crate) fn begin_after(&mut self, frame: Frame) {
        self.newest = frame;
        self.sample.fill(I::default());
        self.untold = SlotSet::EMPTY;
        self.entries.fill(I::default());
        self.changes.fill(false);
        self.step_waits = 0;
        self.newest_change = frame;
    }

    /// The next entry is that after `frame`: those before it are never made. The sample stays.
    #[cfg(feature = "seal")]
    pub(crate) fn skip_to(&mut self, frame: Frame) {
        self.newest = frame;
        self.step_waits = 0;
        self.newest_change = frame;
    }

    /// Merges the entry of this frame into the next one.
    #[cfg(feature = "seal")]
    pub(crate) fn merge_again(&mut self, frame: Frame) {
        let at = (frame.number() & self.frames_mask) as usize * self.players;
        for (sample, earlier) in self.sample.iter_mut().zip(&self.entries[at..]) {
            *sample = I::merge(*earlier, *sample);
        }
        self.untold = self.slots;
    }

    /// Whether the entries for simulating `next` were written.
    #[inline]
    pub(crate) fn is_recorded(&self, next: Frame) -> bool {
        self.recorded_for == next
    }

    /// Entries are written again for every frame from now on.
    pub(crate) fn record_anew(&mut self) {
        self.recorded_for = Frame::START;
    }

    /// As [`emit`](LocalStream::emit), at most once per simulated frame.
    #[inline(always)]
    pub(crate) fn record(&mut self, next: Frame, delay: u32, entry: impl FnMut(Frame, &[I])) {
        self.recorded_for = next;
        self.emit(next, delay, entry);
        self.input_delay = self.newest.since(next);
        if self.is_change(self.newest) {
            self.newest_change = self.newest;
        }
    }

    /// Marks an entry that has more than inputs.
    pub(crate) fn note_change(&mut self, frame: Frame) {
        self.newest_change = self.newest_change.max(frame);
    }

    #[inline]
    pub(crate) fn newest_change(&self) -> Frame {
        self.newest_change
    }

    #[inline]
    pub(crate) fn input_delay(&self) -> u32 {
        self.input_delay
    }

    pub(crate) fn set_input_delay(&mut self, frames: u32) {
        self.input_delay = frames;
    }

    /// Slots of the players from now on.
    pub(crate) fn set_slots(&mut self, slots: SlotSet) {
        debug_assert!(slots.is_empty() || slots.len() == self.players);
        self.slots = slots;
    }

    /// Number of local players.
    pub(crate) fn players(&self) -> usize {
        self.players
    }

    /// Oldest entry that is still held.
    pub(crate) fn oldest(&self) -> Frame {
        self.newest.saturating_sub(self.frames_mask)
    }

    /// Frame of the newest entry.
    pub(crate) fn newest(&self) -> Frame {
        self.newest
    }

    /// One input per player, lowest slot first.
    pub(crate) fn entry(&self, frame: Frame) -> &[I] {
        let players = self.players;
        let at = (frame.number() & self.frames_mask) as usize * players;
        &self.entries[at..at + players]
    }

    /// Whether an entry differs from what its receiver would have predicted from the one before.
    pub(crate) fn is_change(&self, frame: Frame) -> bool {
        self.changes[(frame.number() & self.frames_mask) as usize]
    }

    /// Sets a local player's input. If it is set twice before an entry takes it (in one tick, or
    /// during a stall), both count. False for a slot that is not local.
    pub(crate) fn sample(&mut self, slot: Slot, input: I) -> bool {
        let Some(index) = self.slots.iter().position(|local| local == slot) else { return false };
        let pending = &mut self.sample[index];
        *pending = if self.untold.contains(slot) { I::merge(*pending, input) } else { input };
        self.untold.insert(slot);
        true
    }

    /// Writes the entries a tick needs, oldest first, so that the newest is `target_delay` frames
    /// ahead of `next`, the frame to be simulated, and never behind it.
    #[inline(always)]
    fn emit(&mut self, next: Frame, target_delay: u32, mut entry: impl FnMut(Frame, &[I])) {
        let due = next.saturating_add(target_delay);
        if self.newest.next() == due {
            // The usual case: the delay is what it should be.
            self.push(&mut entry);
        } else {
            self.emit_towards(next, due, entry);
        }
    }

    /// Writes entries while the delay is being changed.
    #[inline(never)]
    fn emit_towards(&mut self, next: Frame, due: Frame, mut entry: impl FnMut(Frame, &[I])) {
        let plain = self.newest.next();
        // The entry for `next` itself must be written now.
        let must = next.since(self.newest);
        let steps = match () {
            () if self.step_waits < STEP_PATIENCE_TICKS && self.differs_from_last() => {
                self.step_waits += 1;
                1
            }
            () if plain < due => 2,
            () => 0,
        };
        if steps != 1 {
            self.step_waits = 0;
        }
        let steps = steps.max(must);
        for _ in 0..steps {
            self.push(&mut entry);
        }
    }

    /// Writes neutral entries for as many frames as the delay, at the start of a stream.
    pub(crate) fn fill_neutral(&mut self, delay: u32, mut entry: impl FnMut(Frame, &[I])) {
        for _ in 0..delay {
            self.newest = self.newest.next();
            let place = (self.newest.number() & self.frames_mask) as usize;
            self.changes[place] = false;
            entry(self.newest, self.entry(self.newest));
        }
    }

    fn differs_from_last(&self) -> bool {
        self.entry(self.newest).iter().zip(&self.sample).any(|(last, sample)| last.repeat() != *sample)
    }

    #[inline(always)]
    fn push(&mut self, entry: &mut impl FnMut(Frame, &[I])) {
        let players = self.players;
        let last = (self.newest.number() & self.frames_mask) as usize * players;
        self.newest = self.newest.next();
        let place = (self.newest.number() & self.frames_mask) as usize;
        let at = place * players;
        let mut change = false;
        let mut tell = |nth: usize, sample: &mut I| {
            change |= self.entries[last + nth].repeat() != *sample;
            self.entries[at + nth] = *sample;
            *sample = sample.repeat();
        };
        match &mut self.sample[..] {
            // Usually there is one entry, and preparing for many takes longer than writing one.
            [sample] => tell(0, sample),
            samples => samples.iter_mut().enumerate().for_each(|(nth, sample)| tell(nth, sample)),
        }
        self.changes[place] = change;
        entry(self.newest, &self.entries[at..at + players]);
        self.untold = SlotSet::EMPTY;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gaggle_kit::DecodeError;

    /// A held button (bit 0) and a one-shot press (bit 1).
    #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
    struct Pad(u8);

    impl Input for Pad {
        const SIZE: usize = 1;
        fn write(&self, out: &mut [u8]) {
            out[0] = self.0;
        }
        fn read(bytes: &[u8]) -> Result<Self, DecodeError> {
            u8::read(bytes).map(Pad)
        }
        fn merge(earlier: Self, later: Self) -> Self {
            Pad(later.0 | earlier.0 & 2)
        }
        fn repeat(self) -> Self {
            Pad(self.0 & 1)
        }
    }

    struct Rig {
        stream: LocalStream<Pad>,
        told: Vec<u8>,
        frame: Frame,
    }

    impl Rig {
        fn new(delay: u32) -> Rig {
            let mut rig = Rig { stream: LocalStream::new(1, 64), told: vec![], frame: Frame::START };
            rig.stream.set_slots(SlotSet::first(1));
            let told = &mut rig.told;
            rig.stream.fill_neutral(delay, |_, entry| told.push(entry[0].0));
            rig
        }

        fn tick(&mut self, pad: u8, delay: u32) {
            self.frame = self.frame.next();
            assert!(self.stream.sample(Slot::at(0), Pad(pad)));
            let told = &mut self.told;
            self.stream.emit(self.frame, delay, |_, entry| told.push(entry[0].0));
        }

        fn delay(&self) -> u32 {
            self.stream.newest() - self.frame
        }
    }

    #[test]
    fn each_tick_records_one_entry_ahead_by_delay() {
        let mut rig = Rig::new(2);
        for pad in [1, 0, 1] {
            rig.tick(pad, 2);
        }
        assert_eq!(rig.told, [0, 0, 1, 0, 1]);
        assert_eq!(rig.delay(), 2);
    }

    #[test]
    fn raised_delay_repeats_held_input_and_never_press() {
        let mut rig = Rig::new(1);
        rig.tick(2, 3);
        assert_eq!(rig.told, [0, 2], "a press is no moment to change the delay");
        rig.tick(1, 3);
        rig.tick(1, 3);
        rig.tick(1, 3);
        assert_eq!(rig.delay(), 3);
        assert_eq!(rig.told, [0, 2, 1, 1, 1, 1, 1]);
    }

    #[test]
    fn lowered_delay_loses_no_press() {
        let mut rig = Rig::new(4);
        for tick in 0..40 {
            rig.tick(if tick % 3 == 0 { 2 } else { 0 }, 1);
        }
        assert_eq!(rig.delay(), 1);
        assert_eq!(rig.told.iter().filter(|pad| **pad == 2).count(), 14, "0, 3, … 39");
    }

    #[test]
    fn ever_changing_input_still_gets_other_delay() {
        let mut rig = Rig::new(1);
        for tick in 0..40 {
            rig.tick(tick & 1, 4);
        }
        assert_eq!(rig.delay(), 4);
        for tick in 0..40 {
            rig.tick(tick & 1, 2);
        }
        assert_eq!(rig.delay(), 2);
    }

    #[test]
    fn press_during_stall_is_sent_after_it() {
        let mut rig = Rig::new(1);
        for pad in [0, 2, 0] {
            rig.stream.sample(Slot::at(0), Pad(pad));
        }
        rig.tick(0, 1);
        assert_eq!(rig.told, [0, 2]);
    }

    #[test]
    fn remote_slot_is_rejected() {
        assert!(!Rig::new(0).stream.sample(Slot::at(5), Pad(1)));
    }
}
