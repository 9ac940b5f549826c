//! Goal of a goose that nothing threatens: the lead, a place in the V, a lane.
//!
//! Called by `pilot`. Absent: embers.

use crate::Skein;
use crate::enemy::Enemy;
use crate::goose::{FLOCK, Goose, Seat};
use crate::sky::{BOTTOM, PX, Spot, TOP, at};
use crate::wake::line;

/// Breath below which another goose takes the lead, and least breath of that one.
const TIRED: u16 = 90;
const FRESH: u16 = 400;
/// Distance between two in a wake, in pixels.
const BEHIND: i32 = 46;
/// Columns of a leading goose and of a lone one, in pixels.
const POINT_X: i32 = 190;
const ALONE_X: i32 = 130;

/// Goose that should lead: the foremost one until it tires. Young geese lead only if no other does.
fn planned_point(game: &Skein) -> Option<usize> {
    let flying = || game.geese.iter().enumerate().filter(|(_, goose)| goose.is_flying());
    let (foremost, goose) =
        flying().max_by_key(|(which, goose)| (goose.seat != Seat::Young, goose.x, FLOCK - which))?;
    if goose.breath >= TIRED {
        return Some(foremost);
    }
    let fresh = flying().filter(|(_, goose)| goose.breath >= FRESH && goose.seat != Seat::Young);
    fresh
        .max_by_key(|(which, goose)| (goose.breath, FLOCK - which))
        .map_or(Some(foremost), |(which, _)| Some(which))
}

/// Row with the best targets, in units.
fn row_of_interest(game: &Skein, me: Spot) -> i32 {
    let mut best = (i32::MAX, me.1);
    let mut consider = |spot: Spot, urgency: i32| {
        if spot.0 < me.0 + 24 * PX || spot.0 > 650 * PX {
            return;
        }
        let cost = (spot.1 - me.1).abs() + (spot.0 - me.0) / 3 - urgency;
        if cost < best.0 {
            best = (cost, spot.1);
        }
    };
    game.boss.spots(|(spot, _, _)| consider(spot, 0));
    let tough = |enemy: &Enemy| i32::from(enemy.hp.min(40)) * PX;
    game.enemies.iter().for_each(|enemy| consider(enemy.spot(), tough(enemy)));
    if best.0 == i32::MAX { 180 * PX } else { best.1 }
}

/// Goal of a goose.
pub(super) fn goal(game: &Skein, which: usize, in_formation: bool) -> Spot {
    let me = game.geese[which].spot();
    if !in_formation {
        let lane = at(ALONE_X, 70 + 45 * which as i32);
        return (lane.0, (lane.1 + row_of_interest(game, me)) / 2);
    }
    let Some(point) = planned_point(game) else { return at(ALONE_X, 180) };
    if point == which {
        let others =
            game.geese.iter().enumerate().filter(|(other, goose)| *other != which && goose.is_flying());
        let ahead = others.filter(|(_, goose)| goose.seat != Seat::Young && goose.x > me.0 - 8 * PX);
        let x = ahead.map(|(_, goose)| goose.x + 40 * PX).max().unwrap_or(0).max(POINT_X * PX);
        // Both arms of the V need room.
        let followers = game.geese.iter().filter(|goose| goose.is_flying()).count() as i32 - 1;
        let wing = (followers + 1) / 2 * (line(BEHIND * PX) / PX);
        return (x, row_of_interest(game, me).clamp((TOP + wing) * PX, (BOTTOM - wing) * PX));
    }
    place_behind(game, which, point)
}

/// Place in the V: the higher half of the flock flies on the upper arm.
fn place_behind(game: &Skein, which: usize, point: usize) -> Spot {
    let mut rows = [0; FLOCK];
    let mut count = 0;
    for (other, goose) in game.geese.iter().enumerate() {
        if other == point || !goose.is_flying() {
            continue;
        }
        let higher = |nth: &usize| {
            let there: &Goose = &game.geese[rows[*nth]];
            (goose.y, other) < (there.y, rows[*nth])
        };
        let place = (0..count).find(higher).unwrap_or(count);
        rows.copy_within(place..count, place + 1);
        rows[place] = other;
        count += 1;
    }
    let upper = count / 2;
    let mine = rows[..count].iter().position(|other| *other == which).unwrap_or(0);
    let (rank, side) = if mine < upper { (upper - mine, -1) } else { (mine - upper + 1, 1) };
    let rank = rank as i32;
    let leader = game.geese[point].spot();
    let behind = BEHIND * PX;
    (leader.0 - behind * rank, leader.1 + side * line(behind) * rank)
}
