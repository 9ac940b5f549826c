//! A match of gander played by bots, from a seed: what pictures and curves are made of.

use clap::{Args, ValueEnum};
use gander::bots::{Bot, Strength};
use gander::score::ENDLESS;
use gander::{Gander, Mode, Pad, Phase, SEATS, Setup};

/// Options that select a match.
#[derive(Args, Debug, Clone)]
pub(crate) struct MatchOptions {
    /// What all chance of the match comes from
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// How many bots play, 1 to 4
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=4))]
    pub(crate) players: u8,
    /// How good they are
    #[arg(long, value_enum, default_value_t = Skill::Sharp)]
    pub(crate) skill: Skill,
    /// Knights can unseat each other
    #[arg(long)]
    pub(crate) versus: bool,
    /// Geese never run out
    #[arg(long)]
    pub(crate) endless: bool,
    /// The wave to begin with
    #[arg(long, default_value_t = 1)]
    pub(crate) wave: u16,
}

/// A strength by name.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Skill {
    Fledgling,
    Steady,
    Sharp,
}

impl From<Skill> for Strength {
    fn from(skill: Skill) -> Strength {
        match skill {
            Skill::Fledgling => Strength::Fledgling,
            Skill::Steady => Strength::Steady,
            Skill::Sharp => Strength::Sharp,
        }
    }
}

/// Names for bots, so that pictures look inhabited.
pub(crate) const NAMES: [&str; SEATS] = ["Wren", "Hob", "Ottilie", "Big Tam"];

/// A match and those who play it.
pub(crate) struct BotMatch {
    /// The state now.
    pub(crate) game: Gander,
    /// The state one frame ago.
    pub(crate) before: Gander,
    bots: Vec<Bot>,
}

impl BotMatch {
    pub(crate) fn new(options: &MatchOptions) -> BotMatch {
        let mode = if options.versus { Mode::Versus } else { Mode::Team };
        let mounts = if options.endless { ENDLESS } else { Setup::default().mounts };
        let game = Gander::new(Setup { mode, mounts, first_wave: options.wave }, options.seed);
        let bots =
            (0..usize::from(options.players)).map(|seat| Bot::new(seat, options.skill.into(), options.seed));
        BotMatch { game, before: game, bots: bots.collect() }
    }

    /// One frame, and what everybody did in it.
    pub(crate) fn step(&mut self) -> [Pad; SEATS] {
        let mut pads = [Pad::NONE; SEATS];
        let mut present = [false; SEATS];
        for bot in &mut self.bots {
            pads[bot.seat()] = bot.play(&self.game);
            present[bot.seat()] = true;
        }
        self.before = self.game;
        self.game.step(&pads, present);
        pads
    }

    /// Up to a frame.
    pub(crate) fn run_to(&mut self, frame: u32) {
        while self.game.frame < frame {
            self.step();
        }
    }

    /// Whether the match has ended.
    pub(crate) fn over(&self) -> bool {
        self.game.wave.phase == Phase::Over
    }
}
