//! Conversion of passing time into ticks, adjusted by the session's speed.
//!
//! Applications call it around `Session::tick`. Absent: reading a clock.

use gaggle_kit::Micros;

/// Most ticks of one call; the rest waits for the next call.
const TICKS_AT_ONCE_MAX: u32 = 10;
/// Ticks a peer may be behind and still catch up; time beyond that is dropped.
const BEHIND_TICKS_MAX: u32 = 300;

/// A fixed-step clock.
///
/// ```
/// use gaggle_kit::Micros;
/// use gaggle_timeline::TickClock;
///
/// let mut pace = TickClock::new(60, Micros::ZERO);
/// assert_eq!(pace.ticks_due(Micros::from_millis(17), 1_000_000), 1);
/// assert_eq!(pace.ticks_due(Micros::from_millis(20), 1_000_000), 0);
/// assert_eq!(pace.ticks_due(Micros::from_millis(51), 1_000_000), 2);
/// ```
#[derive(Debug, Clone)]
pub struct TickClock {
    tick_rate: u64,
    last: Micros,
    /// Time not yet turned into ticks, in millionths of a tick times a million.
    owed: u64,
}

/// One tick, in the unit of `owed`: parts per million of a frame, times a million for speed.
const TICK: u64 = 1_000_000_000_000;

impl TickClock {
    /// A clock that starts now.
    pub fn new(tick_rate: u32, now: Micros) -> Self {
        TickClock { tick_rate: tick_rate.max(1).into(), last: now, owed: 0 }
    }

    /// Ticks to run now, at a speed in millionths of the game's own.
    pub fn ticks_due(&mut self, now: Micros, speed_ppm: u32) -> u32 {
        let passed_us = now.since(self.last).get().min(3_600_000_000);
        self.last = self.last.max(now);
        self.owed = self.owed.saturating_add(passed_us * self.tick_rate * u64::from(speed_ppm));
        if self.owed / TICK > BEHIND_TICKS_MAX.into() {
            self.owed = u64::from(TICKS_AT_ONCE_MAX) * TICK;
        }
        let ticks = (self.owed / TICK).min(TICKS_AT_ONCE_MAX.into());
        self.owed -= ticks * TICK;
        ticks as u32
    }

    /// Elapsed part of the next tick, in thousandths: for drawing between two frames.
    pub fn alpha_permille(&self) -> u32 {
        (self.owed.min(TICK - 1) / (TICK / 1_000)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tick_count_is_exact_at_any_display_rate() {
        for display in [24, 59, 60, 75, 144, 240] {
            for speed in [950_000, 1_000_000, 1_050_000] {
                let mut pace = TickClock::new(60, Micros::ZERO);
                let ticks: u32 = (1..=display * 60)
                    .map(|n| pace.ticks_due(Micros::new(n * 1_000_000 / display), speed))
                    .sum();
                let expected = 3_600 * u64::from(speed) / 1_000_000;
                assert!(u64::from(ticks).abs_diff(expected) <= 1, "{ticks} at {display} Hz and {speed} ppm");
            }
        }
    }

    #[test]
    fn hitch_is_caught_up_boundedly_and_sleep_dropped() {
        let mut pace = TickClock::new(60, Micros::ZERO);
        assert_eq!(pace.ticks_due(Micros::from_millis(500), 1_000_000), 10);
        assert_eq!(pace.ticks_due(Micros::from_millis(501), 1_000_000), 10);
        assert_eq!(pace.ticks_due(Micros::from_millis(502), 1_000_000), 10);
        assert_eq!(pace.ticks_due(Micros::from_secs(100), 1_000_000), 10);
        assert_eq!(pace.ticks_due(Micros::from_secs(100), 1_000_000), 0);
    }
}
