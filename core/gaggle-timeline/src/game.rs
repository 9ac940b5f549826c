//! The trait a game implements to run on a timeline.
//!
//! `Timeline` calls it. Absent: sessions, packets, drawing.

use gaggle_kit::{Input, SlotSet, State};

use crate::Inputs;

/// Parameters that all peers of a match start with: see [`Game::on_start`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatchStart<'a> {
    /// A random number, equal on every peer and different for each match.
    pub seed: u64,
    /// Number of the match in its room, from 1.
    pub round: u32,
    /// Slots of the players the match starts with.
    pub slots: SlotSet,
    /// Settings of the room: a JSON object that only the game understands.
    pub settings: &'a str,
}

/// A game whose whole state is one value, advanced only by [`Game::tick`].
///
/// The state contains everything that influences later frames: positions, timers, scores, the
/// random generator. Data that is only shown (particles, the camera, sounds) stays outside;
/// otherwise it would be rolled back with the rest.
///
/// `tick` must give the same result on every machine: no clock, no global, no `HashMap` order, no
/// floating point. It may run several times for one frame, first with predicted and then with real
/// input; [`check_determinism`](crate::check_determinism) tests whether your game permits this.
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

    /// Makes the state in which all players start a match together, for example a map drawn from
    /// the seed. The result must be the same on every peer. Peers that join later get the state of
    /// the match instead.
    fn on_start(&mut self, start: &MatchStart<'_>) {
        let _ = start;
    }

    /// Simulates one step. Read every input through `inputs`: the questions asked there decide
    /// which frames are resimulated when a prediction was wrong.
    fn tick(&mut self, inputs: &Inputs<'_, Self::Input>);
}
