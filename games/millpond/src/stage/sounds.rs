//! Sounds: recipes for a synthesizer, and a cue (which sound, where, whose) for each game event
//! (`Mark`) of the last 30 frames.
//!
//! `Stage` collects the cues, the arcade's audio plays them. Absent: audio output.

use gaggle_scene::{Cue, CueId, FilterKind, Recipe, Voice, Wave};

use super::{Audience, WINDOW};
use crate::mark::What;
use crate::pond::Pond;

use FilterKind::{Band, Low};
use Wave::{Noise, Saw, Sine, Triangle};

/// Age in frames up to which game events become cues.
const RECENT: u32 = 30;

const fn v(wave: Wave, from: f32, to: f32, length: f32, gain: f32) -> Voice {
    Voice::new(wave, from, to, length, gain)
}

/// All sounds of the game, indexed by [`Cue::recipe`].
pub const RECIPES: [Recipe; 12] = [
    Recipe {
        name: "oar",
        spread: 0.08,
        voices: &[v(Noise, 0.0, 0.0, 130.0, 0.22).through(Band, 700.0, 300.0, 1.1)],
    },
    Recipe {
        name: "bump",
        spread: 0.08,
        voices: &[
            v(Triangle, 170.0, 90.0, 80.0, 0.4),
            v(Noise, 0.0, 0.0, 90.0, 0.2).through(Low, 900.0, 300.0, 0.7),
        ],
    },
    Recipe {
        name: "tow",
        spread: 0.03,
        voices: &[v(Triangle, 294.0, 294.0, 60.0, 0.35), v(Triangle, 392.0, 392.0, 80.0, 0.35).after(60.0)],
    },
    Recipe {
        name: "drop",
        spread: 0.05,
        voices: &[
            v(Noise, 0.0, 0.0, 220.0, 0.35).through(Low, 1400.0, 300.0, 0.7),
            v(Sine, 140.0, 70.0, 140.0, 0.35),
        ],
    },
    Recipe { name: "taken", spread: 0.0, voices: &[v(Triangle, 220.0, 196.0, 160.0, 0.35)] },
    Recipe {
        name: "stack",
        spread: 0.03,
        voices: &[v(Triangle, 210.0, 160.0, 70.0, 0.45), v(Triangle, 523.0, 523.0, 90.0, 0.3).after(70.0)],
    },
    Recipe {
        name: "brought",
        spread: 0.0,
        voices: &[
            v(Triangle, 523.3, 523.3, 70.0, 0.45),
            v(Triangle, 659.3, 659.3, 70.0, 0.45).after(70.0),
            v(Triangle, 784.0, 784.0, 140.0, 0.45).after(140.0),
        ],
    },
    Recipe {
        name: "bell",
        spread: 0.0,
        voices: &[
            v(Sine, 392.0, 390.0, 2400.0, 0.5),
            v(Sine, 932.0, 930.0, 1400.0, 0.3),
            v(Sine, 1245.0, 1243.0, 900.0, 0.2),
            v(Noise, 0.0, 0.0, 12.0, 0.4),
        ],
    },
    Recipe {
        name: "sluice",
        spread: 0.0,
        voices: &[
            v(Noise, 0.0, 0.0, 1800.0, 0.4).through(Low, 300.0, 1600.0, 0.7),
            v(Saw, 70.0, 55.0, 500.0, 0.3).through(Low, 400.0, 300.0, 0.7),
        ],
    },
    Recipe {
        name: "day",
        spread: 0.0,
        voices: &[
            v(Triangle, 392.0, 392.0, 160.0, 0.45),
            v(Triangle, 494.0, 494.0, 160.0, 0.45).after(150.0),
            v(Triangle, 587.3, 587.3, 160.0, 0.45).after(300.0),
            v(Triangle, 784.0, 784.0, 500.0, 0.5).after(450.0),
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
        voices: &[v(Triangle, 659.3, 659.3, 90.0, 0.3), v(Triangle, 440.0, 440.0, 120.0, 0.3).after(90.0)],
    },
];

/// Index of an event's recipe; none if it is silent.
pub fn recipe(what: What) -> Option<u16> {
    Some(match what {
        What::None => return None,
        What::Stroke => 0,
        What::Bump => 1,
        What::Tow | What::Unstack => 2,
        What::Drop => 3,
        What::Refused => 4,
        What::Stack => 5,
        What::Delivered => 6,
        What::Bell => 7,
        What::Sluice => 8,
        What::Day => 9,
        What::Join => 10,
        What::Leave => 11,
    })
}

/// Adds the cues of recent game events near the window, and of those that concern all players.
pub(super) fn cues(pond: &Pond, audience: &Audience<'_>, camera: (f32, f32), out: &mut Vec<Cue>) {
    for mark in pond.marks.recent(pond.frame, RECENT) {
        let Some(recipe) = recipe(mark.what) else { continue };
        let (x, y) = (f32::from(mark.x) - camera.0, f32::from(mark.y) - camera.1);
        let far =
            !(-60.0..(WINDOW.0 + 60) as f32).contains(&x) || !(-60.0..(WINDOW.1 + 60) as f32).contains(&y);
        let own = audience.own.get(usize::from(mark.who)).copied().unwrap_or(false);
        let for_all = matches!(
            mark.what,
            What::Bell | What::Sluice | What::Day | What::Delivered | What::Join | What::Leave
        );
        if far && !own && !for_all {
            continue;
        }
        let half = (WINDOW.0 / 2) as f32;
        let pan = ((x - half) * 100.0 / half).clamp(-100.0, 100.0) as i8;
        let id = CueId { frame: mark.frame, kind: mark.what as u16, who: u16::from(mark.who) };
        let apart = if mark.what == What::Bump { 8 } else { 0 };
        out.push(Cue { id, recipe, pan, own, apart });
    }
}
