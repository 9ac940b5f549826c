//! Replays the fuzzers' corpus through what the fuzz targets do, and much of what is near it: each
//! entry cut at every byte, and with bits flipped.

use std::fs;
use std::path::Path;

#[path = "../../../fuzz/src/millpond.rs"]
pub mod fuzzed;
#[path = "../../../fuzz/src/pair.rs"]
pub mod pair;

#[test]
fn every_entry_and_what_is_near_it_holds() {
    for (name, target) in fuzzed::TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let entries: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        assert!(entries.len() >= 3, "the corpus of {name} is missing");
        for entry in entries {
            let bytes = fs::read(&entry).unwrap();
            (0..=bytes.len()).for_each(|cut| target(&bytes[..cut]));
            for bit in (0..bytes.len() * 8).step_by(7) {
                let mut flipped = bytes.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                target(&flipped);
            }
        }
    }
}
