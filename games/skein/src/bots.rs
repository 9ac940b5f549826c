//! Bots: they see what a player sees, use the same pad, and have three strengths.
//!
//! Called by pages, tests and tools. Absent: changes of the state.

use gaggle_kit::Prng;

use crate::course::Phase;
use crate::pad::Pad;
use crate::pilot::{Skill, steer};
use crate::{SEATS, Skein};

/// How good a bot is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strength {
    /// Slow to notice, poor judge of distances.
    Fledgling,
    /// Decent, the default.
    #[default]
    Steady,
    /// Rarely hit at all.
    Sharp,
}

/// Parameters of a strength.
struct Nerve {
    /// Reaction time in frames.
    reaction: u8,
    /// Largest error of a judged distance, in pixels.
    error: i32,
    /// Space that it keeps free around its box, in pixels.
    margin: i32,
}

const NERVES: [Nerve; 3] = [
    Nerve { reaction: 14, error: 5, margin: 4 },
    Nerve { reaction: 8, error: 3, margin: 4 },
    Nerve { reaction: 4, error: 1, margin: 4 },
];

/// A bot for one slot.
#[derive(Debug, Clone)]
pub struct Bot {
    seat: usize,
    strength: Strength,
    random: Prng,
    rest: u8,
    pad: Pad,
    /// Pad decided at the last look, which it holds from the next look on.
    decided: Pad,
    /// Whether it flies in formation with the others.
    pub in_formation: bool,
}

impl Bot {
    /// A bot for a slot. Equal seeds play alike.
    pub fn new(seat: usize, strength: Strength, seed: u64) -> Bot {
        let random = Prng::stream(seed, seat as u64);
        Bot {
            seat: seat.min(SEATS - 1),
            strength,
            random,
            rest: 0,
            pad: Pad::NONE,
            decided: Pad::NONE,
            in_formation: true,
        }
    }

    /// The slot it plays.
    pub fn seat(&self) -> usize {
        self.seat
    }

    /// Pad of the next frame, from the state of this one.
    pub fn play(&mut self, game: &Skein) -> Pad {
        if game.course.phase == Phase::Over {
            // A bot may also ask for another run.
            return Pad::NONE.with(Pad::HONK, self.random.chance(1, 30));
        }
        let nerve = &NERVES[self.strength as usize];
        if self.rest > 0 {
            self.rest -= 1;
            // A honk is a press, so it is held for one frame.
            self.pad = Pad::of_bits(self.pad.bits() & !Pad::HONK.bits());
            return self.pad;
        }
        self.rest = nerve.reaction - 1;
        let error = self.random.range(-nerve.error..=nerve.error);
        let skill = Skill {
            reach: 28 + error,
            margin: (nerve.margin + error).max(0),
            in_formation: self.in_formation,
            honks: true,
            hold: nerve.reaction.into(),
            lag: nerve.reaction.into(),
            held: self.decided,
        };
        // The pad decided at the last look is held from this one on.
        self.pad = self.decided;
        (self.decided, _) = steer(game, self.seat, skill);
        self.pad
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Setup;

    fn survive(strength: Strength, seed: u64) -> u32 {
        let mut game = Skein::new(Setup { stage: 2, ..Setup::default() }, seed);
        let mut bot = Bot::new(0, strength, seed);
        let mut present = [false; SEATS];
        present[0] = true;
        while game.course.phase != Phase::Over && game.frame < 60 * 600 {
            let mut pads = [Pad::NONE; SEATS];
            pads[0] = bot.play(&game);
            game.step(&pads, present);
        }
        game.frame
    }

    #[test]
    fn sharp_bot_outlives_fledgling() {
        let sum = |strength| (0..4).map(|seed| survive(strength, seed)).sum::<u32>();
        assert!(sum(Strength::Sharp) > sum(Strength::Fledgling));
    }
}
