//! Clock of a native program.
//!
//! Read by programs, passed to core as `now`. Absent: wall time.

use std::time::Instant;

use gaggle_kit::Micros;

/// A monotonic clock that starts at one second.
///
/// Not at zero, because a moment of zero is easily mistaken for none.
#[derive(Debug, Clone, Copy)]
pub struct Clock(Instant);

impl Clock {
    /// Starts the clock.
    pub fn start() -> Clock {
        Clock(Instant::now())
    }

    /// Current time of the clock.
    pub fn now(&self) -> Micros {
        let elapsed = u64::try_from(self.0.elapsed().as_micros()).unwrap_or(u64::MAX / 2);
        Micros::from_secs(1) + Micros::new(elapsed)
    }
}
