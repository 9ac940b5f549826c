//! Replay of fuzz corpora: every entry, and everything near it, through a fuzz target.
//!
//! `tests/corpus.rs` of a crate includes its targets from `fuzz/src/` and calls [`replay`], mostly
//! through [`corpus!`](crate::corpus!).
//! Absent: what a target checks.

use std::fs;
use std::path::Path;

/// One fuzz target: its name, which is its folder in `fuzz/corpus/`, and what it does.
pub type Target = (&'static str, fn(&[u8]));

/// How much near an entry is tried. Larger steps are for targets that take long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Near {
    /// Bytes between two cuts; 1 cuts at every byte.
    pub cut_step: usize,
    /// Bits between two flips; 1 flips every single bit.
    pub bit_step: usize,
    /// Entries of more bytes are tried in steps as many times larger.
    pub fine_bytes_max: usize,
}

impl Near {
    /// Cut at every byte, and with every single bit flipped.
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

/// Gives a target every entry of its corpus, and each entry cut and with single bits flipped.
pub fn replay((name, target): Target, near: Near) {
    for entry in entries(name) {
        target(&entry);
        let coarser = entry.len() / near.fine_bytes_max + 1;
        (0..entry.len()).step_by(near.cut_step * coarser).for_each(|cut| target(&entry[..cut]));
        // An odd step meets every bit of some byte.
        let bit_step = if coarser == 1 { near.bit_step } else { (near.bit_step * coarser) | 1 };
        let mut flipped = entry;
        for bit in (0..flipped.len() * 8).step_by(bit_step) {
            flipped[bit / 8] ^= 1 << (bit % 8);
            target(&flipped);
            flipped[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

/// Defines the test that replays the corpora of these targets with everything near their entries;
/// settings of [`Near`] after them make it coarser.
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
