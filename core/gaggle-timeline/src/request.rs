//! Requests of a session to the program that has the game's state.
//!
//! A session makes them, [`Simulation`](crate::Simulation) fulfills them for a
//! [`Game`](crate::Game). Absent: when and why a request is made.

use gaggle_kit::Frame;

use crate::scheduler::Step;
use crate::{Inputs, MatchStart};

/// The simulation that a request is for. Each has its own current state and its own saved states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SimId {
    /// The match that is played and shown.
    Live,
    /// Resimulates past frames of [`SimId::Live`] to find the cause of a desync. It uses the
    /// retained states of the live simulation and saves none.
    Audit,
    /// The match that a room is joining while the live one goes on. A session alone has none.
    Joining,
}

/// One request, to be fulfilled in the given order before the next is polled.
///
/// State *n* is the state after *n* ticks. [`Simulation`](crate::Simulation) fulfills all requests
/// for a [`Game`](crate::Game); fulfill them yourself when the state lives elsewhere.
///
/// Only a room makes the last four: it plays one match after another.
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
    /// Return to a copy: for [`SimId::Audit`] to a retained state of the live simulation, for the
    /// others to a saved one.
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
    /// Compute the hash of a state: for [`SimId::Audit`] of the current one, for the others of the
    /// one saved under this number.
    Hash {
        /// The simulation to hash.
        sim: SimId,
        /// Number of the state.
        frame: Frame,
        /// Receives the hash; stays empty if there is no such state.
        hash: &'a mut Option<u64>,
    },
    /// Encode the state saved under this number: a peer is joining.
    Export {
        /// The simulation to encode.
        sim: SimId,
        /// The number of the state.
        frame: Frame,
        /// Receives the bytes. Stays empty if the state cannot be decoded from them, which
        /// [`StateNotDecodable`](crate::SessionEvent::StateNotDecodable) then reports.
        state: &'a mut Vec<u8>,
    },
    /// Continue with a state that another peer exported. All saved and retained states are void.
    Import {
        /// The simulation that continues with it.
        sim: SimId,
        /// The number of the state.
        frame: Frame,
        /// The bytes another peer exported: untrusted input.
        state: &'a [u8],
        /// Whether the local state was wrong and its frames are resimulated from this one.
        is_repair: bool,
        /// Whether the bytes are a valid state; if not, nothing may have changed.
        accepted: &'a mut bool,
    },
    /// Keep a copy of a saved state for the audit of a desync. States retained before
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
    /// Begin a match at state number 0: the state the room was opened with, after
    /// [`Game::on_start`](crate::Game::on_start).
    Start {
        /// The simulation to begin.
        sim: SimId,
        /// Parameters that all peers starting the match have in common.
        start: MatchStart<'a>,
    },
    /// This simulation becomes the live one, with all its saved and retained states. Those of the
    /// former live one are void.
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
