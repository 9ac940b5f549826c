//! A picture and its sounds as lists: items from back to front, and cues.
//!
//! Filled by games, painted by the canvas and by browsers. Absent: painting, sizes of screens.

use crate::{Color, Cue, ImageId};

/// One item to draw. Places and sizes are in art pixels from the world's top left corner, or, in
/// [`Scene::words`], in text pixels from the screen's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Item {
    /// An image, placed to a pixel of the screen.
    Image {
        /// Image to draw.
        image: ImageId,
        /// Left edge of the image.
        x: f32,
        /// Top edge of the image.
        y: f32,
        /// Whether left and right are swapped.
        mirrored: bool,
        /// Opacity in sixteenths, by dither.
        shown: u8,
        /// Color of all its opaque pixels, in place of their own.
        flash: Option<Color>,
    },
    /// A filled rectangle, placed to a pixel of the screen.
    Fill {
        /// Left edge of the rectangle.
        x: f32,
        /// Top edge of the rectangle.
        y: f32,
        /// Width of the rectangle.
        width: f32,
        /// Height of the rectangle.
        height: f32,
        /// Color of the rectangle.
        color: Color,
        /// Opacity in 256ths.
        share: u16,
    },
    /// A panel with cut corners, the container of all texts.
    Panel {
        /// Left edge of the panel.
        x: i32,
        /// Top edge of the panel.
        y: i32,
        /// Width of the panel.
        width: i32,
        /// Height of the panel.
        height: i32,
        /// Color of its inside.
        fill: Color,
        /// Opacity of its inside, in 256ths.
        share: u16,
        /// Color of its border, if it has one.
        edge: Option<Color>,
    },
    /// One line of text.
    Text {
        /// Its characters, for [`Scene::text_of`].
        words: Words,
        /// Left edge, center or right edge, as `align` says.
        x: f32,
        /// Top edge of capital letters.
        y: f32,
        /// Color of the text.
        color: Color,
        /// Which point of the text `x` is.
        align: Align,
        /// Whether strokes are two pixels wide.
        bold: bool,
        /// Extra columns between letters.
        track: i8,
        /// Scale of the font.
        size: u8,
        /// Color of a line around the letters.
        outline: Option<Color>,
        /// Color of a copy one pixel below.
        shadow: Option<Color>,
    },
}

/// Range of a text in its scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Words {
    start: u32,
    end: u32,
}

/// Point of a text that its `x` gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Align {
    /// Its left edge.
    #[default]
    Left,
    /// Middle of the text.
    Center,
    /// Its right edge.
    Right,
}

/// A picture and its sounds. Reuse one with [`clear`](Scene::clear), so that drawing does not
/// allocate.
#[derive(Debug, Clone, Default)]
pub struct Scene {
    /// The world, in art pixels from its top left corner, from back to front.
    pub art: Vec<Item>,
    /// Texts over the world, in text pixels from the screen's top left corner.
    pub words: Vec<Item>,
    /// Recent cues, including those that were in scenes before.
    pub cues: Vec<Cue>,
    text: String,
}

impl Scene {
    /// Removes all items, texts and cues.
    pub fn clear(&mut self) {
        self.art.clear();
        self.words.clear();
        self.cues.clear();
        self.text.clear();
    }

    /// Characters of a text of this scene.
    pub fn text_of(&self, words: Words) -> &str {
        self.text.get(words.start as usize..words.end as usize).unwrap_or_default()
    }

    /// Adds an image to the world.
    pub fn image(&mut self, image: ImageId, x: f32, y: f32) {
        self.art.push(Item::Image { image, x, y, mirrored: false, shown: 16, flash: None });
    }

    /// Adds an opaque rectangle to the world.
    pub fn fill(&mut self, x: i32, y: i32, width: i32, height: i32, color: Color) {
        self.blend(x as f32, y as f32, width as f32, height as f32, color, 1.0);
    }

    /// Adds a translucent rectangle to the world; `share` is 0 to 1.
    pub fn blend(&mut self, x: f32, y: f32, width: f32, height: f32, color: Color, share: f32) {
        self.art.push(Item::Fill { x, y, width, height, color, share: share_256(share) });
    }

    /// Adds one opaque pixel to the world.
    pub fn dot(&mut self, x: f32, y: f32, color: Color) {
        self.blend(x, y, 1.0, 1.0, color, 1.0);
    }

    /// Adds a panel to the world; `rect` is left, top, width, height.
    pub fn panel(&mut self, rect: (i32, i32, i32, i32), fill: Color, share: f32, edge: Option<Color>) {
        let (x, y, width, height) = rect;
        self.art.push(Item::Panel { x, y, width, height, fill, share: share_256(share), edge });
    }

    /// Adds a text to the world, with its top left corner at `x`, `y`.
    pub fn text(&mut self, text: &str, x: f32, y: f32, color: Color) -> TextHandle<'_> {
        let item = self.text_item(text, x, y, color);
        self.art.push(item);
        TextHandle(self.art.last_mut())
    }

    /// Adds a text over the world, in text pixels.
    pub fn word(&mut self, text: &str, x: f32, y: f32, color: Color) -> TextHandle<'_> {
        let item = self.text_item(text, x, y, color);
        self.words.push(item);
        TextHandle(self.words.last_mut())
    }

    /// Adds a panel over the world, in text pixels.
    pub fn word_panel(&mut self, rect: (i32, i32, i32, i32), fill: Color, share: f32, edge: Option<Color>) {
        let (x, y, width, height) = rect;
        self.words.push(Item::Panel { x, y, width, height, fill, share: share_256(share), edge });
    }

    fn text_item(&mut self, text: &str, x: f32, y: f32, color: Color) -> Item {
        let start = self.text.len() as u32;
        self.text.push_str(text);
        let words = Words { start, end: self.text.len() as u32 };
        let align = Align::Left;
        Item::Text { words, x, y, color, align, bold: false, track: 0, size: 1, outline: None, shadow: None }
    }
}

fn share_256(share: f32) -> u16 {
    (share.clamp(0.0, 1.0) * 256.0 + 0.5) as u16
}

/// The text just added, to change its style.
#[derive(Debug)]
pub struct TextHandle<'a>(Option<&'a mut Item>);

macro_rules! text_settings {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty)?) => $field:ident = $value:expr;)*) => {
        impl TextHandle<'_> {$(
            $(#[$doc])*
            pub fn $name(mut self $(, $argument: $type)?) -> Self {
                if let Some(Item::Text { $field, .. }) = self.0.as_deref_mut() {
                    *$field = $value;
                }
                self
            }
        )*}
    };
}

text_settings! {
    /// Makes `x` the center of the text.
    centered() => align = Align::Center;
    /// Makes `x` the right edge of the text.
    right() => align = Align::Right;
    /// Makes strokes two pixels wide.
    bold() => bold = true;
    /// Adds columns between letters.
    tracked(columns: i8) => track = columns;
    /// Scales by a whole number, at least 1.
    sized(times: u8) => size = times.max(1);
    /// Draws a line around the letters.
    outlined(color: Color) => outline = Some(color);
    /// Draws a copy one pixel below the letters.
    shadowed(color: Color) => shadow = Some(color);
}
