//! The V: which goose follows which, and the breath that gives.
//!
//! Computed by [`arrange`] after the geese moved. Absent: buttons, enemies, embers.

use gaggle_kit::State;

use crate::goose::{BREATH_MAX, FLOCK, Flight, Goose};
use crate::sky::{PX, Spot};

/// Pull of a wake on a goose that holds no vertical key, in units per frame.
pub const PULL: i32 = 64;
/// No goose, in a field that names a place in the flock.
pub const NONE: u8 = u8::MAX;

/// Place of a goose in a V.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Wake {
    /// Goose in whose wake it flies, or [`NONE`].
    pub leader: u8,
    /// Leader of the whole V (its point), or [`NONE`] if it flies alone.
    pub point: u8,
    /// Number of geese ahead of it in the V; 0 if it leads or flies alone.
    pub depth: u8,
    /// Number of geese behind it, if it leads the V.
    pub followers: u8,
}

impl Wake {
    /// Flying alone, with neither leader nor followers.
    pub const NONE: Wake = Wake { leader: NONE, point: NONE, depth: 0, followers: 0 };

    /// Whether it leads a V.
    pub const fn is_point(&self) -> bool {
        self.depth == 0 && self.followers > 0
    }
}

impl Default for Wake {
    fn default() -> Wake {
        Wake::NONE
    }
}

/// Least and largest distance behind the goose it follows, in units.
const NEAR: i32 = 20 * PX;
const FAR: i32 = 88 * PX;
/// Largest distance from the center of the wake, in units.
const SLACK: i32 = 8 * PX;

/// Distance of the center of a wake from the line of flight, this far behind.
pub const fn line(behind: i32) -> i32 {
    4 * PX + behind / 2
}

/// Whether a goose at `mine` is in the wake of one at `leader`.
pub fn is_in_wake(mine: Spot, leader: Spot) -> bool {
    let behind = leader.0 - mine.0;
    let off = (leader.1 - mine.1).abs();
    (NEAR..=FAR).contains(&behind) && (off - line(behind)).abs() <= SLACK
}

/// Pull on a goose toward the center of the wake it last flew in.
pub fn pull(geese: &[Goose; FLOCK], which: usize) -> i32 {
    let goose = &geese[which];
    let Some(leader) = geese.get(usize::from(goose.wake.leader)) else { return 0 };
    if !leader.is_flying() || !is_in_wake(goose.spot(), leader.spot()) {
        return 0;
    }
    let side = if goose.y < leader.y { -1 } else { 1 };
    (leader.y + side * line(leader.x - goose.x) - goose.y).clamp(-PULL, PULL)
}

/// Flying geese from right to left; in one column, by place in the flock.
fn by_column(geese: &[Goose; FLOCK]) -> ([usize; FLOCK], usize) {
    let (mut order, mut count) = ([0; FLOCK], 0);
    for (which, goose) in geese.iter().enumerate().filter(|(_, goose)| goose.is_flying()) {
        let at = (0..count).find(|nth| geese[order[*nth]].x < goose.x).unwrap_or(count);
        order.copy_within(at..count, at + 1);
        order[at] = which;
        count += 1;
    }
    (order, count)
}

/// Finds whom each goose follows, its depth and its leader.
pub fn arrange(geese: &mut [Goose; FLOCK]) {
    let (order, count) = by_column(geese);
    let mut wakes = [Wake::NONE; FLOCK];
    for nth in 0..count {
        let which = order[nth];
        let mine = geese[which].spot();
        let ahead = order[..nth].iter().copied();
        let leader = ahead
            .filter(|other| is_in_wake(mine, geese[*other].spot()))
            .min_by_key(|other| (geese[*other].x - mine.0, *other));
        if let Some(leader) = leader {
            let before = wakes[leader];
            let point = if before.leader == NONE { leader as u8 } else { before.point };
            wakes[which] = Wake { leader: leader as u8, point, depth: before.depth + 1, followers: 0 };
            wakes[usize::from(point)].followers += 1;
            wakes[usize::from(point)].point = point;
        }
    }
    for (goose, wake) in geese.iter_mut().zip(wakes) {
        goose.wake = wake;
    }
}

/// Number of geese in the V of this one, itself included.
pub fn company(geese: &[Goose; FLOCK], which: usize) -> u32 {
    let point = geese.get(usize::from(geese[which].wake.point));
    point.map_or(1, |point| 1 + u32::from(point.wake.followers))
}

/// Runs one frame of breath.
pub fn breathe(goose: &mut Goose) {
    if goose.flight != Flight::Flying {
        return;
    }
    goose.breath = match goose.wake.depth {
        0 if goose.wake.followers > 0 => goose.breath.saturating_sub(1),
        0 | 1 => goose.breath + 1 + u16::from(goose.wake.depth),
        2 => goose.breath + 3,
        _ => goose.breath + 4,
    }
    .min(BREATH_MAX);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goose::Seat;
    use crate::sky::at;

    fn flock(spots: &[Spot]) -> [Goose; FLOCK] {
        let mut geese = [Goose::default(); FLOCK];
        for (goose, (x, y)) in geese.iter_mut().zip(spots) {
            let flight = Flight::Flying;
            *goose = Goose { seat: Seat::Person, flight, x: *x, y: *y, breath: 480, ..Goose::default() };
        }
        arrange(&mut geese);
        geese
    }

    #[test]
    fn goose_behind_wing_is_in_wake_and_lower_one_is_not() {
        assert!(is_in_wake(at(142, 209), at(200, 176)));
        assert!(!is_in_wake(at(142, 226), at(200, 176)));
    }

    #[test]
    fn of_two_leaders_nearer_counts() {
        // Both wings cover the place of the third.
        let geese = flock(&[at(280, 200), at(250, 190), at(210, 214)]);
        assert!(is_in_wake(geese[2].spot(), geese[1].spot()));
        assert_eq!(geese[2].wake.leader, 1);
    }

    #[test]
    fn three_in_row_have_rising_depth() {
        let geese = flock(&[at(300, 100), at(250, 129), at(200, 158)]);
        assert_eq!([0, 1, 2].map(|nth: usize| geese[nth].wake.depth), [0, 1, 2]);
        assert_eq!(geese[0].wake.followers, 2);
        assert_eq!([0, 1, 2].map(|nth| company(&geese, nth)), [3, 3, 3]);
    }

    #[test]
    fn breath_grows_with_depth_and_falls_at_point() {
        let mut geese = flock(&[at(380, 80), at(330, 109), at(280, 138), at(230, 167), at(100, 300)]);
        geese.iter_mut().for_each(breathe);
        assert_eq!([0, 1, 2, 3, 4].map(|nth: usize| geese[nth].breath), [479, 482, 483, 484, 481]);
    }

    #[test]
    fn passing_point_turns_v_over() {
        let mut geese = flock(&[at(300, 100), at(250, 129)]);
        assert!(geese[0].wake.is_point());
        geese[1].x = 350 * PX;
        arrange(&mut geese);
        assert!(geese[1].wake.is_point() && geese[0].wake.leader == 1);
    }

    #[test]
    fn pull_leads_to_middle_of_wake() {
        let mut geese = flock(&[at(300, 100), at(250, 123)]);
        for _ in 0..60 {
            geese[1].y += pull(&geese, 1);
        }
        assert_eq!(geese[1].y, 129 * PX);
    }
}
