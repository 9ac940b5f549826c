//! Plaques of the broods, the clock, the best players, what is carried, and captions.
//!
//! Called by the stage after the world. Absent: what swims.

use gaggle_scene::{Color, fitted, font, palette};

use super::Painter;
use super::camera::Area;
use super::figures::Look;
use crate::chick::LOAD_MAX;
use crate::cue::{Kind, Mark};
use crate::{Gosling, Mode, Phase, SEATS, round};

/// Names of the broods.
pub const BROOD_NAMES: [&str; 4] = ["Plume", "Horns", "Crown", "Star"];
/// Frames a caption stays.
const CAPTION_FRAMES: u32 = 90;
/// What a player reads whose wish came too late.
const LATE_WORDS: &str = "Your turn came too late.";
/// Rows of the list of players.
const ROWS: usize = 4;

/// Draws everything that lies over the reed but the map.
pub(super) fn draw(painter: &mut Painter<'_>) {
    if painter.camera.is_upright {
        boards(painter);
    }
    let clock = clock(painter);
    if painter.moment.now.setup.mode == Mode::Free {
        own_points(painter);
    } else {
        broods(painter, clock);
    }
    if !painter.camera.is_upright {
        best(painter);
    }
    carried(painter);
}

/// Head and foot of an upright screen.
fn boards(painter: &mut Painter<'_>) {
    let (screen, area) = (painter.camera.screen, painter.camera.area);
    painter.scene.fill(screen.x, screen.y, screen.width, area.y - screen.y, palette::NIGHT[0]);
    let foot = area.y + area.height;
    let tall = screen.y + screen.height - foot;
    painter.scene.fill(screen.x, foot, screen.width, tall, palette::PEAT[0]);
    for row in (6..tall).step_by(7) {
        painter.scene.fill(screen.x, foot + row, screen.width, 1, palette::PEAT[1]);
    }
    painter.scene.fill(screen.x, foot, screen.width, 1, palette::SEDGE[4]);
    painter.scene.fill(screen.x, foot + 1, screen.width, 1, palette::SEDGE[2]);
    if !painter.audience.room.is_empty() {
        let (x, y) = (screen.x as f32 + 6.0, screen.y as f32 + 8.0);
        painter.scene.text(painter.audience.room, x, y, palette::FIRE[5]);
    }
}

/// The clock in the middle; returns its place.
fn clock(painter: &mut Painter<'_>) -> Area {
    let (now, board) = (painter.moment.now, painter.camera.board);
    let wide = if painter.camera.is_upright { 30 } else { 54 };
    let place = Area {
        x: if painter.camera.is_upright || now.setup.mode.broods() < 4 {
            board.x + board.width / 2 - wide / 2
        } else {
            board.x + 404
        },
        y: board.y + if painter.camera.is_upright { 20 } else { 5 },
        width: wide,
        height: 22,
    };
    let is_late = now.clock.is_late();
    let seconds = match now.clock.phase {
        Phase::Round => now.clock.left.div_ceil(round::SECOND),
        Phase::Result => 0,
    };
    let text = format!("{}:{:02}", seconds / 60, seconds % 60);
    painter.scene.panel((place.x, place.y, wide, 22), palette::INK, 0.86, Some(palette::MIST[0]));
    let color = if is_late { palette::FIRE[4] } else { palette::TEXT };
    let middle = (place.x + wide / 2) as f32;
    let handle = painter.scene.text(&text, middle, place.y as f32 + 5.0, color).centered();
    if !painter.camera.is_upright {
        let _ = handle.bold();
    }
    let bar = wide - 12;
    let left = if now.clock.phase == Phase::Round { i32::from(now.clock.left) } else { 0 };
    let full = bar * left / i32::from(now.setup.round_frames.max(1));
    painter.scene.fill(place.x + 6, place.y + 16, bar, 2, palette::NIGHT[2]);
    painter.scene.fill(place.x + 6, place.y + 16, full, 2, palette::FIRE[4]);
    place
}

fn broods(painter: &mut Painter<'_>, clock: Area) {
    let (now, board) = (painter.moment.now, painter.camera.board);
    let own = now.chicks[painter.hero].brood;
    let most = now.scores.iter().copied().max().unwrap_or(0).max(60);
    let count = now.setup.mode.broods();
    for (brood, name) in BROOD_NAMES.iter().enumerate().take(count) {
        let (x, y, wide) = match (painter.camera.is_upright, count) {
            (true, 2) => (board.x + 4 + (board.width - 84) * brood as i32, clock.y, 76),
            // Two beside the clock on each side.
            (true, _) => (
                board.x + 2 + brood as i32 % 2 * 41 + if brood > 1 { board.width - 85 } else { 0 },
                clock.y,
                40,
            ),
            (false, 2) => (board.x + 6 + 140 * brood as i32, clock.y, 134),
            (false, _) => (board.x + 6 + 99 * brood as i32, clock.y, 94),
        };
        let look = Look::of(now.setup.mode, brood as u8, 0);
        let color = look.color();
        let is_own = usize::from(own) == brood;
        let edge = if is_own { color } else { color.mix(palette::NIGHT[1], 0.55) };
        painter.scene.panel((x, y, wide, 22), palette::INK, 0.82, Some(edge));
        let (fx, fy) = (x as f32, y as f32);
        painter.scene.image(painter.figures.emblem(look), fx + 4.0, fy + 3.0);
        let score = now.scores[brood].to_string();
        let space = wide - 17 - 10 - font::width(&score, false, 0);
        if space > 12 {
            let name = fitted(name, space, is_own).into_owned();
            let handle = painter.scene.text(&name, fx + 16.0, fy + 4.0, color);
            if is_own {
                let _ = handle.bold();
            }
        }
        painter.scene.text(&score, fx + wide as f32 - 6.0, fy + 4.0, palette::TEXT).right();
        let bar = wide - 12;
        let full = bar * i32::from(now.scores[brood]) / i32::from(most);
        painter.scene.fill(x + 6, y + 15, bar, 3, palette::NIGHT[2]);
        painter.scene.fill(x + 6, y + 15, full, 3, color);
        painter.scene.fill(x + 6, y + 17, full, 1, color.mix(palette::NIGHT[1], 0.35));
    }
}

/// In `free`, what the hero banked.
fn own_points(painter: &mut Painter<'_>) {
    let (now, board) = (painter.moment.now, painter.camera.board);
    let look = Look::of(Mode::Free, 0, painter.hero);
    let (x, y) = (board.x + 6, board.y + if painter.camera.is_upright { 20 } else { 5 });
    painter.scene.panel((x, y, 74, 22), palette::INK, 0.82, Some(look.color()));
    painter.scene.image(painter.figures.emblem(look), x as f32 + 5.0, y as f32 + 6.0);
    let points = format!("banked {}", now.chicks[painter.hero].banked);
    painter.scene.text(&points, x as f32 + 18.0, y as f32 + 7.0, palette::TEXT);
}

/// Slots by what they banked, best first.
fn ranked(now: &Gosling) -> Vec<usize> {
    let mut slots: Vec<usize> = (0..SEATS).filter(|slot| now.chicks[*slot].is_here()).collect();
    slots.sort_by_key(|slot| (std::cmp::Reverse(now.chicks[*slot].banked), *slot));
    slots
}

/// The best players, the hero's row always among them.
fn best(painter: &mut Painter<'_>) {
    let (now, board) = (painter.moment.now, painter.camera.board);
    let ranked = ranked(now);
    let mut rows: Vec<usize> = ranked.iter().copied().take(ROWS).collect();
    if !rows.contains(&painter.hero)
        && let Some(last) = rows.last_mut()
    {
        *last = painter.hero;
    }
    let (x, y) = (board.x + board.width - 96, board.y + 5);
    let tall = 5 + 12 * rows.len() as i32;
    painter.scene.panel((x, y, 91, tall), palette::INK, 0.78, Some(palette::NIGHT[3]));
    for (nth, slot) in rows.into_iter().enumerate() {
        let chick = &now.chicks[slot];
        let look = Look::of(now.setup.mode, chick.brood, slot);
        let (fx, fy) = (x as f32, (y + 4 + 12 * nth as i32) as f32);
        painter.scene.image(painter.figures.emblem(look), fx + 4.0, fy - 1.0);
        let is_hero = slot == painter.hero;
        let name = fitted(painter.audience.name(slot), 52, is_hero).into_owned();
        let handle =
            painter.scene.text(&name, fx + 16.0, fy, if is_hero { look.color() } else { palette::TEXT });
        if is_hero {
            let _ = handle.bold();
        }
        painter.scene.text(&chick.banked.to_string(), fx + 85.0, fy, palette::TEXT).right();
    }
}

/// What the hero carries.
fn carried(painter: &mut Painter<'_>) {
    let (now, area, board) = (painter.moment.now, painter.camera.area, painter.camera.board);
    let chick = &now.chicks[painter.hero];
    let color = Look::of(now.setup.mode, chick.brood, painter.hero).color();
    let (x, y, wide, tall, first, step) = if painter.camera.is_upright {
        (area.x + 4, area.y + area.height - 18, 84, 15, 6, 6)
    } else {
        (board.x + 6, board.y + board.height - 28, 150, 22, 51, 8)
    };
    painter.scene.panel((x, y, wide, tall), palette::INK, 0.86, Some(color));
    if !painter.camera.is_upright {
        painter.scene.text("carried", (x + 7) as f32, (y + 7) as f32, palette::DIM);
    }
    for k in 0..i32::from(LOAD_MAX) {
        let (cx, cy) = (x + first + k * step, y + tall / 2 - 2);
        if k < i32::from(chick.load) {
            painter.scene.fill(cx, cy, 4, 4, palette::MOON);
            painter.scene.fill(cx, cy, 1, 1, palette::BONE);
            painter.scene.fill(cx + 3, cy + 3, 1, 1, palette::BONE);
        } else {
            painter.scene.fill(cx, cy, 4, 4, palette::MIST[0]);
            painter.scene.fill(cx + 1, cy + 1, 2, 2, palette::INK);
        }
    }
    let hint = hint(painter);
    if !hint.is_empty() {
        let (hx, hy) = if painter.camera.is_upright {
            (x as f32 + 2.0, y as f32 - 11.0)
        } else {
            ((x + wide) as f32 + 7.0, y as f32 + 7.0)
        };
        painter.scene.text(hint, hx, hy, palette::BONE).outlined(palette::INK);
    }
}

/// Where home is, for a loaded gosling.
fn hint(painter: &Painter<'_>) -> &'static str {
    let (now, reed) = (painter.moment.now, painter.moment.reed);
    let chick = &now.chicks[painter.hero];
    if chick.load < 8 || !chick.is_swimming() || now.setup.mode == Mode::Free {
        return "";
    }
    let nest = round::nest_of(now.setup.mode, chick.brood, painter.hero, reed.nests());
    let ((x, y), (nx, ny)) = (reed.spot(reed.near(chick.at)), reed.spot(nest));
    let (dx, dy) = (nx as i32 - x as i32, ny as i32 - y as i32);
    match (dx.abs() >= dy.abs(), dx < 0, dy < 0) {
        (true, true, _) => "Home is left.",
        (true, false, _) => "Home is right.",
        (false, _, true) => "Home is up.",
        (false, _, false) => "Home is down.",
    }
}

/// Draws the result of a round, or a line about what happened last.
pub(super) fn captions(painter: &mut Painter<'_>) {
    let now = painter.moment.now;
    if now.clock.phase == Phase::Result {
        result(painter);
        return;
    }
    if painter.is_late {
        late(painter);
        return;
    }
    let recent = now.marks.recent(now.frame, CAPTION_FRAMES);
    let latest = recent
        .filter_map(|mark| Some((mark.frame, mark, words(painter, mark)?)))
        .max_by_key(|(frame, ..)| *frame);
    let Some((_, mark, words)) = latest else { return };
    let slot = usize::from(mark.who) % SEATS;
    let look = match mark.kind {
        Kind::Lead if now.setup.mode != Mode::Free => Look::of(now.setup.mode, mark.who, 0),
        _ => Look::of(now.setup.mode, now.chicks[slot].brood, slot),
    };
    let (x, y) = caption(painter, &words, palette::MIST[0]);
    painter.scene.image(painter.figures.emblem(look), x as f32 + 5.0, y as f32 + 4.0);
}

/// A line in its panel, with room for a sign before it; returns the panel's place.
fn caption(painter: &mut Painter<'_>, words: &str, edge: Color) -> (i32, i32) {
    let (area, board) = (painter.camera.area, painter.camera.board);
    let wide = font::width(words, false, 0) + 26;
    let (x, y) = if painter.camera.is_upright {
        (area.x + (area.width - wide) / 2, area.y + 6)
    } else {
        // Beside the hint, and left of the map.
        (board.x + (board.width - wide) / 2 + 20, board.y + board.height - 26)
    };
    painter.scene.panel((x, y, wide, 18), palette::INK, 0.9, Some(edge));
    painter.scene.text(words, x as f32 + 18.0, y as f32 + 5.0, palette::TEXT);
    (x, y)
}

/// A wish came too late; the bars are those of a slow connection.
fn late(painter: &mut Painter<'_>) {
    let (x, y) = caption(painter, LATE_WORDS, palette::WARN);
    for bar in 0..3 {
        let tall = 3 + 3 * bar;
        painter.scene.fill(x + 5 + 4 * bar, y + 13 - tall, 3, tall, palette::WARN);
    }
}

fn words(painter: &Painter<'_>, mark: &Mark) -> Option<String> {
    const COUNTS: [&str; 13] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    let slot = usize::from(mark.who);
    let name = || painter.audience.name(slot);
    Some(match mark.kind {
        Kind::Caught | Kind::Scattered if mark.value >= 5 => {
            format!("{} dropped {} crumbs.", name(), COUNTS[usize::from(mark.value.min(12))])
        }
        Kind::Feather => format!("{} is a goose.", name()),
        Kind::Lead if painter.moment.now.setup.mode == Mode::Free => format!("{} leads.", name()),
        Kind::Lead => format!("{} leads.", BROOD_NAMES[slot % 4]),
        Kind::Leave => format!("{} swims on without {}.", name(), name()),
        Kind::Join => format!("{} is here.", name()),
        Kind::Late => "Half a minute. Crumbs count twice.".to_string(),
        _ => return None,
    })
}

/// Who won, and the best of the round.
fn result(painter: &mut Painter<'_>) {
    let (now, area) = (painter.moment.now, painter.camera.area);
    let winners = round::winners(now);
    let title = match (now.setup.mode, winners.as_slice()) {
        (Mode::Free, [slot]) => format!("{} wins.", painter.audience.name(*slot)),
        (Mode::Free, _) => "A draw.".to_string(),
        (_, [brood]) => format!("{} wins.", BROOD_NAMES[*brood % 4]),
        _ => "Both broods win.".to_string(),
    };
    let rows: Vec<usize> = ranked(now).into_iter().take(6).collect();
    let wide = 186.min(area.width - 6);
    let tall = 60 + 12 * rows.len() as i32;
    let (x, y) = (area.x + (area.width - wide) / 2, area.y + ((area.height - tall) / 2).max(30));
    painter.scene.panel((x, y, wide, tall), palette::INK, 0.92, Some(palette::MIST[1]));
    let middle = (x + wide / 2) as f32;
    painter.scene.text(&title, middle, y as f32 + 9.0, palette::FIRE[5]).centered().bold().tracked(1);
    let head = [("banked", 68.0), ("caught", 37.0), ("pikes", 6.0)];
    for (word, right) in head {
        painter.scene.text(word, (x + wide) as f32 - right, y as f32 + 24.0, palette::FAINT).right();
    }
    for (nth, slot) in rows.iter().copied().enumerate() {
        let chick = &now.chicks[slot];
        let look = Look::of(now.setup.mode, chick.brood, slot);
        let fy = (y + 37 + 12 * nth as i32) as f32;
        painter.scene.image(painter.figures.emblem(look), x as f32 + 5.0, fy - 1.0);
        let name = fitted(painter.audience.name(slot), 60, false).into_owned();
        let color = if painter.audience.is_own(slot) { look.color() } else { palette::TEXT };
        painter.scene.text(&name, x as f32 + 18.0, fy, color);
        for (count, right) in [(chick.banked, 68.0), (chick.caught.into(), 37.0), (chick.sent.into(), 6.0)] {
            painter.scene.text(&count.to_string(), (x + wide) as f32 - right, fy, palette::TEXT).right();
        }
    }
    let words = "Crumbs counted. The reeds keep the rest.";
    let words = fitted(words, wide - 10, false).into_owned();
    painter.scene.text(&words, middle, (y + tall - 14) as f32, palette::DIM).centered();
}
