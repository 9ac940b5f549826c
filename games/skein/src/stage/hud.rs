//! Plaques of players, course to dawn, bar of the boss, and captions.
//!
//! Called by the stage after the world. Absent: actors.

use gaggle_scene::{Color, fitted, palette};

use super::figures::color;
use super::{Painter, STAGE_NAMES, effects};
use crate::cue::Kind;
use crate::goose::BREATH_MAX;
use crate::{Flight, Goose, Phase, SEATS, Skein};

/// Names of the bosses, in the order of stages.
const BOSS_NAMES: [&str; 5] = ["THE MURMURATION", "THE MILL", "THE PARLIAMENT", "OLD HERN", "THE CLUTCH"];
/// Divisions of the breath bar on a plaque.
const MARKS: u16 = 12;
/// Frames for which a caption is shown.
const CAPTION_FRAMES: u32 = 150;

/// A number with thin gaps between thousands.
fn spaced(number: u32) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && (digits.len() - nth).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

fn role(goose: &Goose) -> &'static str {
    match goose.flight {
        Flight::Falling => "falling",
        Flight::Out => "out",
        Flight::Waiting | Flight::Entering => "coming",
        Flight::None => "away",
        Flight::Flying if (1..20).contains(&goose.ring.age) => "honk",
        Flight::Flying if goose.wake.is_point() && goose.breath == 0 => "winded",
        Flight::Flying if goose.wake.is_point() => "point",
        Flight::Flying if goose.wake.depth > 0 => "wake",
        Flight::Flying => "alone",
    }
}

/// The plaques of six slots along the upper edge.
pub(super) fn plaques(painter: &mut Painter<'_>, now: &Skein) {
    for seat in 0..SEATS {
        let (x, y) = (5 + seat as i32 * 106, 4);
        let (fx, fy) = (x as f32, y as f32);
        let goose = &now.geese[seat];
        let tint = color(seat);
        if !matches!(goose.seat, crate::Seat::Person | crate::Seat::Away) {
            painter.scene.panel((x, y, 100, 21), palette::INK, 0.3, None);
            painter.scene.text("free slot", fx + 17.0, fy + 7.0, palette::FAINT);
            painter.image(painter.figures.emblems[seat], fx + 4.0, fy + 6.0);
            continue;
        }
        let is_own = painter.is_own(seat);
        let edge = if is_own { tint } else { tint.mix(palette::NIGHT[1], 0.6) };
        painter.scene.panel((x, y, 100, 21), palette::INK, 0.74, Some(edge));
        painter.image(painter.figures.emblems[seat], fx + 4.0, fy + 3.0);
        let score = spaced(goose.tally.score);
        let room = 76 - gaggle_scene::font::width(&score, false, 0) - 4;
        let name = fitted(painter.name(seat), room, false).into_owned();
        painter.scene.text(&name, fx + 16.0, fy + 4.0, if is_own { tint } else { palette::DIM });
        painter.scene.text(&score, fx + 95.0, fy + 4.0, palette::TEXT).right();
        let lit = goose.breath * MARKS / BREATH_MAX;
        for mark in 0..MARKS {
            let white = Color::hex(0xff_ffff);
            let shade = match mark < lit {
                true if lit >= 4 && mark % 4 == 3 => tint.mix(white, 0.55),
                true if lit >= 4 => tint.mix(white, 0.1),
                true => tint.mix(palette::NIGHT[2], 0.35),
                false => palette::NIGHT[2],
            };
            painter.scene.blend(fx + 5.0 + f32::from(mark) * 5.0, fy + 14.0, 4.0, 3.0, shade, 1.0);
        }
        let words = role(goose);
        let bright = matches!(words, "point" | "falling" | "honk");
        let tone = if bright { palette::FIRE[5] } else { palette::FAINT };
        painter.scene.text(words, fx + 95.0, fy + 12.0, tone).right();
    }
    boss_bar(painter, now);
}

fn boss_bar(painter: &mut Painter<'_>, now: &Skein) {
    let boss = &now.boss;
    if !boss.is_here() || boss.full == 0 {
        return;
    }
    let name = BOSS_NAMES[usize::from(boss.kind.clamp(1, 5)) - 1];
    let (x, y, wide) = (210, 30, 220);
    painter.scene.panel((x - 6, y, wide + 12, 21), palette::INK, 0.8, Some(palette::FIRE[1]));
    painter
        .scene
        .text(name, 320.0, (y + 3) as f32, palette::FIRE[5])
        .centered()
        .tracked(1)
        .shadowed(palette::FIRE[1]);
    let left = wide * i32::from(boss.hp) / i32::from(boss.full);
    painter.scene.fill(x, y + 13, wide, 4, palette::FIRE[0]);
    painter.scene.fill(x, y + 13, left, 4, palette::FIRE[3]);
    painter.scene.fill(x, y + 13, left, 1, palette::FIRE[5]);
    for third in [1, 2] {
        painter.scene.fill(x + wide * third / 3, y + 12, 1, 6, palette::INK);
    }
}

/// The course from the fen to dawn, above the line of the room that pages draw at the lower edge.
pub(super) fn course(painter: &mut Painter<'_>, now: &Skein) {
    let (wide, x, y) = (204, 218, 323);
    let done = now.course.progress() as i32 * wide / 1_000;
    painter.scene.panel((x - 8, y - 4, wide + 16, 15), palette::INK, 0.78, Some(palette::NIGHT[3]));
    let stage = usize::from(now.course.stage.clamp(1, 5)) - 1;
    let fy = y as f32;
    painter.scene.text(STAGE_NAMES[stage], (x - 14) as f32, fy, palette::BONE).right().outlined(palette::INK);
    painter.scene.fill(x, y + 3, done, 1, palette::MOON_SHADE);
    let mut dot = done;
    while dot < wide {
        painter.scene.fill(x + dot, y + 3, 1, 1, palette::MIST[0]);
        dot += 2;
    }
    for mark in 0..=5 {
        let at = x + mark * wide / 5;
        let tint = if mark * wide / 5 <= done { palette::MOON } else { palette::MIST[0] };
        painter.scene.fill(at - 1, y + 1, 3, 5, tint);
    }
    painter.scene.fill(x + wide - 2, y, 5, 7, palette::FIRE[4]);
    painter.scene.fill(x + wide - 3, y + 1, 7, 5, palette::FIRE[4]);
    painter.scene.fill(x + wide, y + 3, 1, 1, palette::FIRE[6]);
    effects::flock(painter, ((x + done + 4) as f32, fy + 3.0), 3, palette::FIRE[5]);
    let right = (x + wide + 14) as f32;
    let words =
        if now.course.round > 0 { format!("round {}", now.course.round + 1) } else { "to dawn".to_string() };
    painter.scene.text(&words, right, fy, palette::FAINT).outlined(palette::INK);
    if !painter.audience.room.is_empty() {
        painter.scene.text(painter.audience.room, 6.0, fy, palette::FIRE[5]).outlined(palette::INK);
    }
}

/// Draws a caption in the middle, for news that concern all players.
pub(super) fn captions(painter: &mut Painter<'_>, now: &Skein) {
    let mut words = None;
    if now.course.phase == Phase::Over {
        words = Some(if now.course.is_dawn {
            "The sea. All of you.".to_string()
        } else {
            "The fen keeps the rest of the sky.".to_string()
        });
    } else if now.course.phase == Phase::Roost && !(60..660).contains(&now.course.age) {
        words = Some("Rest. Everyone is back.".to_string());
    }
    for mark in now.marks.recent(now.frame, CAPTION_FRAMES) {
        let text = match mark.kind {
            Kind::Stage => STAGE_NAMES[usize::from(mark.value.clamp(1, 5)) - 1].to_string(),
            Kind::BossUp => continue,
            Kind::Join if now.course.age > 5 => format!("{} falls in behind.", painter.name(mark.who.into())),
            _ => continue,
        };
        words = words.or(Some(text));
    }
    let lead = now.course.lead;
    // Once another goose leads it is no news any more.
    let is_news = lead.since > 0
        && now.frame.wrapping_sub(lead.since) < CAPTION_FRAMES
        && now.geese[usize::from(lead.who)].wake.is_point();
    if words.is_none() && is_news && now.persons() > 1 {
        words = Some(format!("{} leads.", painter.name(lead.who.into())));
    }
    if let Some(words) = words {
        let handle = painter.scene.text(&words, 320.0, 70.0, palette::MOON).centered().bold();
        handle.tracked(1).outlined(palette::INK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_gaps_between_thousands() {
        assert_eq!(spaced(0), "0");
        assert_eq!(spaced(999), "999");
        assert_eq!(spaced(48_350), "48 350");
        assert_eq!(spaced(1_020_400), "1 020 400");
    }
}
