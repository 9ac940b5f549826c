//! Points: which goose gets them, their factor, and the spare geese they win.
//!
//! Called by every part that gives points. Absent: what they are given for.

use crate::Skein;
use crate::cue::{Kind, Mark};
use crate::enemy::{Foe, Struck};
use crate::goose::Seat;
use crate::sky::Spot;
use crate::wake::company;

/// Points of the team per spare goose.
pub(crate) const SPARE_POINTS: u32 = 200_000;
/// Points for each player at dawn, and for each spare goose left.
pub(crate) const DAWN_POINTS: u32 = 20_000;
pub(crate) const SPARE_LEFT_POINTS: u32 = 5_000;
/// Points of a boss for each player, times the stage.
pub(crate) const BOSS_POINTS: u32 = 4_000;
/// Most spare geese.
pub(crate) const SPARES_MAX: u8 = 9;

/// Gives points to a goose. Those of a young one go to the leader of its V.
pub(crate) fn award(game: &mut Skein, which: usize, points: u32) {
    let owner = match game.geese.get(which) {
        Some(goose) if goose.seat == Seat::Young => usize::from(goose.wake.point),
        _ => which,
    };
    let Some(goose) = game.geese.get_mut(owner) else { return };
    if matches!(goose.seat, Seat::Person | Seat::Away) {
        goose.tally.score = goose.tally.score.saturating_add(points);
    }
    let team: u64 = game.geese.iter().map(|goose| u64::from(goose.tally.score)).sum();
    let due = (team / u64::from(SPARE_POINTS)).min(u64::from(u16::MAX)) as u16;
    if due > game.course.won {
        game.course.won = due;
        add_spare(game);
    }
}

/// Adds a spare goose, shown as a bird in the far flock.
pub(crate) fn add_spare(game: &mut Skein) {
    if game.course.spare < SPARES_MAX {
        game.course.spare += 1;
        game.mark(Mark::at(Kind::Spare, usize::from(game.course.spare), (0, 0)));
    }
}

/// Rewards a destroyed enemy: points, with the factor of the V, and crumbs.
pub(crate) fn reward(game: &mut Skein, struck: &Struck) {
    let times = game.geese.get(struck.by).map_or(1, |_| company(&game.geese, struck.by));
    let points = struck.foe.traits().points * times.min(6);
    award(game, struck.by, points);
    let kind = match struck.foe {
        Foe::Starling | Foe::Moth => Kind::Kill,
        _ => Kind::KillLarge,
    };
    game.mark(Mark::at(kind, struck.place, struck.spot).worth(points));
    if struck.foe == Foe::Moth {
        for nth in -1..=1 {
            let (x, y): Spot = struck.spot;
            game.crumbs.drop_at((x, y + nth * 2_000));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goose::{FLOCK, Flight, Goose};
    use crate::wake::Wake;
    use crate::{Setup, Skein};

    fn game() -> Skein {
        let mut game = Skein::new(Setup::default(), 1);
        for goose in &mut game.geese[..4] {
            let wake = Wake { leader: 0, point: 0, depth: 1, followers: 0 };
            *goose = Goose { seat: Seat::Person, flight: Flight::Flying, wake, ..Goose::default() };
        }
        game.geese[0].wake = Wake { point: 0, followers: 3, ..Wake::NONE };
        game
    }

    #[test]
    fn kill_in_v_of_four_counts_four_times() {
        let mut game = game();
        reward(&mut game, &Struck { foe: Foe::Kite, spot: (0, 0), by: 2, place: 5 });
        assert_eq!(game.geese[2].tally.score, 1_200);
    }

    #[test]
    fn points_of_young_goose_go_to_its_point() {
        let mut game = game();
        game.geese[FLOCK - 1] = Goose { seat: Seat::Young, ..game.geese[3] };
        award(&mut game, FLOCK - 1, 70);
        assert_eq!((game.geese[0].tally.score, game.geese[FLOCK - 1].tally.score), (70, 0));
        game.geese[FLOCK - 1].wake = Wake::NONE;
        award(&mut game, FLOCK - 1, 70);
        assert_eq!(game.geese.iter().map(|goose| goose.tally.score).sum::<u32>(), 70);
    }

    #[test]
    fn team_wins_spare_for_each_two_hundred_thousand() {
        let mut game = game();
        award(&mut game, 0, 140_000);
        award(&mut game, 1, 90_000);
        assert_eq!(game.course.spare, 1);
        (0..40).for_each(|_| award(&mut game, 2, 200_000));
        assert_eq!(game.course.spare, SPARES_MAX);
    }
}
