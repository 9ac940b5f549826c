//! Digests of chaos runs: one hash per seed over every packet sent and every state confirmed.
//!
//! Equal digests before and after a change mean that no byte on the wire and no state changed.
//! Called by the chaos commands (`chaos.rs`, `replica_chaos.rs`, `game_chaos.rs`). Absent: names of
//! types and fields, so that a rename changes no digest.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use clap::Args;
use gaggle_kit::{ByteSink, StateHasher};

/// Options of digests, shared by all kinds of chaos.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct DigestOptions {
    /// Print one hash per seed over packets sent and confirmed states, instead of judging what
    /// happened
    #[arg(long)]
    digest: bool,
    /// Compare these hashes with a file that an earlier --digest printed, and fail where one
    /// differs
    #[arg(long, value_name = "FILE", requires = "digest")]
    against: Option<PathBuf>,
}

impl DigestOptions {
    /// The lines of `--digest`, or `None` if it was not asked for.
    pub(crate) fn report(&self, kind: &str, digests: &Digests) -> Option<Result<String, String>> {
        self.digest.then(|| {
            let lines = digests.lines(kind);
            let Some(path) = &self.against else { return Ok(lines) };
            let recorded = fs::read_to_string(path)
                .map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
            compare(&recorded, &lines)
        })
    }
}

/// Digest of each seed, in order of the seeds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Digests(BTreeMap<u64, u64>);

impl Digests {
    pub(crate) fn insert(&mut self, seed: u64, digest: u64) {
        self.0.insert(seed, digest);
    }

    /// `kind seed hash`, one line per seed.
    fn lines(&self, kind: &str) -> String {
        let lines: Vec<String> =
            self.0.iter().map(|(seed, digest)| format!("{kind} {seed} {digest:016x}")).collect();
        lines.join("\n")
    }
}

/// One hash of several.
pub(crate) fn digest_of(hashes: &[u64]) -> u64 {
    let mut hasher = StateHasher::new();
    hashes.iter().for_each(|hash| hasher.put(&hash.to_le_bytes()));
    hasher.finish()
}

/// Compares the hashes of seeds that are in both texts; at least one must be.
fn compare(recorded: &str, found: &str) -> Result<String, String> {
    let split = |line: &str| line.rsplit_once(' ').map(|(seed, hash)| (seed.to_owned(), hash.to_owned()));
    let recorded: BTreeMap<String, String> = recorded.lines().filter_map(split).collect();
    let mut equal = 0;
    let mut different = Vec::new();
    for (seed, hash) in found.lines().filter_map(split) {
        match recorded.get(&seed) {
            Some(before) if *before == hash => equal += 1,
            Some(_) => different.push(seed),
            None => {}
        }
    }
    match (equal, different.len()) {
        (0, 0) => Err("none of these seeds is in the file; record them with --digest first".to_owned()),
        (_, 0) => Ok(format!("{equal} digests equal")),
        (_, count) => Err(format!("{count} of {} digests differ: {}", equal + count, different.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(digests: &[(u64, u64)]) -> String {
        Digests(digests.iter().copied().collect()).lines("timeline")
    }

    #[test]
    fn equal_digests_pass_and_different_one_names_its_seed() {
        let recorded = lines(&[(0, 7), (1, 8), (2, 9)]);
        assert_eq!(recorded.lines().next(), Some("timeline 0 0000000000000007"));
        assert_eq!(compare(&recorded, &lines(&[(1, 8), (2, 9)])).as_deref(), Ok("2 digests equal"));
        let differs = compare(&recorded, &lines(&[(1, 8), (2, 10)]));
        assert_eq!(differs, Err("1 of 2 digests differ: timeline 2".to_owned()));
        assert!(compare(&recorded, &lines(&[(5, 1)])).is_err());
    }

    #[test]
    fn digest_depends_on_every_hash_and_their_order() {
        assert_eq!(digest_of(&[1, 2]), digest_of(&[1, 2]));
        assert_ne!(digest_of(&[1, 2]), digest_of(&[2, 1]));
        assert_ne!(digest_of(&[1, 2]), digest_of(&[1, 3]));
    }
}
