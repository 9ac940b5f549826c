//! Skill ratings: a mean and a deviation per player, updated by each confirmed match (Weng-Lin, for
//! any number of players).
//!
//! `sqlite.rs` calls it. Absent: which matches count.

use skillratings::MultiTeamOutcome;
use skillratings::weng_lin::{WengLinConfig, WengLinRating, weng_lin_multi_team};

/// Displayed rating of an unrated player.
const SHOWN_START: f64 = 1_500.0;
/// Displayed points per unit of the mean, which starts at 25 and mostly stays between 0 and 50.
const SHOWN_SCALE: f64 = 60.0;

/// Mean skill of a player, with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rating {
    pub(super) mean: f64,
    pub(super) deviation: f64,
}

impl Default for Rating {
    fn default() -> Rating {
        let WengLinRating { rating, uncertainty } = WengLinRating::new();
        Rating { mean: rating, deviation: uncertainty }
    }
}

impl Rating {
    /// Rating as displayed and used for matching.
    #[expect(
        clippy::float_arithmetic,
        reason = "ratings are stored, never simulated or compared between peers"
    )]
    pub(super) fn shown(self) -> i64 {
        let start = Rating::default().mean;
        (SHOWN_START + (self.mean - start) * SHOWN_SCALE).round() as i64
    }
}

/// Ratings after a match with these ranks.
pub(super) fn after_match(before: &[(Rating, u8)]) -> Vec<Rating> {
    let single: Vec<[WengLinRating; 1]> = before
        .iter()
        .map(|(rating, _)| [WengLinRating { rating: rating.mean, uncertainty: rating.deviation }])
        .collect();
    let teams: Vec<(&[WengLinRating], MultiTeamOutcome)> = single
        .iter()
        .zip(before)
        .map(|(team, (_, place))| (&team[..], MultiTeamOutcome::new(usize::from(*place))))
        .collect();
    let after = weng_lin_multi_team(&teams, &WengLinConfig::new());
    let rating = |team: Vec<WengLinRating>| {
        let one = team.first().copied().unwrap_or_default();
        Rating { mean: one.rating, deviation: one.uncertainty }
    };
    after.into_iter().map(rating).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn winners_rise_losers_fall_and_deviations_shrink() {
        let start = Rating::default();
        assert_eq!(start.shown(), 1_500);
        let after = after_match(&[(start, 1), (start, 3), (start, 2)]);
        assert!(after[0].shown() > 1_500 && after[1].shown() < 1_500);
        assert!(after[0].mean > after[2].mean && after[2].mean > after[1].mean);
        assert!(after.iter().all(|rating| rating.deviation < start.deviation));
    }

    #[test]
    fn beating_better_player_counts_more() {
        let (strong, weak) = (Rating { mean: 35.0, deviation: 5.0 }, Rating { mean: 20.0, deviation: 5.0 });
        let upset = after_match(&[(weak, 1), (strong, 2)])[0].shown() - weak.shown();
        let expected = after_match(&[(strong, 1), (weak, 2)])[0].shown() - strong.shown();
        assert!(upset > expected && expected >= 0, "{upset} {expected}");
    }
}
