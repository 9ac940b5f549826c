//! Replays the fuzz corpora of this crate through their targets, with everything near each entry.

#[path = "../../../fuzz/src/replica.rs"]
pub mod replica;

gaggle_testkit::corpus!(replica::TARGETS);
