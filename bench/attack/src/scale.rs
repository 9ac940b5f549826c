//! Sizes and durations: the whole suite, or one of a few seconds for tests.
//!
//! All parts read it. Absent: targets.

use std::time::Duration;

use crate::server::Build;

/// Duration and strength of the suite.
#[derive(Clone, Copy)]
pub(crate) struct Scale {
    pub(crate) build: Build,
    /// Duration of each measurement.
    pub(crate) time: Duration,
    /// Time before anything counts.
    pub(crate) warm_up: Duration,
    /// Divisor of the attacks' strength.
    pub(crate) divisor: u64,
    /// Players who search by skill.
    pub(crate) searchers: u64,
    /// Whether attacks run in the idle class.
    pub(crate) is_idle: bool,
    /// Pairs of honest players who want to meet.
    pub(crate) meetings: usize,
    /// Attacks measured at the same time, each on a server of its own; more than one disturb each
    /// other.
    pub(crate) attacks_at_once: usize,
    /// Divisor of the number of honest clients.
    pub(crate) honest_divisor: usize,
}

impl Scale {
    pub(crate) const WHOLE: Scale = Scale {
        build: Build::Release,
        time: Duration::from_secs(6),
        warm_up: Duration::from_millis(500),
        divisor: 1,
        searchers: 20_000,
        is_idle: true,
        meetings: 20,
        attacks_at_once: 1,
        honest_divisor: 1,
    };

    /// Scale for the test of this crate.
    pub(crate) const TINY: Scale = Scale {
        build: Build::Debug,
        time: Duration::from_millis(400),
        warm_up: Duration::from_millis(50),
        divisor: 50,
        searchers: 50,
        is_idle: false,
        meetings: 1,
        attacks_at_once: 6,
        honest_divisor: 4,
    };

    pub(crate) fn of(self, strength: u64) -> u64 {
        (strength / self.divisor).max(1)
    }
}
