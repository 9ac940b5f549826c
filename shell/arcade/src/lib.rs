//! The arcade: what people see first. A page with cabinets, and the games in them.
//!
//! [`Arcade`] is the whole of it without a browser: keys and time in, a picture and sounds out. `page.rs` ties it to
//! a canvas, a keyboard and a loudspeaker, and exists only where there is a page.

// Pictures and sounds are looked at and listened to, never simulated.
#![allow(clippy::float_arithmetic)]

mod arcade;
mod controls;
mod flight;
mod menu;
mod touch;

#[cfg(target_arch = "wasm32")]
mod audio;
#[cfg(target_arch = "wasm32")]
mod page;

pub use arcade::{Arcade, Screen};
pub use controls::{Controls, Key};
pub use flight::Flight;
pub use menu::{Choice, Menu};
pub use touch::Touch;
