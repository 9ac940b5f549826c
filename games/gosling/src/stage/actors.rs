//! Crumbs, nests, pikes and goslings between the rows of reeds, and names above them.
//!
//! Called by the stage. Absent: plaques and map.

use gaggle_scene::{Color, Item, palette};

use super::figures::{CHICK, DEN, GOOSE, Look, NEST};
use super::scenery::{MARGIN, RISE, TILE};
use super::{Moment, Painter};
use crate::chick::GOOSE_FRAMES;
use crate::cue::Kind;
use crate::water::{NOWHERE, STEPS, Swimmer};
use crate::{Mode, PIKES, SEATS, foresee};

/// Goslings in the view above which only the most important names are shown.
const NAMES_MAX: usize = 16;
/// Last frames as a goose, in which it blinks.
const BLINK_FRAMES: u8 = 60;
/// Frames strewn crumbs fly.
const STREWN_FRAMES: u32 = 12;

/// Draws the reed bed from back to front.
pub(super) fn world(painter: &mut Painter<'_>) {
    let (left, top, width, height) = painter.camera.seen();
    let (first, last) = (top.div_euclid(TILE) - 1, (top + height).div_euclid(TILE) + 2);
    let (ox, oy) = painter.camera.offset();
    let area = painter.camera.area;
    painter.scene.fill(area.x, area.y, area.width, area.height, palette::SEDGE[0]);
    let x = -(MARGIN * TILE) as f32 - ox;
    for ty in first..last {
        if let Some((water, _)) = painter.scenery.row(ty) {
            painter.scene.image(water, x, (ty * TILE) as f32 - oy);
        }
    }
    nests(painter);
    crumbs(painter, (left, top, width, height));
    pikes(painter);
    strewn(painter);
    let mut order: Vec<(i32, usize)> = Vec::new();
    for slot in 0..SEATS {
        if painter.moment.now.chicks[slot].is_swimming() {
            let (cx, cy) = painter.moment.chick(slot);
            let is_seen = cx > left as f32 - 60.0
                && cx < (left + width) as f32 + 60.0
                && cy > top as f32 - 60.0
                && cy < (top + height) as f32 + 60.0;
            if is_seen {
                order.push((cy as i32, slot));
            }
        }
    }
    order.sort_unstable();
    let mut next = 0;
    for ty in first..last {
        if let Some((_, reeds)) = painter.scenery.row(ty) {
            painter.scene.image(reeds, x, (ty * TILE - RISE) as f32 - oy);
        }
        while let Some((cy, slot)) = order.get(next).filter(|(cy, _)| cy.div_euclid(TILE) <= ty) {
            let _ = cy;
            gosling(painter, *slot);
            next += 1;
        }
    }
    if !painter.audience.bare {
        names(painter, &order);
    }
}

fn nests(painter: &mut Painter<'_>) {
    let (now, reed) = (painter.moment.now, painter.moment.reed);
    for (nth, nest) in reed.nests().iter().enumerate() {
        let (x, y) = painter.at(Moment::pixels(reed.place(Swimmer::at(*nest, 0))));
        let image = if now.setup.mode == Mode::Free {
            painter.figures.open_nests[usize::from(now.rests[nth] > 0)]
        } else {
            painter.figures.nest(nth)
        };
        painter.scene.image(image, x - NEST.0 as f32, y - NEST.1 as f32);
        if now.setup.mode != Mode::Free {
            // The pile grows with what the brood banked.
            for k in 0..i32::from(now.scores[nth] / 12).min(24) {
                let (i, j) = ((k % 6) * 4 - 11 + ((k / 6) & 1) * 2, 5 - k / 6 * 3);
                painter.scene.image(painter.figures.crumb, x + i as f32, y + j as f32);
            }
        }
    }
    let den = reed.den().map(|cell| reed.place(Swimmer::at(cell, 0)));
    let middle = ((den[0].0 + den[1].0) / 2, (den[0].1 + den[1].1) / 2);
    let (x, y) = painter.at(Moment::pixels(middle));
    painter.scene.image(painter.figures.den, x - DEN.0 as f32, y - DEN.1 as f32);
}

fn crumbs(painter: &mut Painter<'_>, (left, top, width, height): (i32, i32, i32, i32)) {
    let (now, reed) = (painter.moment.now, painter.moment.reed);
    let across = reed.tile_size().0 as i32;
    let (ox, oy) = painter.camera.offset();
    for tile in reed.tiles().iter().filter(|tile| now.crumbs.has(**tile)) {
        let (x, y) = (i32::from(*tile) % across * TILE + 7, i32::from(*tile) / across * TILE + 7);
        let is_seen = (left - 3..left + width).contains(&x) && (top - 3..top + height).contains(&y);
        if is_seen {
            painter.scene.image(painter.figures.crumb, x as f32 - ox, y as f32 - oy);
        }
    }
    let things = now.crumbs.crusts.iter().map(|cell| (*cell, painter.figures.crust, 3.0));
    let feathers = now.feathers.list.iter().map(|feather| (feather.cell, painter.figures.feather, 15.0));
    for (cell, image, half) in
        things.chain(feathers).filter(|(cell, ..)| *cell != NOWHERE).collect::<Vec<_>>()
    {
        let (x, y) = painter.at(Moment::pixels(reed.place(Swimmer::at(cell, 0))));
        painter.scene.image(image, x - half, y - half);
    }
}

fn pikes(painter: &mut Painter<'_>) {
    let (now, time) = (painter.moment.now, painter.moment.time());
    for which in 0..PIKES {
        let pike = &now.pikes[which];
        if !pike.is_out {
            continue;
        }
        let (x, y) = painter.at(painter.moment.pike(which));
        let (image, mirrored) = painter.figures.pike(pike.at.heading, pike.shy > 0);
        let is_upright = pike.at.heading & 1 == 1;
        let (w, h) = if is_upright { (11.0, 34.0) } else { (34.0, 11.0) };
        if pike.shy == 0 {
            painter.scene.image(painter.figures.pike_glow, x - 20.0, y - 20.0);
        }
        let (left, top) = ((x - w / 2.0).round(), (y - h / 2.0 - 1.0).round());
        // Its shadow in the water.
        let shown = 6;
        let flash = Some(palette::INK);
        painter.scene.art.push(Item::Image { image, x: left, y: top + 4.0, mirrored, shown, flash });
        painter.scene.art.push(Item::Image { image, x: left, y: top, mirrored, shown: 16, flash: None });
        if pike.dash > crate::pike::TIRED_FRAMES && !painter.audience.calm {
            let (dx, dy) = STEPS[usize::from(pike.at.heading & 3)];
            for k in 0..3 {
                let far = 19.0 + k as f32 * 4.0 + time % 3.0;
                let (px, py) = (x - dx as f32 * far, y - dy as f32 * far);
                painter.scene.blend(
                    px - 1.0,
                    py + if dx != 0 { 3.0 } else { 0.0 },
                    2.0,
                    1.0,
                    palette::MIST[2],
                    0.6,
                );
            }
        }
    }
}

/// Crumbs that fly from a gosling that was caught.
fn strewn(painter: &mut Painter<'_>) {
    let (now, reed) = (painter.moment.now, painter.moment.reed);
    for mark in now.marks.recent(now.frame, STREWN_FRAMES) {
        if !matches!(mark.kind, Kind::Caught | Kind::Scattered) || painter.audience.calm {
            continue;
        }
        let part =
            (now.frame.wrapping_sub(mark.frame) as f32 + painter.moment.between) / STREWN_FRAMES as f32;
        let (x, y) = painter.at(Moment::pixels(reed.place(Swimmer::at(mark.cell, 0))));
        for k in 0..i32::from(mark.value) + 3 {
            let (dx, dy) = (k * 37 % 17 - 8, k * 23 % 13 - 6);
            let (px, py) =
                (x + dx as f32 * 4.0 * part, y + dy as f32 * 4.0 * part - 12.0 * part * (1.0 - part));
            if k < i32::from(mark.value) {
                painter.scene.image(painter.figures.crumb, px.round(), py.round());
            } else {
                painter.scene.blend(px, py, 2.0, 1.0, palette::MIST[2], 0.7);
            }
        }
    }
}

fn gosling(painter: &mut Painter<'_>, slot: usize) {
    let (now, time) = (painter.moment.now, painter.moment.time());
    let chick = &now.chicks[slot];
    let look = Look::of(now.setup.mode, chick.brood, slot);
    let (x, y) = painter.at(painter.moment.chick(slot));
    let way = chick.at.heading & 3;
    let (dx, dy) = STEPS[usize::from(way)];
    let is_own = painter.audience.is_own(slot);
    // Wake.
    painter.scene.blend(x - 8.0, y + 3.0, 17.0, 2.0, palette::INK, 0.3);
    for (i, share) in [(-7, 0.35), (-4, 0.5), (3, 0.5), (6, 0.35)] {
        painter.scene.blend(x + i as f32, y + 5.0, 2.0, 1.0, palette::MIST[1], share);
    }
    for k in [9, 11, 13] {
        for side in [-1.0, 1.0] {
            let (k, spread) = (k as f32, side * (k as f32 - 6.0) * 0.45);
            let (px, py) =
                (x - dx as f32 * k + dy as f32 * spread, y + 3.0 - dy as f32 * k * 0.8 + dx as f32 * spread);
            painter.scene.blend(px.round(), py.round(), 1.0, 1.0, palette::MIST[2], 0.4);
        }
    }
    train(painter, slot, (x, y));
    let blinks = chick.goose > 0 && chick.goose <= BLINK_FRAMES && !painter.audience.calm;
    if chick.is_goose() {
        let is_dim = blinks && chick.goose / 8 % 2 == 0;
        if !is_dim {
            painter.scene.image(painter.figures.goose_glow, x - 30.0, y - 36.0);
        }
        let is_up = (time / 5.0) as i32 % 2 == 0;
        let image = painter.figures.goose(look, is_up);
        let flash = is_dim.then_some(palette::MIST[2]);
        let mirrored = way == 2;
        let left = if mirrored { x - 36.0 + GOOSE.0 } else { x - GOOSE.0 };
        painter.scene.art.push(Item::Image { image, x: left, y: y - GOOSE.1, mirrored, shown: 16, flash });
        let full = 24.0 * f32::from(chick.goose) / f32::from(GOOSE_FRAMES);
        painter.scene.blend(x - 12.0, y + 8.0, 24.0, 2.0, palette::NIGHT[2], 1.0);
        painter.scene.blend(x - 12.0, y + 8.0, full, 2.0, palette::MOON, 1.0);
    } else {
        if is_own {
            painter.scene.image(painter.figures.ring, x - 14.0, y - 13.0);
        }
        let (image, mirrored) = painter.figures.chick(look, way);
        // A safe gosling is see-through, a dizzy one looks about.
        let shown = if chick.safe > 0 { 10 } else { 16 };
        let mirrored = if chick.is_dizzy() { (time / 4.0) as i32 % 2 == 0 } else { mirrored };
        painter.scene.art.push(Item::Image {
            image,
            x: x - CHICK.0,
            y: y - CHICK.1,
            mirrored,
            shown,
            flash: None,
        });
    }
    if is_own {
        chevrons(painter, slot, (x, y), look.color());
    }
}

/// Crumbs carried float behind, along the water that was swum through.
fn train(painter: &mut Painter<'_>, slot: usize, (x, y): (f32, f32)) {
    let (now, reed) = (painter.moment.now, painter.moment.reed);
    let chick = &now.chicks[slot];
    let is_own = painter.audience.is_own(slot);
    let first = if is_own { 17.0 } else { 12.0 };
    let (dx, dy) = STEPS[usize::from(chick.at.heading & 3)];
    // Crumbs behind the last cell are still in the water the gosling came from.
    let swum = f32::from(chick.at.way) / 256.0;
    let came = reed.bend(chick.at.cell, chick.at.heading ^ 2);
    let is_junction = reed.is_junction(chick.at.cell);
    let (bx, by) = if is_junction { (-dx, -dy) } else { STEPS[usize::from(came & 3)] };
    for k in 0..i32::from(chick.load) {
        let far = first + (k % 6) as f32 * 4.0;
        let beside = if k >= 6 { 3.0 } else { 0.0 };
        let (px, py) = if far <= swum + 6.0 || is_junction {
            (x - dx as f32 * far, y + 1.0 - dy as f32 * far)
        } else {
            let rest = far - swum;
            (x - dx as f32 * swum + bx as f32 * rest, y + 1.0 - dy as f32 * swum + by as f32 * rest)
        };
        painter.scene.image(
            painter.figures.crumb,
            px.round() - 1.0 + if dy != 0 { beside } else { 0.0 },
            py.round() - 1.0 + if dy == 0 { beside } else { 0.0 },
        );
    }
}

/// Arrows on the way the own gosling will take at the next cell.
fn chevrons(painter: &mut Painter<'_>, slot: usize, (x, y): (f32, f32), color: Color) {
    let (now, reed) = (painter.moment.now, painter.moment.reed);
    if painter.audience.own.trailing_zeros() as usize != slot || painter.audience.bare {
        return;
    }
    let at = now.chicks[slot].at;
    let (cell, turn) = foresee(now, reed, slot, painter.audience.wish);
    let target = Moment::pixels(reed.place(Swimmer::at(cell, 0)));
    let target = painter.at(target);
    let (hx, hy) = STEPS[usize::from(at.heading & 3)];
    let (tx, ty) = STEPS[usize::from(turn & 3)];
    let ahead = (target.0 - x) * hx as f32 + (target.1 - y) * hy as f32;
    let light = color.mix(Color::hex(0xff_ffff), 0.5);
    // Swimming up, its name is in between.
    let first = if hy < 0 { 42.0 } else { 20.0 };
    for k in 0..3 {
        let far = first + k as f32 * 7.0;
        let (px, py, dx, dy) = if far <= ahead {
            (x + hx as f32 * far, y + hy as f32 * far, hx, hy)
        } else {
            let rest = far - ahead;
            (target.0 + tx as f32 * rest, target.1 + ty as f32 * rest, tx, ty)
        };
        for (grow, tone) in [(1.0, palette::INK), (0.0, light)] {
            for (q, side) in (0..4).flat_map(|q| [(q, -1), (q, 1)]) {
                let cx = px.round() - (dx * q) as f32 + (dy * q * side) as f32;
                let cy = py.round() - (dy * q) as f32 + (dx * q * side) as f32;
                let size = 1.0 + 2.0 * grow;
                painter.scene.blend(cx - grow, cy - grow, size, size, tone, 1.0);
            }
        }
    }
}

/// Names: one's own, one's brood's and the geese'; with many in the view only own and geese.
fn names(painter: &mut Painter<'_>, order: &[(i32, usize)]) {
    let now = painter.moment.now;
    let hero = &now.chicks[painter.hero];
    let few = order.len() <= NAMES_MAX;
    for slot in order.iter().map(|(_, slot)| *slot) {
        let chick = &now.chicks[slot];
        let look = Look::of(now.setup.mode, chick.brood, slot);
        let (is_own, is_goose) = (painter.audience.is_own(slot), chick.is_goose());
        let is_brood = now.setup.mode != Mode::Free && chick.brood == hero.brood;
        if !(is_own || is_goose || few && is_brood) {
            continue;
        }
        let (x, y) = painter.at(painter.moment.chick(slot));
        let name = painter.audience.name(slot).to_string();
        if is_own {
            let up = if is_goose { 44.0 } else { 29.0 };
            painter.scene.text(&name, x, y - up, look.color()).centered().bold().outlined(palette::INK);
            for (k, wide) in [(0, 5.0), (1, 3.0), (2, 1.0)] {
                let white = Color::hex(0xff_ffff);
                painter.scene.blend(x - (wide - 1.0) / 2.0, y - up + 10.0 + k as f32, wide, 1.0, white, 1.0);
            }
        } else {
            let up = if is_goose { 42.0 } else { 24.0 };
            let color = look.color().mix(palette::TEXT, 0.45);
            painter.scene.text(&name, x, y - up, color).centered().outlined(palette::INK);
        }
    }
}
