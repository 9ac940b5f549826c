//! Inputs of all slots by frame: confirmed ones where known, else those the frame was simulated
//! with.
//!
//! `Past` reads and writes it. Absent: streams, and which inputs are predicted.

use gaggle_kit::{Frame, Input, Slot, SlotSet};

/// A ring of rows, one per frame, with one cell per slot.
#[derive(Debug)]
pub(crate) struct InputRing<I> {
    cells: Vec<I>,
    slots: usize,
    frames_mask: u32,
}

impl<I: Input> InputRing<I> {
    /// `frames` is a power of two.
    pub(crate) fn new(frames: usize, slots: usize) -> Self {
        debug_assert!(frames.is_power_of_two());
        InputRing { cells: vec![I::default(); frames * slots], slots, frames_mask: frames as u32 - 1 }
    }

    fn at(&self, frame: Frame) -> usize {
        (frame.number() & self.frames_mask) as usize * self.slots
    }

    /// Number of frames back for which a row still holds what was written to it.
    pub(crate) fn frames(&self) -> u32 {
        self.frames_mask + 1
    }

    pub(crate) fn row(&self, frame: Frame) -> &[I] {
        let at = self.at(frame);
        &self.cells[at..at + self.slots]
    }

    pub(crate) fn cell(&self, frame: Frame, slot: Slot) -> I {
        self.cells[self.at(frame) + slot.index()]
    }

    pub(crate) fn cell_mut(&mut self, frame: Frame, slot: Slot) -> &mut I {
        let at = self.at(frame) + slot.index();
        &mut self.cells[at]
    }

    /// Fills the cells of `slots` at `frame` with the prediction that follows from the frame
    /// `known`, unless that is `neutral`.
    pub(crate) fn guess(&mut self, frame: Frame, known: Frame, slots: SlotSet, neutral: bool) {
        let (from, to) = (self.at(known), self.at(frame));
        for slot in slots {
            let guess = if neutral { I::default() } else { self.cells[from + slot.index()].repeat() };
            self.cells[to + slot.index()] = guess;
        }
    }

    /// Clears `slots` at `frame`, because they are empty.
    pub(crate) fn clear_slots(&mut self, frame: Frame, slots: SlotSet) {
        let at = self.at(frame);
        for slot in slots {
            self.cells[at + slot.index()] = I::default();
        }
    }

    /// Fills all cells with neutral input.
    pub(crate) fn clear(&mut self) {
        self.cells.fill(I::default());
    }
}
