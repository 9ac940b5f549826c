//! Scenes, sounds and images of games as plain data, and a software painter.
//!
#![doc = include_str!("../README.md")]
// Nothing drawn is part of a simulated state.
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
