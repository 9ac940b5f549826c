//! Replays the fuzzers' corpus through what the fuzz targets do, and everything near it: each entry
//! cut at every byte and with every single bit flipped.

#![allow(clippy::unwrap_used, reason = "a failing test says enough")]

use std::fs;
use std::path::{Path, PathBuf};

#[path = "../../../fuzz/src/lobby.rs"]
pub mod lobby;

#[test]
fn every_entry_and_everything_near_it_holds() {
    for (name, target) in lobby::TARGETS {
        let entries = entries(name);
        assert!(entries.len() >= 3, "the corpus of {name} is missing");
        for entry in entries {
            let bytes = fs::read(&entry).unwrap();
            target(&bytes);
            // Long entries by steps, so that this stays a matter of seconds; the steps hit every
            // kind of byte.
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
