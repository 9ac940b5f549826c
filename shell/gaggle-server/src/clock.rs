//! The server's clock: Unix time that never goes backwards while the server runs.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use gaggle_kit::Micros;

/// Unix time, read once from the wall and counted from there by a clock nobody sets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    unix_at_start: Micros,
    start: Instant,
}

impl Clock {
    /// A clock that shows the time of day.
    pub(crate) fn new() -> Clock {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Clock { unix_at_start: Micros::new(unix.as_micros() as u64), start: Instant::now() }
    }

    /// Microseconds since 1970.
    pub(crate) fn now(&self) -> Micros {
        self.unix_at_start + Micros::new(self.start.elapsed().as_micros() as u64)
    }
}
