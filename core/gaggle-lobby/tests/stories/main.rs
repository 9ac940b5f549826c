//! What the lobby does, told in its own messages: one sentence per test, spoken in JSON to one
//! server.

#![allow(clippy::unwrap_used, reason = "a failing test says enough")]

mod attackers;
mod heirs;
mod intruders;
mod limits;
mod networks;
mod people;
mod quick_match;
mod restarts;
mod rooms;
mod server;
mod signals_and_results;
mod skill;
mod witnesses;
