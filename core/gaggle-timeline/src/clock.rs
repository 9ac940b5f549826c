//! Round-trip time to one peer, from clocks the peer echoes. In milliseconds on the wire, in
//! microseconds here.
//!
//! The peer table feeds it with time blocks of packets. Absent: packets, what the round trip is
//! used for.

use gaggle_kit::Micros;

use crate::packet::HOLD_NONE;

/// Samples the estimate looks at: at ten per second, a little more than one second.
const SAMPLES: usize = 12;
/// Rank of the sample that counts, from the largest: one or two outliers are chance, three are a
/// trend.
const RANK: usize = 2;

/// Measured time to one peer and back.
#[derive(Debug, Clone)]
pub(crate) struct EchoClock {
    /// Clock the peer sent last, and when it arrived.
    heard: Option<(u16, Micros)>,
    samples_us: [u32; SAMPLES],
    taken: usize,
    high_us: u32,
}

impl EchoClock {
    pub(crate) fn new() -> Self {
        EchoClock { heard: None, samples_us: [0; SAMPLES], taken: 0, high_us: 0 }
    }

    /// Takes the time block of a packet.
    pub(crate) fn handle(&mut self, now: Micros, clock_ms: u16, echo_ms: u16, hold_ms: u8) {
        self.heard = Some((clock_ms, now));
        if hold_ms == HOLD_NONE {
            return;
        }
        // An echo more than half a minute old looks like one from the future: neither is used.
        let away_ms = clock_of(now).wrapping_sub(echo_ms);
        if away_ms > u16::MAX / 2 {
            return;
        }
        let rtt_ms = away_ms.saturating_sub(u16::from(hold_ms));
        self.samples_us[self.taken % SAMPLES] = u32::from(rtt_ms) * 1_000;
        self.taken += 1;
        let samples = &self.samples_us[..self.taken.min(SAMPLES)];
        let mut largest = [0; RANK + 1];
        for &sample in samples {
            if sample > largest[RANK] {
                let mut falls = sample;
                for place in &mut largest {
                    (*place, falls) = (falls.max(*place), falls.min(*place));
                }
            }
        }
        self.high_us = largest[RANK.min(samples.len() - 1)];
    }

    /// What to echo: the clock that arrived last, and how long it was held since.
    pub(crate) fn echo(&self, now: Micros) -> (u16, u8) {
        match self.heard {
            Some((clock_ms, at)) if now.since(at).as_millis() < u64::from(HOLD_NONE) => {
                (clock_ms, now.since(at).as_millis() as u8)
            }
            _ => (0, HOLD_NONE),
        }
    }

    /// The round trip measured last.
    pub(crate) fn rtt(&self) -> Option<Micros> {
        let last = self.taken.checked_sub(1)?;
        Some(Micros::new(self.samples_us[last % SAMPLES].into()))
    }

    /// A round trip that few packets exceed: the input delay has to cover it.
    pub(crate) fn rtt_high(&self) -> Option<Micros> {
        self.is_known().then(|| Micros::new(self.high_us.into()))
    }

    /// Whether a round trip was ever measured.
    pub(crate) fn is_known(&self) -> bool {
        self.taken > 0
    }
}

/// Clock value as packets carry it.
pub(crate) fn clock_of(now: Micros) -> u16 {
    now.as_millis() as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Micros {
        Micros::from_millis(millis)
    }

    #[test]
    fn round_trip_excludes_hold_time() {
        let mut clock = EchoClock::new();
        clock.handle(ms(1_080), 5, clock_of(ms(1_000)), 30);
        assert_eq!(clock.rtt(), Some(ms(50)));
        assert_eq!(clock.echo(ms(1_090)), (5, 10));
        assert_eq!(clock.echo(ms(2_000)), (0, HOLD_NONE), "an echo held too long says nothing");
    }

    #[test]
    fn wire_clock_may_wrap() {
        let mut clock = EchoClock::new();
        clock.handle(ms(65_540), 0, clock_of(ms(65_530)), 0);
        assert_eq!(clock.rtt(), Some(ms(10)));
    }

    #[test]
    fn future_echoes_are_ignored() {
        let mut clock = EchoClock::new();
        clock.handle(ms(1_000), 0, clock_of(ms(1_001)), 0);
        assert_eq!(clock.rtt(), None);
        assert!(!clock.is_known());
    }

    #[test]
    fn estimate_rises_after_three_outliers_not_two() {
        let mut clock = EchoClock::new();
        let mut sample = |at: u64, rtt: u64| clock.handle(ms(at), 0, clock_of(ms(at - rtt)), 0);
        for at in 0..10 {
            sample(1_000 + at, 40);
        }
        sample(2_000, 300);
        sample(2_100, 300);
        assert_eq!(clock.rtt_high(), Some(ms(40)));
        clock.handle(ms(2_200), 0, clock_of(ms(1_900)), 0);
        assert_eq!(clock.rtt_high(), Some(ms(300)));
    }
}
