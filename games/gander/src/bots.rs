//! Players made of rules: they see what a player sees, hold the same pad, and come in three
//! strengths.

mod bot;
mod sight;

pub use bot::{Bot, Strength};
pub use sight::{Seen, Sight, Thing};
