//! Runs of many seeds: ranges of seeds, threads, and panics that fail one run alone.
//!
//! Called by the chaos commands. Absent: what a run does.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::thread;

/// Form of a range of seeds.
pub(crate) const SEEDS: &str = "FIRST..END";
/// Most minutes of a run.
pub(crate) const MINUTES_MAX: u64 = 24 * 60;
/// Most runs at the same time.
pub(crate) const THREADS_MAX: i64 = 1_024;

/// Reads a range of seeds, as `0..100`.
pub(crate) fn parse_seeds(text: &str) -> Result<(u64, u64), String> {
    let wrong = || "no range of seeds: write 0..100 for the first hundred, 7..8 for seed 7 alone".to_owned();
    let (first, end) = text.split_once("..").ok_or_else(wrong)?;
    let (first, end): (u64, u64) = (first.parse().map_err(|_| wrong())?, end.parse().map_err(|_| wrong())?);
    if first >= end {
        return Err("no seed is in it: the second number is the first seed that is left out".to_owned());
    }
    Ok((first, end))
}

/// Calls `work` with each seed, on `threads` threads or one per core.
pub(crate) fn each_seed((first, end): (u64, u64), threads: Option<u16>, work: impl Fn(u64) + Sync) {
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.map_or_else(cores, usize::from);
    let waiting = Mutex::new(first..end);
    // A statement of its own, so that the lock is released before the run.
    let next = || waiting.lock().ok()?.next();
    thread::scope(|scope| {
        for _ in 0..threads.min(usize::try_from(end - first).unwrap_or(threads)) {
            scope.spawn(|| {
                while let Some(seed) = next() {
                    work(seed);
                }
            });
        }
    });
}

/// Runs `run` and turns a panic into a failure.
pub(crate) fn survive<T>(run: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(format!("it panicked: {}", text.unwrap_or_default()))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ranges_of_seeds_are_read() {
        assert_eq!(parse_seeds("3..5"), Ok((3, 5)));
        for no_range in
            ["", "x", "7", "..", "3..", "..5", "3..=5", "-1..5", "3...5", "0..18446744073709551616"]
        {
            assert!(parse_seeds(no_range).is_err_and(|why| why.contains("write 0..100")), "{no_range}");
        }
        for empty in ["5..5", "5..3"] {
            assert!(parse_seeds(empty).is_err_and(|why| why.contains("no seed is in it")), "{empty}");
        }
    }

    #[test]
    fn every_seed_runs_up_to_greatest_number() {
        for (seeds, threads) in [((3, 40), None), ((3, 40), Some(7)), ((u64::MAX - 2, u64::MAX), Some(9))] {
            let seen = Mutex::new(Vec::new());
            each_seed(seeds, threads, |seed| seen.lock().expect("no thread panics").push(seed));
            let seen = seen.into_inner().expect("no thread panics");
            assert_eq!(seen.len() as u64, seeds.1 - seeds.0);
            assert_eq!(seen.into_iter().collect::<BTreeSet<_>>(), (seeds.0..seeds.1).collect());
        }
    }
}
