//! What a game has to be to run on a timeline.

use gaggle_kit::{Input, SlotSet, State};

use crate::Inputs;

/// What the peers that start a match together have in common: see [`Game::on_start`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatchStart<'a> {
    /// A random number, the same on every peer and another one for each match.
    pub seed: u64,
    /// Number of the match in its room, from 1.
    pub round: u32,
    /// Slots of the players it starts with.
    pub slots: SlotSet,
    /// Settings of the room: a JSON object that only the game understands.
    pub settings: &'a str,
}

/// A game whose whole state is one value and whose only way forward is [`Game::tick`].
///
/// The state is everything that decides what happens next: positions, timers, scores, the random
/// generator. What is only looked at (particles, the camera, sounds) stays outside, or it would be
/// rolled back with the rest.
///
/// `tick` must give the same result on every machine: no clock, no global, no `HashMap` order, no
/// floating point. It may run any number of times for one frame, with guessed input first and the
/// real input later; [`check_determinism`](crate::check_determinism) finds out whether yours bears
/// it.
///
/// ```
/// use gaggle_kit::{Slot, State};
/// use gaggle_timeline::{Game, Inputs};
///
/// #[derive(Clone, State)]
/// struct TugOfWar { rope: i32 }
///
/// impl Game for TugOfWar {
///     type Input = bool; // pulling or not
///
///     fn tick(&mut self, inputs: &Inputs<'_, bool>) {
///         self.rope += i32::from(inputs.get(Slot::at(0))) - i32::from(inputs.get(Slot::at(1)));
///     }
/// }
/// ```
pub trait Game: State {
    /// What one player does in one frame.
    type Input: Input;

    /// All players start a match together from this state, which is the same on every peer: draw a
    /// map from the seed, read the room's settings. The result must be the same on every peer, too.
    /// Peers that join later get the state of the match instead.
    fn on_start(&mut self, start: &MatchStart<'_>) {
        let _ = start;
    }

    /// One step. Read every input through `inputs`: what you ask there decides what must be
    /// simulated again when a guess turns out wrong.
    fn tick(&mut self, inputs: &Inputs<'_, Self::Input>);
}
