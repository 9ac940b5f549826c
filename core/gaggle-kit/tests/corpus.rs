//! Replays the fuzzers' corpus through the fuzz targets, with every entry cut at each byte and with
//! each single bit flipped.

use std::fs;
use std::path::{Path, PathBuf};

#[path = "../../../fuzz/src/kit.rs"]
pub mod kit;

#[test]
fn every_corpus_entry_and_its_mutations_hold() {
    for (name, target) in kit::TARGETS {
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

/// The corpus contains a valid state, so checks of valid states have run.
#[test]
fn corpus_has_valid_state() {
    let example = gaggle_kit::encode_state(&kit::Everything::example());
    assert!(gaggle_kit::decode_state::<kit::Everything>(&example).is_ok());
    assert!(entries("kit_state").iter().any(|entry| fs::read(entry).unwrap() == example));
}

fn entries(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.expect("the folder can be read").path()).collect()
}
