//! Replays the fuzzers' corpus through the fuzz targets, with every entry cut at each byte and with
//! each single bit flipped.

#![allow(clippy::unwrap_used, reason = "test failures are explained by their messages")]

use std::fs;
use std::path::{Path, PathBuf};

#[path = "../../../fuzz/src/lobby.rs"]
pub mod lobby;

#[test]
fn every_corpus_entry_and_its_mutations_hold() {
    for (name, target) in lobby::TARGETS {
        let entries = entries(name);
        assert!(entries.len() >= 3, "the corpus of {name} is missing");
        for entry in entries {
            let bytes = fs::read(&entry).unwrap();
            target(&bytes);
            // Long entries are sampled, so that this takes seconds; the step reaches every kind of
            // byte.
            let step = bytes.len() / 1_000 + 1;
            (0..bytes.len()).step_by(step).for_each(|cut| target(&bytes[..cut]));
            for bit in (0..bytes.len() * 8).step_by(step * 4 - 1) {
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
