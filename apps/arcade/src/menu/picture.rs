//! Drawing of the menu: buttons, the list of rooms, the boxes for a code. `Menu` calls it. Absent:
//! layout, choices.

use gaggle_scene::{Color, ImageId, Scene, font, palette};

use super::layout::Layout;
use super::{CODE_LENGTH, Choice, Menu, MenuFacts, RoomLine, row};
use crate::pen::{Pen, Rect, grouped, wrapped};
use crate::pictures::pictures;
use crate::volume::Volume;

/// Columns and rows of the images on buttons.
const SIGN: i32 = 9;

pub(super) fn draw(menu: &Menu, scene: &mut Scene, facts: &MenuFacts<'_>) {
    let layout = &menu.layout;
    Pen::new(scene, menu.view).shade(0.36);
    let mut pen = Pen::new(scene, menu.view);
    if let (true, Some(place)) = (layout.upright, layout.cabinets) {
        // Rock under the turf hides the demo match between the buttons.
        let (wide, tall) = (menu.view.word_width(), menu.view.word_height());
        pen.fill(Rect::new(0, place.bottom(), wide, tall - place.bottom()), palette::PEAT[0], 0.8);
    }
    menu.row.draw(scene, menu.view, menu.beat);
    let mut pen = Pen::new(scene, menu.view);
    if let Some((which, x, y)) = layout.title {
        pen.figure(pictures().title[which], x as f32, y as f32, false);
    }
    if let Some(place) = layout.tagline {
        tagline(&mut pen, place, layout.upright);
    }
    if let Some(place) = layout.strip {
        row::strip(&mut pen, place, menu.game.name, menu.games);
    }
    // Where no cabinet shows the open game, the button names it. Where there may be no keyboard, it
    // names no key.
    let hint = match layout.cabinets {
        None => menu.game.name,
        Some(_) if layout.upright || menu.touch => "",
        Some(_) => "Enter",
    };
    play(&mut pen, layout.play, hint);
    mode(&mut pen, layout.mode, menu.game.modes, menu.mode);
    let color = |choice| if menu.offers(choice) { palette::TEXT } else { palette::MIST[1] };
    if menu.offers(Choice::PlayTwo) {
        button(&mut pen, layout.play_two, &["Two players", "Two"]);
    }
    button(&mut pen, layout.private, &["Play with friends", "With friends", "Friends"]);
    colored(&mut pen, layout.replay, &["Replay"], color(Choice::Replay));
    button(&mut pen, layout.help, &["How to play", "Help", "?"]);
    sign(&mut pen, layout.board, pictures().cup);
    sign(&mut pen, layout.fill, pictures().corners);
    sound(&mut pen, layout.sound, facts.volume);
    name(&mut pen, menu, facts);
    rooms(&mut pen, menu, facts);
    code(&mut pen, menu);
    if let Some(place) = menu.hovered {
        pen.panel(place.grown(1), palette::INK, 0.0, Some(palette::BONE));
    }
    focus(&mut pen, menu);
}

fn tagline(pen: &mut Pen<'_>, place: Rect, upright: bool) {
    let line = ["Open the page and you are flying. Others drop in.", "Others drop in."]
        .into_iter()
        .find(|line| font::width(line, false, 0) <= place.wide);
    let Some(line) = line else { return };
    if upright {
        let middle = place.x + place.wide / 2;
        pen.text(line, middle, place.y, place.wide, palette::TEXT).centered().outlined(palette::INK);
    } else {
        pen.text(line, place.x, place.y, place.wide, palette::TEXT).outlined(palette::INK);
    }
}

fn focus(pen: &mut Pen<'_>, menu: &Menu) {
    let place = menu.places().into_iter().find(|(choice, _)| *choice == menu.focus);
    if let Some((_, place)) = place {
        pen.focus(place);
    }
}

/// Draws the large button.
fn play(pen: &mut Pen<'_>, place: Rect, hint: &str) {
    let Rect { x, y, wide, tall } = place;
    pen.panel(place, palette::FIRE[4], 1.0, Some(palette::FIRE[5]));
    pen.fill(Rect::new(x + 2, y + tall - 3, wide - 4, 2), palette::FIRE[3], 1.0);
    let size = if tall >= 18 { 2 } else { 1 };
    let letters = font::width("PLAY", true, 0) * size;
    let hint_wide = font::width(hint, false, 0) + 8;
    let has_hint = !hint.is_empty() && wide >= letters + hint_wide + 20;
    let left = x + (wide - letters - if has_hint { hint_wide } else { 0 }) / 2;
    pen.bold("PLAY", left, y + (tall - 7 * size) / 2, wide, palette::INK).sized(size as u8);
    if has_hint {
        pen.text(hint, left + letters + 8, y + (tall - 7) / 2 + 1, wide, palette::FIRE[1]);
    }
}

fn mode(pen: &mut Pen<'_>, place: Rect, modes: &[(&str, &str)], chosen: usize) {
    pen.card(place, palette::MIST[0]);
    let wide = place.wide / modes.len().max(1) as i32;
    for (mode, (_, name)) in modes.iter().enumerate() {
        let rect = Rect::new(place.x + mode as i32 * wide, place.y, wide, place.tall);
        let (middle, y) = (rect.x + rect.wide / 2, rect.y + (rect.tall - 7) / 2);
        if mode == chosen {
            pen.panel(rect.grown(-2), palette::NIGHT[3], 1.0, Some(palette::STAR));
            pen.bold(name, middle, y, rect.wide - 4, palette::TEXT).centered();
        } else {
            pen.text(name, middle, y, rect.wide - 4, palette::FAINT).centered();
        }
    }
}

/// Draws a button with the longest of its labels that fits.
fn button(pen: &mut Pen<'_>, place: Rect, names: &[&str]) {
    colored(pen, place, names, palette::TEXT);
}

fn colored(pen: &mut Pen<'_>, place: Rect, names: &[&str], color: Color) {
    pen.card(place, palette::MIST[0]);
    let room = place.wide - 6;
    let name = names.iter().find(|name| font::width(name, false, 0) <= room).or(names.last());
    let (middle, y) = (place.x + place.wide / 2, place.y + (place.tall - 7) / 2);
    pen.text(name.copied().unwrap_or_default(), middle, y, room, color).centered();
}

/// Draws a button with an image, if the layout has it.
fn sign(pen: &mut Pen<'_>, place: Rect, image: ImageId) {
    if place.wide > 0 {
        pen.card(place, palette::MIST[0]);
        let (x, y) = place.middle();
        pen.image(image, x - SIGN / 2, y - SIGN / 2);
    }
}

fn sound(pen: &mut Pen<'_>, place: Rect, volume: Volume) {
    let word = volume.words();
    if font::width(word, false, 0) + 6 <= place.wide {
        button(pen, place, &[word]);
        return;
    }
    pen.card(place, palette::MIST[0]);
    let (x, y) = place.middle();
    pen.image(pictures().speaker[usize::from(volume.is_off())], x - 5, y - 5);
    for step in 0..3 {
        let color = if (step as usize) < volume.step() { palette::FIRE[5] } else { palette::NIGHT[3] };
        pen.fill(Rect::new(x - 7 + 5 * step, y + 5, 4, 2), color, 1.0);
    }
}

fn name(pen: &mut Pen<'_>, menu: &Menu, facts: &MenuFacts<'_>) {
    let place = menu.layout.name;
    let y = place.y + (place.tall - 7) / 2;
    pen.card(place, palette::SEAT[menu.palette]);
    let mut left = place.x + 6;
    if place.tall >= 13 && place.wide > 60 {
        pen.emblem(menu.palette, true, left, y - 2);
        left += 18;
    }
    let mut right = place.right() - 8;
    if let Some(best) = facts.best.filter(|_| place.wide >= 140) {
        let text = format!("best {}", grouped(i64::from(best)));
        pen.text(&text, right, y, 80, palette::DIM).right();
        right -= font::width(&text, false, 0).min(80) + 6;
    }
    let writing = menu.focus == Choice::Name;
    let text = if writing { menu.name() } else { facts.name };
    let room = right - left;
    if writing {
        // The end of the text is where the player types.
        let mut tail = text;
        while font::width(tail, true, 0) > room - 8 {
            let mut letters = tail.chars();
            letters.next();
            tail = letters.as_str();
        }
        pen.bold(tail, left, y, room, palette::TEXT);
        let end = left + font::width(tail, true, 0) + 1;
        pen.fill(Rect::new(end, y + 8, 5, 1), palette::MOON, 1.0);
    } else if text.is_empty() {
        pen.text("your name", left, y, room, palette::FAINT);
    } else {
        pen.bold(text, left, y, room, palette::TEXT);
    }
}

fn rooms(pen: &mut Pen<'_>, menu: &Menu, facts: &MenuFacts<'_>) {
    let layout = &menu.layout;
    let place = layout.rooms;
    let framed = layout.rooms_head > 14;
    if framed {
        pen.card(place, palette::MIST[0]);
    }
    let inset = if framed { 8 } else { 2 };
    let head = place.y + (layout.rooms_head - 9) / 2;
    let room = place.wide - 2 * inset;
    let seen = menu.seen();
    if framed || place.wide > 100 {
        pen.bold("Open rooms", place.x + inset, head, room, palette::TEXT);
    }
    if facts.online == Some(true) && !facts.rooms.is_empty() {
        let more = facts.rooms.len() > seen;
        let text = match more {
            true => format!("{}-{} of {} →", menu.first + 1, menu.first + seen, facts.rooms.len()),
            false => facts.rooms.len().to_string(),
        };
        pen.text(&text, place.right() - inset, head, room / 2, palette::FAINT).right();
    }
    let words = match (facts.online, facts.rooms.is_empty()) {
        (None, true) => Some("Asking the lobby…"),
        (Some(false), _) => Some("The lobby is out. You can still fly alone."),
        (Some(true), true) => Some("No one flies right now. Be the first."),
        _ => None,
    };
    if let Some(words) = words {
        let top = place.y + layout.rooms_head + if framed { 6 } else { 2 };
        let lines = ((place.bottom() - top) / 12).clamp(1, 4) as usize;
        for (nth, line) in wrapped(words, room, lines).iter().enumerate() {
            let color = if facts.online == Some(false) { palette::WARN } else { palette::DIM };
            pen.text(line, place.x + inset, top + 12 * nth as i32, room, color);
        }
        return;
    }
    for row in 0..seen {
        if let Some(line) = facts.rooms.get(menu.first + row) {
            let focused = menu.focus == Choice::Room(menu.first + row);
            room_row(pen, layout, row, line, focused);
        }
    }
}

fn room_row(pen: &mut Pen<'_>, layout: &Layout, row: usize, line: &RoomLine, focused: bool) {
    let place = layout.room(row);
    let two_lines = place.tall >= 24;
    pen.panel(
        place,
        palette::NIGHT[0],
        0.9,
        Some(if focused { palette::MIST[1] } else { palette::NIGHT[2] }),
    );
    let y = if two_lines { place.y + (place.tall - 19) / 2 } else { place.y + (place.tall - 7) / 2 };
    let (left, wide) = (place.x + 6, place.wide - 12);
    let color = if focused { palette::FIRE[5] } else { palette::TEXT };
    let code_room = wide.min(46);
    if focused {
        pen.bold(&line.code, left, y, code_room, color);
    } else {
        pen.text(&line.code, left, y, code_room, color);
    }
    let seats = usize::from(line.seats).min(4);
    if wide >= 46 + 12 * 4 {
        for seat in 0..seats {
            pen.emblem(seat, seat < usize::from(line.players), left + 50 + 12 * seat as i32, y - 2);
        }
    }
    let eye = layout.eye(row);
    if wide >= 46 + 20 {
        pen.image(pictures().eye, eye.right() - 14, y + 1);
    }
    if two_lines {
        let below = y + 12;
        let status = match (line.open, line.watchers) {
            (false, _) => "full".to_string(),
            (true, 0) => String::new(),
            (true, watchers) => format!("{watchers} watching"),
        };
        let taken = font::width(&status, false, 0);
        pen.text(&line.mode, left, below, wide - taken - 6, palette::DIM);
        pen.text(&status, place.right() - 6, below, wide / 2, palette::FAINT).right();
    }
}

fn code(pen: &mut Pen<'_>, menu: &Menu) {
    let place = menu.layout.code;
    let focused = menu.focus == Choice::Code;
    pen.card(place, palette::MIST[0]);
    let framed = place.tall >= 56;
    let complete = menu.code().len() == CODE_LENGTH;
    let (mut boxes, mut left) = (place.grown(-3), place.x + 4);
    if framed {
        pen.bold("Have a code?", place.x + 8, place.y + 7, place.wide - 16, palette::TEXT);
        let hint = match complete {
            true if menu.touch => "Tap to join.",
            true => "Enter joins.",
            false => "Six letters, no rush.",
        };
        pen.text(hint, place.x + 8, place.bottom() - 12, place.wide - 16, palette::FAINT);
        boxes = Rect::new(place.x + 8, place.y + 19, place.wide - 16, 26);
        left = boxes.x;
    } else if place.wide >= 150 {
        pen.text("Code", place.x + 6, place.y + (place.tall - 7) / 2, 24, palette::DIM);
        left = place.x + 34;
    }
    let step = ((boxes.right() - left) / CODE_LENGTH as i32).min(if framed { 22 } else { 24 });
    for nth in 0..CODE_LENGTH {
        let rect = Rect::new(left + nth as i32 * step, boxes.y, step - 2, boxes.tall);
        let next = focused && nth == menu.code().len();
        let edge = match (next, complete) {
            (true, _) => palette::MOON,
            (_, true) => palette::FIRE[4],
            _ => palette::NIGHT[3],
        };
        pen.panel(rect, palette::NIGHT[1], 1.0, Some(edge));
        let size = if rect.tall >= 20 && rect.wide >= 14 { 2 } else { 1 };
        let (middle, y) = (rect.x + rect.wide / 2, rect.y + (rect.tall - 7 * size) / 2);
        if let Some(letter) = menu.code().get(nth..nth + 1) {
            pen.text(letter, middle, y, rect.wide, palette::FIRE[5]).centered().sized(size as u8);
        } else if next {
            pen.fill(Rect::new(middle - 4, rect.bottom() - 5, 8, 1), palette::FIRE[5], 1.0);
        }
    }
}
