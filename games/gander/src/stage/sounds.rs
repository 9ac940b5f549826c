//! Sounds of the game: recipes for a synthesizer, and the cues that play them.
//!
//! Called by `stage.rs`; recipes by pages and by checks of balance. Absent: audio devices.

use gaggle_scene::{Cue, CueId, FilterKind, Recipe, Voice, Wave};

use super::Audience;
use crate::Gander;
use crate::arena;
use crate::cue::{Kind, NO_SLOT};
use crate::player::SEATS;
use crate::waves::WaveKind;

/// Frames back for which cues are reported: more than any rollback, less than the rings of events
/// hold.
const RECENT: u32 = 30;

use FilterKind::{Band, High, Low};
use Wave::{Noise, Saw, Sine, Square, Triangle};

const fn v(wave: Wave, from: f32, to: f32, length: f32, gain: f32) -> Voice {
    Voice::new(wave, from, to, length, gain)
}

/// Two rising notes, for an egg.
macro_rules! egg {
    ($name:literal, $second:literal) => {
        Recipe {
            name: $name,
            spread: 0.0,
            voices: &[
                v(Triangle, 659.3, 659.3, 60.0, 0.5),
                v(Triangle, $second, $second, 90.0, 0.5).after(60.0),
            ],
        }
    };
}

/// Horn notes one after another.
macro_rules! horns {
    ($name:literal, $length:literal, $($note:literal),*) => {
        Recipe { name: $name, spread: 0.0, voices: &horn_notes([$($note),*], $length) }
    };
}

const fn horn_notes<const N: usize>(notes: [f32; N], length: f32) -> [Voice; N] {
    let mut voices = [v(Saw, 0.0, 0.0, 0.0, 0.0); N];
    let mut n = 0;
    while n < N {
        voices[n] = v(Saw, notes[n], notes[n], length * 1.3, 0.4)
            .through(Low, 900.0, 900.0, 0.7)
            .after(length * n as f32);
        n += 1;
    }
    voices
}

const FLAP: u16 = 0;
const STEP: u16 = 1;
const SKID: u16 = 2;
const THUD: u16 = 3;
const CLANG: u16 = 4;
const BOUNCE: u16 = 5;
const UNSEATED: u16 = 6;
const SPLASH: u16 = 7;
const EGG: u16 = 8;
const SPARKLE: u16 = 12;
const CRACK: u16 = 13;
const HATCH: u16 = 14;
const HERN: u16 = 15;
const HERN_DOWN: u16 = 16;
const CLUTCH: u16 = 17;
const FREE: u16 = 18;
const WAVE: u16 = 19;
const EGG_WAVE: u16 = 20;
const CLEAR: u16 = 21;
const APPEAR: u16 = 22;
const JOIN: u16 = 23;
const LEAVE: u16 = 24;
const EXTRA: u16 = 25;
const OVER: u16 = 26;
const BURN: u16 = 27;
const RUMBLE: u16 = 28;

/// All sounds of the game; [`Cue::recipe`] is an index of this list.
pub const RECIPES: [Recipe; 29] = [
    Recipe {
        name: "flap",
        spread: 0.04,
        voices: &[
            v(Noise, 0.0, 0.0, 80.0, 0.5).through(Band, 900.0, 350.0, 1.2),
            v(Sine, 180.0, 120.0, 50.0, 0.35),
        ],
    },
    Recipe { name: "step", spread: 0.06, voices: &[v(Triangle, 220.0, 196.0, 18.0, 0.25)] },
    Recipe {
        name: "skid",
        spread: 0.03,
        voices: &[
            v(Noise, 0.0, 0.0, 180.0, 0.3).through(High, 2000.0, 2000.0, 0.7),
            v(Saw, 600.0, 240.0, 180.0, 0.25),
        ],
    },
    Recipe { name: "thud", spread: 0.05, voices: &[v(Triangle, 140.0, 70.0, 60.0, 0.4)] },
    Recipe {
        name: "clang",
        spread: 0.02,
        voices: &[
            v(Square, 523.3, 523.3, 220.0, 0.3).through(Low, 6000.0, 1500.0, 0.7),
            v(Square, 1323.0, 1318.5, 220.0, 0.22).through(Low, 6000.0, 1500.0, 0.7),
            v(Square, 1975.5, 1968.0, 180.0, 0.18).through(Low, 6000.0, 1500.0, 0.7),
            v(Noise, 0.0, 0.0, 6.0, 0.6),
        ],
    },
    Recipe {
        name: "bounce",
        spread: 0.03,
        voices: &[
            v(Square, 349.2, 349.2, 110.0, 0.25).through(Low, 4000.0, 1200.0, 0.7),
            v(Square, 880.0, 878.0, 110.0, 0.2).through(Low, 4000.0, 1200.0, 0.7),
        ],
    },
    Recipe {
        name: "unseated",
        spread: 0.02,
        voices: &[v(Saw, 440.0, 110.0, 350.0, 0.5).through(Low, 1200.0, 1200.0, 0.8).wavering(7.0)],
    },
    Recipe {
        name: "splash",
        spread: 0.05,
        voices: &[
            v(Noise, 0.0, 0.0, 300.0, 0.5).through(Low, 1800.0, 300.0, 0.7),
            v(Sine, 120.0, 45.0, 260.0, 0.5),
        ],
    },
    egg!("egg 1", 784.0),
    egg!("egg 2", 880.0),
    egg!("egg 3", 987.8),
    egg!("egg 4", 1174.7),
    Recipe {
        name: "sparkle",
        spread: 0.0,
        voices: &[
            v(Triangle, 1318.5, 1318.5, 70.0, 0.3),
            v(Triangle, 1760.0, 1760.0, 70.0, 0.3).after(50.0),
            v(Triangle, 2637.0, 2637.0, 120.0, 0.25).after(100.0),
        ],
    },
    Recipe {
        name: "crack",
        spread: 0.05,
        voices: &[
            v(Noise, 0.0, 0.0, 12.0, 0.4).through(High, 1500.0, 1500.0, 0.7),
            v(Noise, 0.0, 0.0, 12.0, 0.4).through(High, 1500.0, 1500.0, 0.7).after(90.0),
            v(Noise, 0.0, 0.0, 12.0, 0.4).through(High, 1500.0, 1500.0, 0.7).after(180.0),
        ],
    },
    Recipe {
        name: "hatch",
        spread: 0.03,
        voices: &[v(Triangle, 300.0, 900.0, 160.0, 0.4), v(Triangle, 1400.0, 1700.0, 30.0, 0.4).after(170.0)],
    },
    Recipe {
        name: "hern",
        spread: 0.02,
        voices: &[
            v(Saw, 90.0, 90.0, 900.0, 0.5).through(Band, 300.0, 1400.0, 2.0),
            v(Saw, 93.0, 93.0, 900.0, 0.5).through(Band, 1400.0, 300.0, 2.0),
        ],
    },
    Recipe {
        name: "hern down",
        spread: 0.0,
        voices: &[
            v(Saw, 140.0, 45.0, 400.0, 0.5).through(Band, 1400.0, 300.0, 2.0),
            v(Saw, 145.0, 47.0, 400.0, 0.5).through(Low, 1200.0, 200.0, 0.7),
        ],
    },
    Recipe {
        name: "clutch",
        spread: 0.0,
        voices: &[
            v(Sine, 55.0, 55.0, 500.0, 0.7),
            v(Noise, 0.0, 0.0, 500.0, 0.4).through(Low, 200.0, 200.0, 0.7),
        ],
    },
    Recipe { name: "free", spread: 0.0, voices: &[v(Sine, 200.0, 800.0, 60.0, 0.6)] },
    horns!("wave", 140.0, 146.8, 220.0, 293.7),
    horns!("egg wave", 140.0, 146.8, 220.0, 349.2),
    Recipe {
        name: "clear",
        spread: 0.0,
        voices: &[v(Triangle, 587.3, 587.3, 90.0, 0.35), v(Triangle, 880.0, 880.0, 160.0, 0.35).after(90.0)],
    },
    Recipe {
        name: "appear",
        spread: 0.02,
        voices: &[
            v(Sine, 220.0, 440.0, 300.0, 0.2),
            v(Noise, 0.0, 0.0, 300.0, 0.1).through(Band, 400.0, 2400.0, 3.0),
        ],
    },
    Recipe {
        name: "join",
        spread: 0.0,
        voices: &[v(Triangle, 440.0, 440.0, 90.0, 0.4), v(Triangle, 659.3, 659.3, 120.0, 0.4).after(90.0)],
    },
    Recipe {
        name: "leave",
        spread: 0.0,
        voices: &[v(Triangle, 659.3, 659.3, 90.0, 0.25), v(Triangle, 440.0, 440.0, 120.0, 0.25).after(90.0)],
    },
    Recipe {
        name: "extra goose",
        spread: 0.0,
        voices: &[
            v(Triangle, 587.3, 587.3, 80.0, 0.4),
            v(Triangle, 740.0, 740.0, 80.0, 0.4).after(80.0),
            v(Triangle, 880.0, 880.0, 80.0, 0.4).after(160.0),
            v(Triangle, 1174.7, 1174.7, 140.0, 0.4).after(240.0),
        ],
    },
    horns!("game over", 260.0, 293.7, 261.6, 220.0, 146.8),
    Recipe {
        name: "burn",
        spread: 0.1,
        voices: &[
            v(Noise, 0.0, 0.0, 900.0, 0.35).through(Low, 900.0, 250.0, 0.7),
            v(Noise, 0.0, 0.0, 4.0, 0.6).after(120.0),
        ],
    },
    Recipe {
        name: "rumble",
        spread: 0.05,
        voices: &[
            v(Noise, 0.0, 0.0, 700.0, 0.5).through(Low, 160.0, 90.0, 0.7),
            v(Sine, 48.0, 38.0, 700.0, 0.5),
        ],
    },
];

/// Index of the sound of an event, if it has one. `step` is the egg's place in its row.
pub fn recipe(kind: Kind, step: u8, wave: WaveKind) -> Option<u16> {
    Some(match kind {
        Kind::Flap => FLAP,
        Kind::Step | Kind::EggDown => STEP,
        Kind::Skid => SKID,
        Kind::Thud => THUD,
        Kind::Clang => CLANG,
        Kind::Bounce => BOUNCE,
        Kind::Unseated => UNSEATED,
        Kind::Splash => SPLASH,
        Kind::EggTaken => EGG + u16::from(step.min(3)),
        Kind::Crack => CRACK,
        Kind::Hatch => HATCH,
        Kind::Cry => HERN,
        Kind::HernDown => HERN_DOWN,
        Kind::Rise | Kind::Grip => CLUTCH,
        Kind::Free => FREE,
        Kind::Wave if wave == WaveKind::Egg => EGG_WAVE,
        Kind::Wave => WAVE,
        Kind::Clear => CLEAR,
        Kind::Appear => APPEAR,
        Kind::Join => JOIN,
        Kind::Leave => LEAVE,
        Kind::ExtraMount => EXTRA,
        Kind::GameOver => OVER,
        Kind::Burn => BURN,
        Kind::LedgeShake | Kind::LedgeDrop | Kind::LedgeRise => RUMBLE,
        Kind::None | Kind::Mounted | Kind::Points => return None,
    })
}

/// Writes the cues of the last frames, also of resimulated ones: the receiver skips those it has
/// played.
pub(super) fn cues(game: &Gander, audience: &Audience<'_>, out: &mut Vec<Cue>) {
    let own = |seat: u8| audience.own.get(usize::from(seat)).copied().unwrap_or(false);
    for mark in game.marks.recent(game.frame, RECENT) {
        let Some(recipe) = recipe(mark.kind, mark.look, game.wave.kind) else { continue };
        let id = CueId { frame: mark.frame, kind: mark.kind as u16, who: u16::from(mark.who) };
        let mine =
            if mark.by == NO_SLOT { usize::from(mark.who) < SEATS && own(mark.who) } else { own(mark.by) };
        let pan = pan(mark.x);
        out.push(Cue { id, recipe, pan, own: mine, apart: 0 });
        // An egg taken in mid-air also sparkles, as a cue of its own.
        if mark.kind == Kind::EggTaken && midair(mark.value, mark.look) {
            let id = CueId { kind: id.kind | 0x100, ..id };
            out.push(Cue { id, recipe: SPARKLE, pan, own: mine, apart: 0 });
        }
    }
    // Riders that have faded after the end are not heard.
    let calm = super::actors::is_calm(game);
    let murmurs = game.murmurs.recent(game.frame, RECENT);
    for murmur in murmurs.filter(|murmur| !calm || usize::from(murmur.who) < SEATS) {
        let Some(recipe) = recipe(murmur.kind, 0, game.wave.kind) else { continue };
        let id = CueId { frame: murmur.frame, kind: murmur.kind as u16, who: u16::from(murmur.who) };
        out.push(Cue { id, recipe, pan: pan(murmur.x), own: own(murmur.who), apart: 0 });
    }
}

/// Whether an egg with these points was taken before it landed.
fn midair(value: u16, step: u8) -> bool {
    use crate::score::{EGG_POINTS, MIDAIR_POINTS};
    let step = usize::from(step).min(EGG_POINTS.len() - 1);
    value == EGG_POINTS[step] + MIDAIR_POINTS
}

fn pan(x: i16) -> i8 {
    let half = arena::WIDTH / 2;
    ((i32::from(x) - half) * 100 / half).clamp(-100, 100) as i8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sound_in_use_has_recipe_and_every_recipe_use() {
        let mut used = [false; RECIPES.len()];
        used[usize::from(SPARKLE)] = true;
        for kind in ALL_KINDS {
            for step in 0..5 {
                for wave in [WaveKind::Plain, WaveKind::Egg] {
                    if let Some(recipe) = recipe(kind, step, wave) {
                        used[usize::from(recipe)] = true;
                    }
                }
            }
        }
        for (recipe, used) in RECIPES.iter().zip(used) {
            assert!(used, "no event plays {}", recipe.name);
            assert!(!recipe.voices.is_empty());
        }
    }

    const ALL_KINDS: [Kind; 28] = [
        Kind::Flap,
        Kind::Step,
        Kind::Skid,
        Kind::Thud,
        Kind::Clang,
        Kind::Bounce,
        Kind::Unseated,
        Kind::Splash,
        Kind::EggTaken,
        Kind::EggDown,
        Kind::Crack,
        Kind::Hatch,
        Kind::Mounted,
        Kind::Cry,
        Kind::HernDown,
        Kind::Rise,
        Kind::Grip,
        Kind::Free,
        Kind::Wave,
        Kind::Clear,
        Kind::Points,
        Kind::Appear,
        Kind::Join,
        Kind::Leave,
        Kind::ExtraMount,
        Kind::GameOver,
        Kind::Burn,
        Kind::LedgeDrop,
    ];
}
