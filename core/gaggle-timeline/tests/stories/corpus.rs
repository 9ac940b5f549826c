//! Replays the fuzz corpora of this crate through their targets, with variations of each entry.

use gaggle_testkit::corpus;
use gaggle_timeline::{DesyncBundle, Replay};

use crate::timeline;

corpus!(timeline::TARGETS);

#[test]
fn corpus_has_files_of_current_form() {
    let whole = |name: &str, read: fn(&[u8]) -> bool| {
        corpus::entries(name).iter().filter(|entry| read(entry)).count()
    };
    let found = [whole("timeline_replay", timeline::show), whole("timeline_bundle", timeline::look)];
    assert!(found[0] >= 4 && found[1] >= 4, "{found:?} replays and bundles can be read: write them anew");
}

#[test]
fn file_numbers_claim_no_memory() {
    type Read = fn(&[u8]);
    let reads: [(&str, Read); 2] = [
        ("timeline_replay", |bytes| {
            drop(Replay::<timeline::Log>::read(&timeline::resealed_replay(bytes), timeline::GAME));
        }),
        ("timeline_bundle", |bytes| drop(DesyncBundle::decode(&timeline::resealed_bundle(bytes)))),
    ];
    for (name, read) in reads {
        for bytes in corpus::entries(name) {
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
