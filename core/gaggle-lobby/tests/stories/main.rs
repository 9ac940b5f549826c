//! Behavior of the lobby in its own messages: each test speaks JSON to one server.

#![allow(clippy::unwrap_used, reason = "test failures are explained by their messages")]

mod attackers;
mod intruders;
mod limits;
mod networks;
mod people;
mod quick_match;
mod restarts;
mod reused_slots;
mod rooms;
mod server;
mod signals_and_results;
mod skill;
mod witnesses;
