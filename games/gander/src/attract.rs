//! Demo of bots, one match after another, for an idle screen.
//!
//! Called by pages while no game runs. Absent: input and sound.

use gaggle_scene::Scene;

use crate::bots::{Bot, Strength};
use crate::flow::Phase;
use crate::pad::Pad;
use crate::player::SEATS;
use crate::stage::{Audience, Stage};
use crate::{Gander, Mode, Setup};

/// Most frames of one demo match: two minutes.
const FRAMES_MAX: u32 = 7200;
/// Frames the final table of a match is shown.
const END_FRAMES: u16 = 240;
/// First waves of the matches in turn: quiet, busy, eggs, a Hern, missing ledges.
const FIRST_WAVES: [u16; 5] = [1, 7, 5, 8, 12];
/// Strengths of the bots. With equal ones no knight would ever fall.
const CREW: [Strength; SEATS] = [Strength::Sharp, Strength::Steady, Strength::Sharp, Strength::Fledgling];

/// A demo in progress.
#[derive(Debug, Clone)]
pub struct Attract {
    seed: u64,
    round: u64,
    game: Gander,
    before: Gander,
    bots: [Bot; SEATS],
}

impl Attract {
    /// Starts the first match. Equal seeds show the same matches.
    pub fn new(seed: u64) -> Attract {
        Attract::round(seed, 0)
    }

    fn round(seed: u64, round: u64) -> Attract {
        let mode = if round % 3 == 2 { Mode::Versus } else { Mode::Team };
        let first_wave = FIRST_WAVES[(round % FIRST_WAVES.len() as u64) as usize];
        let seed_now = seed.wrapping_add(round);
        let game = Gander::new(Setup { mode, mounts: 3, first_wave }, seed_now);
        let bots =
            std::array::from_fn(|seat| Bot::new(seat, CREW[(seat + round as usize) % SEATS], seed_now));
        Attract { seed, round, game, before: game, bots }
    }

    /// State of the current match.
    pub fn game(&self) -> &Gander {
        &self.game
    }

    /// Advances by one frame, and to the next match after the end of this one.
    pub fn step(&mut self) {
        let over = self.game.wave.phase == Phase::Over && self.game.wave.left >= END_FRAMES;
        if over || self.game.frame >= FRAMES_MAX {
            *self = Attract::round(self.seed, self.round + 1);
        }
        // After the end bots do nothing, so that the table stays.
        let ended = self.game.wave.phase == Phase::Over;
        let pads =
            std::array::from_fn(|seat| if ended { Pad::NONE } else { self.bots[seat].play(&self.game) });
        // Bots arrive one after another.
        let present = std::array::from_fn(|seat| self.game.frame >= seat as u32 * 40);
        self.before = self.game;
        self.game.step(&pads, present);
    }

    /// Draws the match, `between` (0 to 1) frames after the last but one, without sounds.
    pub fn draw(&self, stage: &mut Stage, between: f32, calm: bool, scene: &mut Scene) {
        let audience = Audience { calm, plain: true, ..Audience::default() };
        stage.draw(&self.game, &self.before, between, &audience, scene);
        scene.cues.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demo_matches_follow_each_other_and_score_points() {
        let mut attract = Attract::new(4);
        let (mut rounds, mut points) = (0, 0);
        for _ in 0..5 * FRAMES_MAX {
            let before = attract.round;
            points = points.max(attract.game().players.iter().map(|player| player.score).sum());
            attract.step();
            if attract.round != before {
                assert!(points > 2000, "{points} points in a whole match");
                (rounds, points) = (rounds + 1, 0);
            }
        }
        assert!(rounds >= 4, "{rounds}");
    }
}
