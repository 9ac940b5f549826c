//! Inputs of a frame, as a game's tick reads them.
//!
//! `InputLog` makes them, `Game::tick` asks. Absent: streams, peers, how predictions are made.

use gaggle_kit::{Frame, Input, Slot, SlotSet};

use crate::input_log::Notebook;
use crate::question::{ANSWER_BYTES_MAX, CONTEXT_BYTES_MAX};

/// The players' inputs for one frame.
///
/// **Every read is a question.** While an input is only predicted, the session remembers what you
/// asked about it. When the real input arrives, the session asks again and resimulates only from
/// the first frame in which an answer changed. So ask for exactly what you need to know.
///
/// ```
/// use gaggle_kit::{Frame, Slot, SlotSet};
/// use gaggle_timeline::Inputs;
///
/// let (left, right) = (1u8, 2u8);
/// let row = [left, right];
/// let inputs = Inputs::confirmed(Frame::new(1), &row, SlotSet::first(2));
/// // "What exactly?": any other input would mean another simulation.
/// assert_eq!(inputs.get(Slot::at(1)), right);
/// // "Does this player turn left at this junction?": an input with the same answer changes
/// // nothing.
/// let junction_has_exit_left = true;
/// let turns = inputs.ask(Slot::at(0), junction_has_exit_left, |input, exit| input == 1 && exit);
/// assert!(turns);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a, I: 'static> {
    frame: Frame,
    row: &'a [I],
    present: SlotSet,
    /// Slots whose input is predicted.
    guessed: SlotSet,
    /// Slots whose presence is predicted.
    unsure: SlotSet,
    notebook: Option<Notebook<'a, I>>,
    /// Missed frames in a row by slot; empty if no frame can be missed.
    missed: &'a [u16],
}

impl<'a, I: Input> Inputs<'a, I> {
    /// Inputs that are known for certain: `row[n]` belongs to slot *n*. For simulations without
    /// network, replays and tests.
    #[inline]
    pub fn confirmed(frame: Frame, row: &'a [I], present: SlotSet) -> Self {
        Inputs {
            frame,
            row,
            present,
            guessed: SlotSet::EMPTY,
            unsure: SlotSet::EMPTY,
            notebook: None,
            missed: &[],
        }
    }

    #[inline]
    pub(crate) fn noted(
        frame: Frame,
        row: &'a [I],
        present: SlotSet,
        guessed: SlotSet,
        unsure: SlotSet,
        notebook: Notebook<'a, I>,
    ) -> Self {
        Inputs { frame, row, present, guessed, unsure, notebook: Some(notebook), missed: &[] }
    }

    /// Adds the number of missed frames in a row by slot.
    #[cfg(feature = "seal")]
    #[inline]
    pub(crate) fn with_missed(mut self, missed: &'a [u16]) -> Self {
        self.missed = missed;
        self
    }

    /// Frame that this tick produces.
    pub fn frame(&self) -> Frame {
        self.frame
    }

    /// Whole input of the player in `slot`. Neutral input for an empty slot.
    #[inline]
    pub fn get(&self, slot: Slot) -> I {
        if self.guessed.contains(slot)
            && let Some(notebook) = &self.notebook
        {
            notebook.note_whole(slot);
        }
        self.row.get(slot.index()).copied().unwrap_or_default()
    }

    /// Answer to a weaker question about the input in `slot`.
    ///
    /// `function` must not capture anything: pass what it needs as `context`, which is stored for
    /// asking again. The context is any type with an input's fixed-size encoding (integers, `bool`,
    /// tuples, arrays, `#[derive(Input)]`) of up to 16 bytes, the answer up to 8. Larger types and
    /// captures do not compile:
    ///
    /// ```compile_fail
    /// # use gaggle_kit::{Frame, Slot, SlotSet};
    /// # use gaggle_timeline::Inputs;
    /// let inputs = Inputs::confirmed(Frame::new(1), &[1u8], SlotSet::first(1));
    /// let wall = 3u8;
    /// inputs.ask(Slot::at(0), (), move |input, ()| input == wall); // pass `wall` as the context
    /// ```
    #[inline]
    pub fn ask<C: Input, R: Input, F>(&self, slot: Slot, context: C, function: F) -> R
    where
        F: Fn(I, C) -> R + Copy + Send + Sync + 'static,
    {
        const {
            assert!(
                size_of::<F>() == 0,
                "the question captures something: pass what it needs as its context"
            );
            assert!(C::SIZE <= CONTEXT_BYTES_MAX, "the context of a question may have up to 16 bytes");
            assert!(R::SIZE <= ANSWER_BYTES_MAX, "the answer to a question may have up to 8 bytes");
        }
        let input = self.row.get(slot.index()).copied().unwrap_or_default();
        match &self.notebook {
            Some(notebook) if self.guessed.contains(slot) => notebook.ask(slot, input, context, function),
            _ => function(input, context),
        }
    }

    /// Whether a player is in `slot` at this frame.
    #[inline]
    pub fn is_present(&self, slot: Slot) -> bool {
        if self.unsure.contains(slot)
            && let Some(notebook) = &self.notebook
        {
            notebook.note_presence(SlotSet::of(slot));
        }
        self.present.contains(slot)
    }

    /// Frames in a row, up to this one, that a referee sealed without input from `slot`: 0 while
    /// input arrives in time, and in matches without a referee. The input is then repeated for
    /// [`SealConfig::repeat_frames`](crate::SealConfig::repeat_frames), and neutral after them.
    ///
    /// Recordings do not contain it: a game that asks diverges in its replays.
    #[inline]
    pub fn missed(&self, slot: Slot) -> u32 {
        if self.unsure.contains(slot)
            && let Some(notebook) = &self.notebook
        {
            notebook.note_missed(slot);
        }
        self.missed.get(slot.index()).copied().unwrap_or_default().into()
    }

    /// All slots with a player at this frame.
    #[inline]
    pub fn present_slots(&self) -> SlotSet {
        if !self.unsure.is_empty()
            && let Some(notebook) = &self.notebook
        {
            notebook.note_presence(self.unsure);
        }
        self.present
    }
}
