//! What is heard, and how it is made: every sound is a recipe for a synthesizer.
//!
//! Called by the stage with every picture. Absent: pictures.

use gaggle_scene::{Cue, CueId, FilterKind, Recipe, Voice, Wave};

use super::Audience;
use crate::cue::{Kind, Mark};
use crate::{Gosling, Reed, SEATS};

/// Frames for which each picture repeats a cue, in case pictures are skipped.
const RECENT: u32 = 15;
/// Distance, in cells, up to which other goslings are heard: twenty tiles.
const HEARD_CELLS: i32 = 10;
/// Most sounds of other goslings at once.
const OTHERS_MAX: usize = 6;

use FilterKind::{Band, Low};
use Wave::{Noise, Saw, Sine, Square, Triangle};

const fn v(wave: Wave, from: f32, to: f32, length: f32, gain: f32) -> Voice {
    Voice::new(wave, from, to, length, gain)
}

const fn r(name: &'static str, spread: f32, voices: &'static [Voice]) -> Recipe {
    Recipe { name, spread, voices }
}

macro_rules! crumbs {
    ($($pitch:literal)*) => { [$(r("crumb", 0.0, &[v(Triangle, $pitch, $pitch, 35.0, 0.3)])),*] };
}

/// Crumbs, whose pitch climbs with the load: twelve steps.
const CRUMBS: [Recipe; 12] =
    crumbs!(784.0 822.0 862.0 904.0 948.0 994.0 1042.0 1093.0 1146.0 1202.0 1259.0 1319.0);

const OTHERS: [Recipe; 16] = [
    r(
        "bank",
        0.0,
        &[
            v(Triangle, 523.0, 523.0, 70.0, 0.4),
            v(Triangle, 659.0, 659.0, 70.0, 0.4).after(70.0),
            v(Triangle, 784.0, 784.0, 70.0, 0.4).after(140.0),
        ],
    ),
    r(
        "bank dozen",
        0.0,
        &[
            v(Triangle, 523.0, 523.0, 70.0, 0.4),
            v(Triangle, 659.0, 659.0, 70.0, 0.4).after(70.0),
            v(Triangle, 784.0, 784.0, 70.0, 0.4).after(140.0),
            v(Triangle, 1047.0, 1047.0, 120.0, 0.4).after(210.0),
        ],
    ),
    r("turn", 0.05, &[v(Noise, 0.0, 0.0, 40.0, 0.12).through(Band, 900.0, 500.0, 1.2)]),
    r(
        "dash",
        0.02,
        &[
            v(Sine, 70.0, 64.0, 300.0, 0.3),
            v(Noise, 0.0, 0.0, 260.0, 0.35).through(Low, 700.0, 240.0, 0.9),
            v(Saw, 90.0, 150.0, 200.0, 0.15).through(Low, 600.0, 400.0, 0.7),
        ],
    ),
    r(
        "caught",
        0.0,
        &[
            v(Noise, 0.0, 0.0, 180.0, 0.5).through(Low, 1800.0, 300.0, 0.7),
            v(Triangle, 700.0, 240.0, 220.0, 0.4).after(40.0),
        ],
    ),
    r(
        "feather",
        0.0,
        &[
            v(Triangle, 392.0, 784.0, 200.0, 0.4).wavering(6.0),
            v(Saw, 247.0, 330.0, 260.0, 0.35).through(Low, 1500.0, 900.0, 0.8).after(160.0),
        ],
    ),
    r("goose over", 0.0, &[v(Triangle, 784.0, 392.0, 260.0, 0.3)]),
    r(
        "sent home",
        0.0,
        &[
            v(Sine, 160.0, 480.0, 120.0, 0.4),
            v(Square, 1318.0, 1310.0, 120.0, 0.2).through(Low, 4000.0, 1500.0, 0.7).after(60.0),
        ],
    ),
    r(
        "scattered",
        0.0,
        &[
            v(Saw, 440.0, 330.0, 160.0, 0.4).through(Low, 1600.0, 900.0, 0.8),
            v(Triangle, 1319.0, 1319.0, 35.0, 0.3),
            v(Triangle, 1202.0, 1202.0, 35.0, 0.3).after(30.0),
            v(Triangle, 1093.0, 1093.0, 35.0, 0.3).after(60.0),
            v(Triangle, 994.0, 994.0, 35.0, 0.3).after(90.0),
            v(Triangle, 904.0, 904.0, 35.0, 0.3).after(120.0),
            v(Triangle, 784.0, 784.0, 35.0, 0.3).after(150.0),
        ],
    ),
    r("crust", 0.0, &[v(Triangle, 659.0, 988.0, 120.0, 0.35)]),
    r("clash", 0.04, &[v(Noise, 0.0, 0.0, 90.0, 0.35).through(Band, 700.0, 300.0, 1.0)]),
    r(
        "half a minute",
        0.0,
        &[
            v(Square, 293.7, 293.7, 110.0, 0.3).through(Low, 1800.0, 1200.0, 0.7),
            v(Square, 293.7, 293.7, 110.0, 0.3).through(Low, 1800.0, 1200.0, 0.7).after(180.0),
        ],
    ),
    r("last ten", 0.0, &[v(Square, 293.7, 293.7, 110.0, 0.3).through(Low, 1800.0, 1200.0, 0.7)]),
    r(
        "over",
        0.0,
        &[
            v(Saw, 293.7, 293.7, 260.0, 0.3).through(Low, 1200.0, 800.0, 0.8),
            v(Saw, 261.6, 261.6, 260.0, 0.3).through(Low, 1200.0, 800.0, 0.8).after(240.0),
            v(Saw, 220.0, 220.0, 260.0, 0.3).through(Low, 1200.0, 800.0, 0.8).after(480.0),
            v(Saw, 146.8, 146.8, 600.0, 0.3).through(Low, 1000.0, 500.0, 0.8).after(720.0),
        ],
    ),
    r("join", 0.0, &[v(Triangle, 523.3, 659.3, 120.0, 0.3)]),
    r("begin", 0.0, &[v(Square, 587.3, 587.3, 260.0, 0.3).through(Low, 1800.0, 1200.0, 0.7)]),
];

/// The sounds of the game, in the order of their numbers: twelve crumbs, then the others.
pub const RECIPES: [Recipe; 28] = {
    let mut all = [CRUMBS[0]; 28];
    let mut nth = 0;
    while nth < 28 {
        all[nth] = if nth < 12 { CRUMBS[nth] } else { OTHERS[nth - 12] };
        nth += 1;
    }
    all
};

/// Number of the sound of a turn, which has no mark.
const TURN: u16 = 14;

/// The number of the recipe of a mark, and whether only its player hears it.
fn recipe(mark: &Mark) -> Option<(u16, bool)> {
    Some(match mark.kind {
        Kind::Bank if mark.value >= 15 => (13, false),
        Kind::Bank => (12, false),
        Kind::Dash => (15, false),
        Kind::Caught => (16, false),
        Kind::Feather => (17, false),
        Kind::GooseOver => (18, true),
        Kind::SentHome => (19, false),
        Kind::Scattered => (20, false),
        Kind::Crust => (21, true),
        Kind::Clash => (22, false),
        Kind::Late => (23, false),
        Kind::Last => (24, false),
        Kind::Over => (25, false),
        Kind::Join => (26, false),
        Kind::Begin => (27, false),
        Kind::None | Kind::Lead | Kind::Leave => return None,
    })
}

/// What is to be heard at this frame.
pub(super) fn cues(now: &Gosling, reed: &Reed, audience: &Audience<'_>, hero: usize, out: &mut Vec<Cue>) {
    let (x, y) = reed.spot(now.chicks[hero].at.cell);
    let mut others = 0;
    for mark in now.marks.recent(now.frame, RECENT) {
        let is_clock = matches!(mark.kind, Kind::Late | Kind::Last | Kind::Over | Kind::Begin);
        let is_own = mark.kind != Kind::Dash && !is_clock && audience.is_own(mark.who.into());
        let Some((recipe, is_private)) = recipe(mark) else { continue };
        let (mx, my) = reed.spot(mark.cell);
        let (dx, dy) = (mx as i32 - x as i32, my as i32 - y as i32);
        let is_near = dx.abs().max(dy.abs()) <= HEARD_CELLS;
        if !is_own && !is_clock {
            if is_private || !is_near || others >= OTHERS_MAX {
                continue;
            }
            others += 1;
        }
        let id = CueId { frame: mark.frame, kind: mark.kind as u16, who: mark.who.into() };
        let pan = if is_clock { 0 } else { (dx * 10).clamp(-100, 100) as i8 };
        out.push(Cue { id, recipe, pan, own: is_own || is_clock, apart: 0 });
    }
    for slot in (0..SEATS).filter(|slot| audience.is_own(*slot)) {
        let chick = &now.chicks[slot];
        let since = |frame: u16| u32::from((now.frame as u16).wrapping_sub(frame));
        if chick.load > 0 && since(chick.fed) < RECENT {
            let id = CueId { frame: now.frame - since(chick.fed), kind: 0x100, who: slot as u16 };
            out.push(Cue { id, recipe: u16::from(chick.load.min(12)) - 1, pan: 0, own: true, apart: 0 });
        }
        if chick.turned > 0 && since(chick.turned) < RECENT {
            let id = CueId { frame: now.frame - since(chick.turned), kind: 0x101, who: slot as u16 };
            out.push(Cue { id, recipe: TURN, pan: 0, own: true, apart: 0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recipe_is_heard_and_exists() {
        let mut used = [false; RECIPES.len()];
        used[..12].fill(true);
        used[usize::from(TURN)] = true;
        for number in 0..=16_u8 {
            let bytes = [0, 0, 0, 0, number, 0, 0, 0, 0];
            let Ok(mark) = gaggle_kit::decode_state::<Mark>(&bytes) else { continue };
            for value in [0, 15] {
                if let Some((recipe, _)) = recipe(&Mark { value, ..mark }) {
                    used[usize::from(recipe)] = true;
                }
            }
        }
        assert!(used.iter().all(|used| *used), "{used:?}");
        assert_eq!(RECIPES[usize::from(TURN)].name, "turn");
        assert!(RECIPES.iter().all(|recipe| !recipe.voices.is_empty()));
    }
}
