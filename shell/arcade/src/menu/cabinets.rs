//! Five cabinets on the turf. The first is lit, and through its screen one sees the game that is played behind
//! the menu; the others are dark, with paper tags.

use gaggle_scene::{Color, font, palette};

use crate::pen::{Pen, Rect};
use crate::pictures::pictures;

/// The games, the hue of their cabinets, and what hangs on those that are not there yet.
pub(super) const CABINETS: [(&str, Color, &str); 5] = [
    ("GANDER", palette::FIRE[3], ""),
    ("skein", palette::SEAT[0], "soon"),
    ("gosling", palette::SEAT[1], "soon"),
    ("drake", palette::SEAT[2], "later"),
    ("millpond", palette::SEAT[3], "later"),
];

/// The cabinets in a place, as many as fit side by side.
pub(super) fn draw(pen: &mut Pen<'_>, place: Rect) {
    let ground = place.bottom();
    let first = if place.wide >= 300 { (place.wide * 27 / 100).clamp(110, 150) } else { place.wide.min(110) };
    let others = CABINETS.len() as i32 - 1;
    let other = ((place.wide - first - 6) / others - 2).min(104);
    let count = if other >= 56 { CABINETS.len() } else { 1 };
    let mut left = if count == 1 { place.x + (place.wide - first) / 2 } else { place.x };
    for (nth, (name, hue, tag)) in CABINETS.iter().take(count).enumerate() {
        let lit = nth == 0;
        // No cabinet is much taller than wide.
        let tall = place.tall.min(first * 17 / 10);
        let (wide, tall) = if lit { (first, tall) } else { (other, tall * 71 / 100) };
        cabinet(pen, Rect::new(left, ground - tall, wide, tall), name, *hue, tag, lit);
        left += wide + if lit { 6 } else { 2 };
    }
}

/// The dark ones without their bodies: a tag each, in a row.
pub(super) fn strip(pen: &mut Pen<'_>, place: Rect) {
    for ((name, hue, tag), rect) in CABINETS.iter().skip(1).zip(place.columns([42, 50, 42, 54], 2)) {
        pen.panel(rect, palette::INK.mix(*hue, 0.14), 0.95, Some(hue.mix(palette::INK, 0.35)));
        let (middle, room) = (rect.x + rect.wide / 2, rect.wide - 4);
        pen.text(name, middle, rect.y + 6, room, hue.mix(palette::TEXT, 0.35)).centred();
        paper(pen, tag, middle, rect.bottom() - 18);
    }
}

fn paper(pen: &mut Pen<'_>, tag: &str, middle: i32, y: i32) {
    let wide = font::width(tag, false, 0) + 12;
    pen.panel(Rect::new(middle - wide / 2, y, wide, 15), palette::BONE, 1.0, None);
    pen.text(tag, middle, y + 4, wide, palette::INK).centred();
}

fn cabinet(pen: &mut Pen<'_>, rect: Rect, name: &str, hue: Color, tag: &str, lit: bool) {
    let Rect { x, y, wide, tall } = rect;
    let body = palette::PEAT[2].mix(hue, if lit { 0.45 } else { 0.18 });
    let trim = palette::PEAT[3].mix(hue, if lit { 0.6 } else { 0.3 });
    let (marquee, screen) = (if tall < 100 { 16 } else { 22 }, tall * 44 / 100);
    let inset = 7;
    let (screen_y, base_y) = (y + marquee + 6, y + marquee + 6 + screen);
    // Around the screen, so that it stays open where it is lit.
    pen.panel(Rect::new(x, y, wide, marquee + 6), body, 1.0, Some(trim));
    for side in [x, x + wide - inset] {
        pen.fill(Rect::new(side, screen_y - 1, inset, screen + 2), body, 1.0);
    }
    pen.panel(Rect::new(x, base_y, wide, y + tall - base_y), body.mix(palette::INK, 0.25), 1.0, Some(trim));
    pen.panel(Rect::new(x + 4, y + 3, wide - 8, marquee), palette::INK.mix(hue, 0.28), 1.0, Some(hue));
    let name_color = if lit { palette::FIRE[6] } else { hue.mix(palette::TEXT, 0.2) };
    let middle = x + wide / 2;
    let name_y = y + 3 + (marquee - 7) / 2;
    if lit {
        pen.bold(name, middle, name_y, wide - 14, name_color).centred().tracked(1);
    } else {
        pen.text(name, middle, name_y, wide - 12, name_color).centred();
    }
    let glass = Rect::new(x + inset, screen_y, wide - 2 * inset, screen);
    let below = y + tall - base_y;
    if lit {
        pen.panel(glass, palette::INK, 0.0, Some(palette::FIRE[4]));
        let deck = base_y + 6;
        pen.panel(Rect::new(x + 12, deck, 7, 7), palette::BAD, 1.0, None);
        for (button, color) in [(0, palette::SEAT[1]), (1, palette::SEAT[0])] {
            pen.panel(Rect::new(x + wide - 34 + button * 12, deck, 7, 7), color, 1.0, None);
        }
    } else {
        pen.panel(glass, palette::INK, 0.85, Some(palette::PEAT[1]));
        paper(pen, tag, middle, screen_y + screen - 20);
    }
    let slot_y = base_y + below * 55 / 100 - 8;
    if below < 36 {
        return;
    }
    pen.panel(Rect::new(middle - 10, slot_y, 20, 22.min(below - 14)), palette::INK, 0.9, Some(trim));
    if lit {
        for bar in [-5, 2] {
            pen.fill(Rect::new(middle + bar, slot_y + 4, 3, 9), palette::FIRE[4], 1.0);
        }
        let goose = pictures().figures.bare[0];
        let shade = Some(body.mix(palette::INK, 0.05).mix(palette::FIRE[3], 0.25));
        if wide >= 100 && below >= 48 {
            let feet = y + tall - 8 - gander::stage::Figures::FEET;
            pen.image_as(goose, x + 6, feet, true, shade);
            pen.image_as(goose, x + wide - 42, feet, false, shade);
        }
    }
}
