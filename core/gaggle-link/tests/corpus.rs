//! Replays the fuzzers' corpus through the fuzz targets, with every entry cut at each byte and with
//! each single bit flipped.

use std::fs;
use std::path::{Path, PathBuf};

#[path = "../../../fuzz/src/link.rs"]
pub mod link;

#[test]
fn every_corpus_entry_and_its_mutations_hold() {
    for (name, target) in link::TARGETS {
        let entries = entries(name);
        assert!(entries.len() >= 3, "the corpus of {name} is missing");
        for entry in entries {
            let bytes = fs::read(&entry).unwrap();
            target(&bytes);
            (0..bytes.len()).for_each(|cut| target(&bytes[..cut]));
            for bit in 0..bytes.len() * 8 {
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
