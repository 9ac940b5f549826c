//! Stand-in for the crate `instant`, with a clock that only moves when [`set_now`] says so.
//!
//! ggrs reads its clock through that crate. With this one patched in, its timers fire in virtual
//! time, and a match of minutes takes a second. Each thread has its own clock, so tests that
//! simulate different matches in parallel are independent. Absent: real time.

use std::cell::Cell;
use std::ops::{Add, AddAssign, Sub};
pub use std::time::Duration;

thread_local! {
    static NOW: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Sets this thread's clock; it may go back, as between two matches.
pub fn set_now(now: Duration) {
    NOW.set(now);
}

/// A moment of this thread's virtual time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Instant(Duration);

impl Instant {
    /// The time given to [`set_now`] last.
    pub fn now() -> Instant {
        Instant(NOW.get())
    }

    /// Time since an earlier moment; zero if that moment is later.
    pub fn duration_since(&self, earlier: Instant) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// Time since this moment.
    pub fn elapsed(&self) -> Duration {
        Instant::now().duration_since(*self)
    }

    /// Time since the start of the simulation.
    pub fn since_start(&self) -> Duration {
        self.0
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;
    fn add(self, span: Duration) -> Instant {
        Instant(self.0 + span)
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, span: Duration) {
        self.0 += span;
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;
    fn sub(self, span: Duration) -> Instant {
        Instant(self.0.saturating_sub(span))
    }
}

impl Sub for Instant {
    type Output = Duration;
    fn sub(self, earlier: Instant) -> Duration {
        self.duration_since(earlier)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_stands_still_until_set() {
        let before = Instant::now();
        assert_eq!(before.elapsed(), Duration::ZERO);
        set_now(Duration::from_millis(200));
        assert_eq!(before.elapsed(), Duration::from_millis(200));
        assert!(before + Duration::from_millis(199) < Instant::now());
    }
}
