//! One frame of the simulation: calls each part in order.
//!
//! Called by [`Skein::step`]. Absent: rules, which are in the parts.

use crate::course::{self, Phase};
use crate::crumb::CRUMB_POINTS;
use crate::cue::{Kind, Mark};
use crate::enemy::{Air, ENEMIES};
use crate::fall::{self, Cause};
use crate::goose::{self, FLOCK, SEATS, Seat};
use crate::pad::Pad;
use crate::score::{award, reward};
use crate::wake::{self, company};
use crate::{Skein, bolt, honk, pilot, quill, roster};

/// Breath for grazing an ember for the first time.
const GRAZE_BREATH: u16 = 12;
/// Frames between two decisions of the autopilot.
const PILOT_FRAMES: u32 = 4;

/// Runs one frame.
pub(crate) fn step(game: &mut Skein, pads: &[Pad; SEATS], present: [bool; SEATS]) {
    game.frame = game.frame.wrapping_add(1);
    roster::step(game, pads, present);
    course::step(game, pads);
    if game.course.phase == Phase::Empty {
        return;
    }
    let pressed = fly(game, pads);
    wakes(game);
    honk::step(game, pressed);
    if game.course.phase != Phase::Over {
        quill::volley(&mut game.quills, &game.geese, game.frame);
    }
    strike(game);
    enemies(game);
    game.embers.step();
    hits(game);
    fall::step(game);
    crumbs(game);
    lightning(game);
}

/// Moves geese, by buttons or autopilot. Returns which pressed the honk.
fn fly(game: &mut Skein, pads: &[Pad; SEATS]) -> [bool; FLOCK] {
    let mut pressed = [false; FLOCK];
    for which in 0..FLOCK {
        let goose = &game.geese[which];
        let before = Pad::of_bits(goose.held);
        let pad = if goose.is_person() {
            pads[which]
        } else if !goose.is_guided() || !goose.is_flying() {
            Pad::NONE
        } else if (game.frame + which as u32).is_multiple_of(PILOT_FRAMES) {
            pilot::guide(game, which)
        } else {
            before
        };
        let drift = wake::pull(&game.geese, which);
        let goose = &mut game.geese[which];
        goose::fly(goose, pad, drift);
        pressed[which] = pad.holds(Pad::HONK) && !before.holds(Pad::HONK);
        goose.held = Pad::of_bits(pad.bits()).bits();
    }
    pressed
}

fn wakes(game: &mut Skein) {
    let before = game.geese;
    wake::arrange(&mut game.geese);
    for (which, before) in before.iter().enumerate() {
        let was_winded = before.breath == 0;
        wake::breathe(&mut game.geese[which]);
        let goose = &mut game.geese[which];
        let is_point = goose.wake.is_point();
        if is_point && goose.seat == Seat::Person {
            game.course.lead.announce(which, game.frame);
        }
        goose.tally.point = goose.tally.point.saturating_add(is_point.into());
        let kind = match (before.wake.is_point(), is_point, before.wake.depth, goose.wake.depth) {
            (false, true, ..) => Kind::Point,
            (_, false, 0, 1..) => Kind::Wake,
            (true, true, ..) if !was_winded && goose.breath == 0 => Kind::Winded,
            _ => continue,
        };
        let mark = Mark::at(kind, which, goose.spot());
        game.mark(mark);
    }
}

/// Moves quills and applies their hits.
fn strike(game: &mut Skein) {
    game.quills.step();
    for struck in game.enemies.strike(&mut game.quills) {
        reward(game, &struck);
    }
    let (mut last, mut counts) = (None, [0_u32; FLOCK]);
    let change = game.boss.strike(&mut game.quills, |by, spot| {
        last = Some((by, spot));
        if let Some(count) = counts.get_mut(by) {
            *count += 1;
        }
    });
    for (by, count) in counts.into_iter().enumerate().filter(|(_, count)| *count > 0) {
        let times = company(&game.geese, by).min(6);
        award(game, by, count * times * 5);
    }
    if let Some((by, spot)) = last
        && game.frame.is_multiple_of(8)
    {
        game.mark(Mark::at(Kind::Hurt, by, spot));
    }
    course::boss_changed(game, change);
}

fn enemies(game: &mut Skein) {
    let air = &mut Air {
        geese: &game.geese,
        embers: &mut game.embers,
        random: &mut game.random,
        difficulty: game.course.difficulty(),
        is_fleeing: game.course.phase != Phase::Waves,
    };
    game.enemies.step(air);
    let difficulty = game.course.difficulty();
    let marks = &mut game.marks;
    let frame = game.frame;
    let mut warn = |who, spot| marks.push(Mark { frame, ..Mark::at(Kind::Warn, who, spot) });
    game.enemies.warnings(difficulty, &mut warn);
    if let Some(spot) = game.boss.warning() {
        warn(ENEMIES, spot);
    }
}

/// Applies hits of embers, bodies and lightning on geese.
fn hits(game: &mut Skein) {
    let mut touched = [(false, 0_u16); FLOCK];
    game.embers.touch(&game.geese, |which, is_graze| match is_graze {
        true => touched[which].1 += 1,
        false => touched[which].0 = true,
    });
    let mut bumped = [false; FLOCK];
    game.enemies.touch(&game.geese, |which| bumped[which] = true);
    game.boss.touch(&game.geese, |which| bumped[which] = true);
    let mut struck = [false; FLOCK];
    bolt::touch(&game.bolts, &game.geese, |which| struck[which] = true);
    // Nothing hits at the end of a run.
    if game.course.phase == Phase::Over {
        return;
    }
    for which in 0..FLOCK {
        let (is_hit, grazes) = touched[which];
        if grazes > 0 {
            let goose = &mut game.geese[which];
            goose.breath = (goose.breath + GRAZE_BREATH * grazes).min(goose::BREATH_MAX);
            let mark = Mark::at(Kind::Graze, which, goose.spot());
            game.mark(mark);
        }
        let causes = [(struck, Cause::Lightning), (bumped, Cause::Body)];
        let cause = causes.into_iter().find(|(hit, _)| hit[which]).map(|(_, cause)| cause);
        if let Some(cause) = cause.or(is_hit.then_some(Cause::Ember)) {
            fall::hit(game, which, cause);
        }
    }
}

fn crumbs(game: &mut Skein) {
    let mut taken = [(0_u32, (0, 0)); FLOCK];
    game.crumbs.step(&game.geese, |which, spot| taken[which] = (taken[which].0 + 1, spot));
    for (which, (count, spot)) in taken.into_iter().enumerate().filter(|(_, taken)| taken.0 > 0) {
        let points = count * CRUMB_POINTS * company(&game.geese, which).min(6);
        award(game, which, points);
        game.mark(Mark::at(Kind::Crumb, which, spot).worth(points));
    }
}

fn lightning(game: &mut Skein) {
    for nth in 0..bolt::BOLTS {
        let bolt = &mut game.bolts[nth];
        bolt.left = bolt.left.saturating_sub(1);
        if bolt.left == bolt::STRIKES {
            let spot = crate::sky::at(bolt.x.into(), 0);
            game.mark(Mark::at(Kind::Thunder, nth, spot));
        }
    }
}
