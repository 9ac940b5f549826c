//! The server's clock: Unix time that never goes backwards while the server runs.
//!
//! The lobby, the relay and tickets use it. Absent: timers.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use gaggle_kit::Micros;

/// Unix time, read once from the system clock and advanced by the monotonic one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    unix_at_start: Micros,
    start: Instant,
}

impl Clock {
    /// A clock set to the current time of day.
    pub(crate) fn new() -> Clock {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Clock { unix_at_start: Micros::new(unix.as_micros() as u64), start: Instant::now() }
    }

    /// Microseconds since 1970.
    pub(crate) fn now(&self) -> Micros {
        self.unix_at_start + Micros::new(self.start.elapsed().as_micros() as u64)
    }
}
