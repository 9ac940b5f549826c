//! The timeline beside other rollback libraries: the same game, network, inputs and seeds in one
//! thread and virtual time, so that all figures except CPU time are exact.
//!
//! A library implements [`Contestant`] in one file; rows play a [`Match`] and read its [`Tally`].
//! Absent: real networks.

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
