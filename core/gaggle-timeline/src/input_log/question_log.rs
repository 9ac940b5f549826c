//! Record of what each simulated frame asked about predicted inputs.
//!
//! `Past` asks whether a frame would have run differently with another input, for all frames
//! that can still be resimulated. Absent: when to roll back.

use std::cell::Cell;

use gaggle_kit::{Frame, Input, Slot, SlotSet};

use crate::question::Question;

/// Questions kept for all frames together. When they are used up, a question counts as a read of
/// the whole input: still correct, but it causes more rollbacks.
const QUESTIONS_MAX: usize = 1_024;

/// What one frame asked besides its questions.
#[derive(Clone, Copy, Default)]
struct Asked {
    /// Predicted inputs read whole, one bit per slot.
    whole: u64,
    /// Predicted presences asked for, one bit per slot.
    presence: u64,
    /// Predicted numbers of missed frames asked for, one bit per slot.
    missed: u64,
    /// Number of the frame's first question, counted over the whole match.
    from: u64,
}

/// Log of questions. Frames are begun in order; a rollback truncates it.
#[derive(Debug)]
pub(crate) struct QuestionLog<I: 'static> {
    frames: Vec<Asked>,
    questions: Vec<Question<I>>,
    /// Number of the next question, counted over the whole match.
    top: u64,
    /// Oldest question that may still be asked again.
    tail: u64,
    /// The frame begun last.
    newest: Frame,
}

impl std::fmt::Debug for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "whole {:b}, presence {:b}, from {}", self.whole, self.presence, self.from)
    }
}

/// Recorder of what a running tick asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notebook<'a, I: 'static> {
    whole: &'a Cell<u64>,
    presence: &'a Cell<u64>,
    missed: &'a Cell<u64>,
    questions: &'a [Cell<Question<I>>],
    top: &'a Cell<u64>,
    tail: u64,
}

impl<I: Input> QuestionLog<I> {
    /// A log for a simulation that never goes back more than `frames` (a power of two).
    pub(crate) fn new(frames: usize) -> Self {
        debug_assert!(frames.is_power_of_two());
        QuestionLog {
            frames: vec![Asked::default(); frames],
            questions: vec![Question::empty(); QUESTIONS_MAX],
            top: 0,
            tail: 0,
            newest: Frame::START,
        }
    }

    /// Restarts the log: no question was asked in any frame up to `frame`.
    pub(crate) fn restart(&mut self, frame: Frame) {
        self.frames.fill(Asked { from: self.top, ..Asked::default() });
        self.tail = self.top;
        self.newest = frame;
    }

    fn index(&self, frame: Frame) -> usize {
        frame.number() as usize & (self.frames.len() - 1)
    }

    /// Begins the record of `frame`. Records of this frame and later ones are dropped first; those
    /// up to `confirmed` will never be needed again.
    pub(crate) fn begin(&mut self, frame: Frame, confirmed: Frame) -> Notebook<'_, I> {
        if frame <= self.newest {
            self.top = self.frames[self.index(frame)].from;
        }
        self.newest = frame;
        let oldest = confirmed.next();
        self.tail =
            if oldest < frame { self.frames[self.index(oldest)].from.max(self.tail) } else { self.top };
        let index = self.index(frame);
        self.frames[index] = Asked { from: self.top, ..Asked::default() };
        let asked = &mut self.frames[index];
        Notebook {
            whole: Cell::from_mut(&mut asked.whole),
            presence: Cell::from_mut(&mut asked.presence),
            missed: Cell::from_mut(&mut asked.missed),
            questions: Cell::from_mut(self.questions.as_mut_slice()).as_slice_of_cells(),
            top: Cell::from_mut(&mut self.top),
            tail: self.tail,
        }
    }

    /// Whether `frame` would have run differently if `slot` had given `input`.
    pub(crate) fn input_matters(&self, frame: Frame, slot: Slot, input: I) -> bool {
        let asked = self.frames[self.index(frame)];
        if SlotSet::from_bits(asked.whole).contains(slot) {
            return true;
        }
        let to = if frame == self.newest { self.top } else { self.frames[self.index(frame.next())].from };
        (asked.from..to).any(|at| {
            let question = &self.questions[at as usize % QUESTIONS_MAX];
            question.slot() == slot.byte() && question.changes_with(input)
        })
    }

    /// Whether `frame` asked if any of these slots is present.
    pub(crate) fn presence_matters(&self, frame: Frame, slots: SlotSet) -> bool {
        self.frames[self.index(frame)].presence & slots.bits() != 0
    }

    /// Whether `frame` asked for how long this slot's input was missed.
    #[cfg(feature = "seal")]
    pub(crate) fn missed_matters(&self, frame: Frame, slot: Slot) -> bool {
        SlotSet::from_bits(self.frames[self.index(frame)].missed).contains(slot)
    }
}

impl<I: Input> Notebook<'_, I> {
    pub(crate) fn note_whole(&self, slot: Slot) {
        self.whole.set(self.whole.get() | SlotSet::of(slot).bits());
    }

    pub(crate) fn note_presence(&self, slots: SlotSet) {
        self.presence.set(self.presence.get() | slots.bits());
    }

    pub(crate) fn note_missed(&self, slot: Slot) {
        self.missed.set(self.missed.get() | SlotSet::of(slot).bits());
    }

    pub(crate) fn ask<C: Input, R: Input>(
        &self,
        slot: Slot,
        input: I,
        context: C,
        function: impl Fn(I, C) -> R + Copy + Send + Sync + 'static,
    ) -> R {
        let top = self.top.get();
        let read_whole = SlotSet::from_bits(self.whole.get()).contains(slot);
        if read_whole || top - self.tail >= QUESTIONS_MAX as u64 {
            self.note_whole(slot);
            return function(input, context);
        }
        let (question, answer) = Question::new(slot.byte(), input, context, function);
        self.questions[top as usize % QUESTIONS_MAX].set(question);
        self.top.set(top + 1);
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT: Slot = Slot::at(1);

    fn ask_if_above(log: &mut QuestionLog<u8>, frame: u32, input: u8, threshold: u8) {
        log.begin(Frame::new(frame), Frame::START)
            .ask(SLOT, input, threshold, |input, threshold| input > threshold);
    }

    #[test]
    fn only_changed_answer_counts() {
        let mut log = QuestionLog::<u8>::new(16);
        ask_if_above(&mut log, 1, 5, 10);
        log.begin(Frame::new(2), Frame::START);
        log.begin(Frame::new(3), Frame::START).note_whole(SLOT);
        assert!(!log.input_matters(Frame::new(1), SLOT, 9));
        assert!(log.input_matters(Frame::new(1), SLOT, 11));
        assert!(!log.input_matters(Frame::new(1), Slot::at(0), 11), "nothing was asked about slot 0");
        assert!(!log.input_matters(Frame::new(2), SLOT, 11), "a frame that asked nothing never rolls back");
        assert!(log.input_matters(Frame::new(3), SLOT, 9));
    }

    #[test]
    fn going_back_forgets_what_later_frames_asked() {
        let mut log = QuestionLog::<u8>::new(16);
        for frame in 1..=4 {
            ask_if_above(&mut log, frame, 5, 10);
        }
        ask_if_above(&mut log, 2, 5, 3);
        assert!(log.input_matters(Frame::new(2), SLOT, 2));
        assert!(!log.input_matters(Frame::new(2), SLOT, 11));
    }

    #[test]
    fn full_log_counts_as_reading_whole_input() {
        let mut log = QuestionLog::<u8>::new(16);
        let page = log.begin(Frame::new(1), Frame::START);
        for _ in 0..QUESTIONS_MAX {
            page.ask(SLOT, 5, 10u8, |input, threshold| input > threshold);
        }
        assert!(!log.input_matters(Frame::new(1), SLOT, 6));
        log.begin(Frame::new(2), Frame::START).ask(SLOT, 5, 10u8, |input, threshold| input > threshold);
        assert!(log.input_matters(Frame::new(2), SLOT, 6));
        // Once frame 1 is confirmed its records are free again.
        log.begin(Frame::new(3), Frame::new(1)).ask(SLOT, 5, 10u8, |input, threshold| input > threshold);
        assert!(!log.input_matters(Frame::new(3), SLOT, 6));
    }

    #[test]
    fn presence_counts_as_question() {
        let mut log = QuestionLog::<u8>::new(16);
        log.begin(Frame::new(1), Frame::START).note_presence(SlotSet::of(SLOT));
        assert!(log.presence_matters(Frame::new(1), SlotSet::first(2)));
        assert!(!log.presence_matters(Frame::new(1), SlotSet::first(1)));
    }
}
