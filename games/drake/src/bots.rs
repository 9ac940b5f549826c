//! Bots: buttons computed from the game a player would see.
//!
//! The leader, `attract` and tests call [`Bot::play`]. Absent: state other players do not see.

use gaggle_kit::{Angle, Fixed16, Prng};

use crate::craft::DRAKE_RADIUS;
use crate::field::{self, SEATS, Vec2};
use crate::pad::Pad;
use crate::shot::SHOT_SPEED;
use crate::standing::Form;
use crate::{Drake, Phase};

/// Skill of a bot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strength {
    /// Slow to decide, often idle, inaccurate: what a beginner meets first.
    Hatchling,
    /// Aims within a wide angle.
    Fledgling,
    /// Aims ahead of a moving target.
    #[default]
    Steady,
    /// Accurate, and dashes.
    Sharp,
}

impl Strength {
    /// Skill of the bot of a seat at a [level](crate::Bout::level).
    pub const fn at(level: u8, seat: usize) -> Strength {
        match (level, seat % 3) {
            (0, _) => Strength::Hatchling,
            (1, 1) | (2.., 0) => Strength::Steady,
            (2.., 1) => Strength::Sharp,
            _ => Strength::Fledgling,
        }
    }
}

/// Highest level: bots do not improve beyond it.
pub const LEVEL_MAX: u8 = 2;

/// Decisions of the bot of one seat.
#[derive(Debug, Clone)]
pub struct Bot {
    seat: usize,
    strength: Strength,
    random: Prng,
    /// Error of its aim until its next decision, in 1/65,536 of a circle.
    error: i16,
    /// Frames until its next decision.
    think: u8,
    /// Frames left of a double tap.
    tapping: u8,
    /// Whether it idles until its next decision.
    idle: bool,
    held: bool,
}

impl Bot {
    /// A bot for a seat; equal seeds play equally.
    pub fn new(seat: usize, strength: Strength, seed: u64) -> Bot {
        let random = Prng::stream(seed, seat as u64);
        Bot { seat: seat % SEATS, strength, random, error: 0, think: 0, tapping: 0, idle: false, held: false }
    }

    /// Changes the skill from the next decision on.
    pub fn set_strength(&mut self, strength: Strength) {
        self.strength = strength;
    }

    /// Buttons for the next frame.
    pub fn play(&mut self, game: &Drake) -> Pad {
        let pad = self.decide(game);
        self.held = pad.turn;
        pad
    }

    fn decide(&mut self, game: &Drake) -> Pad {
        let Some(craft) = game.body(self.seat) else { return Pad::NONE };
        if !matches!(game.bout.phase, Phase::Play) {
            return Pad::NONE;
        }
        self.reconsider();
        if self.tapping > 0 {
            // A double tap: down, up, down.
            self.tapping -= 1;
            return Pad { turn: self.tapping.is_multiple_of(4) && self.tapping < 12, fire: true };
        }
        if game.seats[self.seat].form == Form::Duckling {
            let home = field::nest(self.seat);
            return self.head_for(
                game,
                craft.heading,
                field::direction(field::offset(craft.place, home)),
                6_000,
                true,
            );
        }
        if self.idle {
            return Pad::NONE;
        }
        if self.strength == Strength::Sharp && self.hunted(game, craft.place) {
            self.tapping = 12;
        }
        if let Some(egg) = self.egg_nearby(game, craft.place) {
            let there = field::direction(field::offset(craft.place, egg));
            return self.head_for(game, craft.heading, there, 5_000, true);
        }
        let Some((aim, distance)) = self.prey(game, craft.place) else { return Pad::NONE };
        let there = Angle::from_bits(aim.to_bits().wrapping_add_signed(self.error));
        // A near target fills a wider angle.
        let width = (Fixed16::from_int(90_000) / distance.max(Fixed16::from_int(12)).ceil()).floor();
        let tolerance = width.clamp(700, 3_200) as u16;
        let far = distance > Fixed16::from_int(150);
        self.head_for(game, craft.heading, there, if far { 4_000 } else { tolerance }, true)
    }

    fn reconsider(&mut self) {
        self.think = self.think.saturating_sub(1);
        if self.think > 0 {
            return;
        }
        let (error, idle, rest) = match self.strength {
            Strength::Hatchling => (7_000, (3, 4), 50),
            Strength::Fledgling => (4_200, (1, 4), 50),
            Strength::Steady => (1_900, (1, 9), 34),
            Strength::Sharp => (700, (1, 30), 24),
        };
        self.error = self.random.range(-error..=error) as i16;
        self.idle = self.random.chance(idle.0, idle.1);
        self.think = rest;
    }

    /// Buttons that turn to `there` and then fly. Drakes turn in one direction only, so the bot
    /// releases the button a little early.
    fn head_for(&self, game: &Drake, heading: Angle, there: Angle, tolerance: u16, fire: bool) -> Pad {
        let way = heading.delta_to(there);
        if way.unsigned_abs() <= tolerance {
            let steer = if game.bout.clockwise { way > 300 } else { way < -300 };
            // Keep turning while firing if nearly aligned, unless a new press would be a double
            // tap.
            return Pad { turn: steer && self.held, fire };
        }
        Pad { turn: true, fire: false }
    }

    /// Direction of the aim and distance of the target: the nearest duckling, else the nearest
    /// drake.
    fn prey(&self, game: &Drake, place: Vec2) -> Option<(Angle, Fixed16)> {
        let others = (0..SEATS).filter(|seat| *seat != self.seat && game.seats[*seat].safe < 30);
        let seen = others.filter_map(|seat| {
            let craft = game.body(seat)?;
            let distance = field::length(field::offset(place, craft.place));
            let worth = if game.seats[seat].form == Form::Duckling { distance / 2 } else { distance };
            Some((worth, distance, craft))
        });
        let (_, distance, craft) = seen.min_by_key(|(worth, ..)| *worth)?;
        let leads = matches!(self.strength, Strength::Steady | Strength::Sharp);
        let lead = if leads { distance / SHOT_SPEED } else { Fixed16::ZERO };
        let meeting = field::add(craft.place, craft.velocity.map(|part| part * lead));
        Some((field::direction(field::offset(place, meeting)), distance))
    }

    fn egg_nearby(&self, game: &Drake, place: Vec2) -> Option<Vec2> {
        if game.seats[self.seat].uses > 0 {
            return None;
        }
        let eggs = game.eggs.iter().flatten().map(|egg| egg.place);
        eggs.filter(|egg| field::is_within(place, *egg, 90))
            .min_by_key(|egg| field::length(field::offset(place, *egg)))
    }

    /// Whether a pea or hornet is about to hit it.
    fn hunted(&self, game: &Drake, place: Vec2) -> bool {
        let own = self.seat as u8;
        let hornet = game
            .hornets
            .iter()
            .flatten()
            .any(|hornet| hornet.seat != own && field::is_within(hornet.place, place, 40));
        let beam = game
            .lanterns
            .iter()
            .flatten()
            .any(|lantern| lantern.seat != own && lantern.meets(place, DRAKE_RADIUS + 4));
        hornet || beam
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Setup, Sitting};

    fn rounds_won(strengths: [Strength; SEATS], seed: u64) -> [u32; SEATS] {
        let mut game = Drake::new(Setup { fill: 4, wins: 3 }, seed);
        let mut bots: [Bot; SEATS] = std::array::from_fn(|seat| Bot::new(seat, strengths[seat], seed));
        let mut won = [0; SEATS];
        for _ in 0..30_000 {
            let pads = std::array::from_fn(|seat| bots[seat].play(&game));
            let before = game.bout.phase;
            game.step(&pads, &[Sitting::Nobody; SEATS]);
            let decided = before == Phase::Play && game.bout.phase == Phase::Result;
            if let Some(seat) = game.bout.winner.filter(|_| decided) {
                won[usize::from(seat)] += 1;
            }
        }
        won
    }

    #[test]
    fn sharp_bots_win_more_rounds_than_fledglings() {
        let mut strengths = [Strength::Fledgling; SEATS];
        strengths[1] = Strength::Sharp;
        let mut won = [0; SEATS];
        for seed in 1..=3 {
            for (sum, more) in won.iter_mut().zip(rounds_won(strengths, seed)) {
                *sum += more;
            }
        }
        let all: u32 = won.iter().sum();
        assert!(all >= 15, "rounds end: {won:?}");
        assert!(won[1] * 3 > all, "{won:?}");
    }
}
