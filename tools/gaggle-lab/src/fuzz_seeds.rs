//! Seeds for the fuzzers of gander: states of various moments, and scripts of rosters and pads.
//!
//! Run it again whenever the state changes. Called by `main.rs`. Absent: the fuzz targets
//! (`fuzz/`).

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use gaggle_kit::{Prng, encode_state};
use gander::egg::EggPhase;
use gander::{Gander, Phase};

use crate::bot_match::{BotMatch, MatchOptions, Skill};

/// Options of the seeds.
#[derive(Args)]
pub(crate) struct Options {
    /// Folder of the fuzzers' corpora
    #[arg(long, short, default_value = "fuzz/corpus")]
    out: PathBuf,
}

/// A state that a seed starts from.
struct Moment {
    name: &'static str,
    wave: u16,
    players: u8,
    versus: bool,
    skill: Skill,
    found: fn(&Gander) -> bool,
}

const MOMENTS: [Moment; 6] = [
    Moment {
        name: "wave_one",
        wave: 1,
        players: 4,
        versus: false,
        skill: Skill::Steady,
        found: |game| game.frame > 200,
    },
    Moment {
        name: "bridges_burn",
        wave: 3,
        players: 2,
        versus: false,
        skill: Skill::Steady,
        found: |game| game.bridges.burnt == 60,
    },
    Moment {
        name: "herns_and_jousts",
        wave: 18,
        players: 4,
        versus: true,
        skill: Skill::Steady,
        found: |game| game.herns.iter().filter(|hern| hern.tangible()).count() > 1 && eggs(game) > 2,
    },
    Moment {
        name: "egg_wave",
        wave: 10,
        players: 3,
        versus: false,
        skill: Skill::Fledgling,
        found: |game| game.eggs.iter().any(|egg| egg.bird.coming),
    },
    Moment {
        name: "clutch",
        wave: 12,
        players: 4,
        versus: false,
        skill: Skill::Steady,
        found: |game| game.clutch.holds().is_some(),
    },
    Moment {
        name: "over",
        wave: 40,
        players: 1,
        versus: false,
        skill: Skill::Fledgling,
        found: |game| game.wave.phase == Phase::Over,
    },
];

/// Four bytes of a setup and a number of steps of two bytes, as the fuzz target reads them.
const SCRIPTS: [(&str, [u8; 4], usize); 4] = [
    ("coming_and_going", [0, 5, 1, 7], 200),
    ("versus_late", [1, 3, 43, 1], 120),
    ("endless", [0, 255, 12, 2], 100),
    ("no_geese", [1, 0, 255, 3], 40),
];

fn eggs(game: &Gander) -> usize {
    game.eggs.iter().filter(|egg| egg.phase != EggPhase::None).count()
}

pub(crate) fn write(options: &Options) -> Result<String, String> {
    for (number, moment) in (0..).zip(&MOMENTS) {
        let bytes = encode_state(&reach(moment)?);
        let pressed = 0b1010_0110_u8.rotate_left(number);
        save(&options.out, "gander_snapshot", moment.name, &[&[pressed], &bytes[..]].concat())?;
        save(&options.out, "gander_picture", moment.name, &bytes)?;
    }
    let mut random = Prng::new(9);
    for (name, setup, steps) in SCRIPTS {
        let mut bytes = setup.to_vec();
        for step in 0..steps {
            let most = if step % 40 == 39 { 7 } else { 15 };
            let present = if name == "coming_and_going" { random.below(16) as u8 } else { most };
            bytes.extend([random.below(256) as u8, present]);
        }
        save(&options.out, "gander_play", name, &bytes)?;
    }
    Ok(format!("{}: {} moments, {} scripts", options.out.display(), MOMENTS.len(), SCRIPTS.len()))
}

/// State of the first match in which this moment occurs within a minute.
fn reach(moment: &Moment) -> Result<Gander, String> {
    let Moment { wave, players, versus, skill, found, name } = *moment;
    for seed in 0..2000 {
        let mut played = BotMatch::new(&MatchOptions { seed, players, skill, versus, endless: false, wave });
        for _ in 0..3600 {
            played.step();
            if found(&played.game) {
                return Ok(played.game);
            }
        }
    }
    Err(format!("no match reached {name} within a minute"))
}

fn save(out: &Path, target: &str, name: &str, bytes: &[u8]) -> Result<(), String> {
    let folder = out.join(target);
    let written = fs::create_dir_all(&folder).and_then(|()| fs::write(folder.join(name), bytes));
    written.map_err(|error| format!("{}: {error}", folder.display()))
}
