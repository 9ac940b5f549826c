//! Replays the fuzz corpora of this crate through their targets, with everything near each entry.

#![allow(clippy::unwrap_used, reason = "test failures are explained by their messages")]

#[path = "../../../fuzz/src/lobby.rs"]
pub mod lobby;

// Long entries in steps, so that this stays a matter of seconds.
gaggle_testkit::corpus!(lobby::TARGETS, bit_step = 3, fine_bytes_max = 1_000);
