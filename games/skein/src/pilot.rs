//! Autopilot of a goose: formation, dodging, catching and the honk.
//!
//! Called by `tick` for geese without a player, and by bots with a skill of their own. Absent:
//! random numbers, memory.

mod formation;
mod threat;

use crate::Skein;
use crate::fall::{CATCH, FALL_MAX, LOST_BELOW, PULL};
use crate::goose::{FLOCK, Flight, SPEED, SPEED_DIAGONAL, Seat, TUCKED, confined, velocity};
use crate::honk::COST;
use crate::pad::Pad;
use crate::sky::{PX, Spot, boxed, within};

use threat::Threats;

/// Skill of an autopilot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Skill {
    /// Distance of an ember at which it leaves formation, in pixels.
    pub(crate) reach: i32,
    /// Space that it keeps free around its box, in pixels.
    pub(crate) margin: i32,
    /// Whether it flies in formation, or in a lane of its own.
    pub(crate) in_formation: bool,
    /// Whether it honks when it cannot dodge.
    pub(crate) honks: bool,
    /// Frames for which it holds a decision.
    pub(crate) hold: i32,
    /// Frames from a decision to its effect; until then it flies on as before.
    pub(crate) lag: i32,
    /// Pad held until then.
    pub(crate) held: Pad,
}

/// Skill of geese without a player.
const GUIDE: Skill =
    Skill { reach: 28, margin: 3, in_formation: true, honks: false, hold: 4, lag: 0, held: Pad::NONE };
/// Distance from which a goose goes to catch another, in pixels.
const RESCUE: i32 = 120;
/// Distance to the goal below which it flies slowly, in units.
const CLOSE: i32 = 40 * PX;
/// Penalty for a collision.
const CRASH: i32 = 100_000;

/// Pad of a goose without a player, for the next frames.
pub(crate) fn guide(game: &Skein, which: usize) -> Pad {
    let honks = game.geese[which].seat == Seat::Away;
    steer(game, which, Skill { honks, ..GUIDE }).0
}

/// The pad for the next frames, and whether it dodges.
pub(crate) fn steer(game: &Skein, which: usize, skill: Skill) -> (Pad, bool) {
    let goose = &game.geese[which];
    if !goose.is_flying() {
        return (Pad::NONE, false);
    }
    let spot = goose.spot();
    let goal = rescue(game, which).unwrap_or_else(|| formation::goal(game, which, skill.in_formation));
    let goal = confined(threat::shelter(game, which).unwrap_or(goal));
    let threats = Threats::around(game, which, skill.lag);
    let before = velocity(skill.held);
    let spot = confined((spot.0 + before.0 * skill.lag, spot.1 + before.1 * skill.lag));
    // A leading goose that darts about loses its followers.
    let is_leading = skill.in_formation && goose.wake.is_point();
    let straight = towards(spot, goal, skill.hold).with(Pad::TUCK, is_leading);
    if !threats.are_near(spot, velocity(straight), skill) {
        return (straight, false);
    }
    let mut best = (i32::MAX, Pad::NONE);
    for (x, y) in [(0, 0), (0, -1), (0, 1), (-1, 0), (1, 0), (-1, -1), (-1, 1), (1, -1), (1, 1)] {
        let pad = Pad::flying(x, y);
        for pad in [pad, pad.and(Pad::TUCK)] {
            if pad == Pad::TUCK {
                continue;
            }
            let cost = dislike(&threats, spot, velocity(pad), goal, skill.margin);
            if cost < best.0 {
                best = (cost, pad);
            }
        }
    }
    let is_lost = best.0 >= CRASH && skill.honks && goose.breath >= COST;
    (best.1.with(Pad::HONK, is_lost), true)
}

/// Penalty of flying on like this.
fn dislike(threats: &Threats, from: Spot, way: Spot, goal: Spot, margin: i32) -> i32 {
    let mut cost = 0;
    for (nth, frames) in [2, 4, 6, 9, 12, 16, 20, 24].into_iter().enumerate() {
        let spot = confined((from.0 + way.0 * frames, from.1 + way.1 * frames));
        let gap = threats.gap(spot, frames);
        if gap < 0 {
            cost += CRASH * (9 - nth as i32);
        } else if gap < margin * PX {
            cost += (margin * PX - gap) * (9 - nth as i32) / 4;
        }
    }
    let soon = confined((from.0 + way.0 * 12, from.1 + way.1 * 12));
    cost + ((soon.0 - goal.0).abs() + (soon.1 - goal.1).abs()) / 24
}

/// Pad that leads to a place when held for `hold` frames.
fn towards(from: Spot, to: Spot, hold: i32) -> Pad {
    let (x, y) = (to.0 - from.0, to.1 - from.1);
    // Near the goal, slow flight does not overshoot.
    let is_close = x.abs().max(y.abs()) < (SPEED * hold).max(CLOSE);
    let near = if is_close { TUCKED * hold / 2 } else { SPEED * hold / 2 };
    let axis = |way: i32| if way.abs() <= near { 0 } else { way.signum() };
    Pad::flying(axis(x), axis(y)).with(Pad::TUCK, is_close)
}

/// Place at which to meet a falling goose, for the goose nearest to it.
fn rescue(game: &Skein, which: usize) -> Option<Spot> {
    let me = game.geese[which].spot();
    for (other, falling) in game.geese.iter().enumerate() {
        let is_near = within(falling.spot(), me, RESCUE);
        if falling.flight != Flight::Falling || other == which || !is_near {
            continue;
        }
        let meeting = |spot: Spot| {
            let (mut fall, mut at) = (i32::from(falling.fall), falling.spot());
            for frames in 1..120 {
                fall = (fall + i32::from(PULL)).min(FALL_MAX.into());
                at = (at.0 - 64, at.1 + fall);
                if at.1 > (LOST_BELOW - 4) * PX {
                    return None;
                }
                let reach = frames * SPEED_DIAGONAL + (CATCH - 4) * PX;
                if boxed(spot, at, reach, reach) {
                    return Some((frames, at));
                }
            }
            None
        };
        let Some((mine, at)) = meeting(me) else { continue };
        let others = (0..FLOCK).filter(|third| *third != which && game.geese[*third].is_flying());
        let mut quicker =
            others.filter_map(|third| meeting(game.geese[third].spot()).map(|(frames, _)| (frames, third)));
        if quicker.all(|theirs| theirs > (mine, which)) {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Setup;
    use crate::goose::Goose;
    use crate::sky::at;
    use gaggle_kit::Angle;

    fn game(spots: &[Spot]) -> Skein {
        let mut game = Skein::new(Setup::default(), 1);
        for (goose, (x, y)) in game.geese.iter_mut().zip(spots) {
            let flight = Flight::Flying;
            *goose = Goose { seat: Seat::Person, flight, x: *x, y: *y, breath: 480, ..Goose::default() };
        }
        game
    }

    #[test]
    fn goose_dodges_ember_that_would_hit() {
        let mut game = game(&[at(150, 180)]);
        game.embers.fire(crate::ember::Shot::Ember, at(180, 180), Angle::HALF);
        let (pad, dodges) = steer(&game, 0, GUIDE);
        assert!(dodges && pad.way().1 != 0, "{pad:?}");
    }

    #[test]
    fn nearest_goose_flies_to_one_that_falls() {
        let mut game = game(&[at(150, 100), at(170, 160), at(255, 60)]);
        game.geese[0].flight = Flight::Falling;
        assert!(rescue(&game, 1).is_some());
        assert_eq!(rescue(&game, 2), None);
    }

    #[test]
    fn leaver_without_way_out_honks() {
        let mut game = game(&[at(150, 180)]);
        game.geese[0].seat = Seat::Away;
        for nth in 0..64 {
            let (x, y) = crate::sky::polar(Angle::from_bits(nth * 1_024), 14 * PX);
            let spot = (150 * PX + x, 180 * PX + y);
            game.embers.fire(crate::ember::Shot::Coal, spot, crate::sky::aim(spot, at(150, 180)));
        }
        assert!(guide(&game, 0).holds(Pad::HONK));
        game.geese[0].breath = 10;
        assert!(!guide(&game, 0).holds(Pad::HONK));
    }

    #[test]
    fn followers_fall_in_behind_point() {
        let mut game = game(&[at(200, 180), at(60, 100), at(60, 250), at(40, 200)]);
        for goose in &mut game.geese[..4] {
            goose.seat = Seat::Away;
        }
        game.course.phase = crate::Phase::Roost;
        for _ in 0..200 {
            game.frame += 1;
            for which in 0..4 {
                let pad = guide(&game, which);
                let drift = crate::wake::pull(&game.geese, which);
                crate::goose::fly(&mut game.geese[which], pad, drift);
            }
            crate::wake::arrange(&mut game.geese);
        }
        assert_eq!(game.geese[0].wake.followers, 3, "{:?}", game.geese.map(|goose| goose.wake));
    }
}
