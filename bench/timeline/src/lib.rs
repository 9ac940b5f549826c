//! Comparison of Gaggle's timeline with other rollback libraries.
//!
//! All play the same game with the same inputs and network, in one thread and in virtual time, so
//! all figures but CPU time are exact. A library implements [`Contestant`]; a scenario plays a
//! [`Match`] and reads its [`Tally`]. Called by `main.rs`. Absent: the report's format.

pub mod chance;
pub mod clockwork;
pub mod contest;
pub mod cost;
pub mod differential;
pub mod fortress;
pub mod gaggle;
pub mod game;
pub mod ggrs;
pub mod link;
pub mod matches;
pub mod maze;
pub mod network;
pub mod people;
pub mod rows;
pub mod weight;

pub use contest::{Contestant, Setup, Stage, Step};
pub use matches::{Match, Tally};
