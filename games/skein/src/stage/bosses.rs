//! Pictures of the five bosses.
//!
//! Called by the stage before enemies are drawn. Absent: their bars and names.

use gaggle_scene::{Album, Bitmap, ImageId, chance, palette, sine};

use super::{Painter, hern};
use crate::Skein;
use crate::boss::{DOOR_HALF, Part};
use crate::sky::PX;

/// Images of bosses that are painted by code rather than baked from sprites.
#[derive(Debug, Clone)]
pub(super) struct BossArt {
    hern: [ImageId; 2],
    tower: ImageId,
    sails: [ImageId; 4],
    fist: ImageId,
}

impl BossArt {
    pub(super) fn bake(album: &mut Album) -> BossArt {
        BossArt {
            hern: [false, true].map(|is_shut| album.add(hern::picture(is_shut))),
            tower: album.add(tower()),
            sails: [0, 1, 2, 3].map(|nth| album.add(cross(nth))),
            fist: album.add(mark()),
        }
    }
}

/// The mill: its tower, with a lit window.
fn tower() -> Bitmap {
    let mut out = Bitmap::new(60, 190);
    for row in 12..190 {
        let half = 14 + row / 12;
        out.rect(30 - half, row, half * 2, 1, palette::INK);
        out.rect(31 - half, row, half * 2 - 2, 1, palette::PLUM[1]);
        out.rect(31 - half, row, 2, 1, palette::MIST[0]);
        out.rect(27 + half, row, 2, 1, palette::FIRE[2]);
        if row % 9 == 0 {
            out.rect(32 - half, row, half * 2 - 4, 1, palette::PLUM[0]);
        }
    }
    for row in 0..14 {
        let half = 6 + row;
        out.rect(30 - half, row, half * 2, 1, palette::PEAT[2]);
        out.set(30 - half, row, palette::MIST[1]);
    }
    out.rect(20, 62, 20, 24, palette::INK);
    out.rect(22, 64, 16, 20, palette::FIRE[3]);
    out.rect(24, 66, 12, 16, palette::FIRE[5]);
    out.rect(29, 64, 2, 20, palette::FIRE[1]);
    out.rect(22, 73, 16, 2, palette::FIRE[1]);
    out
}

/// Four sails in one of several rotations within a quarter turn.
fn cross(nth: i32) -> Bitmap {
    let mut out = Bitmap::new(132, 132);
    for arm in 0..4 {
        let angle = (arm as f32 + nth as f32 / 4.0) * std::f32::consts::FRAC_PI_2;
        let (dx, dy) = (sine(angle + std::f32::consts::FRAC_PI_2), sine(angle));
        for step in 4..128 {
            let far = step as f32 / 2.0;
            for side in -4..=12 {
                let wide = side as f32;
                let (x, y) = (66.0 + dx * far - dy * wide, 66.0 + dy * far + dx * wide);
                let is_cloth = far > 18.0 && side >= 0;
                let color = match side {
                    -1..=1 => palette::PEAT[4],
                    _ if !is_cloth => continue,
                    _ if step % 12 < 2 || side % 6 == 0 => palette::PEAT[3],
                    _ if (step + side) % 5 < 3 => palette::FIRE[3],
                    _ => palette::FIRE[4],
                };
                out.set(x as i32, y as i32, color);
            }
        }
    }
    out.rect(60, 60, 12, 12, palette::INK);
    out.rect(62, 62, 8, 8, palette::FIRE[5]);
    out
}

/// Mark of the place on which the fist will close.
fn mark() -> Bitmap {
    let mut out = Bitmap::new(48, 48);
    for nth in 0..120 {
        let angle = nth as f32 / 120.0 * std::f32::consts::TAU;
        if nth % 10 < 6 {
            let (x, y) = (24.0 + sine(angle) * 22.0, 24.0 + sine(angle + std::f32::consts::FRAC_PI_2) * 22.0);
            out.rect(x as i32, y as i32, 2, 2, palette::BAD);
        }
    }
    out
}

/// The frame that is drawn and the one before it.
type Frames<'a> = (&'a Skein, &'a Skein);

/// Where a part is between two frames, in pixels.
fn part_at(painter: &Painter<'_>, (now, before): Frames<'_>, nth: usize) -> (f32, f32) {
    let part = &now.boss.parts[nth];
    let last = &before.boss.parts[nth];
    let is_same = before.boss.kind == now.boss.kind && last.state == part.state;
    let (x, y) = painter.between(if is_same { last.spot() } else { part.spot() }, part.spot());
    (x.floor(), y.floor())
}

/// The boss of the stage, if there is one.
pub(super) fn draw(painter: &mut Painter<'_>, now: &Skein, before: &Skein) {
    let boss = &now.boss;
    if !boss.is_here() {
        return;
    }
    let from = if before.boss.kind == boss.kind { before.boss.spot() } else { boss.spot() };
    let (x, y) = painter.between(from, boss.spot());
    let (x, y) = (x.floor(), y.floor());
    let is_hurt = boss.hurt > 1 && now.frame % 4 < 2 && !painter.audience.calm;
    match boss.kind {
        1 => murmuration(painter, now, (x, y)),
        2 => mill(painter, (now, before), (x, y), is_hurt),
        3 => parliament(painter, (now, before), is_hurt),
        4 => {
            let shut = usize::from(boss.is_turned());
            if shut == 0 {
                super::actors::glow(painter, x - 50.0, y, 80.0);
            }
            let image = painter.boss.hern[shut];
            let (left, top) = (x - 50.0 - hern::THROAT.0 as f32, y - hern::THROAT.1 as f32);
            painter.faded(image, left, top, 16, false);
            if is_hurt {
                super::actors::glow(painter, x - 50.0, y, 26.0);
            }
            if boss.charge().is_some() && boss.age.is_multiple_of(2) {
                painter.scene.blend(0.0, y - 8.0, x - 60.0, 16.0, palette::BAD, 0.16);
            }
        }
        5 => clutch(painter, (now, before), (x, y), is_hurt),
        _ => {}
    }
}

/// Draws the swarm around the pale starling: a ribbon, a bird, or a ring.
fn murmuration(painter: &mut Painter<'_>, now: &Skein, (x, y): (f32, f32)) {
    let boss = &now.boss;
    let beat = |nth: i32| usize::from((now.frame as i32 / 6 + nth) % 2 == 0);
    let time = painter.time;
    if let Some((middle, radius, door)) = boss.ring() {
        let (mx, my) = ((middle.0 / PX) as f32, (middle.1 / PX) as f32);
        for nth in 0..72 {
            let bits = (nth * 65_536 / 72) as u16;
            let off = i32::from(door.delta_to(gaggle_kit::Angle::from_bits(bits))).abs();
            if off > DOOR_HALF {
                let angle = f32::from(bits) / 65_536.0 * std::f32::consts::TAU;
                let wobble = radius as f32 + (chance(nth, 4, 0) - 0.5) * 6.0;
                let (dx, dy) = (sine(angle + std::f32::consts::FRAC_PI_2) * wobble, sine(angle) * wobble);
                painter.image(
                    painter.figures.starlings[beat(nth)],
                    (mx + dx - 8.0).floor(),
                    (my + dy - 5.0).floor(),
                );
            }
        }
    } else {
        let spread = if boss.phase == 1 { 1.0 } else { 0.0 };
        for nth in 0..60 {
            let part = nth as f32 / 59.0;
            let ribbon = (
                x + 20.0 + part * 170.0 + sine(part * 9.0 + time / 30.0) * 12.0,
                y + sine(part * 6.0 + time / 40.0) * 34.0 + (chance(nth, 4, 0) - 0.5) * 22.0,
            );
            // The shape of a bird: two beating wings and a body.
            let wing = (part - 0.5) * 2.0;
            let flap = sine(time / 24.0) * 40.0 * wing.abs();
            let bird = (
                x + 26.0 + wing.abs() * 60.0 + (chance(nth, 5, 0) - 0.5) * 26.0,
                y + wing * 110.0 + flap * wing.signum() * 0.4,
            );
            let (px, py) = (ribbon.0 + (bird.0 - ribbon.0) * spread, ribbon.1 + (bird.1 - ribbon.1) * spread);
            painter.image(painter.figures.starlings[beat(nth)], (px - 8.0).floor(), (py - 5.0).floor());
        }
    }
    super::actors::glow(painter, x, y, 12.0);
    painter.faded(
        painter.figures.starlings[2 + beat(0)],
        x - 8.0,
        y - 5.0,
        16,
        boss.hurt > 1 && now.frame % 4 < 2,
    );
}

fn mill(painter: &mut Painter<'_>, frames: Frames<'_>, (x, y): (f32, f32), is_hurt: bool) {
    let boss = &frames.0.boss;
    painter.image(painter.boss.tower, x - 30.0, y - 30.0);
    if boss.phase < 2 {
        let turn = usize::from(boss.turn / 1_024 % 16) % 4;
        painter.faded(painter.boss.sails[turn], x - 66.0, y - 66.0, 16, false);
    }
    let spot = if boss.phase == 0 { y } else { y + 44.0 };
    super::actors::glow(painter, x, spot, if is_hurt { 22.0 } else { 14.0 });
    for (nth, _) in boss.parts.iter().enumerate().filter(|(_, sail)| sail.state != 0) {
        let (sx, sy) = part_at(painter, frames, nth);
        super::actors::glow(painter, sx, sy, 16.0);
        painter.image(painter.figures.sail, sx - 15.0, sy - 5.0);
    }
}

fn parliament(painter: &mut Painter<'_>, frames: Frames<'_>, is_hurt: bool) {
    for (nth, _) in frames.0.boss.parts[..3].iter().enumerate().filter(|(_, owl)| owl.hp > 0) {
        let (x, y) = part_at(painter, frames, nth);
        super::actors::glow(painter, x, y, 22.0);
        painter.faded(painter.figures.owls[1], x - 11.0, y - 10.0, 16, is_hurt);
        // A wreath of smoke makes the owls look larger.
        for nth in 0..10 {
            let angle = nth as f32 * 0.628 + painter.time / 60.0;
            let (dx, dy) = (sine(angle) * 16.0, sine(angle + 1.57) * 15.0);
            painter.scene.blend(x + dx - 2.0, y + dy - 1.0, 4.0, 3.0, palette::MIST[0], 0.5);
        }
    }
}

fn clutch(painter: &mut Painter<'_>, frames: Frames<'_>, (x, y): (f32, f32), is_hurt: bool) {
    let boss = &frames.0.boss;
    for (nth, finger) in boss.parts.iter().enumerate() {
        draw_finger(painter, finger, part_at(painter, frames, nth), is_hurt);
    }
    if boss.is_turned() {
        super::actors::glow(painter, x, y, 30.0);
        painter.faded(painter.figures.palm, x - 15.0, y - 14.0, 16, is_hurt);
    }
    if let Some((spot, closes)) = boss.fist() {
        let (fx, fy) = ((spot.0 / PX) as f32, (spot.1 / PX) as f32);
        if closes {
            painter.faded(painter.figures.palm, fx - 15.0, fy - 14.0, 16, false);
        }
        painter.image(painter.boss.fist, fx - 24.0, fy - 24.0);
    }
}

fn draw_finger(painter: &mut Painter<'_>, finger: &Part, (x, y): (f32, f32), is_hurt: bool) {
    if finger.hp == 0 && y > 340.0 {
        return;
    }
    let mut row = y + 30.0;
    while row < 330.0 {
        painter.image(painter.figures.finger, x - 9.0, row);
        row += 30.0;
    }
    painter.faded(painter.figures.finger, x - 9.0, y - 8.0, 16, is_hurt && finger.hp > 0);
}
