//! Computer players of three strengths.
//!
//! They get what a player sees and return the pad a player holds. Called by pages, demos and tests.
//! Absent: any access to the state but `Sight`.

mod bot;
mod sight;

pub use bot::{Bot, Strength};
pub use sight::{Seen, Sight, Thing};
