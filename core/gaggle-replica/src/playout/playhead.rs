//! Displayed time of a sender for buffered kinds: a few ticks behind the newest, more if updates
//! arrive unevenly. Playback owns it. Absent: values, clocks.

#![expect(clippy::float_arithmetic, reason = "only for display")]

use gaggle_kit::Micros;

/// Speed of playback when the buffer is too full.
const CATCH_UP: f64 = 1.05;

/// Depth of the buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Depth {
    pub(crate) interval: Micros,
    /// Least and most ticks to buffer before playback.
    pub(crate) ticks_min: u32,
    pub(crate) ticks_max: u32,
}

impl Depth {
    /// Buffer in µs for this jitter.
    fn full(&self, lateness: Micros) -> f64 {
        let interval = self.interval.get().max(1);
        let ticks = 1 + lateness.get().div_ceil(interval);
        (ticks.clamp(self.ticks_min.into(), self.ticks_max.into()) * interval) as f64
    }
}

/// Playback position in one sender's clock, in µs.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Playhead {
    at: f64,
    advanced_at: Micros,
    /// Newest time received, and when it arrived.
    newest: i64,
    newest_at: Micros,
    /// Whether the buffer ran empty: it is filled before playback continues.
    waiting: bool,
    begun: bool,
}

impl Playhead {
    /// Advances time; `newest` is the newest time received, `lateness` the jitter of arrivals.
    pub(crate) fn advance(&mut self, now: Micros, newest: i64, lateness: Micros, depth: Depth) {
        if newest != self.newest {
            (self.newest, self.newest_at) = (newest, now);
        }
        let newest = newest as f64;
        let full = depth.full(lateness);
        let passed = now.since(self.advanced_at).get() as f64;
        self.advanced_at = now;
        if !self.begun {
            *self = Playhead { at: newest - full, begun: true, ..*self };
            return;
        }
        let behind = newest - self.at;
        if behind > 3.0 * full {
            self.at = newest - full;
            self.waiting = false;
        } else if self.waiting {
            // Values that no later ones follow are played as well: an idle peer sends little.
            let is_fresh = (now.since(self.newest_at).get() as f64) < full;
            self.waiting = behind < full && (behind <= 0.0 || is_fresh);
        } else {
            self.at += if behind > 2.0 * full { passed * CATCH_UP } else { passed };
            if self.at >= newest {
                self.at = newest;
                self.waiting = true;
            }
        }
    }

    /// Time shown, on the sender's clock in µs.
    pub(crate) fn at(&self) -> f64 {
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEPTH: Depth = Depth { interval: Micros::from_millis(50), ticks_min: 2, ticks_max: 8 };

    /// Plays ticks that arrive at these times. Returns at each frame the position, and its distance
    /// from the newest tick in ticks.
    fn played(arrivals: &[(u64, i64)], until_ms: u64, lateness_ms: u64, depth: Depth) -> Vec<Shown> {
        let mut head = Playhead::default();
        let mut shown = Vec::new();
        for ms in 0..until_ms {
            let newest = arrivals.iter().filter(|(at, _)| *at <= ms).map(|(_, tick)| tick * 50_000).max();
            let Some(newest) = newest else { continue };
            head.advance(Micros::from_millis(ms), newest, Micros::from_millis(lateness_ms), depth);
            let (at, waits) = (head.at() / 50_000.0, head.waiting);
            shown.push(Shown { ms, at, behind: newest as f64 / 50_000.0 - at, waits });
        }
        shown
    }

    #[derive(Debug, Clone, Copy)]
    struct Shown {
        ms: u64,
        at: f64,
        behind: f64,
        waits: bool,
    }

    fn even() -> Vec<(u64, i64)> {
        (0..100).map(|tick| (tick * 50, tick as i64)).collect()
    }

    #[test]
    fn even_stream_plays_two_ticks_behind_without_stop() {
        let shown = played(&even(), 4_900, 0, DEPTH);
        assert!(shown.iter().all(|it| (1.0..=2.1).contains(&it.behind) && !it.waits), "{shown:?}");
    }

    #[test]
    fn uneven_stream_plays_with_more_delay() {
        let shown = played(&even(), 4_900, 120, DEPTH);
        assert!(shown.iter().all(|it| (3.0..=4.1).contains(&it.behind)), "{shown:?}");
        let most = played(&even(), 4_900, 5_000, DEPTH);
        assert!(most.iter().all(|it| (7.0..=8.1).contains(&it.behind)), "at most eight ticks behind");
    }

    #[test]
    fn buffer_depth_setting_is_applied() {
        for (ticks_min, ticks_max, lateness, expected) in [(1, 8, 0, 1.0), (5, 8, 0, 5.0), (1, 3, 900, 3.0)] {
            let shown = played(&even(), 4_900, lateness, Depth { ticks_min, ticks_max, ..DEPTH });
            let right = |it: &Shown| (expected - 1.0..=expected + 0.1).contains(&it.behind);
            assert!(shown.iter().skip(1).all(right), "{ticks_min} to {ticks_max}: {shown:?}");
        }
    }

    #[test]
    fn empty_buffer_refills_before_motion_resumes() {
        let mut arrivals: Vec<(u64, i64)> = (0..20).map(|tick| (tick * 50, tick as i64)).collect();
        // No tick for a while, then one tick after the other, as if the sender had paused.
        arrivals.extend((20..60).map(|tick| (450 + tick as u64 * 50, tick)));
        let shown = played(&arrivals, 3_000, 0, DEPTH);
        let at = |ms: u64| shown.iter().find(|it| it.ms == ms).copied().unwrap();
        assert!(at(1_300).waits && at(1_300).at == 19.0, "stopped at the newest: {:?}", at(1_300));
        // The first tick arrives at 1,450 and is not played before the second, 50 ms later.
        let first = at(1_490);
        assert!(first.waits && first.at == 19.0 && first.behind == 1.0, "{first:?}");
        assert!(!at(1_501).waits && at(1_540).at > 19.5, "{:?}", at(1_540));
        assert!((1.0..=2.1).contains(&at(2_000).behind), "{:?}", at(2_000));
    }

    #[test]
    fn last_tick_without_successor_is_shown() {
        let mut arrivals: Vec<(u64, i64)> = (0..20).map(|tick| (tick * 50, tick as i64)).collect();
        arrivals.push((1_400, 20));
        let shown = played(&arrivals, 2_000, 0, DEPTH);
        let at = |ms: u64| shown.iter().find(|it| it.ms == ms).copied().unwrap();
        assert!(at(1_490).waits && at(1_490).at == 19.0, "{:?}", at(1_490));
        assert_eq!(at(1_600).at, 20.0, "after the time the buffer takes to fill");
    }

    #[test]
    fn ticks_beyond_three_buffers_are_skipped() {
        let mut arrivals: Vec<(u64, i64)> = (0..20).map(|tick| (tick * 50, tick as i64)).collect();
        // No tick for 400 ms, then all at once.
        arrivals.extend((20..60).map(|tick| ((tick * 50).max(1_400) as u64, tick as i64)));
        let shown = played(&arrivals, 3_000, 0, DEPTH);
        let at = |ms: u64| shown.iter().find(|it| it.ms == ms).copied().unwrap();
        assert_eq!((at(1_399).at, at(1_400).at), (19.0, 26.0), "seven ticks are never shown");
        assert!((1.0..=2.1).contains(&at(1_500).behind), "{:?}", at(1_500));
    }

    #[test]
    fn buffer_too_full_is_played_faster() {
        let mut arrivals: Vec<(u64, i64)> = (0..20).map(|tick| (tick * 50, tick as i64)).collect();
        arrivals.extend((20..200).map(|tick| (tick * 50 - 150, tick as i64)));
        let shown = played(&arrivals, 9_000, 0, DEPTH);
        let (soon, later) = (shown[1_200].behind, shown[8_000].behind);
        assert!(soon > 4.0 && later <= 4.1 && later > 1.0, "{soon} then {later}");
    }
}
