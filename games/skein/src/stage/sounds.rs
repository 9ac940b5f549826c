//! Sounds: recipes for a synthesizer, and a cue (which sound, where, whose) for each game event
//! (`Mark`) of the last 30 frames.
//!
//! Called by the stage with every picture. Absent: pictures.

use gaggle_scene::{Cue, CueId, FilterKind, Recipe, Voice, Wave};

use super::Audience;
use crate::cue::{Kind, Mark};
use crate::quill::VOLLEY_FRAMES;
use crate::sky::WIDTH;
use crate::{SEATS, Skein};

/// Frames back over which cues are reported.
const RECENT: u32 = 30;

use FilterKind::{Band, High, Low};
use Wave::{Noise, Saw, Sine, Square, Triangle};

const fn v(wave: Wave, from: f32, to: f32, length: f32, gain: f32) -> Voice {
    Voice::new(wave, from, to, length, gain)
}

const fn r(name: &'static str, spread: f32, voices: &'static [Voice]) -> Recipe {
    Recipe { name, spread, voices }
}

/// The sounds of the game, in the order of their numbers.
pub const RECIPES: [Recipe; 30] = [
    r("volley", 0.06, &[v(Noise, 0.0, 0.0, 26.0, 0.12).through(Band, 3200.0, 1800.0, 1.2)]),
    r(
        "kill",
        0.08,
        &[
            v(Triangle, 300.0, 120.0, 60.0, 0.3),
            v(Noise, 0.0, 0.0, 50.0, 0.25).through(High, 2000.0, 1200.0, 0.7),
        ],
    ),
    r(
        "kill large",
        0.05,
        &[v(Sine, 150.0, 42.0, 380.0, 0.55), v(Noise, 0.0, 0.0, 340.0, 0.5).through(Low, 1600.0, 220.0, 0.7)],
    ),
    r("wake", 0.02, &[v(Triangle, 440.0, 660.0, 90.0, 0.25)]),
    r(
        "point",
        0.0,
        &[v(Triangle, 660.0, 880.0, 80.0, 0.3), v(Triangle, 990.0, 990.0, 120.0, 0.3).after(80.0)],
    ),
    r("winded", 0.03, &[v(Noise, 0.0, 0.0, 260.0, 0.3).through(Band, 500.0, 260.0, 1.4)]),
    r(
        "honk",
        0.03,
        &[
            v(Saw, 330.0, 247.0, 240.0, 0.5).through(Low, 1600.0, 800.0, 0.8).wavering(9.0),
            v(Square, 165.0, 123.0, 240.0, 0.2),
        ],
    ),
    r(
        "chorus",
        0.0,
        &[
            v(Saw, 330.0, 247.0, 240.0, 0.4).through(Low, 1600.0, 800.0, 0.8).wavering(9.0),
            v(Saw, 495.0, 370.0, 240.0, 0.4).through(Low, 2000.0, 1000.0, 0.8).wavering(9.0).after(40.0),
        ],
    ),
    r("peep", 0.02, &[v(Sine, 900.0, 700.0, 20.0, 0.2)]),
    r("graze", 0.1, &[v(Noise, 0.0, 0.0, 14.0, 0.18).through(High, 4200.0, 4200.0, 0.8)]),
    r("fall", 0.02, &[v(Saw, 470.0, 105.0, 380.0, 0.5).through(Low, 1300.0, 900.0, 0.8).wavering(8.0)]),
    r(
        "caught",
        0.0,
        &[v(Triangle, 392.0, 784.0, 140.0, 0.4), v(Triangle, 988.0, 988.0, 120.0, 0.35).after(120.0)],
    ),
    r("lost", 0.0, &[v(Sine, 220.0, 70.0, 500.0, 0.45)]),
    r("crumb", 0.0, &[v(Triangle, 1047.0, 1047.0, 40.0, 0.25)]),
    r("thunder mark", 0.0, &[v(Noise, 0.0, 0.0, 900.0, 0.15).through(Low, 220.0, 160.0, 0.7)]),
    r(
        "thunder",
        0.05,
        &[v(Noise, 0.0, 0.0, 500.0, 0.6).through(Low, 2400.0, 180.0, 0.7), v(Sine, 60.0, 34.0, 600.0, 0.5)],
    ),
    r("boss phase", 0.0, &[v(Saw, 110.0, 73.0, 700.0, 0.4).through(Low, 900.0, 400.0, 0.8)]),
    r(
        "boss down",
        0.0,
        &[
            v(Saw, 147.0, 147.0, 200.0, 0.35).through(Low, 1000.0, 900.0, 0.7),
            v(Saw, 185.0, 185.0, 200.0, 0.35).through(Low, 1000.0, 900.0, 0.7).after(160.0),
            v(Saw, 220.0, 220.0, 200.0, 0.35).through(Low, 1000.0, 900.0, 0.7).after(320.0),
            v(Saw, 294.0, 294.0, 500.0, 0.35).through(Low, 1000.0, 900.0, 0.7).after(480.0),
        ],
    ),
    r("count", 0.0, &[v(Square, 293.7, 293.7, 110.0, 0.3).through(Low, 1800.0, 1200.0, 0.7)]),
    r("off", 0.0, &[v(Square, 587.3, 587.3, 260.0, 0.3).through(Low, 1800.0, 1200.0, 0.7)]),
    r("join", 0.0, &[v(Triangle, 523.3, 659.3, 120.0, 0.3)]),
    r("hurt", 0.1, &[v(Noise, 0.0, 0.0, 30.0, 0.2).through(Band, 1200.0, 800.0, 1.0)]),
    r("warn", 0.02, &[v(Triangle, 587.0, 392.0, 150.0, 0.22)]),
    // A run of crumbs climbs a scale of five notes.
    r("crumb 2", 0.0, &[v(Triangle, 1175.0, 1175.0, 40.0, 0.25)]),
    r("crumb 3", 0.0, &[v(Triangle, 1319.0, 1319.0, 40.0, 0.25)]),
    r("crumb 4", 0.0, &[v(Triangle, 1568.0, 1568.0, 40.0, 0.25)]),
    r("crumb 5", 0.0, &[v(Triangle, 1760.0, 1760.0, 40.0, 0.25)]),
    r("crumb 6", 0.0, &[v(Triangle, 2093.0, 2093.0, 40.0, 0.25)]),
    r("crumb 7", 0.0, &[v(Triangle, 2349.0, 2349.0, 40.0, 0.25)]),
    r("crumb 8", 0.0, &[v(Triangle, 2637.0, 2637.0, 60.0, 0.25)]),
];

/// Recipe of the volley, which has no event.
const VOLLEY: u16 = 0;
/// Numbers of the first crumb of a run, and of the second and the last.
const CRUMB: u16 = 13;
const CRUMBS: (u16, u16) = (23, 29);
/// Frames from one crumb to the next of a run at most.
const RUN_FRAMES: u32 = 40;

/// Recipe number of a game event.
pub fn recipe(mark: &Mark) -> Option<u16> {
    Some(match mark.kind {
        Kind::Kill => 1,
        Kind::KillLarge => 2,
        Kind::Wake => 3,
        Kind::Point => 4,
        Kind::Winded => 5,
        Kind::Honk if mark.value == 0 => 6,
        Kind::Honk => 7,
        Kind::Peep => 8,
        Kind::Graze => 9,
        Kind::Fall => 10,
        Kind::Caught => 11,
        Kind::Lost => 12,
        Kind::Crumb => CRUMB,
        Kind::ThunderMark => 14,
        Kind::Thunder => 15,
        Kind::BossPhase | Kind::BossUp | Kind::Over => 16,
        Kind::BossDown => 17,
        Kind::Wave => 18,
        Kind::Warn => 22,
        Kind::Stage => 19,
        Kind::Join | Kind::Spare | Kind::Roost => 20,
        Kind::Hurt => 21,
        Kind::None | Kind::Leave | Kind::Enter => return None,
    })
}

/// Least frames between two sounds of this kind.
fn apart(kind: Kind) -> u8 {
    match kind {
        Kind::Graze | Kind::Kill => 4,
        Kind::Hurt | Kind::Crumb => 3,
        Kind::Warn => 6,
        Kind::Wake | Kind::Point => 20,
        _ => 0,
    }
}

/// Crumbs the same goose took before this one, without a long pause.
fn run_before(game: &Skein, crumb: &Mark) -> u16 {
    let mut frames: Vec<u32> = game
        .marks
        .recent(game.frame, RECENT + 8 * RUN_FRAMES)
        .filter(|mark| mark.kind == Kind::Crumb && mark.who == crumb.who)
        .map(|mark| crumb.frame.wrapping_sub(mark.frame))
        // What is later than the crumb is not before it.
        .filter(|ago| (1..u32::MAX / 2).contains(ago))
        .collect();
    frames.sort_unstable();
    frames.dedup();
    let mut last = 0;
    let run = frames.into_iter().take_while(|ago| ago - std::mem::replace(&mut last, *ago) <= RUN_FRAMES);
    run.count() as u16
}

/// The recipe of a crumb after so many of its run.
fn in_run(before: u16) -> u16 {
    match before {
        0 => CRUMB,
        _ => (CRUMBS.0 + before - 1).min(CRUMBS.1),
    }
}

/// What is to be heard at this frame.
pub(super) fn cues(game: &Skein, audience: &Audience<'_>, out: &mut Vec<Cue>) {
    let own = |seat: usize| audience.own.get(seat).copied().unwrap_or(false);
    for mark in game.marks.recent(game.frame, RECENT) {
        let is_own = usize::from(mark.who) < SEATS && own(mark.who.into());
        // Events of a single goose are heard by its player only.
        let is_private =
            matches!(mark.kind, Kind::Wake | Kind::Point | Kind::Winded | Kind::Graze | Kind::Peep);
        let Some(mut recipe) = recipe(mark).filter(|_| is_own || !is_private) else { continue };
        if mark.kind == Kind::Crumb {
            recipe = in_run(run_before(game, mark));
        }
        let who = if mark.kind == Kind::Kill { 0 } else { u16::from(mark.who) };
        let id = CueId { frame: mark.frame, kind: mark.kind as u16, who };
        out.push(Cue { id, recipe, pan: pan(mark.x), own: is_own, apart: apart(mark.kind) });
    }
    for (seat, goose) in game.geese[..SEATS].iter().enumerate().filter(|(seat, _)| own(*seat)) {
        let since = game.frame.wrapping_add(3 * seat as u32) % VOLLEY_FRAMES;
        if goose.is_flying() && game.frame > since {
            let id = CueId { frame: game.frame - since, kind: 0x100, who: seat as u16 };
            let pan = pan((goose.x / 256) as i16);
            out.push(Cue { id, recipe: VOLLEY, pan, own: true, apart: 0 });
        }
    }
}

fn pan(x: i16) -> i8 {
    let half = WIDTH / 2;
    ((i32::from(x) - half) * 100 / half).clamp(-100, 100) as i8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recipe_is_heard_and_exists() {
        let mut used = [false; RECIPES.len()];
        used[usize::from(VOLLEY)] = true;
        for number in 0..=29_u8 {
            let bytes = [&[0, 0, 0, 0, number, 0][..], &[0; 6]].concat();
            let Ok(mark) = gaggle_kit::decode_state::<Mark>(&bytes) else { continue };
            for value in [0, 1] {
                if let Some(recipe) = recipe(&Mark { value, ..mark }) {
                    used[usize::from(recipe)] = true;
                }
            }
        }
        (0..20).for_each(|before| used[usize::from(in_run(before))] = true);
        assert!(used.iter().all(|used| *used), "{used:?}");
        assert!(RECIPES.iter().all(|recipe| !recipe.voices.is_empty()));
    }

    #[test]
    fn crumbs_of_run_climb_and_pause_begins_anew() {
        let mut game = Skein::new(crate::Setup::default(), 1);
        let pitches: Vec<u16> = [10, 14, 30, 60, 140, 150]
            .into_iter()
            .map(|frame| {
                game.frame = frame;
                game.mark(Mark::at(Kind::Crumb, 2, (0, 0)));
                let mut cues = Vec::new();
                super::cues(&game, &Audience::default(), &mut cues);
                cues.iter().find(|cue| cue.id.frame == frame).expect("it is heard").recipe
            })
            .collect();
        assert_eq!(pitches, [13, 23, 24, 25, 13, 23]);
        // A crumb keeps its pitch while the next are taken.
        let mut cues = Vec::new();
        super::cues(&game, &Audience::default(), &mut cues);
        assert_eq!(cues.iter().find(|cue| cue.id.frame == 140).expect("still told").recipe, 13);
    }
}
