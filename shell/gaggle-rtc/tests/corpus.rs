//! Replays the fuzzers' corpus through the fuzz targets, with every entry cut at each byte and with
//! each single bit flipped, descriptions at a sample of them.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use std::fs;
use std::path::{Path, PathBuf};

#[path = "../../../fuzz/src/rtc.rs"]
pub mod rtc;

#[test]
fn every_corpus_entry_and_its_mutations_hold() {
    for (name, target) in rtc::TARGETS {
        let entries = entries(name);
        assert!(entries.len() >= 3, "the corpus of {name} is missing");
        // Creating two channels per case takes a thousand times as long; `descriptions.rs` covers
        // descriptions.
        let step = if name == "rtc_description" { 37 } else { 1 };
        for entry in entries {
            let bytes = fs::read(&entry).unwrap();
            target(&bytes);
            (0..bytes.len()).step_by(step).for_each(|cut| target(&bytes[..cut]));
            for bit in (0..bytes.len() * 8).step_by(step) {
                let mut flipped = bytes.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                target(&flipped);
            }
        }
    }
}

fn entries(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.expect("the folder can be read").path()).collect()
}
