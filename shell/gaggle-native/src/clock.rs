//! Time for those who may not look at it themselves.

use std::time::Instant;

use gaggle_kit::Micros;

/// A clock that starts at one second and never runs backwards.
///
/// Not at zero, because a moment of zero is easily mistaken for none.
#[derive(Debug, Clone, Copy)]
pub struct Clock(Instant);

impl Clock {
    /// Starts the clock.
    pub fn start() -> Clock {
        Clock(Instant::now())
    }

    /// What the clock shows.
    pub fn now(&self) -> Micros {
        let elapsed = u64::try_from(self.0.elapsed().as_micros()).unwrap_or(u64::MAX / 2);
        Micros::from_secs(1) + Micros::new(elapsed)
    }
}
