//! What a player at this machine does, between the moments somebody looks at the keys and the
//! frames that are played.

use gaggle_kit::Input;

/// One player's input. It is said as often as the display shows something, and taken once per frame
/// of the game: what is held goes on, and a press in between is neither lost nor counted twice,
/// however long the key stays down.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct InputLatch<I> {
    now: I,
    /// What was done since a frame last took it.
    done: Option<I>,
}

impl<I: Input> InputLatch<I> {
    pub(crate) fn set(&mut self, input: I) {
        // At any rate of the display, only the edge of a one-shot press counts.
        let begun = input.begun_since(self.now);
        self.now = input;
        self.done = Some(self.done.map_or(begun, |earlier| I::merge(earlier, begun)));
    }

    /// For the next frame.
    pub(crate) fn take(&mut self) -> I {
        self.done.take().unwrap_or_else(|| self.now.repeat())
    }

    /// The player does nothing any more.
    pub(crate) fn let_go(&mut self) {
        *self = InputLatch { now: I::default(), done: None };
    }
}
