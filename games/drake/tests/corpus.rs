//! Replays this crate's fuzz corpora through their targets, with mutations of each entry.

#[path = "../../../fuzz/src/drake.rs"]
pub mod fuzzed;
#[path = "../../../fuzz/src/pair.rs"]
pub mod pair;

gaggle_testkit::corpus!(fuzzed::TARGETS, bit_step = 3);
