//! Drawing in text pixels: the shapes of all panels, and text that stays inside its place. All
//! panels draw with it. Absent: content of panels.

use gaggle_scene::{Color, ImageId, Item, Scene, TextHandle, View, font, palette};

use crate::pictures::{self, pictures};

pub(crate) use gaggle_scene::{fitted, wrapped};

/// Color of cards: between `ink` and the night sky.
const CARD: Color = Color::hex(0x0a0e1e);

/// A rectangle on the screen, in text pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Rect {
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) wide: i32,
    pub(crate) tall: i32,
}

impl Rect {
    pub(crate) const fn new(x: i32, y: i32, wide: i32, tall: i32) -> Rect {
        Rect { x, y, wide, tall }
    }

    pub(crate) const fn right(self) -> i32 {
        self.x + self.wide
    }

    pub(crate) const fn bottom(self) -> i32 {
        self.y + self.tall
    }

    pub(crate) const fn middle(self) -> (i32, i32) {
        (self.x + self.wide / 2, self.y + self.tall / 2)
    }

    /// Enlarged on every side; reduced if negative.
    pub(crate) const fn grown(self, by: i32) -> Rect {
        Rect::new(self.x - by, self.y - by, self.wide + 2 * by, self.tall + 2 * by)
    }

    pub(crate) fn contains(self, x: i32, y: i32) -> bool {
        (self.x..self.right()).contains(&x) && (self.y..self.bottom()).contains(&y)
    }

    /// The part that lies on a screen.
    pub(crate) fn within(self, view: View) -> Rect {
        let (wide, tall) = (view.word_width(), view.word_height());
        let (x, y) = (self.x.clamp(0, wide), self.y.clamp(0, tall));
        let (right, bottom) = (self.right().clamp(x, wide), self.bottom().clamp(y, tall));
        Rect::new(x, y, right - x, bottom - y)
    }

    /// Splits it into columns with a gap, by shares.
    pub(crate) fn columns<const COUNT: usize>(self, shares: [i32; COUNT], gap: i32) -> [Rect; COUNT] {
        let all = shares.iter().sum::<i32>().max(1);
        let room = self.wide - gap * (COUNT as i32 - 1);
        let mut before = 0;
        std::array::from_fn(|nth| {
            let (from, to) = (room * before / all, room * (before + shares[nth]) / all);
            before += shares[nth];
            Rect::new(self.x + from + gap * nth as i32, self.y, to - from, self.tall)
        })
    }
}

/// Draws over a picture. Panels use text pixels; lettering, cabinets and geese use the larger world
/// pixels where they exist, and are always behind the text.
#[derive(Debug)]
pub(crate) struct Pen<'a> {
    scene: &'a mut Scene,
    view: View,
}

/// Whether figures are drawn in world pixels, which is so where those are larger than text pixels.
pub(crate) fn in_art(view: View) -> bool {
    view.scale > view.word_scale
}

/// Text pixels of one pixel of a figure.
pub(crate) fn unit(view: View) -> f32 {
    if in_art(view) { view.scale as f32 / view.word_scale as f32 } else { 1.0 }
}

/// Size of a figure in text pixels.
pub(crate) fn figure_size(view: View, image: ImageId) -> (i32, i32) {
    let image = pictures::album().image(image);
    let scaled = |pixels: i32| (pixels as f32 * unit(view)).ceil() as i32;
    (scaled(image.width()), scaled(image.height()))
}

impl<'a> Pen<'a> {
    pub(crate) fn new(scene: &'a mut Scene, view: View) -> Pen<'a> {
        Pen { scene, view }
    }

    /// Darkens everything behind by this share.
    pub(crate) fn shade(&mut self, share: f32) {
        let View { art_width, art_height, left, top, .. } = self.view;
        let (x, y) = (-left as f32, -top as f32);
        self.scene.blend(x, y, art_width as f32, art_height as f32, palette::INK, share);
    }

    /// Draws a figure with its top left corner at a place in text pixels.
    pub(crate) fn figure(&mut self, image: ImageId, x: f32, y: f32, mirrored: bool) {
        let mut item = Item::Image { image, x, y, mirrored, shown: 16, flash: None };
        if !in_art(self.view) {
            self.scene.words.push(item);
            return;
        }
        if let Item::Image { x, y, .. } = &mut item {
            (*x, *y) =
                (*x / unit(self.view) - self.view.left as f32, *y / unit(self.view) - self.view.top as f32);
        }
        self.scene.art.push(item);
    }

    /// Draws a card for figures: it lies behind the text, and looks like other cards.
    pub(crate) fn card_behind(&mut self, rect: Rect, edge: Color) {
        if !in_art(self.view) {
            self.card(rect, edge);
            return;
        }
        let Rect { x, y, wide, tall } = rect;
        let inside = [(2, 1, wide - 4, 1), (1, 2, wide - 2, tall - 4), (2, tall - 2, wide - 4, 1)];
        inside.into_iter().for_each(|part| self.fill_behind(rect, part, CARD, 0.92));
        for up in [0, tall - 1] {
            self.fill_behind(rect, (2, up, wide - 4, 1), edge, 1.0);
        }
        for side in [0, wide - 1] {
            self.fill_behind(rect, (side, 2, 1, tall - 4), edge, 1.0);
        }
        for (side, up) in [(1, 1), (wide - 2, 1), (1, tall - 2), (wide - 2, tall - 2)] {
            self.fill_behind(rect, (side, up, 1, 1), edge, 1.0);
        }
        debug_assert!(x >= 0 && y >= 0, "a card lies on the screen");
    }

    fn fill_behind(&mut self, card: Rect, part: (i32, i32, i32, i32), color: Color, share: f32) {
        let unit = unit(self.view);
        let art = |word: i32| word as f32 / unit;
        let (x, y) =
            (art(card.x + part.0) - self.view.left as f32, art(card.y + part.1) - self.view.top as f32);
        self.scene.blend(x, y, art(part.2), art(part.3), color, share);
    }

    pub(crate) fn fill(&mut self, rect: Rect, color: Color, share: f32) {
        let Rect { x, y, wide, tall } = rect;
        let share = (share.clamp(0.0, 1.0) * 256.0 + 0.5) as u16;
        let (x, y, width, height) = (x as f32, y as f32, wide as f32, tall as f32);
        if wide > 0 && tall > 0 {
            self.scene.words.push(Item::Fill { x, y, width, height, color, share });
        }
    }

    pub(crate) fn panel(&mut self, rect: Rect, fill: Color, share: f32, edge: Option<Color>) {
        let Rect { x, y, wide, tall } = rect;
        if wide > 0 && tall > 0 {
            self.scene.word_panel((x, y, wide, tall), fill, share, edge);
        }
    }

    /// Draws the edge of a rectangle, with its corners.
    pub(crate) fn frame(&mut self, rect: Rect, color: Color) {
        let Rect { x, y, wide, tall } = rect;
        for edge in [Rect::new(x, y, wide, 1), Rect::new(x, y + tall - 1, wide, 1)] {
            self.fill(edge, color, 1.0);
        }
        for edge in [Rect::new(x, y + 1, 1, tall - 2), Rect::new(x + wide - 1, y + 1, 1, tall - 2)] {
            self.fill(edge, color, 1.0);
        }
    }

    /// Draws the card of a panel.
    pub(crate) fn card(&mut self, rect: Rect, edge: Color) {
        self.panel(rect, CARD, 0.92, Some(edge));
    }

    /// Draws the focus mark around a rectangle, with a gap.
    pub(crate) fn focus(&mut self, rect: Rect) {
        self.panel(rect.grown(2), palette::INK, 0.0, Some(palette::MOON));
    }

    pub(crate) fn image(&mut self, image: ImageId, x: i32, y: i32) {
        self.image_as(image, x, y, false, None);
    }

    pub(crate) fn image_as(&mut self, image: ImageId, x: i32, y: i32, mirrored: bool, flash: Option<Color>) {
        let (x, y) = (x as f32, y as f32);
        self.scene.words.push(Item::Image { image, x, y, mirrored, shown: 16, flash });
    }

    /// Draws the emblem of a slot, eleven pixels wide and high.
    pub(crate) fn emblem(&mut self, seat: usize, taken: bool, x: i32, y: i32) {
        let pictures = pictures();
        let emblems = if taken { &pictures.emblems } else { &pictures.emblems_free };
        self.image(emblems[seat % emblems.len()], x, y);
    }

    /// Draws text in at most `wide` columns: the rest is replaced by three dots.
    pub(crate) fn text(&mut self, text: &str, x: i32, y: i32, wide: i32, color: Color) -> TextHandle<'_> {
        self.scene.word(&fitted(text, wide, false), x as f32, y as f32, color)
    }

    /// As `text`, in bold.
    pub(crate) fn bold(&mut self, text: &str, x: i32, y: i32, wide: i32, color: Color) -> TextHandle<'_> {
        self.scene.word(&fitted(text, wide, true), x as f32, y as f32, color).bold()
    }

    /// Draws a key with its name and meaning. Returns the width of both.
    pub(crate) fn key(&mut self, key: &str, meaning: &str, x: i32, y: i32, wide: i32) -> i32 {
        let cap = font::width(key, false, 0) + 8;
        self.panel(Rect::new(x, y - 3, cap, 13), palette::NIGHT[2], 1.0, Some(palette::MIST[0]));
        self.text(key, x + 4, y, wide - 8, palette::TEXT);
        let (left, room) = (x + cap + 4, wide - cap - 4);
        self.text(meaning, left, y, room, palette::DIM);
        cap + 4 + font::width(meaning, false, 0).min(room.max(0))
    }
}

/// A number with a thin gap between thousands.
pub(crate) fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut out = String::from(if number < 0 { "-" } else { "" });
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && (digits.len() - nth).is_multiple_of(3) {
            out.push('\u{2009}');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use gaggle_scene::Album;

    /// Screens of all kinds: laptop, desktop, wide, old, phones both ways, and a very small one.
    pub(crate) fn views() -> Vec<View> {
        let view = |width, height, words| {
            let fit = View::fit(width, height, gander::arena::WIDTH, gander::arena::HEIGHT);
            View::at_scale(width, height, gander::arena::WIDTH, gander::arena::HEIGHT, fit.scale, words)
        };
        vec![
            view(1280, 720, 2),
            view(1366, 768, 2),
            view(1920, 1080, 3),
            view(2560, 1440, 4),
            view(2560, 1080, 3),
            view(1024, 768, 2),
            view(800, 600, 2),
            view(780, 1688, 4),
            view(1688, 780, 4),
            view(720, 1280, 4),
            view(320, 180, 2),
        ]
    }

    /// Panics if any text lies outside of the screen.
    pub(crate) fn assert_inside(scene: &Scene, album: &Album, view: View, what: &str) {
        use gaggle_scene::Align;
        let (wide, tall) = (view.word_width(), view.word_height());
        for item in &scene.art {
            let (x, y, width, height) = match *item {
                Item::Image { image, x, y, .. } => {
                    let image = album.image(image);
                    (x, y, image.width() as f32, image.height() as f32)
                }
                Item::Fill { x, y, width, height, .. } => (x, y, width, height),
                _ => panic!("{what}: {item:?} should be among the words"),
            };
            let (left, top) = (x + view.left as f32, y + view.top as f32);
            let (right, bottom) = (left + width, top + height);
            let inside = left >= -0.01 && top >= -0.01;
            // Half a pixel may be cut.
            let inside = inside && right <= view.art_width as f32 && bottom <= view.art_height as f32;
            assert!(inside, "{what} on {wide}×{tall}: {item:?}");
        }
        for item in &scene.words {
            let (x, y, width, height) = match *item {
                Item::Image { image, x, y, .. } => {
                    let image = album.image(image);
                    (x as i32, y as i32, image.width(), image.height())
                }
                Item::Fill { x, y, width, height, .. } => (x as i32, y as i32, width as i32, height as i32),
                Item::Panel { x, y, width, height, .. } => (x, y, width, height),
                Item::Text { words, x, y, align, bold, track, size, .. } => {
                    let width = font::width(scene.text_of(words), bold, i32::from(track)) * i32::from(size);
                    let left = match align {
                        Align::Left => 0,
                        Align::Center => width / 2,
                        Align::Right => width,
                    };
                    (x as i32 - left, y as i32, width, font::CAP_ROWS * i32::from(size))
                }
            };
            let inside = x >= 0 && y >= 0 && x + width <= wide && y + height <= tall;
            let text = match item {
                Item::Text { words, .. } => scene.text_of(*words),
                _ => "",
            };
            assert!(inside, "{what} on {wide}×{tall}: {item:?} {text:?}");
        }
    }

    #[test]
    fn large_numbers_are_grouped() {
        let cases = [
            (0, "0"),
            (-1_000, "-1\u{2009}000"),
            (142_500, "142\u{2009}500"),
            (1_000_000, "1\u{2009}000\u{2009}000"),
        ];
        for (number, text) in cases {
            assert_eq!(grouped(number), text);
        }
        assert!(grouped(i64::MIN).starts_with("-9\u{2009}223"));
    }
}
