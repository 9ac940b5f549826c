//! What runs of many seeds have in common: which seeds, and that one which breaks does not end the others.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Reads a range of seeds, as `0..100`.
pub(crate) fn parse_seeds(text: &str) -> Result<(u64, u64), String> {
    let wrong = || format!("{text} is no range of seeds: write 0..100");
    let (first, end) = text.split_once("..").ok_or_else(wrong)?;
    let (first, end) = (first.parse().map_err(|_| wrong())?, end.parse().map_err(|_| wrong())?);
    if first < end { Ok((first, end)) } else { Err(format!("{text} is empty")) }
}

/// One run, whatever becomes of it: a panic is a failure like any other.
pub(crate) fn survive<T>(run: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(format!("it panicked: {}", text.unwrap_or_default()))
    })
}
