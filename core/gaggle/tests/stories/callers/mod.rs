//! A caller of a request room that keeps a game's state by itself, as an ECS or a script does.

use gaggle::kit::{decode_state, encode_state};
use gaggle::timeline::{Inputs, MatchStart};
use gaggle::{Game, Simulate};

/// The single current state, and the one that a match begins with.
#[derive(Debug, Clone)]
pub(crate) struct Held<G> {
    pub(crate) game: G,
    initial: G,
}

impl<G: Game> Held<G> {
    pub(crate) fn new(game: G) -> Held<G> {
        Held { initial: game.clone(), game }
    }
}

impl<G: Game> Simulate<G::Input> for Held<G> {
    type Saved = G;

    fn start(&mut self, start: &MatchStart<'_>) {
        self.game = self.initial.clone();
        self.game.on_start(start);
    }

    fn advance(&mut self, inputs: &Inputs<'_, G::Input>) {
        self.game.tick(inputs);
    }

    fn save(&mut self) -> G {
        self.game.clone()
    }

    fn load(&mut self, saved: &G) {
        self.game = saved.clone();
    }

    fn encode(&self, saved: &G) -> Vec<u8> {
        encode_state(saved)
    }

    fn decode(&self, bytes: &[u8]) -> Option<G> {
        decode_state(bytes).ok()
    }
}
