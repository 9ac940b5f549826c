//! Seeds of a test run, and the report of a failing one.
//!
//! Harnesses that run many seeds call it. Environment: `GAGGLE_SEEDS=A..B` picks seeds,
//! `GAGGLE_LONG=1` takes the long range. Absent: what a seed does.

use std::ops::Range;

/// Seeds of this run: `GAGGLE_SEEDS=A..B`, or the first `usual` or `long` seeds.
///
/// # Panics
///
/// If `GAGGLE_SEEDS` is not two numbers with `..` between them.
#[must_use]
pub fn range(usual: u64, long: u64) -> Range<u64> {
    match std::env::var("GAGGLE_SEEDS") {
        Ok(text) => {
            parse(&text).unwrap_or_else(|| panic!("GAGGLE_SEEDS={text}; write two numbers as 0..100"))
        }
        Err(_) => 0..if is_long() { long } else { usual },
    }
}

/// Whether long tests run: `GAGGLE_LONG` is set.
#[must_use]
pub fn is_long() -> bool {
    std::env::var_os("GAGGLE_LONG").is_some()
}

/// Runs every seed, and panics with the first failure and the command line that repeats it.
///
/// # Panics
///
/// If a run fails.
pub fn check(seeds: Range<u64>, mut run: impl FnMut(u64) -> Result<(), String>) {
    let failed: Vec<(u64, String)> =
        seeds.clone().filter_map(|seed| run(seed).err().map(|error| (seed, error))).collect();
    if let Some((seed, error)) = failed.first() {
        let (count, next) = (failed.len(), seed + 1);
        panic!("{count} of {seeds:?} fail; repeat the first with GAGGLE_SEEDS={seed}..{next}\n{error}");
    }
}

fn parse(text: &str) -> Option<Range<u64>> {
    let (from, to) = text.split_once("..")?;
    Some(from.parse().ok()?..to.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seed_ranges_are_two_numbers() {
        assert_eq!(parse("3..90"), Some(3..90));
        assert_eq!([parse("3"), parse("..4"), parse("a..4")], [None, None, None]);
    }

    #[test]
    #[should_panic(expected = "2 of 0..5 fail; repeat the first with GAGGLE_SEEDS=3..4\nseed 3 is odd")]
    fn failing_seed_is_printed_with_its_command() {
        check(0..5, |seed| if seed < 3 { Ok(()) } else { Err(format!("seed {seed} is odd")) });
    }

    #[test]
    fn passing_seeds_all_run() {
        let mut seen = Vec::new();
        check(4..7, |seed| {
            seen.push(seed);
            Ok(())
        });
        assert_eq!(seen, [4, 5, 6]);
    }
}
