//! Inputs by frame, what simulated frames read of them, and the first simulated frame that a
//! correction changes.
//!
//! `InputLog` and the session of a star write inputs, `SimScheduler` reads what must be simulated
//! again. Absent: streams, rosters, how a missing input is predicted.

use gaggle_kit::{Frame, Input, Slot, SlotSet};

use super::question_log::QuestionLog;
use super::table::InputRing;
use crate::Inputs;

/// Inputs of past and coming frames, and the questions simulated frames asked about them.
#[derive(Debug)]
pub(crate) struct Past<I: 'static> {
    ring: InputRing<I>,
    questions: QuestionLog<I>,
    /// Frame of the live simulation.
    current: Frame,
    /// First simulated frame whose outcome a correction changed; [`Frame::NEVER`] if none.
    changed: Frame,
    /// Corrections that changed no answer to a question.
    harmless: u64,
}

/// Slots of a frame that is about to be simulated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Occupancy {
    /// Slots with a player.
    pub(crate) present: SlotSet,
    /// Slots whose input is predicted.
    pub(crate) guessed: SlotSet,
    /// Slots whose presence is predicted.
    pub(crate) unsure: SlotSet,
}

impl<I: Input> Past<I> {
    /// `frames` is a power of two.
    pub(crate) fn new(frames: usize, slot_count: usize) -> Self {
        Past {
            ring: InputRing::new(frames, slot_count),
            questions: QuestionLog::new(frames),
            current: Frame::START,
            changed: Frame::NEVER,
            harmless: 0,
        }
    }

    /// Restarts with the state of `frame`: all inputs and questions are dropped.
    pub(crate) fn restart(&mut self, frame: Frame) {
        self.ring.clear();
        self.questions.restart(frame);
        self.go_back(frame);
    }

    /// Frame of the live simulation.
    #[inline]
    pub(crate) fn current(&self) -> Frame {
        self.current
    }

    /// First simulated frame that must be simulated again; later than all of them if none must.
    #[inline]
    pub(crate) fn first_mispredicted(&self) -> Frame {
        self.changed
    }

    /// Corrections that changed no answer to a question.
    pub(crate) fn harmless(&self) -> u64 {
        self.harmless
    }

    /// Inputs of all slots in a frame that is held.
    #[inline]
    pub(crate) fn row(&self, frame: Frame) -> &[I] {
        self.ring.row(frame)
    }

    /// Number of frames that are held.
    #[inline]
    pub(crate) fn frames(&self) -> u32 {
        self.ring.frames()
    }

    /// Input of one slot in a frame that is held.
    #[inline]
    pub(crate) fn cell(&self, frame: Frame, slot: Slot) -> I {
        self.ring.cell(frame, slot)
    }

    /// The simulation goes on with this frame.
    #[inline]
    pub(crate) fn advance_to(&mut self, next: Frame) {
        self.current = next;
    }

    /// No simulated frame must be simulated again: one that is not simulated yet will use the
    /// inputs as they are then.
    #[inline]
    pub(crate) fn forget_future_change(&mut self) {
        self.changed = Frame::NEVER;
    }

    /// Takes the simulation back to an earlier frame.
    pub(crate) fn go_back(&mut self, frame: Frame) {
        self.current = frame;
        self.changed = Frame::NEVER;
    }

    #[cfg(test)]
    pub(crate) fn mispredict(&mut self, frame: Frame) {
        self.changed = frame;
    }

    /// Writes an input of a frame that is not simulated yet, or that no frame has read.
    #[inline]
    pub(crate) fn put(&mut self, frame: Frame, slot: Slot, input: I) {
        *self.ring.cell_mut(frame, slot) = input;
    }

    /// Replaces the prediction of an input by the input. A simulated frame that would have run
    /// differently must be simulated again.
    #[inline]
    pub(crate) fn correct(&mut self, frame: Frame, slot: Slot, input: I) {
        let cell = self.ring.cell_mut(frame, slot);
        if frame > self.current {
            *cell = input;
        } else if *cell != input {
            *cell = input;
            if frame < self.changed && self.questions.input_matters(frame, slot, input) {
                self.changed = frame;
            } else {
                self.harmless += u64::from(frame < self.changed);
            }
        }
    }

    /// As [`correct`](Past::correct), by another prediction. False if it is the same.
    #[inline]
    pub(crate) fn predict_again(&mut self, frame: Frame, slot: Slot, input: I) -> bool {
        let cell = self.ring.cell_mut(frame, slot);
        if *cell == input {
            return false;
        }
        *cell = input;
        if frame <= self.current {
            self.note_read(frame, slot, input);
        }
        true
    }

    /// A simulated frame must be simulated again if it would have run differently had `slot` given
    /// this input.
    fn note_read(&mut self, frame: Frame, slot: Slot, input: I) {
        if frame < self.changed && self.questions.input_matters(frame, slot, input) {
            self.changed = frame;
        }
    }

    /// Fills the cells of `slots` at `frame` with the prediction that follows from the frame
    /// `known`, unless that is `neutral`.
    #[inline]
    pub(crate) fn guess(&mut self, frame: Frame, known: Frame, slots: SlotSet, neutral: bool) {
        self.ring.guess(frame, known, slots, neutral);
    }

    /// Clears `slots` at `frame`, because they are empty.
    #[inline]
    pub(crate) fn clear_slots(&mut self, frame: Frame, slots: SlotSet) {
        self.ring.clear_slots(frame, slots);
    }

    /// Other slots are present in a simulated frame than it was simulated with. The caller has
    /// cleared those that are empty.
    pub(crate) fn correct_presence(&mut self, frame: Frame, changed: SlotSet) {
        let answers = changed.iter().any(|slot| {
            let input = self.ring.cell(frame, slot);
            self.questions.input_matters(frame, slot, input)
        });
        if frame < self.changed && (answers || self.questions.presence_matters(frame, changed)) {
            self.changed = frame;
        }
    }

    /// A simulated frame was given another number of missed frames for this slot.
    #[cfg(feature = "seal")]
    pub(crate) fn correct_missed(&mut self, frame: Frame, slot: Slot) {
        let is_simulated = frame <= self.current && frame < self.changed;
        if is_simulated && self.questions.missed_matters(frame, slot) {
            self.changed = frame;
        }
    }

    /// Frames after `kept` must be simulated again, whatever they asked: they were final.
    #[cfg(feature = "seal")]
    pub(crate) fn take_back(&mut self, kept: Frame) {
        self.questions.restart(kept);
        if kept < self.current {
            self.changed = self.changed.min(kept.next());
        }
    }

    /// Inputs of a frame that cannot change any more.
    #[inline]
    pub(crate) fn confirmed(&self, frame: Frame, present: SlotSet) -> Inputs<'_, I> {
        Inputs::confirmed(frame, self.ring.row(frame), present)
    }

    /// Inputs to simulate a frame with, which note what is asked of predictions. Frames up to
    /// `confirmed` cannot change any more.
    #[inline]
    pub(crate) fn inputs(&mut self, frame: Frame, confirmed: Frame, slots: Occupancy) -> Inputs<'_, I> {
        let notebook = self.questions.begin(frame, confirmed);
        let row = self.ring.row(frame);
        Inputs::noted(frame, row, slots.present, slots.guessed, slots.unsure, notebook)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates three frames in which slot 1 is predicted: the second one reads it whole, the
    /// third asks whether it is above 10.
    fn simulated() -> Past<u8> {
        let mut past = Past::<u8>::new(8, 2);
        let guessed = SlotSet::of(Slot::at(1));
        let slots = Occupancy { present: SlotSet::first(2), guessed, unsure: SlotSet::EMPTY };
        for number in 1..=3 {
            let frame = Frame::new(number);
            past.advance_to(frame);
            let inputs = past.inputs(frame, Frame::START, slots);
            match number {
                2 => assert_eq!(inputs.get(Slot::at(1)), 0),
                3 => assert!(!inputs.ask(Slot::at(1), (), |input, ()| input > 10)),
                _ => {}
            }
        }
        past
    }

    #[test]
    fn correction_counts_from_first_frame_that_would_differ() {
        let mut past = simulated();
        past.correct(Frame::new(3), Slot::at(1), 9);
        assert_eq!((past.first_mispredicted(), past.harmless()), (Frame::NEVER, 1));
        past.correct(Frame::new(3), Slot::at(1), 11);
        assert_eq!(past.first_mispredicted(), Frame::new(3));
        past.correct(Frame::new(2), Slot::at(1), 1);
        assert_eq!(past.first_mispredicted(), Frame::new(2));
        past.correct(Frame::new(1), Slot::at(1), 1);
        assert_eq!(past.first_mispredicted(), Frame::new(2), "frame 1 asked nothing");
        past.go_back(Frame::new(1));
        assert_eq!((past.current(), past.first_mispredicted()), (Frame::new(1), Frame::NEVER));
    }

    #[test]
    fn input_of_coming_frame_changes_no_simulated_one() {
        let mut past = simulated();
        past.correct(Frame::new(4), Slot::at(1), 200);
        assert!(past.predict_again(Frame::new(5), Slot::at(1), 200));
        assert!(!past.predict_again(Frame::new(5), Slot::at(1), 200));
        assert_eq!((past.first_mispredicted(), past.harmless()), (Frame::NEVER, 0));
        assert_eq!(past.cell(Frame::new(4), Slot::at(1)), 200);
    }
}
