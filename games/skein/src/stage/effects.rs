//! Feathers, sparks, honk rings, lightning, rain, and the far flock.
//!
//! Each effect is a function of a game event (`Mark`) and its age. Called by the stage. Absent:
//! words of the HUD.

use gaggle_scene::{Color, chance, palette, sine};

use super::Painter;
use super::figures::color;
use crate::bolt::{MARKED, STRIKES};
use crate::cue::{Kind, Mark};
use crate::honk::radius;
use crate::{SEATS, Skein};

/// Most particles drawn.
const SPECKS_MAX: usize = 160;

/// One bird before the moon for each spare goose.
pub(super) fn far_skein(painter: &mut Painter<'_>, now: &Skein) {
    let tint = palette::PLUM[1].mix(palette::MIST[0], 0.2);
    flock(painter, (250.0, 88.0), now.course.spare.into(), tint);
}

/// A distant V of birds.
pub(super) fn flock(painter: &mut Painter<'_>, (x, y): (f32, f32), count: i32, tint: Color) {
    for nth in 0..count {
        let rank = ((nth + 1) / 2) as f32;
        let side = if nth % 2 == 1 { 1.0 } else { -1.0 };
        let (bx, by) = (x - rank * 8.0, y + side * rank * 4.0);
        let beats = !painter.audience.calm && ((painter.time as i32 / 10) + nth) % 2 == 1;
        let up = if beats { 0.0 } else { 1.0 };
        painter.scene.blend(bx - 1.0, by, 4.0, 1.0, tint, 1.0);
        painter.scene.dot(bx - 2.0, by - up, tint);
        painter.scene.dot(bx, by - 1.0 - up, tint);
        painter.scene.dot(bx + 3.0, by, tint);
    }
}

pub(super) fn rain(painter: &mut Painter<'_>, now: &Skein) {
    if now.course.stage != 4 {
        return;
    }
    let time = if painter.audience.calm { 0.0 } else { painter.time };
    for nth in 0..150 {
        let x = chance(nth, 81, 0) * 760.0 - time * 1.5;
        let x = x - (x / 760.0).floor() * 760.0 - 60.0;
        let y = chance(nth, 82, 0) * 400.0 + time * 5.0;
        let y = y - (y / 380.0).floor() * 380.0 - 20.0;
        let long = 6.0 + chance(nth, 83, 0) * 9.0;
        // Slanted by the flight: three short strokes, each one further left.
        let third = (long / 3.0).ceil();
        for part in 0..3 {
            let (left, down) = (x.floor() - part as f32, y.floor() + third * part as f32);
            painter.scene.blend(left, down, 1.0, third, palette::MIST[2], 0.2);
        }
    }
}

/// Lightning: a marked column, then the strike.
pub(super) fn bolts(painter: &mut Painter<'_>, now: &Skein) {
    for (nth, bolt) in (0..).zip(&now.bolts) {
        if bolt.left == 0 {
            continue;
        }
        let x = f32::from(bolt.x);
        if !bolt.is_striking() {
            let done = 1.0 - f32::from(bolt.left - STRIKES) / f32::from(MARKED);
            painter.scene.blend(x - 6.0, 30.0, 12.0, 272.0, palette::STAR, 0.06 + 0.12 * done);
            for row in 0..17 {
                let y = 30.0 + row as f32 * 16.0;
                painter.scene.blend(x - 6.0, y, 1.0, 8.0, palette::MOON, 0.5);
                painter.scene.blend(x + 5.0, y, 1.0, 8.0, palette::MOON, 0.5);
            }
            continue;
        }
        let mut wander = x;
        for row in 0..34 {
            wander += (chance(row, bolt.x.into(), nth) - 0.5) * 9.0 + (x - wander) * 0.2;
            let y = 28.0 + row as f32 * 8.0;
            painter.scene.blend(wander - 3.0, y, 7.0, 8.0, palette::MIST[1], 0.35);
            painter.scene.blend(wander - 1.0, y, 3.0, 8.0, palette::MOON, 0.9);
        }
        // The whole sky is one step brighter for four frames.
        if bolt.left > STRIKES - 4 && !painter.audience.calm {
            painter.scene.blend(0.0, 0.0, 640.0, 300.0, palette::MIST[0], 0.12);
        }
    }
}

/// Rings that honks send out.
pub(super) fn rings(painter: &mut Painter<'_>, now: &Skein) {
    for (which, goose) in now.geese.iter().enumerate() {
        let Some(radius) = radius(&goose.ring) else { continue };
        let tint = color(which.min(SEATS));
        let (x, y) = (f32::from(goose.ring.x), f32::from(goose.ring.y));
        fill(painter, (x, y), radius - 3, tint);
        for (inner, tint, share) in
            [(0, palette::MOON, 1.0), (1, tint.mix(Color::hex(0xff_ffff), 0.4), 1.0), (3, tint, 0.5)]
        {
            circle(painter, (x, y), (radius - inner) as f32, tint, share);
        }
    }
}

/// The air in a ring, tinted row by row, less in the middle.
fn fill(painter: &mut Painter<'_>, (x, y): (f32, f32), radius: i32, tint: Color) {
    let half_of = |row: i32, radius: i32| ((radius * radius - row * row).max(0) as f32).sqrt().floor();
    for row in -radius..=radius {
        let (half, inner) = (half_of(row, radius), half_of(row, radius * 7 / 10));
        let at = y.floor() + row as f32;
        painter.scene.blend(x.floor() - half, at, half * 2.0, 1.0, tint, 0.08);
        painter.scene.blend(x.floor() - half, at, half - inner, 1.0, tint, 0.1);
        painter.scene.blend(x.floor() + inner, at, half - inner, 1.0, tint, 0.1);
    }
}

fn circle(painter: &mut Painter<'_>, (x, y): (f32, f32), radius: f32, tint: Color, share: f32) {
    let dots = (radius * 4.0) as i32;
    for nth in 0..dots {
        let angle = nth as f32 / dots as f32 * std::f32::consts::TAU;
        let (dx, dy) = (sine(angle) * radius, sine(angle + std::f32::consts::FRAC_PI_2) * radius);
        painter.scene.blend((x + dx).floor(), (y + dy).floor(), 2.0, 2.0, tint, share);
    }
}

/// Effects behind embers: bursts and smoke.
pub(super) fn behind(painter: &mut Painter<'_>, now: &Skein) {
    let mut left = SPECKS_MAX;
    for mark in now.marks.recent(now.frame, 40) {
        let age = now.frame.wrapping_sub(mark.frame) as f32 + painter.between;
        let (rays, size) = match mark.kind {
            Kind::Kill => (6, 8.0),
            Kind::KillLarge => (12, 16.0),
            Kind::BossDown | Kind::BossPhase => (20, 60.0),
            _ => continue,
        };
        if left < rays {
            return;
        }
        left -= rays;
        burst(painter, mark, age, rays as i32, size);
    }
}

fn burst(painter: &mut Painter<'_>, mark: &Mark, age: f32, rays: i32, size: f32) {
    let (x, y) = (f32::from(mark.x), f32::from(mark.y));
    if age < 12.0 {
        for ray in 0..rays {
            let angle = ray as f32 * std::f32::consts::TAU / rays as f32 + f32::from(mark.who);
            let long = size * (0.5 + 0.5 * chance(ray, mark.frame as i32, 3)) * (age / 6.0).min(1.0);
            let hot = [palette::FIRE[6], palette::FIRE[4], palette::FIRE[3]][(age / 4.0) as usize % 3];
            for step in 1..4 {
                let far = long * step as f32 / 3.0;
                let (dx, dy) = (sine(angle) * far, sine(angle + std::f32::consts::FRAC_PI_2) * far);
                painter.scene.blend((x + dx).floor(), (y + dy).floor(), 2.0, 1.0, hot, 1.0 - age / 14.0);
            }
        }
        if age < 5.0 {
            let half = size * 0.25;
            painter.scene.blend(x - half, y - half, half * 2.0, half * 2.0, palette::FIRE[6], 0.8);
        }
    } else {
        for puff in 0..3 {
            let dx = (chance(puff, mark.frame as i32, 5) - 0.5) * size - (age - 12.0) * 0.4;
            let dy = (chance(puff, mark.frame as i32, 6) - 0.5) * size * 0.6 - (age - 12.0) * 0.2;
            let half = size * 0.2;
            let share = 0.4 * (1.0 - (age - 12.0) / 28.0).max(0.0);
            painter.scene.blend(
                x + dx - half,
                y + dy - half,
                half * 2.0,
                half * 1.6,
                palette::PLUM[1],
                share,
            );
        }
    }
}

/// Effects in front of everything: feathers, grazes and numbers.
pub(super) fn before(painter: &mut Painter<'_>, now: &Skein) {
    for mark in now.marks.recent(now.frame, 90) {
        let age = now.frame.wrapping_sub(mark.frame) as f32 + painter.between;
        let (x, y) = (f32::from(mark.x), f32::from(mark.y));
        match mark.kind {
            Kind::Fall => {
                for nth in 0..8 {
                    let sway = sine(age / 9.0 + nth as f32) * 5.0;
                    let dx = (chance(nth, mark.frame as i32, 1) - 0.5) * 30.0 - age * 0.3;
                    let dy = (chance(nth, mark.frame as i32, 2) - 0.5) * 20.0 + age * 0.5;
                    let white = [palette::MOON, palette::MIST[2]][nth as usize % 2];
                    let share = (1.0 - age / 90.0).max(0.0);
                    painter.scene.blend((x + dx + sway).floor(), (y + dy).floor(), 3.0, 1.0, white, share);
                }
            }
            Kind::Graze if age < 10.0 => {
                painter.scene.blend(x - 9.0 - age, y - 5.0, 2.0, 1.0, palette::MOON, 0.8);
                painter.scene.blend(x + 8.0, y + 4.0 + age / 2.0, 2.0, 1.0, palette::MOON, 0.8);
            }
            Kind::Caught if age < 50.0 => {
                painter
                    .scene
                    .text("Caught.", x, y - 26.0 - age / 4.0, palette::OK)
                    .centered()
                    .outlined(palette::INK);
            }
            Kind::Kill | Kind::KillLarge if age < 30.0 && mark.value >= 100 => {
                let words = mark.value.to_string();
                let tint = palette::SEAT[0].mix(palette::TEXT, 0.4);
                painter
                    .scene
                    .text(&words, x + 6.0, y - 14.0 - age / 3.0, tint)
                    .centered()
                    .outlined(palette::INK);
            }
            _ => {}
        }
    }
}
