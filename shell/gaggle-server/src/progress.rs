//! Time limit of an HTTP connection: extended as long as the client reads at a minimum speed.
//!
//! `http.rs` calls it. Absent: what is sent (`body.rs`), closing connections to make room
//! (`handshake_limit.rs`).

use std::pin::pin;
use std::time::Duration;

/// Time every connection has, however slowly it reads.
const FREE: Duration = Duration::from_secs(120);
/// Extension after a window with enough progress.
const WINDOW: Duration = Duration::from_secs(30);
/// Required bytes per window, 4 KiB a second: a file of 24 MB may take 100 minutes, and a client
/// that reads a few bytes a second is cut off.
const WINDOW_BYTES: u64 = 30 * 4_096;

/// Runs a connection to its end. None if it was too slow; `sent` returns the bytes sent so far.
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

/// Bytes read by a connection, per window.
#[derive(Debug, Default)]
struct Progress {
    windows: u32,
    before: u64,
}

impl Progress {
    /// Whether the connection gets another window, given the bytes sent in all.
    fn goes_on(&mut self, sent: u64) -> bool {
        let gained = sent.saturating_sub(std::mem::replace(&mut self.before, sent));
        self.windows += 1;
        WINDOW * self.windows < FREE || gained >= WINDOW_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds after which a reader of this speed is cut off, if it does not get the file before.
    fn cut_off(per_second: u64, bytes: u64) -> Option<u64> {
        let mut progress = Progress::default();
        let windows =
            (1..).map(|nth| nth * WINDOW.as_secs()).take_while(|seconds| per_second * seconds < bytes);
        windows.into_iter().find(|seconds| !progress.goes_on(per_second * seconds))
    }

    #[test]
    fn steady_slow_reader_gets_whole_file() {
        assert_eq!(cut_off(4_096, 24 << 20), None);
        assert_eq!(cut_off(1_024, 100 << 10), None, "a short file may be slower");
    }

    #[test]
    fn reader_below_minimum_speed_is_cut_off() {
        assert_eq!((cut_off(4_000, 24 << 20), cut_off(0, 1)), (Some(120), Some(120)));
    }

    #[test]
    fn reader_that_stops_is_cut_off_after_window() {
        let mut progress = Progress::default();
        assert!((1..20).all(|nth| progress.goes_on(nth * WINDOW_BYTES)));
        assert!(!progress.goes_on(19 * WINDOW_BYTES + 1));
    }

    #[tokio::test]
    async fn connection_that_ends_in_time_is_reported() {
        assert_eq!(bounded(async { 7 }, || 0).await, Some(7));
    }
}
