//! A beginner against the bots of a first match. The beginner is a script: it reacts late, decides
//! seldom, aims at past positions, and uses neither dashes nor loads.

use std::collections::VecDeque;

use drake::bots::{Bot, LEVEL_MAX, Strength};
use drake::{Drake, Form, Pad, Phase, SEATS, Setup, Sitting, field};
use gaggle_kit::{Angle, Prng};

/// Frames from screen to button: a quarter of a second.
const REACTION: usize = 15;
/// Frames from one decision to the next.
const DECIDES_EVERY: u32 = 6;
/// Error of aim the beginner accepts: 20 degrees.
const ON_TARGET: u16 = 3_600;
/// Error in its idea of its own heading: 14 degrees in either direction.
const MISJUDGED: i32 = 2_500;
/// Seat that the beginner plays.
const SEAT: usize = 0;

struct Beginner {
    /// Directions of the target that are still on their way to the beginner.
    screen: VecDeque<Angle>,
    pad: Pad,
    random: Prng,
    frame: u32,
}

impl Beginner {
    fn new(seed: u64) -> Beginner {
        Beginner { screen: VecDeque::new(), pad: Pad::NONE, random: Prng::new(seed), frame: 0 }
    }

    fn play(&mut self, game: &Drake) -> Pad {
        self.frame += 1;
        let Some(own) = game.body(SEAT).filter(|_| game.bout.phase == Phase::Play) else {
            self.screen.clear();
            return Pad::NONE;
        };
        let others = (0..SEATS).filter(|seat| *seat != SEAT).filter_map(|seat| game.body(seat));
        let nearest = others.map(|craft| craft.place).min_by_key(|there| distance(own.place, *there));
        let home = game.seats[SEAT].form == Form::Duckling;
        let target = if home { field::nest(SEAT) } else { nearest.unwrap_or(field::MIDDLE) };
        self.screen.push_back(field::direction(field::offset(own.place, target)));
        if self.screen.len() <= REACTION {
            return Pad::NONE;
        }
        let there = self.screen.pop_front().expect("the queue is longer than REACTION");
        if self.frame.is_multiple_of(DECIDES_EVERY) {
            let wrong = self.random.range(-MISJUDGED..=MISJUDGED) as i16;
            let heading = Angle::from_bits(own.heading.to_bits().wrapping_add_signed(wrong));
            // One decision in ten: no button.
            self.pad = match heading.delta_to(there).unsigned_abs() {
                _ if self.random.chance(1, 10) => Pad::NONE,
                off if off <= ON_TARGET => Pad::FIRE,
                _ => Pad { turn: true, fire: self.random.chance(1, 6) },
            };
        }
        self.pad
    }
}

fn distance(a: field::Vec2, b: field::Vec2) -> gaggle_kit::Fixed16 {
    field::length(field::offset(a, b))
}

/// Rounds of a beginner against three bots of a level: how many, and how many it won.
fn rounds(level: u8, seeds: std::ops::Range<u64>) -> (u32, u32) {
    let (mut played, mut won) = (0, 0);
    for seed in seeds {
        let mut game = Drake::new(Setup { wins: u8::MAX, ..Setup::default() }, seed);
        let mut bots: [Bot; SEATS] =
            std::array::from_fn(|seat| Bot::new(seat, Strength::at(level, seat), seed));
        let mut beginner = Beginner::new(seed);
        let mut sitting = [Sitting::default(); SEATS];
        sitting[SEAT] = Sitting::Player;
        for _ in 0..60 * 240 {
            let pads = std::array::from_fn(|seat| match seat {
                SEAT => beginner.play(&game),
                _ => bots[seat].play(&game),
            });
            let before = game.bout.phase;
            game.step(&pads, &sitting);
            if before == Phase::Play && game.bout.phase == Phase::Result {
                played += 1;
                won += u32::from(game.bout.winner == Some(SEAT as u8));
            }
        }
    }
    (played, won)
}

#[test]
fn beginner_wins_third_of_rounds_against_first_bots() {
    let (played, won) = rounds(0, 0..16);
    println!("{won} of {played} rounds won against the first bots");
    assert!(played >= 45, "only {played} rounds were played");
    assert!(won * 3 >= played, "{won} of {played} rounds");
    // Control: against the best bots the same player wins fewer than one round in eight.
    let (played, won) = rounds(LEVEL_MAX, 0..16);
    println!("{won} of {played} rounds won against the best bots");
    assert!(won * 8 < played, "{won} of {played} rounds");
}
