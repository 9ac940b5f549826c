//! A match of gander played by bots, determined by a seed.
//!
//! Called by all commands that show or measure matches. Absent: pictures.

use clap::{Args, ValueEnum};
use gander::bots::{Bot, Strength};
use gander::score::ENDLESS;
use gander::{Gander, Mode, Pad, Phase, SEATS, Setup};

/// Options that select a match.
#[derive(Args, Debug, Clone)]
pub(crate) struct MatchOptions {
    /// Seed of all random numbers of the match
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Number of bots, 1 to 4
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=4))]
    pub(crate) players: u8,
    /// Strength of the bots
    #[arg(long, value_enum, default_value_t = Skill::Sharp)]
    pub(crate) skill: Skill,
    /// Knights can unseat each other
    #[arg(long)]
    pub(crate) versus: bool,
    /// Geese never run out
    #[arg(long)]
    pub(crate) endless: bool,
    /// Wave to start with
    #[arg(long, default_value_t = 1)]
    pub(crate) wave: u16,
}

/// Strength of a bot, by name.
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

/// Display names of bots in pictures.
pub(crate) const NAMES: [&str; SEATS] = ["Wren", "Hob", "Ottilie", "Big Tam"];

/// A match and its bots.
pub(crate) struct BotMatch {
    /// State of the current frame.
    pub(crate) game: Gander,
    /// State one frame before.
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

    /// Plays one frame. Returns the pads of all slots.
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

    /// Plays up to a frame, or to the end of the match.
    pub(crate) fn run_to(&mut self, frame: u32) {
        while self.game.frame < frame {
            self.step();
        }
    }

    /// Whether the match is over.
    pub(crate) fn over(&self) -> bool {
        self.game.wave.phase == Phase::Over
    }
}
