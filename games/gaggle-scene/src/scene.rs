//! A picture as a list: what is drawn where, back to front.

use crate::{Color, Cue, ImageId};

/// One thing to draw. Places are in art pixels from the world's top left corner, or, among the
/// words of a scene, in word pixels from the screen's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Item {
    /// An image. Fractions of a pixel are kept up to the screen's own pixels.
    Image {
        /// Image to draw.
        image: ImageId,
        /// Its left edge.
        x: f32,
        /// Its top edge.
        y: f32,
        /// Left and right exchanged.
        mirrored: bool,
        /// How much of it is there, in sixteenths: the dither decides which pixels.
        shown: u8,
        /// Everything in one colour instead of its own.
        flash: Option<Color>,
    },
    /// A filled rectangle.
    Fill {
        /// Left edge in world pixels.
        x: f32,
        /// Top edge in world pixels.
        y: f32,
        /// Width in world pixels.
        width: f32,
        /// Height in world pixels.
        height: f32,
        /// Color of the rectangle.
        color: Color,
        /// How much of it, in 256ths.
        share: u16,
    },
    /// A panel with chamfered corners, the one container of the whole arcade.
    Panel {
        /// Left edge in screen pixels.
        x: i32,
        /// Top edge in screen pixels.
        y: i32,
        /// Width in screen pixels.
        width: i32,
        /// Height in screen pixels.
        height: i32,
        /// Color of the area.
        fill: Color,
        /// How much of that, in 256ths.
        share: u16,
        /// The line around it.
        edge: Option<Color>,
    },
    /// One line of text.
    Text {
        /// Where they are in [`Scene::text_of`].
        words: Words,
        /// Left edge, middle or right edge.
        x: f32,
        /// The top of capitals.
        y: f32,
        /// Color of the text.
        color: Color,
        /// What `x` is.
        align: Align,
        /// Twice as strong.
        bold: bool,
        /// Additional columns between letters.
        track: i8,
        /// Enlarged by this.
        size: u8,
        /// A line all around.
        outline: Option<Color>,
        /// A copy one pixel below.
        shadow: Option<Color>,
    },
}

/// Where a text is in a scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Words {
    start: u32,
    end: u32,
}

/// Which point of a text is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Align {
    /// Its left edge.
    #[default]
    Left,
    /// Anchor at the middle.
    Centre,
    /// Its right edge.
    Right,
}

/// A picture and its sounds. Keep one and [`clear`](Scene::clear) it: then drawing allocates
/// nothing.
#[derive(Debug, Clone, Default)]
pub struct Scene {
    /// The world, in art pixels from its top left corner, back to front.
    pub art: Vec<Item>,
    /// What is written over it, in word pixels from the screen's top left corner.
    pub words: Vec<Item>,
    /// What is heard: everything recent, whether it was heard before or not.
    pub cues: Vec<Cue>,
    text: String,
}

impl Scene {
    /// Removes all commands.
    pub fn clear(&mut self) {
        self.art.clear();
        self.words.clear();
        self.cues.clear();
        self.text.clear();
    }

    /// The characters of a text.
    pub fn text_of(&self, words: Words) -> &str {
        self.text.get(words.start as usize..words.end as usize).unwrap_or_default()
    }

    /// Adds an image.
    pub fn image(&mut self, image: ImageId, x: f32, y: f32) {
        self.art.push(Item::Image { image, x, y, mirrored: false, shown: 16, flash: None });
    }

    /// Adds a rectangle.
    pub fn fill(&mut self, x: i32, y: i32, width: i32, height: i32, color: Color) {
        self.blend(x as f32, y as f32, width as f32, height as f32, color, 1.0);
    }

    /// Adds a rectangle that lets through what is behind it.
    pub fn blend(&mut self, x: f32, y: f32, width: f32, height: f32, color: Color, share: f32) {
        self.art.push(Item::Fill { x, y, width, height, color, share: share_256(share) });
    }

    /// Adds one pixel, anywhere between pixels.
    pub fn dot(&mut self, x: f32, y: f32, color: Color) {
        self.blend(x, y, 1.0, 1.0, color, 1.0);
    }

    /// Adds a panel.
    pub fn panel(&mut self, rect: (i32, i32, i32, i32), fill: Color, share: f32, edge: Option<Color>) {
        let (x, y, width, height) = rect;
        self.art.push(Item::Panel { x, y, width, height, fill, share: share_256(share), edge });
    }

    /// Adds a text to the world.
    pub fn text(&mut self, text: &str, x: f32, y: f32, color: Color) -> TextHandle<'_> {
        let item = self.text_item(text, x, y, color);
        self.art.push(item);
        TextHandle(self.art.last_mut())
    }

    /// Adds a text over the world.
    pub fn word(&mut self, text: &str, x: f32, y: f32, color: Color) -> TextHandle<'_> {
        let item = self.text_item(text, x, y, color);
        self.words.push(item);
        TextHandle(self.words.last_mut())
    }

    /// Adds a panel over the world.
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

/// The text just added, to say more about it.
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
    /// `x` is its middle.
    centred() => align = Align::Centre;
    /// `x` is its right edge.
    right() => align = Align::Right;
    /// Twice as strong.
    bold() => bold = true;
    /// So many more columns between letters.
    tracked(columns: i8) => track = columns;
    /// Scales by a whole number, at least 1.
    sized(times: u8) => size = times.max(1);
    /// With a line all around.
    outlined(color: Color) => outline = Some(color);
    /// With a copy one pixel below.
    shadowed(color: Color) => shadow = Some(color);
}
