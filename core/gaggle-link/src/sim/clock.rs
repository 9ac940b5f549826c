//! Local clock of a simulated peer, with drift and jumps.
//!
//! Used by `network.rs`. Absent: the simulation's time.

use gaggle_kit::Micros;

/// Runs faster or slower than the simulation by this many parts per million.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    /// Simulation time of the last change, and the local time then.
    changed_at: Micros,
    shown: Micros,
    drift_ppm: i32,
}

impl Clock {
    pub(crate) const fn new(shows: Micros) -> Clock {
        Clock { changed_at: Micros::ZERO, shown: shows, drift_ppm: 0 }
    }

    pub(crate) const fn starting(now: Micros, shows: Micros, drift_ppm: i32) -> Clock {
        Clock { changed_at: now, shown: shows, drift_ppm }
    }

    pub(crate) const fn drift_ppm(&self) -> i32 {
        self.drift_ppm
    }

    pub(crate) fn set_drift(&mut self, now: Micros, drift_ppm: i32) {
        // Half and double speed exceed any real clock; the bound keeps time running forwards.
        let drift_ppm = drift_ppm.clamp(-500_000, 1_000_000);
        *self = Clock { changed_at: now, shown: self.local(now), drift_ppm };
    }

    /// Local time at a moment of the simulation.
    pub(crate) fn local(&self, now: Micros) -> Micros {
        let elapsed = u128::from(now.since(self.changed_at).get());
        Micros::new(self.shown.get() + (elapsed * self.speed() / 1_000_000) as u64)
    }

    /// First moment of the simulation at which the local time is at least this.
    pub(crate) fn global(&self, local: Micros) -> Micros {
        if local == Micros::MAX {
            return Micros::MAX;
        }
        let elapsed = u128::from(local.since(self.shown).get());
        let span = (elapsed * 1_000_000).div_ceil(self.speed());
        self.changed_at.saturating_add(Micros::new(u64::try_from(span).unwrap_or(u64::MAX)))
    }

    fn speed(&self) -> u128 {
        (1_000_000 + i64::from(self.drift_ppm)) as u128
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_counts_from_its_start_and_can_be_undone() {
        let mut clock = Clock::new(Micros::from_secs(5));
        assert_eq!(clock.local(Micros::from_secs(1)), Micros::from_secs(6));
        clock.set_drift(Micros::from_secs(1), 10_000);
        assert_eq!(clock.local(Micros::from_secs(101)), Micros::from_secs(107));
        for micros in [6_000_000, 6_000_001, 6_123_457, 900_000_000] {
            let at = clock.global(Micros::new(micros));
            assert!(clock.local(at) >= Micros::new(micros));
            assert!(
                clock.local(at.since(Micros::new(1))) < Micros::new(micros) || at == Micros::from_secs(1)
            );
        }
        assert_eq!(clock.global(Micros::MAX), Micros::MAX);
    }
}
