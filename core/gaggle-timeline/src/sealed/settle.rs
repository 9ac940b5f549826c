//! Effective inputs: what each frame is simulated with, sealed or predicted.
//!
//! `Sealed` passes the log in after every packet and asks before every frame. It corrects the
//! `Past` where a sealed frame differs from its prediction. Absent: time, links, own entries'
//! values.

use gaggle_kit::{Frame, Input, Slot, SlotSet};
use gaggle_seal::{Cell, Log};

use crate::Inputs;
use crate::input_log::{Occupancy, Past};

/// Sealed frames beyond the simulated one that are held as inputs.
pub(crate) const AHEAD_FRAMES: u32 = 64;

/// The log no longer has the frame that must be simulated next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Forgotten;

/// Own entries that were made: they count until a sealed frame says otherwise.
#[derive(Debug, Clone, Copy)]
pub(super) struct OwnSpan {
    pub(super) slots: SlotSet,
    pub(super) first: Frame,
    pub(super) newest: Frame,
}

impl OwnSpan {
    fn covers(&self, frame: Frame, slot: Slot) -> bool {
        self.first <= frame && frame <= self.newest && self.slots.contains(slot)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Absent,
    Made,
    Missed,
    Passive,
}

/// A slot in the last settled frame.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Tail<I> {
    kind: Kind,
    /// Input that counts in that frame.
    input: I,
    /// Input of a later frame that repeats it.
    repeated: I,
    /// Missed frames in a row, 0 for other kinds.
    run: u16,
}

impl<I: Input> Tail<I> {
    fn neutral(kind: Kind) -> Self {
        Tail { kind, input: I::default(), repeated: I::default(), run: 0 }
    }

    /// Values no build of the game encodes are neutral: every client reads them so.
    fn of(cell: Cell<'_>, repeat_frames: u16) -> Self {
        let read = |value: &[u8]| I::read(value).unwrap_or_default();
        match cell {
            Cell::Absent => Tail::neutral(Kind::Absent),
            Cell::Passive => Tail::neutral(Kind::Passive),
            Cell::Made { value, is_repeated } => {
                let input = read(value);
                let repeated = input.repeat();
                Tail { kind: Kind::Made, input: if is_repeated { repeated } else { input }, repeated, run: 0 }
            }
            Cell::Missed { run, last } => {
                let repeated = last.map_or(I::default(), |value| read(value).repeat());
                let input = if run <= repeat_frames { repeated } else { I::default() };
                Tail { kind: Kind::Missed, input, repeated, run }
            }
        }
    }

    /// Input and missed frames in a row if the slot goes on as it is for so many frames.
    fn predict(&self, frames: u32, repeat_frames: u16) -> (I, u16) {
        match self.kind {
            Kind::Absent | Kind::Passive => (I::default(), 0),
            Kind::Made => (self.repeated, 0),
            Kind::Missed => {
                let run = self.run.saturating_add(frames.min(u32::from(u16::MAX)) as u16);
                (if run <= repeat_frames { self.repeated } else { I::default() }, run)
            }
        }
    }

    /// Whether the slot goes on as the frame before predicted.
    fn continues(&self, before: &Tail<I>) -> bool {
        let run = if self.kind == Kind::Missed { before.run.saturating_add(1) } else { 0 };
        self.kind == before.kind && self.repeated == before.repeated && self.run == run
    }
}

/// Inputs of sealed frames, and predictions after them.
#[derive(Debug)]
pub(super) struct Settled<I> {
    /// Last frame whose sealed inputs are held.
    frame: Frame,
    repeat_frames: u16,
    tails: Vec<Tail<I>>,
    /// Slots whose prediction is another since the last settled frame.
    outdated: SlotSet,
    /// Slots present in each frame, a ring.
    present: Vec<SlotSet>,
    /// Missed frames in a row by frame and slot, a ring.
    missed: Vec<u16>,
}

impl<I: Input> Settled<I> {
    /// `frames` is a power of two, as of the `Past` it belongs to.
    pub(super) fn new(frames: usize, slots: usize, repeat_frames: u16) -> Self {
        Settled {
            frame: Frame::START,
            repeat_frames,
            tails: vec![Tail::neutral(Kind::Absent); slots],
            outdated: SlotSet::EMPTY,
            present: vec![SlotSet::EMPTY; frames],
            missed: vec![0; frames * slots],
        }
    }

    /// Last frame whose sealed inputs are held.
    pub(super) fn frame(&self) -> Frame {
        self.frame
    }

    /// Restarts from a frame of the log. Its inputs are not needed, as its state is given.
    pub(super) fn restart(&mut self, frame: Frame, log: &Log) {
        self.frame = frame;
        self.present.fill(SlotSet::EMPTY);
        self.missed.fill(0);
        for (slot, tail) in self.tails.iter_mut().enumerate() {
            *tail = Tail::of(log.cell(frame, Slot::at(slot)), self.repeat_frames);
        }
        self.outdated = SlotSet::first(self.tails.len());
    }

    fn at(&self, frame: Frame) -> usize {
        frame.number() as usize & (self.present.len() - 1)
    }

    fn missed_at(&self, frame: Frame) -> std::ops::Range<usize> {
        let start = self.at(frame) * self.tails.len();
        start..start + self.tails.len()
    }

    /// Takes newly sealed frames, and corrects simulated ones that were predicted otherwise.
    pub(super) fn take(&mut self, log: &Log, past: &mut Past<I>, own: OwnSpan) -> Result<(), Forgotten> {
        let until = log.sealed().min(past.current() + AHEAD_FRAMES);
        while self.frame < until {
            let frame = self.frame.next();
            if !log.keeps(frame) {
                return Err(Forgotten);
            }
            self.settle(frame, log, past);
        }
        self.predict_again(past, own);
        Ok(())
    }

    fn settle(&mut self, frame: Frame, log: &Log, past: &mut Past<I>) {
        let mut present = SlotSet::EMPTY;
        for index in 0..self.tails.len() {
            let slot = Slot::at(index);
            let tail = Tail::of(log.cell(frame, slot), self.repeat_frames);
            if !tail.continues(&self.tails[index]) {
                self.outdated.insert(slot);
            }
            self.tails[index] = tail;
            if tail.kind != Kind::Absent {
                present.insert(slot);
            }
            past.correct(frame, slot, tail.input);
            self.set_missed(frame, index, tail.run, past);
        }
        self.set_present(frame, present, past);
        self.frame = frame;
    }

    fn set_missed(&mut self, frame: Frame, index: usize, run: u16, past: &mut Past<I>) {
        let at = self.missed_at(frame).start + index;
        if std::mem::replace(&mut self.missed[at], run) != run {
            past.correct_missed(frame, Slot::at(index));
        }
    }

    fn set_present(&mut self, frame: Frame, present: SlotSet, past: &mut Past<I>) {
        let at = self.at(frame);
        let before = std::mem::replace(&mut self.present[at], present);
        let changed = before.difference(present).union(present.difference(before));
        if !changed.is_empty() && frame <= past.current() {
            past.correct_presence(frame, changed);
        }
    }

    /// Simulated frames after the settled one used predictions from older inputs.
    fn predict_again(&mut self, past: &mut Past<I>, own: OwnSpan) {
        let outdated = std::mem::take(&mut self.outdated);
        if outdated.is_empty() {
            return;
        }
        for number in self.frame.next().number()..=past.current().number() {
            let frame = Frame::new(number);
            let mut present = self.present[self.at(frame)];
            for slot in outdated {
                let (is_here, input, run) = self.guess(frame, slot, past, own);
                past.predict_again(frame, slot, input);
                self.set_missed(frame, slot.index(), run, past);
                if is_here { present.insert(slot) } else { present.remove(slot) }
            }
            self.set_present(frame, present, past);
        }
    }

    /// Whether a slot is present in a frame that is not settled, its input, and its missed frames
    /// in a row.
    fn guess(&self, frame: Frame, slot: Slot, past: &Past<I>, own: OwnSpan) -> (bool, I, u16) {
        let tail = &self.tails[slot.index()];
        let is_here = tail.kind != Kind::Absent;
        if is_here && own.covers(frame, slot) {
            return (true, past.cell(frame, slot), 0);
        }
        let (input, run) = tail.predict(frame.since(self.frame), self.repeat_frames);
        (is_here, input, run)
    }

    /// Inputs to simulate a frame with: the sealed ones, or a prediction that is noted as such.
    pub(super) fn inputs<'a>(
        &'a mut self,
        frame: Frame,
        past: &'a mut Past<I>,
        own: OwnSpan,
    ) -> Inputs<'a, I> {
        if frame > self.frame {
            let mut present = SlotSet::EMPTY;
            for slot in (0..self.tails.len()).map(Slot::at) {
                let (is_here, input, run) = self.guess(frame, slot, past, own);
                past.put(frame, slot, input);
                let at = self.missed_at(frame).start + slot.index();
                self.missed[at] = run;
                if is_here {
                    present.insert(slot);
                }
            }
            let at = self.at(frame);
            self.present[at] = present;
            let all = SlotSet::first(self.tails.len());
            let slots = Occupancy { present, guessed: all, unsure: all };
            return past.inputs(frame, self.frame, slots).with_missed(&self.missed[self.missed_at(frame)]);
        }
        self.settled_inputs(frame, past)
    }

    /// Inputs of a settled frame that is still held.
    pub(super) fn settled_inputs<'a>(&'a self, frame: Frame, past: &'a Past<I>) -> Inputs<'a, I> {
        let missed = &self.missed[self.missed_at(frame)];
        past.confirmed(frame, self.present[self.at(frame)]).with_missed(missed)
    }

    /// The referee took back all frames after this one: they are simulated again.
    pub(super) fn take_back(&mut self, kept: Frame, log: &Log, past: &mut Past<I>) {
        if kept >= self.frame {
            return;
        }
        self.frame = kept;
        for (slot, tail) in self.tails.iter_mut().enumerate() {
            *tail = Tail::of(log.cell(kept, Slot::at(slot)), self.repeat_frames);
        }
        self.outdated = SlotSet::first(self.tails.len());
        past.take_back(kept);
    }
}
