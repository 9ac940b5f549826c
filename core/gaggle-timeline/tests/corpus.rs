//! Replays the fuzzers' corpus through what the fuzz targets do, and everything near it: each entry
//! cut at every byte and with every single bit flipped.

use std::fs;
use std::path::{Path, PathBuf};

use gaggle_timeline::{DesyncBundle, Replay};

#[path = "../../../fuzz/src/timeline.rs"]
pub mod timeline;

#[test]
fn every_entry_and_everything_near_it_holds() {
    for (name, target) in timeline::TARGETS {
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

#[test]
fn the_corpus_has_files_of_the_form_that_is_read_today() {
    let whole = |name: &str, read: fn(&[u8]) -> bool| {
        entries(name).iter().filter(|entry| read(&fs::read(entry).unwrap())).count()
    };
    let found = [whole("timeline_replay", timeline::show), whole("timeline_bundle", timeline::look)];
    assert!(found[0] >= 4 && found[1] >= 4, "{found:?} replays and bundles can be read: write them anew");
}

#[test]
fn no_number_in_a_file_claims_memory() {
    type Read = fn(&[u8]);
    let reads: [(&str, Read); 2] = [
        ("timeline_replay", |bytes| {
            drop(Replay::<timeline::Log>::read(&timeline::resealed_replay(bytes), timeline::GAME));
        }),
        ("timeline_bundle", |bytes| drop(DesyncBundle::decode(&timeline::resealed_bundle(bytes)))),
    ];
    for (name, read) in reads {
        for entry in entries(name) {
            let bytes = fs::read(&entry).unwrap();
            for at in 0..bytes.len().saturating_sub(8) {
                for number in [u64::MAX, u64::MAX >> 1, u32::MAX.into(), 64 << 20, 1 << 20, 4_096, 255] {
                    for size in [1, 4, 8] {
                        let mut absurd = bytes.clone();
                        absurd[at..at + size].copy_from_slice(&number.to_le_bytes()[..size]);
                        let most = allocation_counter::measure(|| read(&absurd)).bytes_max;
                        assert!(most < 4 * bytes.len() as u64 + 400, "{name}: {most} for {number} at {at}");
                    }
                }
            }
        }
    }
}

fn entries(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.expect("the folder can be read").path()).collect()
}
