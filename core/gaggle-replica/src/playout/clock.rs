//! Clock of the sender, estimated from the arrival of its ticks: the fastest packets of the last
//! seconds count as undelayed. Playback reads it. Absent: objects, the displayed time.

use gaggle_kit::Micros;

/// Half of the time for which the fastest packet counts.
const HALF_WINDOW: Micros = Micros::from_secs(5);
/// Samples of lateness kept: a few seconds of packets.
const SAMPLES: usize = 128;

/// Estimated clock of one sender.
#[derive(Debug, Clone)]
pub(crate) struct SenderClock {
    interval: u64,
    /// Least difference of the local clock and the sender's in this and the last half of the
    /// window, in µs.
    least: [Option<i64>; 2],
    half_began: Micros,
    /// Lateness of packets beyond that least difference, in µs.
    lateness: [u32; SAMPLES],
    taken: usize,
    /// Phase of the sender within its tick, by tick.
    phases: [u8; 64],
}

impl SenderClock {
    pub(crate) fn new(interval: Micros) -> SenderClock {
        SenderClock {
            interval: interval.get().max(1),
            least: [None; 2],
            half_began: Micros::ZERO,
            lateness: [0; SAMPLES],
            taken: 0,
            phases: [0; 64],
        }
    }

    /// Notes the arrival of a packet of this tick.
    pub(crate) fn note(&mut self, now: Micros, tick: u32, phase: u8) {
        self.phases[tick as usize % self.phases.len()] = phase;
        let difference = now.get() as i64 - self.time_of(tick);
        if now.since(self.half_began) >= HALF_WINDOW {
            self.least = [None, self.least[0]];
            self.half_began = now;
        }
        self.least[0] = Some(self.least[0].map_or(difference, |least| least.min(difference)));
        let late = difference - self.offset().unwrap_or(difference);
        self.lateness[self.taken % SAMPLES] = u32::try_from(late).unwrap_or(0);
        self.taken += 1;
    }

    fn offset(&self) -> Option<i64> {
        self.least.iter().flatten().copied().min()
    }

    /// Time the values of a tick were taken, on the sender's clock in µs.
    pub(crate) fn time_of(&self, tick: u32) -> i64 {
        let phase = u64::from(self.phases[tick as usize % self.phases.len()]);
        (u64::from(tick) * self.interval + phase * self.interval / 256) as i64
    }

    /// The sender's clock as a packet without delay would report it now, in µs.
    pub(crate) fn now(&self, now: Micros) -> Option<i64> {
        Some(now.get() as i64 - self.offset()?)
    }

    /// Lateness that nearly all packets stay below, against the fastest.
    pub(crate) fn lateness(&self) -> Micros {
        let count = self.taken.min(SAMPLES);
        let mut sorted = self.lateness;
        sorted[..count].sort_unstable();
        Micros::new(sorted[..count].get(count * 99 / 100).copied().unwrap_or(0).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_follows_fastest_packet_and_measures_lateness() {
        let mut clock = SenderClock::new(Micros::from_millis(50));
        for tick in 0..100u32 {
            let late = if tick % 10 == 3 { 30 } else { u64::from(tick % 4) };
            clock.note(Micros::from_millis(1_000 + u64::from(tick) * 50 + 40 + late), tick, 0);
        }
        let now = Micros::from_millis(1_000 + 99 * 50 + 40);
        assert_eq!(clock.now(now), Some(99 * 50_000));
        assert_eq!(clock.lateness(), Micros::from_millis(30));
    }

    #[test]
    fn slower_path_is_noticed_after_delay() {
        let mut clock = SenderClock::new(Micros::from_millis(50));
        for tick in 0..400u32 {
            let latency = if tick < 100 { 20 } else { 90 };
            clock.note(Micros::from_millis(u64::from(tick) * 50 + latency), tick, 0);
        }
        assert_eq!(clock.now(Micros::from_millis(399 * 50 + 90)), Some(399 * 50_000));
    }

    #[test]
    fn tick_phase_is_counted() {
        let mut clock = SenderClock::new(Micros::from_millis(50));
        clock.note(Micros::from_millis(100), 1, 128);
        assert_eq!(clock.time_of(1), 75_000);
        assert_eq!(clock.now(Micros::from_millis(110)), Some(85_000));
    }
}
