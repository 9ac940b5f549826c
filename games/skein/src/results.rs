//! A finished run as a table: a line for each player, with a remark that compares them.
//!
//! Called by pages when a run is over. Absent: drawing of the table.

use crate::goose::{Goose, SEATS, Tally};
use crate::{Seat, Skein};

/// Heads of the columns behind the name, in the order of the fields of [`Line`].
pub const COLUMNS: [&str; 4] = ["score", "catches", "falls", "at the point"];

/// Fewest frames at the point, and fewest honks, for a remark about them.
const POINT_WORTH: u32 = 600;
const HONKS_WORTH: u32 = 3;

/// Result of one player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// Slot of the player.
    pub seat: usize,
    /// Points of this player.
    pub score: u32,
    /// Geese this one caught.
    pub catches: u16,
    /// Times it was hit.
    pub falls: u16,
    /// Time at the point of a V, in seconds.
    pub point_seconds: u32,
    /// What this player did more of than the others; empty if nothing.
    pub remark: &'static str,
}

impl Line {
    /// Time at the point as text: minutes and seconds.
    pub fn point_time(&self) -> String {
        format!("{}:{:02}", self.point_seconds / 60, self.point_seconds % 60)
    }
}

/// A remark and the figure it is about; the player with most gets it.
struct Contest {
    remark: &'static str,
    of: fn(&Tally) -> u32,
    least: u32,
}

/// Remarks in order: a player gets the first that it wins, and no remark is given twice.
const CONTESTS: [Contest; 3] = [
    Contest { remark: "most catches", of: |tally| tally.catches.into(), least: 1 },
    Contest { remark: "longest at the point", of: |tally| tally.point, least: POINT_WORTH },
    Contest { remark: "loudest", of: |tally| tally.honks.into(), least: HONKS_WORTH },
];

/// A line for each player who is here or whose goose still flies, in the order of their slots.
pub fn lines(game: &Skein) -> Vec<Line> {
    let geese = game.geese[..SEATS].iter().enumerate().filter(|(_, goose)| is_told(goose));
    let mut lines: Vec<Line> = geese.map(|(seat, goose)| line(seat, &goose.tally)).collect();
    for contest in &CONTESTS {
        let figure = |line: &Line| (contest.of)(&game.geese[line.seat].tally);
        let most = lines.iter().map(figure).max().unwrap_or(0);
        let mut winners = lines.iter_mut().filter(|line| figure(line) == most);
        // No remark for a tie, nor for a single player.
        if let (Some(winner), None) = (winners.next(), winners.next())
            && most >= contest.least
            && winner.remark.is_empty()
        {
            winner.remark = contest.remark;
        }
    }
    let is_alone = lines.len() == 1;
    for line in &mut lines {
        if is_alone || line.remark.is_empty() {
            line.remark = if line.falls == 0 { "never fell" } else { "" };
        }
    }
    lines
}

fn is_told(goose: &Goose) -> bool {
    matches!(goose.seat, Seat::Person | Seat::Away)
}

fn line(seat: usize, tally: &Tally) -> Line {
    Line {
        seat,
        score: tally.score,
        catches: tally.catches,
        falls: tally.falls(),
        point_seconds: tally.point / 60,
        remark: "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Setup;

    fn game(tallies: &[(u16, u32, u16)]) -> Skein {
        let mut game = Skein::new(Setup::default(), 1);
        for (goose, (catches, point, honks)) in game.geese.iter_mut().zip(tallies) {
            let tally =
                Tally { catches: *catches, point: *point, honks: *honks, burns: 1, ..Tally::default() };
            *goose = Goose { seat: Seat::Person, tally, ..Goose::default() };
        }
        game
    }

    fn remarks(game: &Skein) -> Vec<&'static str> {
        lines(game).iter().map(|line| line.remark).collect()
    }

    #[test]
    fn remarks_compare_players() {
        let game = game(&[(3, 900, 1), (1, 5_000, 2), (0, 100, 9)]);
        assert_eq!(remarks(&game), ["most catches", "longest at the point", "loudest"]);
        assert_eq!(lines(&game)[1].point_time(), "1:23");
    }

    #[test]
    fn player_gets_one_remark_and_tie_gives_none() {
        assert_eq!(remarks(&game(&[(3, 9_000, 9), (3, 100, 1)])), ["longest at the point", ""]);
        assert_eq!(remarks(&game(&[(1, 9_000, 9), (0, 100, 1)])), ["most catches", ""]);
        assert_eq!(remarks(&game(&[(0, 599, 2), (0, 100, 1)])), ["", ""]);
    }

    #[test]
    fn lone_player_is_compared_with_none() {
        let mut game = game(&[(3, 9_000, 9)]);
        assert_eq!(remarks(&game), [""]);
        game.geese[0].tally.burns = 0;
        assert_eq!(remarks(&game), ["never fell"]);
    }

    #[test]
    fn free_slot_has_no_line() {
        let mut game = game(&[(0, 0, 0), (0, 0, 0), (0, 0, 0)]);
        game.geese[1].seat = Seat::Free;
        assert_eq!(lines(&game).iter().map(|line| line.seat).collect::<Vec<_>>(), [0, 2]);
    }
}
