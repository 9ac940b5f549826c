//! Replays the fuzz corpora of this crate through their targets, with everything near each entry.

#[path = "../../../fuzz/src/millpond.rs"]
pub mod fuzzed;
#[path = "../../../fuzz/src/pair.rs"]
pub mod pair;

gaggle_testkit::corpus!(fuzzed::TARGETS, bit_step = 7);
