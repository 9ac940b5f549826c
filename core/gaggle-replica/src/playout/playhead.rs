//! Which moment of a sender is shown when its updates are played in sequence: a few ticks behind the newest, more if they come
//! unevenly.

#![expect(clippy::float_arithmetic, reason = "only for display")]

use gaggle_kit::Micros;

/// Ticks to wait for at least and at most before playing.
const BUFFER_TICKS_MIN: u64 = 2;
const BUFFER_TICKS_MAX: u64 = 8;
/// How much faster a full buffer is played.
const CATCH_UP: f64 = 1.05;

/// Where one sender is played, in µs of its clock.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Playhead {
    at: f64,
    advanced_at: Micros,
    /// The buffer ran empty: it is filled before anything moves again.
    waiting: bool,
    begun: bool,
}

impl Playhead {
    /// Time passes; `newest` is the newest moment that was told, `lateness` how unevenly moments arrive.
    pub(crate) fn advance(&mut self, now: Micros, newest: i64, lateness: Micros, interval: Micros) {
        let newest = newest as f64;
        let interval_us = interval.get().max(1);
        let ticks = (1 + lateness.get().div_ceil(interval_us)).clamp(BUFFER_TICKS_MIN, BUFFER_TICKS_MAX);
        let full = (ticks * interval_us) as f64;
        let passed = now.since(self.advanced_at).get() as f64;
        self.advanced_at = now;
        if !self.begun {
            *self = Playhead { at: newest - full, advanced_at: now, waiting: false, begun: true };
            return;
        }
        let behind = newest - self.at;
        if behind > 3.0 * full {
            self.at = newest - full;
            self.waiting = false;
        } else if self.waiting {
            self.waiting = behind < full;
        } else {
            self.at += if behind > 2.0 * full { passed * CATCH_UP } else { passed };
            if self.at >= newest {
                self.at = newest;
                self.waiting = true;
            }
        }
    }

    /// The moment shown, on the sender's clock in µs.
    pub(crate) fn at(&self) -> f64 {
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK: Micros = Micros::from_millis(50);

    /// Plays ticks that arrive at these times and says how far behind the newest each frame was.
    fn behind(arrivals: &[(u64, i64)], until_ms: u64, lateness_ms: u64) -> Vec<(u64, f64)> {
        let mut head = Playhead::default();
        let mut shown = Vec::new();
        for ms in 0..until_ms {
            let newest = arrivals.iter().filter(|(at, _)| *at <= ms).map(|(_, tick)| tick * 50_000).max();
            let Some(newest) = newest else { continue };
            head.advance(Micros::from_millis(ms), newest, Micros::from_millis(lateness_ms), TICK);
            shown.push((ms, (newest as f64 - head.at()) / 50_000.0));
        }
        shown
    }

    #[test]
    fn an_even_stream_is_played_two_ticks_behind_and_never_stops() {
        let arrivals: Vec<(u64, i64)> = (0..100).map(|tick| (tick * 50, tick as i64)).collect();
        let shown = behind(&arrivals, 4_900, 0);
        assert!(shown.iter().all(|(_, ticks)| (1.0..=2.1).contains(ticks)), "{shown:?}");
    }

    #[test]
    fn an_uneven_stream_is_played_later() {
        let arrivals: Vec<(u64, i64)> = (0..100).map(|tick| (tick * 50, tick as i64)).collect();
        let shown = behind(&arrivals, 4_900, 120);
        assert!(shown.iter().all(|(_, ticks)| (3.0..=4.1).contains(ticks)), "{shown:?}");
        let most = behind(&arrivals, 4_900, 5_000);
        assert!(most.iter().all(|(_, ticks)| (7.0..=8.1).contains(ticks)), "never later than eight");
    }

    #[test]
    fn an_empty_buffer_is_filled_before_anything_moves_again() {
        let mut arrivals: Vec<(u64, i64)> = (0..20).map(|tick| (tick * 50, tick as i64)).collect();
        // Nothing for 400 ms, then everything at once.
        arrivals.extend((20..60).map(|tick| ((tick * 50).max(1_400) as u64, tick as i64)));
        let shown = behind(&arrivals, 3_000, 0);
        let at = |ms: u64| shown.iter().find(|(time, _)| *time == ms).unwrap().1;
        assert_eq!(at(1_300), 0.0, "stopped at the newest");
        assert!(
            (1.0..=2.1).contains(&at(1_500)),
            "what had gathered beyond three buffers is skipped: {}",
            at(1_500)
        );
    }

    #[test]
    fn a_buffer_that_is_too_full_is_played_faster() {
        let mut arrivals: Vec<(u64, i64)> = (0..20).map(|tick| (tick * 50, tick as i64)).collect();
        arrivals.extend((20..200).map(|tick| (tick * 50 - 150, tick as i64)));
        let shown = behind(&arrivals, 9_000, 0);
        let (soon, later) = (shown[1_200].1, shown[8_000].1);
        assert!(soon > 4.0 && later <= 4.1 && later > 1.0, "{soon} then {later}");
    }
}
