//! Time as an argument, in microseconds.
//!
//! Every state machine uses it. Absent: clocks.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::time::Duration;

use bytemuck::{Pod, Zeroable};

/// A moment or a duration in microseconds. The caller has the clock; core code only compares.
///
/// A moment counts from an origin of the caller's choice (program start, page load, start of a
/// simulation), so moments of two peers must never be compared.
///
/// ```
/// use gaggle_kit::Micros;
/// let now = Micros::from_millis(1_500);
/// assert_eq!((now + Micros::from_secs(2)).as_millis(), 3_500);
/// assert_eq!(now.since(Micros::from_secs(9)), Micros::ZERO);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Pod, Zeroable)]
#[repr(transparent)]
pub struct Micros(u64);

impl Micros {
    /// The origin, or an empty duration.
    pub const ZERO: Micros = Micros(0);
    /// A moment that never comes.
    pub const MAX: Micros = Micros(u64::MAX);

    /// From whole microseconds.
    pub const fn new(micros: u64) -> Micros {
        Micros(micros)
    }

    /// From whole milliseconds.
    pub const fn from_millis(millis: u64) -> Micros {
        Micros(millis.saturating_mul(1_000))
    }

    /// From whole seconds.
    pub const fn from_secs(secs: u64) -> Micros {
        Micros(secs.saturating_mul(1_000_000))
    }

    /// Number of microseconds.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Whole milliseconds, rounded down.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000
    }

    /// Time since an earlier moment; zero if that moment is later.
    #[must_use]
    pub const fn since(self, earlier: Micros) -> Micros {
        Micros(self.0.saturating_sub(earlier.0))
    }

    /// A later moment, at most [`Micros::MAX`].
    #[must_use]
    pub const fn saturating_add(self, span: Micros) -> Micros {
        Micros(self.0.saturating_add(span.0))
    }
}

/// Converts a duration of a clock: `Micros::from(started.elapsed())`.
///
/// ```
/// # use gaggle_kit::Micros;
/// # use std::time::Duration;
/// assert_eq!(Micros::from(Duration::from_millis(17)), Micros::from_millis(17));
/// ```
impl From<Duration> for Micros {
    fn from(time: Duration) -> Micros {
        Micros(u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
    }
}

/// A later moment, at most [`Micros::MAX`].
impl Add for Micros {
    type Output = Micros;
    fn add(self, span: Micros) -> Micros {
        self.saturating_add(span)
    }
}

impl AddAssign for Micros {
    fn add_assign(&mut self, span: Micros) {
        *self = *self + span;
    }
}

/// Time since an earlier moment, at least zero, like [`Micros::since`].
impl Sub for Micros {
    type Output = Micros;
    fn sub(self, earlier: Micros) -> Micros {
        self.since(earlier)
    }
}

impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            u64::MAX => f.write_str("never"),
            us if us < 1_000 => write!(f, "{us} µs"),
            us if us < 1_000_000 => write!(f, "{}.{} ms", us / 1_000, us / 100 % 10),
            us => write!(f, "{}.{:03} s", us / 1_000_000, us / 1_000 % 1_000),
        }
    }
}

impl fmt::Debug for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_prints_in_convenient_unit() {
        assert_eq!(Micros::new(999).to_string(), "999 µs");
        assert_eq!(Micros::new(16_667).to_string(), "16.6 ms");
        assert_eq!(Micros::from_millis(2_050).to_string(), "2.050 s");
        assert_eq!(Micros::MAX.to_string(), "never");
    }
}
