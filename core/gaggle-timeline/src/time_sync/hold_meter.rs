//! Share of the last seconds that was lost to one slow peer, this one included.
//!
//! `Session` notes every tick without a frame. Absent: what is done about it.

use gaggle_kit::Micros;

/// Time over which waiting is counted.
pub(crate) const SLOW_SPAN: Micros = Micros::from_secs(10);
/// Buckets of the span: each has the time waited in one second.
const BUCKETS: usize = 10;
/// Shares of the time, in thousandths: a peer becomes slow above the first, and fast again at the
/// second.
const SLOW_PERMILLE: u16 = 100;
const FAST_PERMILLE: u16 = 30;
/// A longer time between two calls means that the machine slept, not that it is slow.
const SLEPT_AFTER: Micros = Micros::from_millis(1_500);

/// Time others waited for a peer, by second.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct HoldMeter {
    waited_us: [u32; BUCKETS],
    /// Seconds since the session began, of the newest bucket.
    second: u64,
    is_told: bool,
}

impl HoldMeter {
    /// Others waited for the peer this long, up to now.
    pub(crate) fn note(&mut self, now: Micros, span: Micros) {
        self.advance(now);
        let bucket = &mut self.waited_us[self.second as usize % BUCKETS];
        *bucket = bucket.saturating_add(span.get() as u32);
    }

    fn advance(&mut self, now: Micros) {
        let second = now.get() / 1_000_000;
        let passed = second.saturating_sub(self.second).min(BUCKETS as u64);
        for nth in 1..=passed {
            self.waited_us[(self.second + nth) as usize % BUCKETS] = 0;
        }
        if passed == BUCKETS as u64 {
            self.waited_us = [0; BUCKETS];
        }
        self.second = self.second.max(second);
    }

    /// Time waited of the last ten seconds.
    pub(crate) fn waited(&mut self, now: Micros) -> Micros {
        self.advance(now);
        Micros::new(self.waited_us.iter().map(|waited| u64::from(*waited)).sum())
    }

    fn share_permille(&mut self, now: Micros) -> u16 {
        (self.waited(now).get() * 1_000 / SLOW_SPAN.get()).min(1_000) as u16
    }

    /// The share lost to a peer that has become slow. Returned once, and again only after the peer
    /// was fast.
    #[must_use]
    pub(crate) fn take_slow(&mut self, now: Micros) -> Option<u16> {
        let share = self.share_permille(now);
        self.is_told &= share > FAST_PERMILLE;
        let is_news = share > SLOW_PERMILLE && !self.is_told;
        self.is_told |= is_news;
        is_news.then_some(share)
    }

    /// Whether too much time is lost to it.
    pub(crate) fn is_slow(&mut self, now: Micros) -> bool {
        self.share_permille(now) > SLOW_PERMILLE
    }

    /// Whether hardly any time is lost to it any more.
    pub(crate) fn is_fast(&mut self, now: Micros) -> bool {
        self.share_permille(now) <= FAST_PERMILLE
    }
}

/// Share of the last seconds for which this peer ran fewer ticks than were due.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OwnPace {
    meter: HoldMeter,
    /// When the present second began, and the ticks run before it.
    since: Option<(Micros, u64)>,
}

impl OwnPace {
    /// Called every few ticks, with the ticks so far. Returns the share of time without the ticks
    /// that were due, if that has become too much.
    #[must_use]
    pub(crate) fn tick(&mut self, now: Micros, ticks: u64, frame: Micros) -> Option<u16> {
        let Some((since, before)) = self.since else {
            self.since = Some((now, ticks));
            return None;
        };
        let passed = now.since(since);
        if passed.get() < 1_000_000 {
            return None;
        }
        self.since = Some((now, ticks));
        let made = Micros::new((ticks - before) * frame.get());
        if passed < SLEPT_AFTER {
            self.meter.note(now, passed.since(made));
        }
        self.meter.take_slow(now)
    }

    /// Forgets all, because no other peer is left that could wait.
    pub(crate) fn reset(&mut self) {
        *self = OwnPace::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Micros = Micros::new(16_666);

    fn ms(millis: u64) -> Micros {
        Micros::from_millis(millis)
    }

    #[test]
    fn waiting_counts_for_ten_seconds() {
        let mut meter = HoldMeter::default();
        meter.note(ms(5_000), ms(400));
        meter.note(ms(9_500), ms(300));
        assert_eq!(meter.waited(ms(14_900)), ms(700));
        assert_eq!(meter.waited(ms(15_000)), ms(300));
        assert_eq!(meter.waited(ms(60_000)), Micros::ZERO);
    }

    #[test]
    fn slow_peer_is_told_once_until_it_is_fast_again() {
        let mut meter = HoldMeter::default();
        let mut told = Vec::new();
        for second in 0..40 {
            // Slow for twelve seconds, then for none, then again.
            let waits = !(12..30).contains(&second);
            meter.note(ms(1_000 * second), ms(if waits { 250 } else { 0 }));
            told.extend(meter.take_slow(ms(1_000 * second)).map(|share| (second, share)));
        }
        assert_eq!(told, [(4, 125), (34, 125)]);
    }

    #[test]
    fn own_pace_tells_missing_ticks_and_no_sleep() {
        let told = |gap_ms: u64, from_ms: u64| {
            let (mut pace, mut told) = (OwnPace::default(), Vec::new());
            for ticks in 1..=600 {
                let now = ms(from_ms * u64::from(ticks > 300) + ticks * gap_ms);
                told.extend(pace.tick(now, ticks, FRAME));
            }
            told.len()
        };
        assert_eq!([told(17, 0), told(33, 0), told(17, 60_000)], [0, 1, 0]);
    }
}
