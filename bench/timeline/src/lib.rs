//! The timeline beside the field's rollback libraries: the same game, network, inputs and seeds,
//! all in one thread and in virtual time, so that everything but CPU time is exact and repeatable.
//!
//! A library enters by implementing [`Contestant`] in one file; a scenario plays a [`Match`] and
//! reads the [`Tally`]. `src/main.rs` lists the rows of the report.

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
