//! Matches of bots for the title screen; the arcade steps and draws them.
//!
//! Absent: players, sounds.

use gaggle_scene::Scene;

use crate::bots::{Bot, Strength};
use crate::field::SEATS;
use crate::stage::{Audience, Stage};
use crate::{Drake, Phase, Setup, Sitting};

/// Skills by seat, unequal so that rounds end.
const CREW: [Strength; SEATS] = [
    Strength::Sharp,
    Strength::Steady,
    Strength::Fledgling,
    Strength::Steady,
    Strength::Sharp,
    Strength::Fledgling,
];

/// A series of matches of bots.
#[derive(Debug, Clone)]
pub struct Attract {
    game: Drake,
    bots: [Bot; SEATS],
}

impl Attract {
    /// The first match of the series; equal seeds show the same.
    pub fn new(seed: u64) -> Attract {
        let game = Drake::new(Setup { fill: 5, wins: 2 }, seed);
        Attract { game, bots: std::array::from_fn(|seat| Bot::new(seat, CREW[seat], seed)) }
    }

    /// State of the present match.
    pub fn game(&self) -> &Drake {
        &self.game
    }

    /// Advances the match by one frame.
    pub fn step(&mut self) {
        let pads = std::array::from_fn(|seat| self.bots[seat].play(&self.game));
        // Without players the countdown is three times as fast.
        if self.game.bout.phase == Phase::Countdown {
            self.game.bout.since += 2;
        }
        self.game.step(&pads, &[Sitting::Nobody; SEATS]);
    }

    /// Draws the match, as [`Stage::draw`] but without sounds.
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
    fn attract_plays_rounds_with_at_least_three_downs_each() {
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
