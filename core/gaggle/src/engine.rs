//! What a [`Room`](crate::Room) plays: a game on one timeline, with its state here or elsewhere, or
//! a world of replicated objects.
//!
//! An engine gets the lobby side of a room, [`LobbyRoom`], as an argument. It decides which match
//! is shown, when a join has succeeded and which peers are present; `state.rs` has its states and
//! `transitions.rs` what follows from a change. Absent: sockets, drawing.

mod game;
pub(crate) mod input_latch;
mod requests;
mod state;
mod transitions;
mod world;

use std::error::Error;

use gaggle_kit::{Input, Micros, PeerId, Prng, Slot, SlotSet};
use gaggle_lobby::Label;

use crate::config::RoomConfig;
use crate::lobby_room::{LobbyAction, LobbyRoom};
use crate::phase::{Phase, Stall};
use crate::platform::Platform;

pub use game::GameEngine;
pub use requests::{Requests, StateShape};
pub use world::WorldEngine;

/// One match on this peer, and its transitions to other matches. Implemented by [`GameEngine`],
/// [`WorldEngine`]
/// and [`Requests`]; use the aliases [`GameRoom`](crate::GameRoom),
/// [`WorldRoom`](crate::WorldRoom) and [`RequestRoom`](crate::RequestRoom).
///
/// The trait is sealed: its methods need the lobby side of a room, which is private.
pub trait Engine: sealed::Sealed + Sized {
    /// Rules all peers of a match must agree on.
    type Config;
    /// Initial content of a match: the game, or the world.
    type Content;
    /// Input of one player in one tick.
    type Input: Input;
    /// Counters since the shown match began.
    type Stats;
    /// A setting that is out of range.
    type Error: Error;

    /// Starts to play `content` without other peers.
    #[doc(hidden)]
    fn create(
        now: Micros,
        config: &RoomConfig<Self::Config>,
        content: Self::Content,
        rng: &mut Prng,
    ) -> Result<Self, Self::Error>;

    /// Identity by which the lobby matches peers.
    #[doc(hidden)]
    fn build_id(&self, config: &RoomConfig<Self::Config>) -> Label;

    /// Whether a referee on the server seals the inputs of matches: then it is the only link.
    #[doc(hidden)]
    fn has_referee(config: &RoomConfig<Self::Config>) -> bool {
        let _ = config;
        false
    }

    /// Takes over settings that a player chose while `previous` was shown.
    #[doc(hidden)]
    fn keep_choices_of(&mut self, previous: &Self);

    #[doc(hidden)]
    fn set_input(&mut self, player: usize, input: Self::Input);

    /// Carries out an action the lobby side requests.
    #[doc(hidden)]
    fn handle_action<P: Platform>(&mut self, room: &mut LobbyRoom<Self::Config, P>, action: LobbyAction);

    /// Removes a peer that left the room a while ago from the match.
    #[doc(hidden)]
    fn remove_peer<P: Platform>(&mut self, room: &mut LobbyRoom<Self::Config, P>, peer: PeerId);

    /// Receives, ticks, sends. Before each tick `input` may give a local player's input. Returns
    /// the number of ticks.
    #[doc(hidden)]
    fn update<P: Platform>(
        &mut self,
        room: &mut LobbyRoom<Self::Config, P>,
        input: &mut dyn FnMut(&Self, usize) -> Option<Self::Input>,
    ) -> u32;

    #[doc(hidden)]
    fn suspend<P: Platform>(&mut self, room: &mut LobbyRoom<Self::Config, P>);

    #[doc(hidden)]
    fn resume<P: Platform>(&mut self, room: &mut LobbyRoom<Self::Config, P>);

    /// Leaves the match and the room; the lobby keeps the reservation for a moment if `is_reload`.
    #[doc(hidden)]
    fn leave<P: Platform>(&mut self, room: &mut LobbyRoom<Self::Config, P>, is_reload: bool);

    #[doc(hidden)]
    fn phase(&self) -> Phase;

    /// Whether the local players take part in the room's match.
    #[doc(hidden)]
    fn is_playing(&self) -> bool;

    #[doc(hidden)]
    fn alpha_permille(&self) -> u32;

    #[doc(hidden)]
    fn stats(&self) -> Self::Stats;

    #[doc(hidden)]
    fn local_slots(&self) -> SlotSet;

    /// The slots of a peer's players in the shown match.
    #[doc(hidden)]
    fn slots_of<P: Platform>(&self, room: &LobbyRoom<Self::Config, P>, peer: PeerId) -> SlotSet;

    #[doc(hidden)]
    fn leader<P: Platform>(&self, room: &LobbyRoom<Self::Config, P>) -> Option<PeerId>;

    /// Scores by peer; a peer's score is that of its first player.
    #[doc(hidden)]
    fn scores_by_peer<P: Platform>(
        &self,
        room: &LobbyRoom<Self::Config, P>,
        scores: &[(Slot, i64)],
    ) -> Vec<(PeerId, i64)>;

    /// Peers that the shown match waits for. A world of replicated objects waits for none.
    #[doc(hidden)]
    fn stall<P: Platform>(&self, room: &LobbyRoom<Self::Config, P>) -> Option<Stall> {
        let _ = room;
        None
    }
}

/// The score of the first player at each peer: the lobby knows one player at a peer, by its lowest
/// slot.
fn first_scores(
    scores: &[(Slot, i64)],
    slots: impl Iterator<Item = (PeerId, SlotSet)>,
) -> Vec<(PeerId, i64)> {
    let first = |slots: SlotSet| {
        scores.iter().filter(|(slot, _)| slots.contains(*slot)).min_by_key(|(slot, _)| *slot)
    };
    slots.filter_map(|(peer, slots)| Some((peer, first(slots)?.1))).collect()
}

pub(crate) mod sealed {
    pub trait Sealed {}
}
