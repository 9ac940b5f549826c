//! What a screen shows while nobody plays: bots, one match after another.

use gaggle_scene::Scene;

use crate::bots::{Bot, Strength};
use crate::field::SEATS;
use crate::stage::{Audience, Stage};
use crate::{Drake, Phase, Setup, Sitting};

/// Who plays: not all equally good, or nobody would ever fall.
const CREW: [Strength; SEATS] = [
    Strength::Sharp,
    Strength::Steady,
    Strength::Fledgling,
    Strength::Steady,
    Strength::Sharp,
    Strength::Fledgling,
];

/// Bots at play.
#[derive(Debug, Clone)]
pub struct Attract {
    game: Drake,
    bots: [Bot; SEATS],
}

impl Attract {
    /// The first of many matches. Equal seeds show the same.
    pub fn new(seed: u64) -> Attract {
        let game = Drake::new(Setup { fill: 5, wins: 2 }, seed);
        Attract { game, bots: std::array::from_fn(|seat| Bot::new(seat, CREW[seat], seed)) }
    }

    /// The match now.
    pub fn game(&self) -> &Drake {
        &self.game
    }

    /// Advances by one frame.
    pub fn step(&mut self) {
        let pads = std::array::from_fn(|seat| self.bots[seat].play(&self.game));
        // Nobody is here to wait for: the countdown is short.
        if self.game.bout.phase == Phase::Countdown {
            self.game.bout.since += 2;
        }
        self.game.step(&pads, &[Sitting::Nobody; SEATS]);
    }

    /// The match as a picture, so much (0 to 1) of a frame after the last but one. Nothing is
    /// heard: nobody has asked for it yet.
    pub fn draw(&self, stage: &mut Stage, between: f32, calm: bool, scene: &mut Scene) {
        let audience = Audience { calm, plain: true, ..Audience::default() };
        stage.draw(&self.game, between, &audience, scene);
        scene.cues.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_round_follows_another_and_there_is_something_to_see() {
        let mut attract = Attract::new(4);
        let (mut rounds, mut downs) = (0, 0);
        for _ in 0..20_000 {
            let before = attract.game.bout.phase;
            attract.step();
            if before == Phase::Play && attract.game.bout.phase == Phase::Result {
                rounds += 1;
                downs += attract.game.seats.iter().map(|seat| u32::from(seat.downs)).sum::<u32>();
            }
        }
        assert!(rounds >= 4 && downs >= rounds * 3, "{rounds} rounds, {downs} downs");
    }
}
