//! What a session asks of whoever holds the game's state.

use gaggle_kit::Frame;

use crate::Inputs;

/// Which of the simulations a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SimId {
    /// The one that is played.
    Live,
    /// One beside it that runs a stretch of the past again, to find out where machines parted.
    Audit,
}

/// One thing to do, in the order given, before asking for the next.
///
/// State *n* is the state after *n* ticks. [`Timeline`](crate::Timeline) fulfils all of these for a
/// [`Game`](crate::Game); do it yourself when your state lives elsewhere.
#[derive(Debug)]
#[must_use = "the session counts on every request being fulfilled before the next is asked for"]
#[non_exhaustive]
pub enum Request<'a, I: 'static> {
    /// Keep a copy of the current state of the live simulation under this number. It replaces the
    /// one kept [`SNAPSHOTS_EXTRA`](crate::SNAPSHOTS_EXTRA) + window frames ago.
    Save {
        /// The number of the state.
        frame: Frame,
    },
    /// Go back to a kept state: for [`SimId::Live`] one that was saved, for [`SimId::Audit`] one
    /// that
    /// was set aside.
    Load {
        /// Which simulation goes back.
        sim: SimId,
        /// The number of the state.
        frame: Frame,
    },
    /// Tick once with these inputs, which also tell the frame.
    Advance {
        /// Which simulation goes on.
        sim: SimId,
        /// What everybody does.
        inputs: Inputs<'a, I>,
    },
    /// Give the hash of a state: for [`SimId::Live`] of the one saved under this number, for
    /// [`SimId::Audit`] of the current one.
    Hash {
        /// Which simulation is hashed.
        sim: SimId,
        /// The number of the state.
        frame: Frame,
        /// Where the hash goes.
        hash: &'a mut Option<u64>,
    },
    /// Write the state saved under this number in its canonical form: somebody is coming in.
    Export {
        /// The number of the state.
        frame: Frame,
        /// Where it goes; left empty if it cannot be written.
        state: &'a mut Vec<u8>,
    },
    /// Go on with a state that was exported elsewhere. Everything saved or set aside is void.
    Import {
        /// The number of the state.
        frame: Frame,
        /// As it was exported.
        state: &'a [u8],
        /// Ours was wrong: what follows simulates the same frames again from the right one.
        is_repair: bool,
        /// Whether it could be read; if not, nothing may have changed.
        accepted: &'a mut bool,
    },
    /// Set a copy of a saved state aside, to explain a desync with. Those set aside before
    /// `forget_before` are no longer needed.
    Retain {
        /// The number of the state.
        frame: Frame,
        /// The oldest that is still needed.
        forget_before: Frame,
    },
}
