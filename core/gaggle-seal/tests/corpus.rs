//! Replays the fuzzers' corpus through what the fuzz targets do, and what is near it: each entry
//! cut and with single bits flipped.

use std::fs;
use std::path::{Path, PathBuf};

#[path = "../../../fuzz/src/seal.rs"]
pub mod seal;

/// Most mutated runs per entry of the corpus: more would take minutes.
const NEAR_MAX: usize = 120;

#[test]
fn every_entry_and_what_is_near_it_holds() {
    for (name, target) in seal::TARGETS {
        let entries = entries(name);
        assert!(entries.len() >= 3, "the corpus of {name} is missing");
        for entry in entries {
            let bytes = fs::read(&entry).unwrap();
            target(&bytes);
            let step = 1 + bytes.len() / NEAR_MAX;
            for at in (0..bytes.len()).step_by(step) {
                target(&bytes[..at]);
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << (at % 8);
                target(&flipped);
            }
        }
    }
}

#[test]
fn no_number_in_journal_claims_memory() {
    for entry in entries("seal_journal") {
        let bytes = fs::read(&entry).unwrap();
        for at in (0..bytes.len().saturating_sub(4)).step_by(1 + bytes.len() / NEAR_MAX) {
            let mut absurd = bytes.clone();
            absurd[at..at + 4].copy_from_slice(&[0xff, 0xff, 0xff, 0x0f]);
            let most = allocation_counter::measure(|| seal::journal(&absurd)).bytes_max;
            assert!(most < 2 << 20, "{most} bytes for a number at {at}");
        }
    }
}

fn entries(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.expect("the folder can be read").path()).collect()
}
