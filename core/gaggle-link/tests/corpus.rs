//! Replays the fuzz corpora of this crate through their targets, with everything near each entry.

#[path = "../../../fuzz/src/link.rs"]
pub mod link;

gaggle_testkit::corpus!(link::TARGETS);
