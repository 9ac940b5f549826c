//! Input of one local player between two ticks. Engines have one for each local player. Absent:
//! keys, slots.

use gaggle_kit::Input;

/// One player's input, set in every displayed frame and read in every tick. A held key stays held,
/// and a press between two ticks is neither lost nor counted twice, however long the key is down.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct InputLatch<I> {
    now: I,
    /// Presses since the last tick.
    done: Option<I>,
}

impl<I: Input> InputLatch<I> {
    pub(crate) fn set(&mut self, input: I) {
        // At any display rate, only the beginning of a one-shot press counts.
        let begun = input.begun_since(self.now);
        self.now = input;
        self.done = Some(self.done.map_or(begun, |earlier| I::merge(earlier, begun)));
    }

    /// Input for the next tick.
    pub(crate) fn take(&mut self) -> I {
        self.done.take().unwrap_or_else(|| self.now.repeat())
    }

    /// Releases all keys of the player.
    pub(crate) fn let_go(&mut self) {
        *self = InputLatch { now: I::default(), done: None };
    }
}
