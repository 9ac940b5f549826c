//! How long a connection may take: as long as it takes in what it asked for, at a least speed.
//!
//! Absent: what is sent (`body.rs`), which connections make way for others (`doorkeeper.rs`).

use std::pin::pin;
use std::time::Duration;

/// A connection has this much time in any case.
const FREE: Duration = Duration::from_secs(120);
/// After that it has this much more each time it took in enough during the last of these.
const WINDOW: Duration = Duration::from_secs(30);
/// Enough is 4 KiB a second: a file of 24 MB may take 100 minutes, and a client that reads a few
/// bytes a second does not hold its place.
const WINDOW_BYTES: u64 = 30 * 4_096;

/// Waits for a connection to end. None if it took too little for too long; `sent` tells how many
/// bytes it took so far.
pub(crate) async fn bounded<F: Future>(connection: F, sent: impl Fn() -> u64) -> Option<F::Output> {
    let mut connection = pin!(connection);
    let mut progress = Progress::default();
    loop {
        if let Ok(ended) = tokio::time::timeout(WINDOW, &mut connection).await {
            return Some(ended);
        }
        if !progress.goes_on(sent()) {
            return None;
        }
    }
}

/// What a connection took in, window by window.
#[derive(Debug, Default)]
struct Progress {
    windows: u32,
    before: u64,
}

impl Progress {
    /// Whether the connection may have one more window, with so many bytes taken in all.
    fn goes_on(&mut self, sent: u64) -> bool {
        let gained = sent.saturating_sub(std::mem::replace(&mut self.before, sent));
        self.windows += 1;
        WINDOW * self.windows < FREE || gained >= WINDOW_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds after which a reader of so many bytes a second is cut off, if it is before it has
    /// this file.
    fn cut_off(per_second: u64, bytes: u64) -> Option<u64> {
        let mut progress = Progress::default();
        let windows =
            (1..).map(|nth| nth * WINDOW.as_secs()).take_while(|seconds| per_second * seconds < bytes);
        windows.into_iter().find(|seconds| !progress.goes_on(per_second * seconds))
    }

    #[test]
    fn slow_reader_that_goes_on_has_all_its_time() {
        assert_eq!(cut_off(4_096, 24 << 20), None);
        assert_eq!(cut_off(1_024, 100 << 10), None, "what is short may be slower");
    }

    #[test]
    fn reader_below_least_speed_is_cut_off() {
        assert_eq!((cut_off(4_000, 24 << 20), cut_off(0, 1)), (Some(120), Some(120)));
    }

    #[test]
    fn reader_that_stops_is_cut_off_after_a_window() {
        let mut progress = Progress::default();
        assert!((1..20).all(|nth| progress.goes_on(nth * WINDOW_BYTES)));
        assert!(!progress.goes_on(19 * WINDOW_BYTES + 1));
    }

    #[tokio::test]
    async fn connection_that_ends_in_time_is_told() {
        assert_eq!(bounded(async { 7 }, || 0).await, Some(7));
    }
}
