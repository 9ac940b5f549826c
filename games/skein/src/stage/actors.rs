//! Pictures of geese, enemies, embers, quills and crumbs.
//!
//! Called by the stage, back to front. Absent: bosses, words.

use gaggle_scene::{bayer, chance, palette, sine};

use super::Painter;
use super::figures::{BREAST, Pose, color, light};
use crate::ember::Shot;
use crate::enemy::{Enemy, Foe, is_owl_lit};
use crate::sky::{PX, Spot};
use crate::wake::NONE;
use crate::{FLOCK, Flight, Goose, SEATS, Seat, Skein};

/// Look of a goose: that of its slot, or that of young geese.
pub(super) fn look(goose: &Goose, which: usize) -> usize {
    if goose.seat == Seat::Young { SEATS } else { which.min(SEATS - 1) }
}

/// Strokes of air behind each goose that another follows.
pub(super) fn wakes(painter: &mut Painter<'_>, now: &Skein, before: &Skein) {
    for which in 0..FLOCK {
        let goose = &now.geese[which];
        if !goose.is_flying() {
            continue;
        }
        let is_led = now.geese.iter().any(|other| other.wake.leader == which as u8);
        let is_point = goose.wake.is_point();
        let (strong, long) = if is_point {
            (0.5, 90)
        } else if is_led {
            (0.34, 72)
        } else {
            (0.12, 40)
        };
        let (x, y) = painter.between(before.geese[which].spot(), goose.spot());
        let tint = if is_point { palette::MOON } else { palette::MIST[2] };
        let shift = if painter.audience.calm { 0 } else { painter.time as i32 };
        for side in [-1.0, 1.0] {
            let mut back = 12;
            while back < long {
                let fade = 1.0 - back as f32 / long as f32;
                let off = 4.0 + back as f32 * 0.5;
                // It widens and gets thinner the further back.
                let half: i32 = 2 + back / 30;
                for across in -half..=half {
                    let row = y + side * off + across as f32;
                    let edge = 1.0 - across.abs() as f32 / (half as f32 + 1.0);
                    if edge * fade * 1.1 > bayer(x as i32 - back + shift, row as i32) {
                        painter.scene.blend(x - back as f32, row, 2.0, 1.0, tint, strong);
                    }
                }
                back += 2;
            }
        }
    }
}

/// Where an enemy was a frame ago, if its place was its own then.
fn last_spot(enemy: &Enemy, before: &Enemy) -> Spot {
    let is_same = before.kind == enemy.kind && before.age < enemy.age && before.nth == enemy.nth;
    if is_same { before.spot() } else { enemy.spot() }
}

pub(super) fn enemies(painter: &mut Painter<'_>, now: &Skein, before: &Skein) {
    let difficulty = now.course.difficulty();
    for (enemy, before) in now.enemies.places().iter().zip(before.enemies.places()) {
        let (x, y) = painter.between(last_spot(enemy, before), enemy.spot());
        let is_bright = enemy.hurt > 2;
        let beat = usize::from((enemy.age / 6 + u16::from(enemy.nth)).is_multiple_of(2));
        let figures = painter.figures;
        let (image, half) = match Foe::of(enemy.kind) {
            Some(Foe::Starling) => (figures.starlings[beat], (8.0, 5.0)),
            Some(Foe::Moth) => (figures.moth, (6.0, 5.0)),
            Some(Foe::Lantern) => {
                glow(painter, x, y, 16.0);
                (painter.figures.lantern, (8.0, 11.0))
            }
            Some(Foe::Kite) => (figures.kites[usize::from(enemy.age / 18 % 2)], (18.0, 9.0)),
            Some(Foe::Owl) => (figures.owls[usize::from(is_owl_lit(enemy.age, difficulty))], (11.0, 10.0)),
            Some(Foe::Stormcock) => (figures.stormcock, (10.0, 10.0)),
            None => continue,
        };
        painter.faded(image, (x - half.0).floor(), (y - half.1).floor(), 16, is_bright);
    }
}

/// Light around a burning thing.
pub(super) fn glow(painter: &mut Painter<'_>, x: f32, y: f32, radius: f32) {
    let (image, half) = painter.figures.glow(radius as i32);
    painter.image(image, (x - half as f32).floor(), (y - half as f32).floor());
}

pub(super) fn quills(painter: &mut Painter<'_>, now: &Skein) {
    // A quill is drawn between its places in the last frame and this one.
    let back = (1.0 - painter.between) * crate::quill::QUILL_SPEED as f32 / PX as f32;
    for quill in now.quills.iter() {
        let look = if usize::from(quill.seat) < SEATS { quill.seat.into() } else { SEATS };
        let (x, y) = (quill.x as f32 / PX as f32 - back, quill.y as f32 / PX as f32);
        painter.image(painter.figures.quill(look), (x - 12.0).floor(), (y - 1.0).floor());
    }
}

pub(super) fn embers(painter: &mut Painter<'_>, now: &Skein) {
    let back = 1.0 - painter.between;
    let figures = painter.figures;
    for ember in now.embers.iter() {
        let x = (ember.x as f32 - f32::from(ember.vx) * back) / PX as f32;
        let y = (ember.y as f32 - f32::from(ember.vy) * back) / PX as f32;
        let (image, half) = match Shot::of(ember.kind) {
            Some(Shot::Spark) => (figures.embers[0], 2.5),
            Some(Shot::Dart) => (figures.dart(ember.vx, ember.vy), 5.5),
            Some(Shot::Ember) => (figures.embers[1], 3.5),
            Some(Shot::Ring) => (figures.embers[2], 4.5),
            Some(Shot::Coal) => (figures.embers[3], 5.5),
            None => continue,
        };
        painter.image(image, (x - half + 0.5).floor(), (y - half + 0.5).floor());
    }
}

pub(super) fn crumbs(painter: &mut Painter<'_>, now: &Skein) {
    for crumb in now.crumbs.iter() {
        let (x, y) = crumb.spot();
        painter.image(painter.figures.crumb, (x / PX - 2) as f32, (y / PX - 2) as f32);
    }
}

/// Pose of the wings. A key changes it in the same frame.
fn pose(goose: &Goose, which: usize, time: f32) -> Pose {
    let held = crate::Pad::of_bits(goose.held);
    if goose.flight == Flight::Falling {
        return Pose::Fall;
    }
    let is_winded = goose.wake.is_point() && goose.breath == 0;
    let frames = match () {
        () if is_winded => 12.0,
        () if held.way() != (0, 0) => 14.0,
        () if goose.wake.leader != NONE => 30.0,
        () => 22.0,
    };
    let beat = time / frames + which as f32 * 0.37;
    match ((beat - beat.floor()) * 4.0) as u8 {
        0 => Pose::Up,
        2 => Pose::Down,
        _ => Pose::Mid,
    }
}

/// Draws the geese, local ones last and thus on top.
pub(super) fn geese(painter: &mut Painter<'_>, now: &Skein, before: &Skein) {
    for is_own in [false, true] {
        for which in (0..FLOCK).rev() {
            let goose = &now.geese[which];
            if painter.is_own(which) == is_own && (goose.is_aloft() || goose.flight == Flight::Falling) {
                draw_goose(painter, now, before, which);
            }
        }
    }
}

fn draw_goose(painter: &mut Painter<'_>, now: &Skein, before: &Skein, which: usize) {
    let goose = &now.geese[which];
    let (x, y) = painter.between(before.geese[which].spot(), goose.spot());
    let (x, y) = (x.floor(), y.floor());
    let look = look(goose, which);
    let tint = color(look);
    let calm = painter.audience.calm;
    let is_safe = goose.safe > 0 && goose.flight != Flight::Falling;
    if is_safe && calm {
        arc(painter, (x, y), 17.0, 1.0, palette::MOON);
    }
    if is_safe && !calm && now.frame % 4 < 2 && goose.safe > crate::goose::SAFE_HONK {
        return;
    }
    if goose.flight == Flight::Falling {
        let left = 1.0 - f32::from(goose.timer) / 150.0;
        arc(painter, (x, y), 22.0, left, tint);
        let name = if painter.is_own(which) { "fall" } else { "catch" };
        if !painter.audience.plain && name == "catch" && goose.seat != Seat::Young {
            let words = format!("catch {}", painter.name(which));
            painter.scene.text(&words, x, y - 38.0, tint).centered().outlined(palette::INK);
        }
    }
    let image = painter.figures.goose(look, pose(goose, which, painter.time), light(y));
    let (left, top) = match goose.flight {
        Flight::Falling => (x - 12.0, y - 17.0),
        _ => (x - BREAST.0 as f32, y - BREAST.1 as f32),
    };
    if goose.seat != Seat::Young && goose.flight != Flight::Falling {
        let wave = if calm { 0.0 } else { sine(painter.time / 9.0 + which as f32).round() };
        painter.scene.blend(x - 19.0, y - 2.0, 5.0, 1.0, palette::BONE, 0.9);
        let emblem = painter.figures.emblems[look.min(SEATS - 1)];
        painter.image(emblem, x - 29.0, y - 7.0 + wave);
    }
    painter.image(image, left, top);
    if goose.wake.is_point() && goose.breath == 0 {
        for nth in 0..3 {
            let puff = chance(nth, now.frame as i32 / 6, which as i32) * 8.0;
            painter.scene.blend(x + 14.0 + puff, y - 14.0 - puff, 2.0, 1.0, palette::MIST[2], 0.6);
        }
    }
    if painter.is_own(which) || goose.is_tucked() {
        painter.scene.blend(x - 2.0, y - 2.0, 5.0, 5.0, palette::INK, 1.0);
        painter.scene.blend(x - 1.0, y - 1.0, 3.0, 3.0, gaggle_scene::Color::hex(0xff_ffff), 1.0);
        painter.scene.dot(x, y, tint);
    }
    let company = u32::from(goose.wake.followers) + 1;
    if goose.wake.is_point() && !painter.audience.plain {
        painter
            .scene
            .text(&format!("×{company}"), x, y - 36.0, palette::FIRE[5])
            .centered()
            .outlined(palette::INK);
    }
}

/// Arc of a circle, clockwise from the top.
pub(super) fn arc(
    painter: &mut Painter<'_>,
    (x, y): (f32, f32),
    radius: f32,
    share: f32,
    tint: gaggle_scene::Color,
) {
    let dots = (radius * 5.2) as i32;
    for nth in 0..dots {
        let part = nth as f32 / dots as f32;
        let angle = part * std::f32::consts::TAU;
        let (dx, dy) = (sine(angle) * radius, -sine(angle + std::f32::consts::FRAC_PI_2) * radius);
        if part < share {
            painter.scene.dot((x + dx).floor(), (y + dy).floor(), tint);
        } else if nth % 4 == 0 {
            painter.scene.blend((x + dx).floor(), (y + dy).floor(), 1.0, 1.0, palette::MIST[1], 0.5);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enemy_moves_between_frames_and_new_one_appears() {
        let enemy = |kind, age, x| Enemy { kind, age, x: x * PX, ..Enemy::default() };
        assert_eq!(last_spot(&enemy(4, 8, 300), &enemy(4, 7, 301)), (301 * PX, 0));
        // The place is another's now.
        assert_eq!(last_spot(&enemy(4, 1, 656), &enemy(4, 90, 30)), (656 * PX, 0));
        assert_eq!(last_spot(&enemy(4, 8, 656), &enemy(2, 7, 30)), (656 * PX, 0));
    }
}
