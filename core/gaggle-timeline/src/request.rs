//! What a session asks of the holder of the game's state.
//!
//! A session makes them, [`Simulation`](crate::Simulation) fulfils them for a
//! [`Game`](crate::Game). Absent: when and why a request is made.

use gaggle_kit::Frame;

use crate::scheduler::Step;
use crate::{Inputs, MatchStart};

/// The simulation that a request is for. Each has a state of its own and saved states of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SimId {
    /// The match that is played and shown.
    Live,
    /// Simulates a part of the past of [`SimId::Live`] again, to find the cause of a desync. It
    /// shares the retained states of the live one and saves none.
    Audit,
    /// The match that a room is joining, while the live one goes on. A session by itself has none.
    Joining,
}

/// One thing to do, in the order given, before asking for the next.
///
/// State *n* is the state after *n* ticks. [`Simulation`](crate::Simulation) fulfils all of these
/// for a [`Game`](crate::Game); do it yourself when the state lives elsewhere.
///
/// The last four come from a room only: it plays one match after another.
#[derive(Debug)]
#[must_use = "a request must be fulfilled before the next is asked for"]
#[non_exhaustive]
pub enum Request<'a, I: 'static> {
    /// Save a copy of the current state under this number. It replaces the one saved
    /// [`SNAPSHOTS_EXTRA`](crate::SNAPSHOTS_EXTRA) + window frames ago.
    Save {
        /// The simulation to save.
        sim: SimId,
        /// The number of the state.
        frame: Frame,
    },
    /// Go back to a copy: for [`SimId::Audit`] to a state of the live one that was retained, for
    /// the others to one that was saved.
    Load {
        /// The simulation that goes back.
        sim: SimId,
        /// Number of the state.
        frame: Frame,
    },
    /// Tick once with these inputs, which also name the frame.
    Advance {
        /// The simulation that ticks.
        sim: SimId,
        /// Inputs of all players.
        inputs: Inputs<'a, I>,
    },
    /// Give the hash of a state: for [`SimId::Audit`] of the current one, for the others of the one
    /// saved under this number.
    Hash {
        /// The simulation to hash.
        sim: SimId,
        /// Number of the state.
        frame: Frame,
        /// Where the hash goes; left empty if there is no such state.
        hash: &'a mut Option<u64>,
    },
    /// Write the state saved under this number in its canonical form: a peer is joining.
    Export {
        /// The simulation to write.
        sim: SimId,
        /// The number of the state.
        frame: Frame,
        /// Where it goes. Left empty if it cannot be read back, which
        /// [`StateNotDecodable`](crate::SessionEvent::StateNotDecodable) then tells.
        state: &'a mut Vec<u8>,
    },
    /// Go on with a state that was exported by another peer. All saved and retained states are
    /// void.
    Import {
        /// The simulation that goes on with it.
        sim: SimId,
        /// The number of the state.
        frame: Frame,
        /// The bytes as they were exported. They come from another peer: decode with care.
        state: &'a [u8],
        /// The local state was wrong: the same frames are simulated again from the right one.
        is_repair: bool,
        /// Whether the bytes are a state; if not, nothing may have changed.
        accepted: &'a mut bool,
    },
    /// Keep a copy of a saved state, for the audit of a desync. Those retained before
    /// `forget_before` are no longer needed.
    Retain {
        /// The simulation to retain a state of.
        sim: SimId,
        /// The number of the state.
        frame: Frame,
        /// The oldest number that is still needed.
        forget_before: Frame,
    },
    /// The current state is number 0 of a new match. All saved and retained states are void.
    Renumber {
        /// The simulation whose match is new.
        sim: SimId,
    },
    /// Begin with the state that the room was opened with, changed as
    /// [`Game::on_start`](crate::Game::on_start) does, as number 0 of a match.
    Start {
        /// The simulation to begin.
        sim: SimId,
        /// What all peers that start the match have in common.
        start: MatchStart<'a>,
    },
    /// This simulation becomes the live one, with all its saved and retained states. Those of the
    /// live one are void.
    Show {
        /// The simulation to show.
        sim: SimId,
    },
    /// This simulation has ended. All its states are void.
    Discard {
        /// The simulation that has ended.
        sim: SimId,
    },
}

/// A request that is decided and not handed out yet: see
/// [`Session::poll_step`](crate::Session::poll_step).
#[derive(Debug, Clone, Copy)]
#[must_use = "a step must be handed out by `Session::request`"]
pub struct RequestStep(pub(crate) Due);

impl RequestStep {
    /// Whether it is for [`SimId::Audit`].
    pub fn is_audit(&self) -> bool {
        matches!(self.0, Due::Step(Step::Side(..)))
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Due {
    Import,
    Step(Step),
}
