//! Replays the fuzz corpora of this crate through their targets, with everything near each entry.

#[path = "../../../fuzz/src/drake.rs"]
pub mod fuzzed;
#[path = "../../../fuzz/src/pair.rs"]
pub mod pair;

gaggle_testkit::corpus!(fuzzed::TARGETS, bit_step = 3);
