//! Replay of fuzz corpora through a fuzz target: every entry, and many small variations of it.
//!
//! `tests/corpus.rs` of a crate includes its targets from `fuzz/src/` and calls [`replay`], usually
//! through [`corpus!`](crate::corpus!). Absent: what a target checks.

use std::fs;
use std::path::Path;

/// One fuzz target: its name, which is its folder in `fuzz/corpus/`, and its function.
pub type Target = (&'static str, fn(&[u8]));

/// Variations of an entry that are tried. Larger steps are for slow targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Near {
    /// Bytes between two cuts; 1 cuts at every byte.
    pub cut_step: usize,
    /// Bits between two flips; 1 flips every single bit.
    pub bit_step: usize,
    /// Entries with more bytes use steps that are larger by the same factor.
    pub fine_bytes_max: usize,
}

impl Near {
    /// Cuts at every byte, and flips every single bit.
    pub const ALL: Near = Near { cut_step: 1, bit_step: 1, fine_bytes_max: usize::MAX };
}

/// All entries of a target's corpus, sorted by the names of their files.
///
/// # Panics
///
/// If the folder cannot be read or has fewer than three entries.
#[must_use]
pub fn entries(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = files.filter_map(|file| file.ok().map(|file| file.path())).collect();
    paths.sort();
    assert!(paths.len() >= 3, "{}: only {} entries", folder.display(), paths.len());
    let read = |path| fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    paths.iter().map(read).collect()
}

/// Runs a target on every entry of its corpus, and on each entry cut or with single bits flipped.
pub fn replay((name, target): Target, near: Near) {
    for entry in entries(name) {
        target(&entry);
        let coarser = entry.len() / near.fine_bytes_max + 1;
        (0..entry.len()).step_by(near.cut_step * coarser).for_each(|cut| target(&entry[..cut]));
        // An odd step reaches every bit position of some byte.
        let bit_step = if coarser == 1 { near.bit_step } else { (near.bit_step * coarser) | 1 };
        let mut flipped = entry;
        for bit in (0..flipped.len() * 8).step_by(bit_step) {
            flipped[bit / 8] ^= 1 << (bit % 8);
            target(&flipped);
            flipped[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

/// Defines the test that replays the corpora of these targets with variations of their entries;
/// fields of [`Near`] after the targets reduce the variations.
#[macro_export]
macro_rules! corpus {
    ($targets:expr $(, $setting:ident = $value:expr)*) => {
        #[test]
        fn corpus_entries_and_neighbors_hold() {
            let near = $crate::corpus::Near { $($setting: $value,)* ..$crate::corpus::Near::ALL };
            for target in $targets {
                $crate::corpus::replay(target, near);
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    thread_local! {
        static SEEN: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
    }

    fn note(bytes: &[u8]) {
        SEEN.with_borrow_mut(|seen| seen.push(bytes.to_vec()));
    }

    #[test]
    fn replay_tries_entries_cuts_and_flips() {
        let entries = entries("kit_bits");
        replay(("kit_bits", note), Near::ALL);
        let seen = SEEN.take();
        let cases = |entry: &Vec<u8>| 1 + entry.len() + entry.len() * 8;
        assert_eq!(seen.len(), entries.iter().map(cases).sum::<usize>());
        assert!(entries.iter().all(|entry| seen.contains(entry)));
    }

    #[test]
    fn long_entries_are_tried_in_larger_steps() {
        let cases = |near: Near| {
            replay(("kit_bits", note), near);
            SEEN.take().len()
        };
        let coarse = Near { fine_bytes_max: 1, ..Near::ALL };
        assert!(cases(Near::ALL) > 2 * cases(coarse));
    }
}
