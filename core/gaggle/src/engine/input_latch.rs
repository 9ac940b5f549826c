//! Input of one local player between two ticks.
//! Engines have one for each local player. Absent: keys, slots.

use gaggle_kit::Input;

/// One player's input. It is set in every displayed frame and taken in every tick: what is held
/// goes on, and a press in between is neither lost nor counted twice, however long the key is down.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct InputLatch<I> {
    now: I,
    /// What was pressed since the last tick.
    done: Option<I>,
}

impl<I: Input> InputLatch<I> {
    pub(crate) fn set(&mut self, input: I) {
        // At any rate of the display, only the edge of a one-shot press counts.
        let begun = input.begun_since(self.now);
        self.now = input;
        self.done = Some(self.done.map_or(begun, |earlier| I::merge(earlier, begun)));
    }

    /// The input of the next tick.
    pub(crate) fn take(&mut self) -> I {
        self.done.take().unwrap_or_else(|| self.now.repeat())
    }

    /// The player releases everything.
    pub(crate) fn let_go(&mut self) {
        *self = InputLatch { now: I::default(), done: None };
    }
}
