//! What a game shows and sounds like, as plain data.
//!
//! A game turns its state into a [`Scene`]: images, fills, panels and words, back to front, and
//! [`Cue`]s for the ears. Whoever has a screen paints it. [`Canvas`] is a painter in software that
//! needs nothing but memory, so the same picture comes out of a test, a PNG and a browser.
//! [`Hearing`] tells which cues are new when frames are simulated again.
//!
//! The palette, the font, the dither and the rule of light are the same for all games, and live
//! here too.
//!
//! ```
//! use gaggle_scene::{Album, Canvas, Scene, View, palette};
//!
//! let view = View::fit(1280, 720, 384, 216);
//! let mut scene = Scene::default();
//! scene.fill(0, 0, 384, 216, palette::NIGHT[1]);
//! scene.text("Higher lance wins.", 192.0, 100.0, palette::TEXT).centred().outlined(palette::INK);
//!
//! let mut canvas = Canvas::new(view);
//! canvas.paint(&scene, &Album::default());
//! assert_eq!(canvas.rgba().len(), 1280 * 720 * 4);
//! ```
//!
//! Nothing here is part of a simulation: pictures may use floating point. They still come out the
//! same everywhere, because only operations that are exact by standard are used (no `sin` of the
//! platform).

// Pictures are looked at, never simulated.
#![allow(clippy::float_arithmetic)]

mod album;
mod bitmap;
mod canvas;
mod color;
mod cue;
mod dither;
pub mod emblem;
pub mod font;
mod lettering;
mod light;
mod lines;
pub mod palette;
mod scene;
mod sound;
mod view;

pub use album::{Album, ImageId};
pub use bitmap::Bitmap;
pub use canvas::Canvas;
pub use color::Color;
pub use cue::{Cue, CueId, Heard, Hearing};
pub use dither::{bayer, chance, noise, sine};
pub use lettering::lettering;
pub use light::{LIGHTS, Material, Part, Sprite, Tones};
pub use lines::{fitted, wrapped};
pub use scene::{Align, Item, Scene, TextHandle, Words};
pub use sound::{Envelope, Filter, FilterKind, Recipe, Voice, Wave};
pub use view::View;
