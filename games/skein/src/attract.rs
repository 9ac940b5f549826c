//! Demo behind the menu: four bots, one flight after another.
//!
//! Called by the menu. Absent: sounds, words.

use gaggle_scene::Scene;

use crate::bots::{Bot, Strength};
use crate::pad::Pad;
use crate::sky::PX;
use crate::stage::{Audience, Stage};
use crate::{Phase, SEATS, Setup, Skein};

/// Frames of one flight: forty seconds of waves, or of a boss.
const FRAMES: u32 = 2_400;
/// Number of bots.
const CREW: usize = 4;
/// Stages and waves to begin with, one after another. Wave 8 is the boss, with half its hit points,
/// so that bots show how it ends.
const BEGINNINGS: [(u8, u8); 2] = [(2, 2), (4, 8)];

/// Bots in flight.
#[derive(Debug, Clone)]
pub struct Attract {
    seed: u64,
    round: u64,
    game: Skein,
    before: Skein,
    bots: Vec<Bot>,
}

impl Attract {
    /// A demo at its first flight. Equal seeds give equal demos.
    pub fn new(seed: u64) -> Attract {
        Attract::round(seed, 0)
    }

    fn round(seed: u64, round: u64) -> Attract {
        let (stage, wave) = BEGINNINGS[(round % BEGINNINGS.len() as u64) as usize];
        let game = Skein::new(Setup { stage, wave, ..Setup::default() }, seed.wrapping_add(round));
        let strengths = [Strength::Sharp, Strength::Steady, Strength::Sharp, Strength::Fledgling];
        let bots = (0..CREW).map(|seat| Bot::new(seat, strengths[seat], seed.wrapping_add(round)));
        Attract { seed, round, game, before: game, bots: bots.collect() }
    }

    /// Current state of the flight.
    pub fn game(&self) -> &Skein {
        &self.game
    }

    /// Runs one frame.
    pub fn step(&mut self) {
        if self.game.frame >= FRAMES || self.game.course.phase == Phase::Over {
            *self = Attract::round(self.seed, self.round + 1);
        }
        let mut pads = [Pad::NONE; SEATS];
        for bot in &mut self.bots {
            pads[bot.seat()] = bot.play(&self.game);
        }
        self.before = self.game;
        self.game.step(&pads, std::array::from_fn(|seat| seat < CREW));
        if self.game.frame == 1 && self.game.boss.is_here() {
            self.game.boss = self.game.boss.half_beaten();
        }
    }

    /// Most active place, in pixels: the leader of the V.
    pub fn liveliest(&self) -> (i32, i32) {
        let point = self.game.geese.iter().max_by_key(|goose| goose.wake.followers);
        point.map_or((200, 180), |goose| (goose.x / PX + 40, goose.y / PX))
    }

    /// Draws the moment at this fraction, 0 to 1, between the last two frames.
    pub fn draw(&self, stage: &mut Stage, between: f32, calm: bool, scene: &mut Scene) {
        let audience = Audience { calm, plain: true, bare: true, ..Audience::default() };
        stage.draw(&self.game, &self.before, between, &audience, scene);
        scene.cues.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flights_follow_each_other_and_are_worth_watching() {
        let mut attract = Attract::new(4);
        let mut rounds = 0;
        let mut points = 0;
        let mut halves = 0;
        for _ in 0..3 * FRAMES {
            let before = attract.round;
            let boss = attract.game().boss;
            halves += u32::from(boss.kind == 4 && boss.hp == boss.full / 2);
            points = points.max(attract.game().geese.iter().map(|goose| goose.tally.score).sum());
            attract.step();
            if attract.round != before {
                assert!(points > 500, "{points} points in flight {before}");
                (rounds, points) = (rounds + 1, 0);
            }
        }
        assert!(rounds >= 2, "{rounds}");
        assert!(halves > 0, "Old Hern is met with half its hurts");
    }
}
