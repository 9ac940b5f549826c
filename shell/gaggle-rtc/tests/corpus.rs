//! Replays the fuzz corpora of this crate through their targets, with everything near each entry.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use gaggle_testkit::corpus::{self, Near};

#[path = "../../../fuzz/src/rtc.rs"]
pub mod rtc;

#[test]
fn corpus_entries_and_neighbors_hold() {
    let [stun, description] = rtc::TARGETS;
    corpus::replay(stun, Near::ALL);
    // Making two channels for each case takes a thousand times as long; descriptions.rs covers more
    // of what one may contain.
    corpus::replay(description, Near { cut_step: 37, bit_step: 37, ..Near::ALL });
}
