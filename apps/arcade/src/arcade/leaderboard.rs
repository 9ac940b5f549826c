//! Leaderboard of the chosen mode, shown over the menu. `Arcade` calls it. Absent: drawing
//! (`score_board`).

use gaggle_scene::Scene;

use super::{Arcade, Screen};
use crate::ScoreFacts;
use crate::pen::grouped;
use crate::score_board::draw_leaderboard;

impl Arcade {
    /// Opens it, and requests its entries from the lobby.
    pub(super) fn show_top(&mut self) {
        self.look_around();
        self.shelf.shows_top = true;
    }

    pub(super) fn draw_top(&mut self, over: &mut Scene) {
        let board = self.board_lines();
        let facts = ScoreFacts {
            mode: self.cabinet.about().modes[self.menu.mode].1,
            board: board.as_deref(),
            board_note: self.top_note(),
            ..ScoreFacts::default()
        };
        draw_leaderboard(over, self.view, &facts);
    }

    fn top_note(&self) -> &'static str {
        match &self.shelf.top {
            _ if self.shelf.server_lost => "The lobby is out.",
            Some(top) if top.is_empty() => "Empty. Be the first.",
            _ => "",
        }
    }

    /// The open leaderboard as text.
    pub fn top_words(&mut self) -> Option<String> {
        if !self.shelf.shows_top || self.screen != Screen::Menu {
            return None;
        }
        let mut words = format!("Leaderboard. {}", self.top_note());
        for line in self.board_lines().unwrap_or_default() {
            words += &format!(" {}. {}, {}.", line.place, line.name, grouped(line.score));
        }
        Some(words + " Esc closes it.")
    }
}
