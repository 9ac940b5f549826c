//! Falling and caught geese, and spare geese that replace lost ones.
//!
//! Called by `tick` after all hits. Absent: what hits.

use crate::Skein;
use crate::cue::{Kind, Mark};
use crate::goose::{FLOCK, Flight, SAFE_CAUGHT, Seat};
use crate::score::award;
use crate::sky::{PX, within};
use crate::wake::Wake;

/// Most frames for which a goose falls.
pub(crate) const FALL_FRAMES: u16 = 150;
/// Acceleration of the fall, and its largest speed, in units per frame.
pub(crate) const PULL: i16 = 14;
pub(crate) const FALL_MAX: i16 = 448;
/// Drift to the left, in units per frame.
const DRIFT: i32 = 64;
/// Row below which it is lost, in pixels.
pub(crate) const LOST_BELOW: i32 = 330;
/// Distance at which a goose catches another, in pixels.
pub(crate) const CATCH: i32 = 18;
/// Points for a catch.
const CATCH_POINTS: u32 = 500;
/// Frames until a spare goose enters.
const SPARE_FRAMES: u16 = 60;

/// Cause of a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// An ember of any kind.
    Ember,
    /// The body of an enemy or a boss.
    Body,
    /// A strike of lightning.
    Lightning,
}

/// Makes a goose that was hit fall.
pub(crate) fn hit(game: &mut Skein, which: usize, cause: Cause) {
    let goose = &mut game.geese[which];
    if !goose.is_exposed() {
        return;
    }
    (goose.flight, goose.timer, goose.fall, goose.wake) = (Flight::Falling, 0, 0, Wake::NONE);
    let count = match cause {
        Cause::Ember => &mut goose.tally.burns,
        Cause::Body => &mut goose.tally.bumps,
        Cause::Lightning => &mut goose.tally.strikes,
    };
    *count = count.saturating_add(1);
    let mark = Mark::at(Kind::Fall, which, goose.spot()).worth(cause as u32);
    game.mark(mark);
}

/// Runs one frame for falling and waiting geese.
pub(crate) fn step(game: &mut Skein) {
    for which in 0..FLOCK {
        match game.geese[which].flight {
            Flight::Falling => falling(game, which),
            Flight::Waiting => waiting(game, which),
            Flight::Out if game.course.spare > 0 && game.geese[which].is_person() => {
                send_spare(game, which);
            }
            _ => {}
        }
    }
}

fn falling(game: &mut Skein, which: usize) {
    let goose = &mut game.geese[which];
    goose.timer += 1;
    goose.fall = (goose.fall + PULL).min(FALL_MAX);
    goose.y += i32::from(goose.fall);
    goose.x = (goose.x - DRIFT).max(8 * PX);
    let (spot, timer) = (goose.spot(), goose.timer);
    let catches = |other: &usize| *other != which && game.geese[*other].is_flying();
    if let Some(catcher) =
        (0..FLOCK).filter(catches).find(|other| within(game.geese[*other].spot(), spot, CATCH))
    {
        caught(game, which, catcher);
    } else if timer >= FALL_FRAMES || spot.1 > LOST_BELOW * PX {
        lost(game, which);
    }
}

fn caught(game: &mut Skein, which: usize, catcher: usize) {
    let goose = &mut game.geese[which];
    (goose.flight, goose.timer, goose.safe) = (Flight::Flying, 0, SAFE_CAUGHT);
    goose.breath /= 2;
    let mark = Mark::at(Kind::Caught, which, goose.spot()).worth(catcher as u32);
    let hero = &mut game.geese[catcher];
    hero.safe = hero.safe.max(SAFE_CAUGHT);
    hero.tally.catches = hero.tally.catches.saturating_add(1);
    game.mark(mark);
    award(game, catcher, CATCH_POINTS);
}

fn lost(game: &mut Skein, which: usize) {
    let goose = &mut game.geese[which];
    (goose.flight, goose.timer) = (Flight::Out, 0);
    goose.tally.lost = goose.tally.lost.saturating_add(1);
    let mark = Mark::at(Kind::Lost, which, goose.spot());
    game.mark(mark);
    if game.geese[which].seat == Seat::Person && game.course.spare > 0 {
        send_spare(game, which);
    }
}

fn send_spare(game: &mut Skein, which: usize) {
    game.course.spare = game.course.spare.saturating_sub(1);
    let goose = &mut game.geese[which];
    (goose.flight, goose.timer) = (Flight::Waiting, SPARE_FRAMES);
}

fn waiting(game: &mut Skein, which: usize) {
    let goose = &mut game.geese[which];
    goose.timer = goose.timer.saturating_sub(1);
    if goose.timer == 0 {
        *goose = goose.entering(row_of(which));
        let mark = Mark::at(Kind::Enter, which, game.geese[which].spot());
        game.mark(mark);
    }
}

/// Row in which a goose enters, in pixels, by its place in the flock.
pub(crate) fn row_of(which: usize) -> i32 {
    [180, 150, 210, 120, 240, 90, 165, 195][which % FLOCK]
}
