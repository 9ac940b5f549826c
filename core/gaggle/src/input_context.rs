//! Inputs computed from the state before their tick. Engines make the context, the caller's closure
//! reads it. Absent: latching, slots of other players.

use gaggle_kit::{Input, Slot};
use gaggle_timeline::Game;

use crate::engine::{Engine, GameEngine, Requests, WorldEngine};
use crate::world::World;

/// State before a tick, from which the closure of [`Room::update_with`](crate::Room::update_with)
/// computes an input.
#[derive(Debug)]
pub struct InputContext<'a, E> {
    /// The local player, counted from 0.
    pub player: usize,
    engine: &'a E,
}

impl<'a, E: Engine> InputContext<'a, E> {
    pub(crate) fn new(player: usize, engine: &'a E) -> InputContext<'a, E> {
        InputContext { player, engine }
    }

    /// The slot of the player; none while spectating.
    pub fn slot(&self) -> Option<Slot> {
        self.engine.local_slots().iter().nth(self.player)
    }
}

impl<'a, G: Game + Clone> InputContext<'a, GameEngine<G>> {
    /// The game before the tick.
    pub fn game(&self) -> &'a G {
        self.engine.game()
    }
}

impl<'a, I: Input> InputContext<'a, Requests<I>> {
    /// The session of the shown match.
    pub fn session(&self) -> &'a gaggle_timeline::Match<I> {
        self.engine.session()
    }
}

impl<'a, W: World> InputContext<'a, WorldEngine<W>> {
    /// This peer's own data beside the objects.
    pub fn world(&self) -> &'a W {
        self.engine.world()
    }

    /// The objects before the tick.
    pub fn session(&self) -> &'a gaggle_replica::Session {
        self.engine.session()
    }
}
