//! Matches that a referee seals: sessions, games and a referee's room on a bad network.
#![allow(dead_code, unreachable_pub, missing_docs, reason = "parts of one test program")]

mod late;
mod questions;
mod rooms;
mod world;
