//! Score board after a match: results, the leaderboard, and the next choices. `Arcade` drives it.
//! Absent: scores.

mod picture;

use gaggle_scene::{Scene, View};

use crate::Key;
use crate::pen::Rect;

/// Choices after a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScoreChoice {
    /// Play another match.
    Again,
    /// Saves the match as a file.
    SaveReplay,
    /// Copies a link to it.
    CopyLink,
    /// Go to the menu.
    Menu,
}

impl ScoreChoice {
    const ALL: [ScoreChoice; 4] =
        [ScoreChoice::Again, ScoreChoice::SaveReplay, ScoreChoice::CopyLink, ScoreChoice::Menu];

    /// Label of its button, and its key.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            ScoreChoice::Again => ("Fly again", "Enter"),
            ScoreChoice::SaveReplay => ("Save replay", "S"),
            ScoreChoice::CopyLink => ("Copy link", "L"),
            ScoreChoice::Menu => ("Menu", "Esc"),
        }
    }
}

/// One player of the match.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlayerLine {
    /// Slot of the player.
    pub seat: usize,
    /// Name of the player.
    pub name: String,
    /// Score of the player.
    pub score: u32,
    /// The game's own figures, in the order of [`About::columns`](crate::cabinet::About::columns).
    pub figures: Vec<String>,
    /// One friendly remark, or an empty text: `most eggs`.
    pub remark: String,
    /// Whether it is a local player.
    pub own: bool,
}

/// One line of the leaderboard.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BoardLine {
    /// Rank, from 1.
    pub place: u32,
    /// Name of the player.
    pub name: String,
    /// The wave the player reached.
    pub level: Option<u32>,
    /// Score of the result.
    pub score: i64,
    /// Whether it is a local player.
    pub own: bool,
}

/// Data of the score board.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScoreFacts<'a> {
    /// `Team` or `Versus`.
    pub mode: &'a str,
    /// What progress is counted in: `Wave`.
    pub level: &'a str,
    /// The wave the match reached.
    pub wave: u16,
    /// One line about the match; see [`dry_line`].
    pub line: &'a str,
    /// All players, in the order of the table.
    pub players: &'a [PlayerLine],
    /// Heads of the game's own figures, which the narrowest tables leave out from the last on.
    pub columns: &'a [&'a str],
    /// The leaderboard; none until it arrives, or if the lobby cannot be reached.
    pub board: Option<&'a [BoardLine]>,
    /// Text under the leaderboard, or instead of it.
    pub board_note: &'a str,
}

/// Draws the leaderboard alone, in the middle of a screen.
pub(crate) fn draw_leaderboard(scene: &mut Scene, view: View, facts: &ScoreFacts<'_>) {
    let (wide, tall) = (view.word_width(), view.word_height());
    let lines = facts.board.map_or(0, <[BoardLine]>::len) as i32;
    let place_wide = (wide - 8).min(260);
    let place_tall = (43 + 19 * lines).clamp(50, (tall - 8).max(50)).min(tall);
    let place = Rect::new((wide - place_wide) / 2, (tall - place_tall) / 2, place_wide, place_tall);
    picture::leaderboard_alone(scene, view, place, facts);
}

/// Places of everything, in text pixels.
#[derive(Debug, Clone, Copy, Default)]
struct Layout {
    /// Position of the lettering, unless there is no room.
    title: Option<(i32, i32)>,
    line: Rect,
    table: Rect,
    row: i32,
    buttons: [Rect; 4],
    board: Option<Rect>,
}

/// The score board and its focus.
#[derive(Debug)]
pub struct ScoreBoard {
    view: View,
    layout: Layout,
    focus: usize,
    /// Whether the screen is touched: buttons then name no keys.
    pub touch: bool,
}

impl ScoreBoard {
    /// A score board for a screen.
    pub fn new(view: View) -> ScoreBoard {
        ScoreBoard { view, layout: Layout::of(view), focus: 0, touch: false }
    }

    /// Adapts it to another screen.
    pub fn resize(&mut self, view: View) {
        self.view = view;
        self.layout = Layout::of(view);
    }

    /// The focused choice.
    pub fn focus(&self) -> ScoreChoice {
        ScoreChoice::ALL[self.focus]
    }

    /// Handles a key. Returns the choice, if any.
    pub fn press(&mut self, key: Key) -> Option<ScoreChoice> {
        let count = ScoreChoice::ALL.len();
        match key {
            Key::Left | Key::Up => self.focus = (self.focus + count - 1) % count,
            Key::Right | Key::Down => self.focus = (self.focus + 1) % count,
            Key::Enter => return Some(self.focus()),
            Key::Escape => return Some(ScoreChoice::Menu),
            _ => {}
        }
        None
    }

    /// Handles a letter on a button. Call it before the letter's other meanings.
    pub fn letter(&mut self, letter: char) -> Option<ScoreChoice> {
        match letter.to_ascii_lowercase() {
            's' => Some(ScoreChoice::SaveReplay),
            'l' => Some(ScoreChoice::CopyLink),
            _ => None,
        }
    }

    /// Handles a click or tap at a pixel of the screen.
    pub fn click(&mut self, x: i32, y: i32) -> Option<ScoreChoice> {
        self.focus = self.button_at(x, y)?;
        Some(self.focus())
    }

    /// Whether a click there would choose something.
    pub fn is_button_at(&self, x: i32, y: i32) -> bool {
        self.button_at(x, y).is_some()
    }

    fn button_at(&self, x: i32, y: i32) -> Option<usize> {
        let (x, y) = (x.div_euclid(self.view.word_scale), y.div_euclid(self.view.word_scale));
        self.layout.buttons.iter().position(|button| button.contains(x, y))
    }

    /// Draws it over the final scene.
    pub fn draw(&self, scene: &mut Scene, facts: &ScoreFacts<'_>) {
        picture::draw(self, scene, facts);
    }
}

impl Layout {
    fn of(view: View) -> Layout {
        let (wide, tall) = (view.word_width(), view.word_height());
        let mut layout = match (wide, tall) {
            (480.., 240..) => roomy(wide, tall),
            (360.., 150..240) => sideways(wide, tall),
            _ => stacked(wide, tall),
        };
        layout.buttons = layout.buttons.map(|button| button.within(view));
        layout.table = layout.table.within(view);
        layout
    }
}

/// Shares of the buttons' widths in one row.
const BUTTONS: [i32; 4] = [106, 88, 73, 63];

fn roomy(wide: i32, tall: i32) -> Layout {
    let margin = if wide >= 600 { 24 } else { 10 };
    let [left, right] = Rect::new(margin, 20, wide - 2 * margin, tall - 40).columns([352, 224], 16);
    let table = Rect::new(left.x, 66, left.wide, 109);
    let bar = Rect::new(left.x, table.bottom() + 11, left.wide, 23);
    Layout {
        title: Some((left.x + 4, 11)),
        line: Rect::new(left.x + 6, 51, left.wide - 6, 9),
        table,
        row: 20,
        buttons: bar.columns(BUTTONS, 7),
        board: Some(Rect::new(right.x, 20, right.wide, 220.min(right.tall))),
    }
}

/// A phone held sideways: little height, so the leaderboard is beside the rest.
fn sideways(wide: i32, tall: i32) -> Layout {
    let [left, right] = Rect::new(4, 4, wide - 8, tall - 8).columns([230, 180], 6);
    let buttons = in_two_rows(left.x, tall - 4 - 38, left.wide, 20);
    let table_top = 57;
    let table = Rect::new(left.x, table_top, left.wide, tall - 4 - 38 - 4 - table_top);
    Layout {
        title: Some((left.x + 2, 3)),
        line: Rect::new(left.x + 2, 33, left.wide - 2, 22),
        table,
        row: ((table.tall - 20) / 4).clamp(9, 20),
        buttons,
        board: Some(right),
    }
}

/// All parts one under the other; parts without room are left out, except the buttons.
fn stacked(wide: i32, tall: i32) -> Layout {
    let (left, room) = (4, wide - 8);
    let titled = tall >= 170;
    let mut y = if titled { 35 } else { 3 };
    let line_tall = match tall {
        380.. => 33,
        300.. => 22,
        _ => 9,
    };
    let line = Rect::new(left + 2, y, room - 4, line_tall);
    y += line.tall + 3;
    // In two rows where one has no room for four labels.
    let rows = if room >= 300 { 1 } else { 2 };
    let step = if tall >= 170 { 24 } else { 15 };
    let row = ((tall - y - rows * step - 24) / 4).clamp(9, 17);
    let table = Rect::new(left, y, room, (20 + 4 * row).min(tall - y - rows * step - 3));
    y = table.bottom() + 4;
    let buttons = if rows == 1 {
        Rect::new(left, y, room, step - 3).columns(BUTTONS, 4)
    } else {
        in_two_rows(left, y, room, step)
    };
    y += rows * step;
    let below = y + 5;
    let board = (tall - below >= 50).then(|| Rect::new(left, below, room, (tall - below - 4).min(220)));
    Layout { title: titled.then_some((left + 2, 4)), line, table, row, buttons, board }
}

fn in_two_rows(x: i32, y: i32, wide: i32, step: i32) -> [Rect; 4] {
    let row = |nth: i32| Rect::new(x, y + nth * step, wide, step - 3);
    let ([again, menu], [replay, link]) = (row(0).columns([3, 2], 4), row(1).columns([1, 1], 4));
    [again, replay, link, menu]
}

/// One dry line about a match, equal for all its players.
pub fn dry_line(wave: u16, players: usize, match_number: u64) -> &'static str {
    const ALONE: [&str; 4] = [
        "The fen keeps one saddle; the goose kept its head.",
        "You fell in the end. The goose merely landed.",
        "The goose would do it again. It was not asked.",
        "Somewhere a knave is telling this differently.",
    ];
    const TOGETHER: [&str; 4] = [
        "The fen keeps the saddles; the geese kept their heads.",
        "No one was higher for long.",
        "The geese have agreed not to speak of it.",
        "All riders accounted for. Most of them damp.",
    ];
    let lines = match (wave, players) {
        (0..=1, _) => return "Brief, but the moon saw it.",
        (_, 0 | 1) => ALONE,
        _ => TOGETHER,
    };
    lines[(match_number % 4) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pen::tests::{assert_inside, views};

    #[test]
    fn every_choice_is_reached_by_keys_and_by_clicks() {
        for view in views() {
            let mut board = ScoreBoard::new(view);
            for (nth, choice) in ScoreChoice::ALL.into_iter().enumerate() {
                assert_eq!(board.press(Key::Enter), Some(choice));
                board.press(Key::Right);
                let place = board.layout.buttons[nth];
                assert!(place.wide >= 20 && place.tall >= 9, "{choice:?} {place:?}");
                let (x, y) = place.middle();
                assert_eq!(board.click(x * view.word_scale, y * view.word_scale), Some(choice));
                board.focus = (nth + 1) % 4;
            }
            assert_eq!(board.click(-5, -5), None);
            assert_eq!(board.press(Key::Escape), Some(ScoreChoice::Menu));
        }
        let mut board = ScoreBoard::new(views()[0]);
        assert_eq!(
            [board.letter('S'), board.letter('l'), board.letter('x')],
            [Some(ScoreChoice::SaveReplay), Some(ScoreChoice::CopyLink), None]
        );
    }

    #[test]
    fn it_fits_on_any_screen_whatever_people_are_called() {
        let long = "a name without end ".repeat(30);
        let player = |seat| PlayerLine {
            seat,
            name: long.clone(),
            score: u32::MAX,
            figures: vec![long.clone(), u16::MAX.to_string(), "9:59".to_string()],
            remark: long.clone(),
            own: seat == 1,
        };
        let line = |place| BoardLine {
            place,
            name: long.clone(),
            level: Some(u32::MAX),
            score: i64::MIN,
            own: place == 3,
        };
        let (players, lines): (Vec<_>, Vec<_>) = ((0..9).map(player).collect(), (1..200).map(line).collect());
        for view in views() {
            for count in [0, 1, 4, 9] {
                for board in [None, Some(&lines[..0]), Some(&lines[..])] {
                    let facts = ScoreFacts {
                        mode: &long,
                        level: "Wave",
                        wave: u16::MAX,
                        line: &long,
                        players: &players[..count],
                        columns: &["catches", "falls", &long],
                        board,
                        board_note: &long,
                    };
                    let mut scene = Scene::default();
                    ScoreBoard::new(view).draw(&mut scene, &facts);
                    assert_inside(&scene, crate::album(), view, "score board");
                }
            }
        }
    }

    #[test]
    fn there_is_always_something_to_say() {
        for wave in [0, 1, 2, 99] {
            for players in 0..5 {
                assert!(!dry_line(wave, players, u64::MAX).is_empty());
            }
        }
    }
}
