//! The scene behind the menu: twelve bots, one round after another.
//!
//! Called by the menu. Absent: sounds, words.

use gaggle_kit::{Frame, SlotSet};
use gaggle_scene::Scene;
use gaggle_timeline::{Game, Inputs};

use crate::stage::{Audience, Stage};
use crate::{Gosling, SEATS, Setup, Strength};

/// Frames of one round: ninety seconds.
const FRAMES: u16 = 2_700;
/// Distance to a pike, in cells, up to which the camera prefers a gosling: eight tiles.
const NEAR: u8 = 4;
/// Frames the camera stays with a gosling.
const STAY_FRAMES: u32 = 90;

/// Bots in the reed.
#[derive(Debug, Clone)]
pub struct Attract {
    game: Gosling,
    before: Gosling,
    watched: usize,
}

impl Attract {
    /// Begins the first round. Equal seeds show the same.
    pub fn new(seed: u64) -> Attract {
        let setup = Setup { round_frames: FRAMES, strength: Some(Strength::Sharp), ..Setup::default() };
        let game = Gosling::new(setup, seed);
        Attract { before: game.clone(), game, watched: 0 }
    }

    /// State of the round.
    pub fn game(&self) -> &Gosling {
        &self.game
    }

    /// Plays one frame.
    pub fn step(&mut self) {
        self.before.clone_from(&self.game);
        let frame = Frame::new(self.game.frame.wrapping_add(1));
        self.game.tick(&Inputs::confirmed(frame, &[], SlotSet::EMPTY));
        if self.game.frame.is_multiple_of(STAY_FRAMES) || !self.game.chicks[self.watched].is_swimming() {
            self.watched = self.liveliest();
        }
    }

    /// The gosling to watch: a goose, else one with a pike near, else the one that carries most.
    pub fn liveliest(&self) -> usize {
        let (game, reed) = (&self.game, self.game.reed());
        let is_hunted = |slot: usize| {
            let cell = reed.near(game.chicks[slot].at);
            game.pikes.iter().any(|pike| pike.is_out && reed.distance(pike.at.cell, cell) <= NEAR)
        };
        let swimming = (0..SEATS).filter(|slot| game.chicks[*slot].is_swimming());
        swimming
            .max_by_key(|slot| (game.chicks[*slot].is_goose(), is_hunted(*slot), game.chicks[*slot].load))
            .unwrap_or(0)
    }

    /// Draws the round, `between` (0 to 1) of a frame after the last but one.
    pub fn draw(&self, stage: &mut Stage, between: f32, calm: bool, scene: &mut Scene) {
        let watched = Some(self.watched);
        let audience = Audience { calm, plain: true, bare: true, watched, ..Audience::default() };
        stage.draw(&self.game, &self.before, between, &audience, scene);
        scene.cues.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_follow_each_other_and_are_worth_watching() {
        let mut attract = Attract::new(4);
        let (mut watched, mut most) = (Vec::new(), 0);
        while attract.game().clock.round < 3 {
            attract.step();
            most = most.max(attract.game().scores[0] + attract.game().scores[1]);
            if !watched.contains(&attract.watched) {
                watched.push(attract.watched);
            }
        }
        assert!(most > 60, "{most} banked");
        assert!(watched.len() > 3, "{watched:?}");
    }
}
