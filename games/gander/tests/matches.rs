//! Whole matches of bots: no wave gets stuck, and difficulty is as intended.

use gander::bots::{Bot, Strength};
use gander::score::ENDLESS;
use gander::{Gander, Mode, Pad, Phase, SEATS, Setup};

struct Match {
    game: Gander,
    bots: Vec<Bot>,
}

impl Match {
    fn new(setup: Setup, seed: u64, strengths: &[Strength]) -> Match {
        let bots = strengths.iter().enumerate().map(|(seat, strength)| Bot::new(seat, *strength, seed));
        Match { game: Gander::new(setup, seed), bots: bots.collect() }
    }

    fn step(&mut self) {
        let mut pads = [Pad::NONE; SEATS];
        let mut present = [false; SEATS];
        for bot in &mut self.bots {
            pads[bot.seat()] = bot.play(&self.game);
            present[bot.seat()] = true;
        }
        self.game.step(&pads, present);
    }

    /// Plays until `wave` begins or the match is over. True if the wave begins.
    fn reaches(&mut self, wave: u16) -> bool {
        while self.game.wave.phase != Phase::Over {
            if self.game.wave.number >= wave {
                return true;
            }
            self.step();
        }
        false
    }
}

#[test]
fn bots_with_endless_geese_pass_wave_twenty() {
    for (seed, mode) in [(1, Mode::Team), (2, Mode::Versus)] {
        let setup = Setup { mounts: ENDLESS, mode, ..Setup::default() };
        let mut played = Match::new(setup, seed, &[Strength::Steady; SEATS]);
        let mut began = 0;
        for wave in 2..=21 {
            while played.game.wave.number < wave {
                played.step();
                let seconds = (played.game.frame - began) / 60;
                assert!(seconds < 180, "wave {} of seed {seed} lasts more than 3 minutes", wave - 1);
            }
            began = played.game.frame;
        }
    }
}

/// Number of matches in which one bot passes the first five waves.
fn pass_wave_five(strength: Strength, seeds: std::ops::Range<u64>) -> usize {
    seeds.filter(|seed| Match::new(Setup::default(), *seed, &[strength]).reaches(6)).count()
}

#[test]
fn sharp_bot_alone_passes_wave_five_in_half_of_matches() {
    let passed = pass_wave_five(Strength::Sharp, 0..200);
    assert!(passed >= 100, "{passed} of 200");
}
