//! Five cabinets on turf: the open one is lit, the others are dark, and unavailable ones have paper
//! tags. `Menu` bakes and draws it in world pixels. Absent: choices.

use gaggle_scene::{Album, Bitmap, Canvas, Color, ImageId, Scene, View, bayer, chance, font, palette};
use gander::stage::Figures;

use super::layout::Layout;
use super::screens;
use crate::pen::{Pen, Rect, fitted, unit};
use crate::pictures::pictures;

/// A game, the hue of its cabinet, and the text on its tag if it is unavailable.
type Game = (&'static str, Color, &'static str);

const CABINETS: [Game; 5] = [
    ("gander", palette::FIRE[3], ""),
    ("skein", palette::SEAT[0], ""),
    ("gosling", palette::SEAT[1], "soon"),
    ("drake", palette::SEAT[2], "later"),
    ("millpond", palette::SEAT[3], "later"),
];

/// Columns by which a cabinet's deck is wider on each side.
const DECK: i32 = 2;
/// Part of the distance to its target that the lit screen's view moves per frame.
const GLIDE: f32 = 0.05;
/// Rows of the ground.
const FLOOR: i32 = 14;

/// The cabinets of one screen.
#[derive(Debug, Default)]
pub(super) struct Row {
    /// Place of the open cabinet.
    pub(super) lit: Option<Rect>,
    /// Cabinets that can be opened, and their places.
    pub(super) places: Vec<(usize, Rect)>,
    /// Images from back to front, at places in text pixels.
    placed: Vec<(ImageId, f32, f32)>,
    /// The lit screen in text pixels, if it is large enough for figures.
    screen: Option<(f32, f32)>,
    /// Size of that screen in world pixels.
    screen_size: (i32, i32),
    /// Image on that screen, and the place of the game's world around which it was taken.
    live: Option<ImageId>,
    look: Option<(f32, f32)>,
    /// Whether gander is open: knights then fight on the screen.
    is_gander: bool,
}

/// Index of a game among the available ones.
fn playable(games: &[&str], name: &str) -> Option<usize> {
    games.iter().position(|game| *game == name)
}

impl Row {
    /// Bakes the cabinets for the place in a layout.
    pub(super) fn bake(
        album: &mut Album,
        view: View,
        layout: &Layout,
        games: &[&str],
        on: &'static str,
    ) -> Row {
        let mut made = Row { is_gander: on == "gander", ..Row::default() };
        if let Some(strip) = layout.strip {
            let places = signs(strip, on, games).into_iter();
            made.places.extend(places.filter_map(|((name, ..), rect)| Some((playable(games, name)?, rect))));
        }
        let Some(place) = layout.cabinets else { return made };
        let unit = unit(view);
        let units = |words: i32| (words as f32 / unit).floor() as i32;
        let (wide, tall) = (units(place.wide), units(place.tall));
        let first = if wide >= 230 { (wide * 24 / 100).clamp(60, 100) } else { wide.min(78) };
        let other = ((wide - first - 4) / (CABINETS.len() as i32 - 1) - 1).min(60);
        let count = if other >= 44 { CABINETS.len() } else { 1 };
        let floor = place.bottom() as f32;
        if count > 1 {
            made.places.clear();
        }
        let mut placed = Vec::new();
        let mut add = |image: Bitmap, x: f32, up: i32| {
            placed.push((album.add(image), x, floor - up as f32 * unit));
        };
        let mut left = place.x as f32;
        if count == 1 {
            left += ((place.wide as f32 - first as f32 * unit) / 2.0).floor();
        }
        let lit_tall = tall.min(first * 19 / 10);
        let across = units(view.word_width());
        let row = CABINETS.iter().filter(|(name, ..)| count > 1 || *name == on);
        let before = row.clone().position(|(name, ..)| *name == on).unwrap_or(0) as f32;
        let at = left + before * (other + 1) as f32 * unit;
        add(glow(first * 16 / 10, lit_tall), (at - first as f32 * 0.3 * unit).max(0.0), lit_tall);
        if layout.floor {
            add(ground(across), 0.0, 1);
        }
        for (name, hue, tag) in row {
            let lit = *name == on;
            let (wide, tall) = if lit { (first, lit_tall) } else { (other, lit_tall * 71 / 100) };
            let nth = playable(games, name);
            let (tag, marquee) = (if nth.is_some() { "" } else { tag }, name.to_ascii_uppercase());
            let cabinet =
                Cabinet { wide, tall, name, marquee: if lit { &marquee } else { name }, hue: *hue, tag, lit };
            add(cabinet.picture(), left - DECK as f32 * unit, tall);
            // Where only the open cabinet has room, a click on it opens the next game.
            let next = (lit && count == 1 && layout.strip.is_none() && games.len() > 1)
                .then(|| nth.map_or(0, |nth| (nth + 1) % games.len()));
            let (words_wide, words_tall) = (wide as f32 * unit, tall as f32 * unit);
            let rect =
                Rect::new(left as i32, (floor - words_tall) as i32, words_wide as i32, words_tall as i32);
            match next.or(nth.filter(|_| !lit)) {
                Some(nth) => made.places.push((nth, rect)),
                None if lit => made.lit = Some(rect),
                None => {}
            }
            left += (wide + if lit { 4 } else { 1 }) as f32 * unit;
        }
        made.placed = placed;
        let name = on;
        let lit =
            Cabinet { wide: first, tall: lit_tall, name, marquee: "", hue: palette::INK, tag: "", lit: true };
        let glass = lit.glass();
        made.screen_size = (glass.wide, glass.tall);
        made.live = Some(album.add(Bitmap::new(glass.wide, glass.tall)));
        made.screen = (glass.tall >= 38 && glass.wide >= 48)
            .then(|| (at + glass.x as f32 * unit, floor - (lit_tall - glass.y) as f32 * unit));
        made
    }

    /// Shows the part of a picture around a place of the world, moving there gradually.
    pub(super) fn show(&mut self, album: &mut Album, canvas: &Canvas, (x, y): (i32, i32)) {
        let Some(image) = self.live else { return };
        let (from_x, from_y) = self.look.unwrap_or((x as f32, y as f32));
        let look = (from_x + (x as f32 - from_x) * GLIDE, from_y + (y as f32 - from_y) * GLIDE);
        self.look = Some(look);
        canvas.copy_art((look.0 as i32, look.1 as i32), album.redraw(image));
    }

    /// Draws them; `beat` animates wings.
    pub(super) fn draw(&self, scene: &mut Scene, view: View, beat: u32) {
        let mut pen = Pen::new(scene, view);
        for (image, x, y) in &self.placed {
            pen.figure(*image, *x, *y, false);
        }
        let Some((x, y)) = self.screen else { return };
        if !self.is_gander {
            self.live.into_iter().for_each(|image| pen.figure(image, x, y, false));
            return;
        }
        let unit = unit(view);
        let figures = &pictures().figures;
        let (wide, tall) = self.screen_size;
        let bob = (beat / 24 % 2) as i32;
        let mut goose = |image, right: i32, down: i32, mirrored| {
            pen.figure(image, x + right as f32 * unit, y + down as f32 * unit, mirrored);
        };
        goose(figures.knave, wide - Figures::WIDTH - 1, tall - Figures::WIDTH + bob, true);
        goose(figures.flying(0, beat / 12 % 4 == 1), 1, (tall - Figures::WIDTH - 5 - bob).max(0), false);
    }
}

/// Height of a sign with a tag; a lower one has none.
const SIGN: i32 = 34;

/// Places of the other cabinets' signs in a strip: long names get more room. Without tags, only
/// available games are shown.
fn signs(strip: Rect, on: &str, games: &[&str]) -> Vec<(Game, Rect)> {
    let is_shown = |name: &str| name != on && (strip.tall >= SIGN || playable(games, name).is_some());
    let others: Vec<Game> = CABINETS.into_iter().filter(|(name, ..)| is_shown(name)).collect();
    let shares =
        std::array::from_fn(|nth| others.get(nth).map_or(0, |(name, ..)| font::width(name, false, 0) + 8));
    let count = others.len() as i32;
    // `columns` leaves gaps for unused columns, too.
    let place = Rect { wide: strip.wide + 2 * (CABINETS.len() as i32 - 1 - count), ..strip };
    others.into_iter().zip(place.columns::<{ CABINETS.len() - 1 }>(shares, 2)).collect()
}

/// Draws the other cabinets' signs in a row, with a tag on unavailable ones.
pub(super) fn strip(pen: &mut Pen<'_>, place: Rect, on: &str, games: &[&str]) {
    for ((name, hue, tag), rect) in signs(place, on, games) {
        let tag = if playable(games, name).is_some() { "play" } else { tag };
        pen.panel(rect, palette::PEAT[1], 0.95, Some(hue.mix(palette::PEAT[1], 0.55)));
        let (middle, room) = (rect.x + rect.wide / 2, rect.wide - 4);
        let has_tag = rect.tall >= SIGN;
        let y = if has_tag { rect.y + 6 } else { rect.y + (rect.tall - 7) / 2 };
        pen.text(name, middle, y, room, hue.mix(palette::TEXT, 0.25)).centered();
        if !has_tag {
            continue;
        }
        let wide = (font::width(tag, false, 0) + 10).min(rect.wide - 4);
        let paper = Rect::new(middle - wide / 2, rect.bottom() - 19, wide, 14);
        pen.panel(paper, palette::BONE, 1.0, Some(palette::MOON_SHADE));
        pen.text(tag, middle, paper.y + 4, wide - 2, palette::PEAT[1]).centered();
    }
}

/// Glow around the open cabinet.
fn glow(wide: i32, tall: i32) -> Bitmap {
    let mut out = Bitmap::new(wide, tall);
    let color = palette::NIGHT[1].mix(palette::FIRE[2], 0.26);
    for y in 0..tall {
        for x in 0..wide {
            let aside = (2 * x - wide) as f32 / wide as f32;
            let up = (2 * y - tall) as f32 / tall as f32;
            let far = aside * aside + up * up;
            if (1.0 - far) * 0.55 > bayer(x, y) {
                out.set(x, y, color);
            }
        }
    }
    out
}

/// Turf on stone over the whole width of the screen. Its first row has only the tips of blades.
fn ground(wide: i32) -> Bitmap {
    let mut out = Bitmap::new(wide, FLOOR + 1);
    for x in 0..wide {
        for down in 0..FLOOR {
            let course = if down / 6 % 2 == 0 { 0 } else { 10 };
            let mut color = palette::PEAT[2].mix(palette::PEAT[1], down as f32 / FLOOR as f32);
            if down > 1 && ((down - 1) % 6 == 0 || (x + course) % 20 == 0) {
                color = palette::PEAT[0];
            }
            out.set(x, down + 1, color.mix(palette::FIRE[1], (down - 9).max(0) as f32 / 6.0));
        }
        out.set(x, 1, palette::SEDGE[if chance(x, 3, 1) > 0.3 { 4 } else { 3 }]);
        out.set(x, 2, palette::SEDGE[2]);
        if chance(x, 4, 1) > 0.75 {
            out.set(x, 0, palette::SEDGE[3]);
        }
    }
    out
}

struct Cabinet<'a> {
    wide: i32,
    tall: i32,
    name: &'a str,
    /// Text above its screen.
    marquee: &'a str,
    hue: Color,
    tag: &'a str,
    lit: bool,
}

impl Cabinet<'_> {
    fn marquee_tall(&self) -> i32 {
        if self.tall < 90 || !self.lit { 14 } else { 19 }
    }

    /// The screen, relative to the cabinet's top left corner.
    fn glass(&self) -> Rect {
        let tall = if self.tall < 120 && self.lit { self.tall * 44 / 100 } else { self.tall * 37 / 100 };
        Rect::new(6, self.marquee_tall() + 7, self.wide - 12, tall)
    }

    fn body(&self) -> Color {
        let share = if self.lit { 0.35 } else { 0.16 };
        palette::PEAT[if self.lit { 2 } else { 1 }].mix(self.hue, share)
    }

    fn picture(&self) -> Bitmap {
        let mut out = Bitmap::new(self.wide + 2 * DECK, self.tall);
        self.paint_body(&mut out);
        self.paint_marquee(&mut out);
        let glass = self.glass();
        out.rect(DECK + glass.x - 1, glass.y - 1, glass.wide + 2, glass.tall + 2, palette::INK);
        let mut screen = Bitmap::new(glass.wide, glass.tall);
        if self.lit && self.name == "gander" {
            fen(&mut screen);
        } else {
            quiet_screen(&mut screen, self.name, self.lit);
        }
        out.blit(&screen, DECK + glass.x, glass.y);
        if self.lit {
            frame(
                &mut out,
                Rect::new(DECK + glass.x, glass.y, glass.wide, glass.tall).grown(1),
                palette::FIRE[4],
            );
        }
        self.paint_deck(&mut out);
        self.paint_front(&mut out);
        if !self.tag.is_empty() {
            self.paint_tag(&mut out);
        }
        out
    }

    fn paint_body(&self, out: &mut Bitmap) {
        let body = self.body();
        let dark = body.mix(palette::INK, 0.5);
        let light = body.mix(palette::MOON, if self.lit { 0.35 } else { 0.14 });
        for y in 0..self.tall {
            for x in 0..self.wide {
                let mut color = match (x, self.wide - 1 - x) {
                    (0, _) | (_, 0) => palette::INK,
                    (1..3, _) => dark,
                    (_, 1..3) => light,
                    _ => body,
                };
                // The fire below lights the feet.
                color = color.mix(palette::FIRE[2], (y - self.tall + 10).max(0) as f32 / 22.0);
                out.set(DECK + x, y, color);
            }
        }
        out.rect(DECK, 0, self.wide, 1, light);
    }

    fn paint_marquee(&self, out: &mut Bitmap) {
        let tall = self.marquee_tall();
        let (fill, edge) = if self.lit {
            (self.hue.mix(palette::INK, 0.35), self.hue)
        } else {
            (palette::PEAT[0], self.hue.mix(palette::PEAT[1], 0.6))
        };
        let aside = if self.lit { 3 } else { 2 };
        let board = Rect::new(DECK + aside, 3, self.wide - 2 * aside, tall);
        out.rect(board.x, board.y, board.wide, board.tall, fill);
        frame(out, board, edge);
        if self.lit {
            out.rect(DECK + 6, 5, self.wide - 12, 1, fill.mix(palette::MOON, 0.35));
            out.rect(DECK + 6, tall, self.wide - 12, 1, fill.mix(palette::FIRE[5], 0.3));
        }
        let (bold, track) = (self.lit, i32::from(self.lit));
        let name = fitted(self.marquee, board.wide - 2, bold);
        let left = DECK + (self.wide - font::width(&name, bold, track)) / 2;
        let top = 3 + (tall - 7) / 2;
        let color = if self.lit { palette::FIRE[6] } else { self.hue.mix(palette::MIST[2], 0.35) };
        if self.lit {
            write(out, &name, left, top + 1, bold, track, palette::FIRE[1]);
        }
        write(out, &name, left, top, bold, track, color);
    }

    /// Draws a stick and two buttons, on a board that is a little wider than the cabinet.
    fn paint_deck(&self, out: &mut Bitmap) {
        let glass = self.glass();
        let y = (glass.bottom() + 5).min(self.tall - 9);
        let body = self.body();
        out.rect(0, y, self.wide + 2 * DECK, 9, body.mix(palette::INK, 0.25));
        out.rect(0, y, self.wide + 2 * DECK, 1, body.mix(palette::MOON, if self.lit { 0.35 } else { 0.14 }));
        out.rect(0, y + 8, self.wide + 2 * DECK, 1, palette::INK);
        out.rect(
            DECK + 10,
            y - 4,
            2,
            6,
            palette::MIST[2].mix(palette::INK, if self.lit { 0.0 } else { 0.5 }),
        );
        let (knob, buttons) = if self.lit {
            (palette::BAD, [palette::SEAT[1], palette::SEAT[0]])
        } else {
            (palette::PEAT[4], [palette::PEAT[3]; 2])
        };
        disc(out, DECK + 10, y - 5, knob);
        for (nth, color) in (0..).zip(buttons) {
            disc(out, DECK + self.wide - 20 + nth * 8, y + 3, color);
        }
    }

    /// Draws the coin slot, and two geese on the lit cabinet.
    fn paint_front(&self, out: &mut Bitmap) {
        let top = self.glass().bottom() + 14;
        let (room, middle) = (self.tall - top, DECK + self.wide / 2);
        if self.lit && room >= 28 {
            let goose = crate::pictures::album().image(pictures().figures.bare[0]);
            let tint = self.body().mix(palette::FIRE[4], 0.4);
            let y = self.tall - 9 - Figures::FEET;
            for x in 0..goose.width() {
                // Without its outline of one pixel.
                for down in
                    (0..goose.height()).filter(|down| goose.get(x, *down).is_some_and(|c| c != palette::INK))
                {
                    if y + down >= top {
                        out.set(DECK + self.wide - 34 + x, y + down, tint);
                        out.set(DECK + 33 - x, y + down, tint);
                    }
                }
            }
        }
        let (wide, tall) = if self.lit { (18, 19) } else { (12, 13) };
        let tall = tall.min(room - 5);
        if tall < 9 {
            return;
        }
        let slot = Rect::new(middle - wide / 2, top + (room - tall) / 2, wide, tall);
        out.rect(slot.x, slot.y, slot.wide, slot.tall, palette::PEAT[0]);
        frame(out, slot, self.body().mix(palette::INK, 0.5));
        if self.lit && tall > 13 {
            for side in [-5, 2] {
                out.rect(middle + side, slot.y + 4, 3, 7, palette::FIRE[4]);
            }
            out.rect(middle - 5, slot.bottom() - 5, 10, 2, palette::PEAT[3]);
        }
    }

    /// Draws a paper tag on two strings.
    fn paint_tag(&self, out: &mut Bitmap) {
        let wide = font::width(self.tag, false, 0) + 9;
        let glass = self.glass();
        let (x, y) = (DECK + (self.wide - wide) / 2, glass.bottom() - 8);
        let nail = (x + wide / 2, y - 5);
        out.line(nail, (x + 4, y), palette::MIST[1]);
        out.line(nail, (x + wide - 4, y), palette::MIST[1]);
        out.rect(x, y, wide, 12, palette::BONE);
        frame(out, Rect::new(x, y, wide, 12), palette::MOON_SHADE);
        write(out, self.tag, x + 5, y + 3, false, 0, palette::PEAT[1]);
    }
}

/// Draws the fen at night, as the lit screen shows it.
fn fen(out: &mut Bitmap) {
    let (wide, tall) = (out.width(), out.height());
    let sky = [palette::NIGHT[0], palette::NIGHT[1], palette::NIGHT[2], palette::NIGHT[3], palette::MIST[0]];
    for y in 0..tall {
        for x in 0..wide {
            let depth = y as f32 / tall as f32 * (sky.len() - 1) as f32 + bayer(x, y) - 0.5;
            let mut color = sky[(depth.max(0.0) as usize).min(sky.len() - 1)];
            if chance(x, y, 9) > 0.992 {
                color = palette::STAR;
            }
            let (right, down) = (x - wide * 3 / 4, y - 11);
            if right * right + down * down <= 64 {
                color = if right > 3 && bayer(x, y) > 0.4 { palette::MOON_SHADE } else { palette::MOON };
            }
            // Embers glow from below.
            if (y + 9 - tall) as f32 / 14.0 > bayer(x, y) {
                color = palette::PLUM[2];
            }
            out.set(x, y, color);
        }
    }
    // A ledge extends in from the left.
    for (x, rows) in (0..).zip(LEDGE.into_iter().take(wide as usize / 2)) {
        for y in 2..=rows {
            let seam = y % 5 == 2 || (x + y / 5 * 4) % 9 == 0;
            out.set(x, y, palette::PEAT[if seam { 1 } else { 2 }]);
        }
        out.set(x, rows, palette::FIRE[2]);
        out.rect(x, 1, 1, 2, palette::SEDGE[if x % 5 == 3 { 2 } else { 3 }]);
        out.set(x, 0, palette::SEDGE[if x % 3 == 0 { 4 } else { 3 }]);
    }
}

/// Depth of the ledge on the lit screen, by column.
const LEDGE: [i32; 30] =
    [9, 8, 8, 9, 10, 11, 10, 9, 8, 8, 7, 8, 9, 9, 8, 8, 10, 11, 9, 8, 7, 7, 6, 7, 8, 7, 6, 5, 4, 3];

/// A screen with an image of its game, bright if the cabinet is lit.
fn quiet_screen(out: &mut Bitmap, name: &str, lit: bool) {
    let (wide, tall) = (out.width(), out.height());
    for y in 0..tall {
        for x in 0..wide {
            let shine = if x + y < 14 { 0.5 } else { 0.0 };
            out.set(x, y, palette::NIGHT[0].mix(palette::NIGHT[2], 0.35 * (y & 1) as f32 + shine));
        }
    }
    let line = if lit { palette::STAR } else { palette::MIST[0].mix(palette::MIST[1], 0.5) };
    let (x, y) = (wide / 2, tall / 2 - 5);
    if let Some(moment) = screens::moment(name) {
        let (left, top) = ((moment.width() - wide) / 2, (moment.height() - tall) / 2);
        for (right, down) in (0..tall).flat_map(|down| (0..wide).map(move |right| (right, down))) {
            if let Some(color) = moment.get(right + left, down + top) {
                // As through dark glass, every other line is darker.
                let dark = if lit { 0.0 } else { 0.15 + 0.2 * (down & 1) as f32 };
                out.set(right, down, color.mix(palette::NIGHT[0], dark));
            }
        }
        return;
    }
    match name {
        "skein" => {
            for (right, down) in [(8, 0), (2, -4), (2, 4), (-4, -8), (-4, 8), (-10, -11), (-10, 11)] {
                out.rect(x + right - 2, y + down, 4, 1, line);
                out.set(x + right - 1, y + down - 1, line);
                out.set(x + right - 1, y + down + 1, line);
            }
        }
        "gosling" => {
            let mut maze = Bitmap::new(30, 18);
            for (down, row) in (0..).zip(MAZE) {
                for (right, _) in row.chars().enumerate().filter(|(_, letter)| *letter == 'g') {
                    maze.rect(right as i32 * 2, down * 2, 2, 2, line);
                }
            }
            maze.rect(14, 11, 2, 2, palette::SEAT[1]);
            out.blit(&maze, x - 15, y - 9);
        }
        _ => {}
    }
}

const MAZE: [&str; 9] = [
    "ggggggggggggggg",
    "g.....g.....g.g",
    "g.ggg.g.ggg.g.g",
    "g.g.......g...g",
    "g.g.ggggg.ggg.g",
    "g...g...g.....g",
    "ggg.g.g.ggg.ggg",
    "g.....g.......g",
    "ggggggggggggggg",
];

fn disc(out: &mut Bitmap, x: i32, y: i32, color: Color) {
    out.rect(x - 1, y - 2, 3, 5, color);
    out.rect(x - 2, y - 1, 5, 3, color);
}

fn frame(out: &mut Bitmap, rect: Rect, color: Color) {
    let Rect { x, y, wide, tall } = rect;
    out.rect(x + 1, y, wide - 2, 1, color);
    out.rect(x + 1, y + tall - 1, wide - 2, 1, color);
    out.rect(x, y + 1, 1, tall - 2, color);
    out.rect(x + wide - 1, y + 1, 1, tall - 2, color);
}

fn write(out: &mut Bitmap, text: &str, x: i32, y: i32, bold: bool, track: i32, color: Color) {
    font::dots(text, bold, track, |right, down| out.set(x + right, y + down, color));
}
