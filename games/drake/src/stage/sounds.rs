//! Sounds: recipes for a synthesizer, and a cue (which sound, where, whose) for each game event
//! (`Mark`) of the last 30 frames.
//!
//! `Stage` collects the cues, the arcade's audio plays them. Absent: audio output.

use gaggle_scene::{Cue, CueId, FilterKind, Recipe, Voice, Wave};

use super::Audience;
use crate::Drake;
use crate::field::WIDTH;
use crate::mark::What;

use FilterKind::{Band, High, Low};
use Wave::{Noise, Saw, Sine, Square, Triangle};

/// Age in frames up to which game events become cues.
const RECENT: u32 = 30;

const fn v(wave: Wave, from: f32, to: f32, length: f32, gain: f32) -> Voice {
    Voice::new(wave, from, to, length, gain)
}

/// All sounds of the game, indexed by [`Cue::recipe`].
pub const RECIPES: [Recipe; 22] = [
    Recipe {
        name: "pea",
        spread: 0.05,
        voices: &[
            v(Sine, 520.0, 190.0, 60.0, 0.4),
            v(Noise, 0.0, 0.0, 22.0, 0.25).through(Band, 1800.0, 900.0, 1.0),
        ],
    },
    Recipe {
        name: "dash",
        spread: 0.04,
        voices: &[
            v(Noise, 0.0, 0.0, 240.0, 0.45).through(Band, 500.0, 2200.0, 1.1),
            v(Saw, 120.0, 320.0, 180.0, 0.2).through(Low, 1200.0, 500.0, 0.7),
        ],
    },
    Recipe { name: "bump", spread: 0.06, voices: &[v(Triangle, 150.0, 80.0, 60.0, 0.35)] },
    Recipe {
        name: "crack",
        spread: 0.06,
        voices: &[
            v(Noise, 0.0, 0.0, 160.0, 0.5).through(Low, 2600.0, 500.0, 0.8),
            v(Square, 190.0, 70.0, 90.0, 0.2),
        ],
    },
    Recipe {
        name: "tick",
        spread: 0.05,
        voices: &[v(Noise, 0.0, 0.0, 20.0, 0.4).through(High, 2500.0, 2500.0, 0.7)],
    },
    Recipe {
        name: "down",
        spread: 0.02,
        voices: &[
            v(Saw, 470.0, 105.0, 380.0, 0.5).through(Low, 1300.0, 900.0, 0.8).wavering(8.0),
            v(Noise, 0.0, 0.0, 260.0, 0.4).through(Low, 1800.0, 300.0, 0.7),
        ],
    },
    Recipe {
        name: "shell breaks",
        spread: 0.03,
        voices: &[
            v(Square, 1318.0, 1310.0, 130.0, 0.25).through(Low, 5000.0, 1500.0, 0.7),
            v(Noise, 0.0, 0.0, 60.0, 0.4).through(High, 1800.0, 1800.0, 0.7),
        ],
    },
    Recipe {
        name: "caught",
        spread: 0.03,
        voices: &[
            v(Triangle, 980.0, 420.0, 110.0, 0.45),
            v(Triangle, 420.0, 300.0, 120.0, 0.35).after(110.0),
        ],
    },
    Recipe {
        name: "home",
        spread: 0.0,
        voices: &[
            v(Triangle, 587.3, 587.3, 80.0, 0.45),
            v(Triangle, 740.0, 740.0, 80.0, 0.45).after(80.0),
            v(Triangle, 880.0, 880.0, 150.0, 0.45).after(160.0),
        ],
    },
    Recipe {
        name: "egg",
        spread: 0.0,
        voices: &[v(Triangle, 659.3, 659.3, 60.0, 0.5), v(Triangle, 880.0, 880.0, 90.0, 0.5).after(60.0)],
    },
    Recipe { name: "puffball laid", spread: 0.04, voices: &[v(Sine, 240.0, 130.0, 90.0, 0.4)] },
    Recipe {
        name: "puffball bursts",
        spread: 0.04,
        voices: &[
            v(Sine, 140.0, 38.0, 420.0, 0.65),
            v(Noise, 0.0, 0.0, 380.0, 0.55).through(Low, 1500.0, 200.0, 0.7),
        ],
    },
    Recipe {
        name: "hornet",
        spread: 0.04,
        voices: &[v(Saw, 210.0, 240.0, 420.0, 0.3).through(Band, 900.0, 1400.0, 1.4).wavering(22.0)],
    },
    Recipe { name: "lantern glows", spread: 0.0, voices: &[v(Sine, 330.0, 1320.0, 260.0, 0.35)] },
    Recipe {
        name: "lantern burns",
        spread: 0.02,
        voices: &[
            v(Saw, 98.0, 92.0, 400.0, 0.4).through(Low, 2400.0, 700.0, 1.0),
            v(Square, 392.0, 370.0, 380.0, 0.2).through(Low, 3000.0, 900.0, 0.8),
            v(Noise, 0.0, 0.0, 380.0, 0.25).through(High, 1500.0, 700.0, 0.7),
        ],
    },
    Recipe {
        name: "whirl",
        spread: 0.0,
        voices: &[
            v(Triangle, 392.0, 784.0, 220.0, 0.4).wavering(6.0),
            v(Triangle, 784.0, 392.0, 260.0, 0.4).after(220.0).wavering(6.0),
        ],
    },
    Recipe {
        name: "count",
        spread: 0.0,
        voices: &[v(Square, 293.7, 293.7, 110.0, 0.3).through(Low, 1800.0, 1200.0, 0.7)],
    },
    Recipe {
        name: "brawl",
        spread: 0.0,
        voices: &[
            v(Square, 587.3, 587.3, 260.0, 0.3).through(Low, 2600.0, 1200.0, 0.7),
            v(Saw, 146.8, 146.8, 300.0, 0.35).through(Low, 900.0, 900.0, 0.7),
        ],
    },
    Recipe {
        name: "round",
        spread: 0.0,
        voices: &[
            v(Saw, 293.7, 293.7, 180.0, 0.35).through(Low, 900.0, 900.0, 0.7),
            v(Saw, 370.0, 370.0, 180.0, 0.35).through(Low, 900.0, 900.0, 0.7).after(140.0),
            v(Saw, 440.0, 440.0, 300.0, 0.4).through(Low, 900.0, 900.0, 0.7).after(280.0),
        ],
    },
    Recipe {
        name: "match",
        spread: 0.0,
        voices: &[
            v(Triangle, 587.3, 587.3, 110.0, 0.45),
            v(Triangle, 740.0, 740.0, 110.0, 0.45).after(100.0),
            v(Triangle, 880.0, 880.0, 110.0, 0.45).after(200.0),
            v(Triangle, 1174.7, 1174.7, 320.0, 0.5).after(300.0),
        ],
    },
    Recipe {
        name: "join",
        spread: 0.0,
        voices: &[v(Triangle, 440.0, 440.0, 90.0, 0.4), v(Triangle, 659.3, 659.3, 120.0, 0.4).after(90.0)],
    },
    Recipe {
        name: "cheer",
        spread: 0.08,
        voices: &[
            v(Saw, 430.0, 300.0, 90.0, 0.3).through(Band, 1100.0, 800.0, 1.3),
            v(Saw, 400.0, 250.0, 120.0, 0.3).through(Band, 1000.0, 700.0, 1.3).after(120.0),
        ],
    },
];

/// Index of an event's recipe; none if it is silent.
pub fn recipe(what: What) -> Option<u16> {
    Some(match what {
        What::None | What::Offside | What::Leave => return None,
        What::Fire => 0,
        What::Dash => 1,
        What::Bump => 2,
        What::Crack => 3,
        What::Tick => 4,
        What::Down => 5,
        What::ShellBroke => 6,
        What::Caught => 7,
        What::Home => 8,
        What::Egg => 9,
        What::Laid => 10,
        What::Burst => 11,
        What::Hornet => 12,
        What::Glow => 13,
        What::Beam => 14,
        What::Whirl => 15,
        What::Count => 16,
        What::Begin => 17,
        What::Won => 18,
        What::Over => 19,
        What::Join => 20,
        What::Cheer => 21,
    })
}

/// Least frames between two sounds of one craft, for events that may occur in every frame.
const fn apart(what: What) -> u8 {
    match what {
        What::Dash => 12,
        What::Fire | What::Bump | What::Crack | What::Tick => 8,
        _ => 0,
    }
}

/// Adds the cues of recent game events.
pub(super) fn cues(game: &Drake, audience: &Audience<'_>, out: &mut Vec<Cue>) {
    for mark in game.marks.recent(game.frame, RECENT) {
        let Some(recipe) = recipe(mark.what) else { continue };
        let id = CueId { frame: mark.frame, kind: mark.what as u16, who: u16::from(mark.who) };
        let own = |seat: u8| audience.own.get(usize::from(seat)).copied().unwrap_or(false);
        let half = WIDTH / 2;
        let pan = ((i32::from(mark.x) - half) * 100 / half).clamp(-100, 100) as i8;
        out.push(Cue { id, recipe, pan, own: own(mark.who) || own(mark.by), apart: apart(mark.what) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_recipe_is_used_and_each_noisy_event_has_one() {
        let all = [
            What::Fire,
            What::Dash,
            What::Bump,
            What::Crack,
            What::Tick,
            What::Down,
            What::ShellBroke,
            What::Caught,
            What::Home,
            What::Egg,
            What::Laid,
            What::Burst,
            What::Hornet,
            What::Glow,
            What::Beam,
            What::Whirl,
            What::Count,
            What::Begin,
            What::Won,
            What::Over,
            What::Join,
            What::Cheer,
        ];
        let mut used: Vec<u16> = all.into_iter().filter_map(recipe).collect();
        used.sort_unstable();
        assert!(used.into_iter().eq(0..RECIPES.len() as u16));
        assert!(RECIPES.iter().all(|recipe| !recipe.voices.is_empty()));
    }
}
