//! Drawing of the score board. `ScoreBoard` calls it. Absent: layout, choices.

use gaggle_scene::{Color, Scene, View, font, palette};

use super::{BoardLine, PlayerLine, ScoreBoard, ScoreChoice, ScoreFacts};
use crate::pen::{Pen, Rect, fitted, grouped, wrapped};
use crate::pictures::pictures;

pub(super) fn draw(board: &ScoreBoard, scene: &mut Scene, facts: &ScoreFacts<'_>) {
    let mut pen = Pen::new(scene, board.view);
    let layout = &board.layout;
    pen.shade(0.25);
    if let Some((x, y)) = layout.title {
        pen.figure(pictures().well_flown, x as f32, y as f32, false);
    }
    let line = format!("{} {}. {}", facts.level, facts.wave, facts.line);
    paragraph(&mut pen, layout.line, &line, palette::BONE);
    table(&mut pen, board, facts);
    for (nth, choice) in ScoreChoice::ALL.into_iter().enumerate() {
        button(&mut pen, choice, layout.buttons[nth], nth == board.focus, board.touch);
    }
    if let Some(place) = layout.board {
        leaderboard(&mut pen, place, facts);
    }
}

/// Draws text without a card, in as many lines as there is room for.
fn paragraph(pen: &mut Pen<'_>, place: Rect, text: &str, color: Color) {
    let lines = (place.tall / 11).max(1) as usize;
    for (nth, line) in wrapped(text, place.wide, lines).iter().enumerate() {
        let y = place.y + 11 * nth as i32;
        pen.text(line, place.x, y, place.wide, color).outlined(palette::INK);
    }
}

fn table(pen: &mut Pen<'_>, board: &ScoreBoard, facts: &ScoreFacts<'_>) {
    let place = board.layout.table;
    pen.card(place, palette::MIST[0]);
    let columns = shown_columns(place, facts.columns);
    let (step, head) = (column_step(place, columns), place.y + 7);
    let score_right = place.right() - 6 - step * columns.len() as i32;
    for (nth, column) in (1..).zip(columns) {
        pen.text(column, score_right + step * nth, head, step - 4, palette::FAINT).right();
    }
    pen.bold(facts.mode, place.x + 9, head, place.wide / 3, palette::TEXT);
    pen.text("score", score_right, head, place.wide / 3, palette::FAINT).right();
    // Six players have lower rows than four.
    let step = board.layout.row.min((place.tall - 20) / facts.players.len().max(1) as i32).max(9);
    for (nth, player) in facts.players.iter().enumerate() {
        let row = Rect::new(place.x + 3, place.y + 18 + nth as i32 * step, place.wide - 6, step);
        if row.bottom() > place.bottom() - 1 {
            break;
        }
        player_row(pen, row, (score_right, step, columns.len()), player);
    }
}

/// The game's own columns: only the first where the table is narrow.
fn shown_columns<'a>(place: Rect, columns: &'a [&'a str]) -> &'a [&'a str] {
    if place.wide < 300 { &columns[..columns.len().min(1)] } else { columns }
}

/// Width of each of them.
fn column_step(place: Rect, columns: &[&str]) -> i32 {
    (if columns.len() > 1 { 62 } else { 48 }).min(place.wide / 4)
}

fn player_row(pen: &mut Pen<'_>, row: Rect, columns: (i32, i32, usize), player: &PlayerLine) {
    let (score_right, column_step, shown) = columns;
    let color = palette::SEATS_SIX[player.seat % palette::SEATS_SIX.len()];
    let y = row.y + (row.tall - 7) / 2;
    if player.own && row.tall >= 13 {
        pen.panel(Rect::new(row.x, row.y, row.wide, row.tall - 1), palette::NIGHT[2], 0.8, Some(color));
    }
    pen.emblem(player.seat, true, row.x + 4, y - 2);
    let score = grouped(i64::from(player.score));
    let score_wide = font::width(&score, false, 0);
    let left = row.x + 21;
    let room = score_right - score_wide - 6 - left;
    let name = fitted(&player.name, room, true);
    let name_wide = font::width(&name, true, 0);
    pen.bold(&name, left, y, room, color);
    let remark_x = (left + name_wide + 8).max(left + 61);
    // A remark is shown whole or not at all.
    let remark_room = score_right - score_wide - 6 - remark_x;
    if font::width(fitted(&player.remark, 400, false).as_ref(), false, 0) <= remark_room {
        pen.text(&player.remark, remark_x, y, remark_room, palette::FAINT);
    }
    pen.text(&score, score_right, y, row.wide / 2, palette::TEXT).right();
    for (nth, figure) in (1..).zip(player.figures.iter().take(shown)) {
        pen.text(figure, score_right + column_step * nth, y, column_step - 4, palette::DIM).right();
    }
}

fn button(pen: &mut Pen<'_>, choice: ScoreChoice, place: Rect, focused: bool, touch: bool) {
    let primary = choice == ScoreChoice::Again;
    let (words, key) = choice.words();
    if primary {
        pen.panel(place, palette::FIRE[4], 1.0, Some(palette::FIRE[5]));
    } else {
        pen.card(place, palette::MIST[0]);
    }
    if focused {
        pen.focus(place);
    }
    let (ink, dim) = if primary { (palette::INK, palette::FIRE[1]) } else { (palette::TEXT, palette::FAINT) };
    let (words_wide, key_wide) = (font::width(words, primary, 0), font::width(key, false, 0));
    let with_key = !touch && words_wide + 4 + key_wide + 8 <= place.wide;
    let all = words_wide + if with_key { 4 + key_wide } else { 0 };
    let (x, y) = (place.x + (place.wide - all).max(6) / 2, place.y + (place.tall - 7) / 2);
    if primary {
        pen.bold(words, x, y, place.wide - 6, ink);
    } else {
        pen.text(words, x, y, place.wide - 6, ink);
    }
    if with_key {
        pen.text(key, x + words_wide + 4, y, key_wide, dim);
    }
}

/// Draws the leaderboard alone, over another picture.
pub(super) fn leaderboard_alone(scene: &mut Scene, view: View, place: Rect, facts: &ScoreFacts<'_>) {
    let mut pen = Pen::new(scene, view);
    pen.shade(0.5);
    leaderboard(&mut pen, place, facts);
}

fn leaderboard(pen: &mut Pen<'_>, place: Rect, facts: &ScoreFacts<'_>) {
    let lines = facts.board.unwrap_or_default();
    let wide = place.wide - 18;
    let note_lines = wrapped(facts.board_note, wide, 2);
    let note_tall = if facts.board_note.is_empty() { 0 } else { 12 * note_lines.len() as i32 };
    let room = place.tall - 31 - note_tall;
    let step = 19.min((room / 9).max(13));
    let fit = (room / step).max(0) as usize;
    // A short list has a short card.
    let rows = if lines.is_empty() { 12 } else { step * lines.len().min(fit) as i32 };
    let place = Rect { tall: place.tall.min(31 + note_tall + rows), ..place };
    pen.card(place, palette::MIST[0]);
    let inner = Rect::new(place.x + 9, place.y + 8, wide, place.tall - 16);
    pen.bold("Leaderboard", inner.x, inner.y, inner.wide * 2 / 3, palette::TEXT);
    pen.text(facts.mode, inner.right(), inner.y, inner.wide / 3, palette::DIM).right();
    let top = inner.y + 15;
    let mut y = top;
    // The own line is always among the visible ones.
    let own = lines.iter().position(|line| line.own).unwrap_or(0);
    let first = if own < fit { 0 } else { own + 1 - fit };
    for line in lines.iter().skip(first).take(fit) {
        board_row(pen, Rect::new(place.x + 4, y, place.wide - 8, step), line);
        y += step;
    }
    if facts.board.is_none() && facts.board_note.is_empty() {
        pen.text("Asking the lobby…", inner.x, top + 2, inner.wide, palette::DIM);
    }
    let color = if lines.is_empty() { palette::DIM } else { palette::FIRE[5] };
    for (nth, line) in note_lines.iter().enumerate() {
        let y = if lines.is_empty() { top + 2 } else { inner.bottom() - note_tall + 3 } + 12 * nth as i32;
        if y + 9 <= place.bottom() {
            pen.text(line, inner.x, y, inner.wide, color);
        }
    }
}

fn board_row(pen: &mut Pen<'_>, row: Rect, line: &BoardLine) {
    let y = row.y + (row.tall - 7) / 2;
    if line.own {
        let frame = Rect::new(row.x, row.y, row.wide, row.tall - 1);
        pen.panel(frame, palette::NIGHT[2], 0.8, Some(palette::SEAT[0]));
    }
    let color = if line.own { palette::SEAT[0] } else { palette::TEXT };
    let score = grouped(line.score);
    let score_wide = font::width(&score, false, 0).min(row.wide / 2);
    let level = line.level.filter(|_| row.wide >= 200).map_or(String::new(), |level| format!("wave {level}"));
    let level_right = row.right() - 6 - score_wide.max(42) - 10;
    let level_wide = font::width(&level, false, 0).min(60);
    pen.text(&line.place.to_string(), row.x + 16, y, 14, palette::DIM).right();
    let (left, name_wide) = (row.x + 24, font::width(&fitted(&line.name, row.wide, false), false, 0));
    // A name has priority over the reached level.
    let has_level = level_wide > 0 && name_wide <= level_right - level_wide - 6 - left;
    let level = if has_level { level } else { String::new() };
    let name_room =
        if has_level { level_right - level_wide } else { row.right() - 6 - score_wide } - 6 - left;
    pen.text(&line.name, row.x + 24, y, name_room, color);
    pen.text(&level, level_right, y, 60, palette::DIM).right();
    pen.text(&score, row.right() - 6, y, row.wide / 2, palette::TEXT).right();
}
