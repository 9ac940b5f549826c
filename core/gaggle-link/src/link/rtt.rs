//! Round trip time: smoothed value, deviation, and the two minima that congestion control needs.
//!
//! Owned by `session.rs`. Absent: how it is measured.

use gaggle_kit::Micros;

/// How long a minimum represents the path without queues.
const MIN_WINDOW: Micros = Micros::from_secs(10);

/// Assumed until the first measurement.
const INITIAL: Micros = Micros::from_millis(100);

#[derive(Debug, Clone, Default)]
pub(crate) struct Rtt {
    smoothed: Option<Micros>,
    deviation: Micros,
    latest: Micros,
    path: Minimum,
    standing: Minimum,
    /// Last few measurements: first sign of a queue.
    recent: [Micros; 4],
    samples: usize,
    /// How far measurements exceed the minimum while no own packets fill the path.
    noise: Micros,
}

impl Rtt {
    /// Adds a measurement, smoothed as in RFC 6298.
    pub(crate) fn sample(&mut self, now: Micros, rtt: Micros, idle: bool) {
        // Zero on a simulated network; divisions need at least one.
        let rtt = rtt.max(Micros::new(1));
        self.latest = rtt;
        match self.smoothed {
            None => {
                self.smoothed = Some(rtt);
                self.deviation = Micros::new(rtt.get() / 2);
            }
            Some(smoothed) => {
                let apart = smoothed.get().abs_diff(rtt.get());
                self.deviation = Micros::new((3 * self.deviation.get() + apart) / 4);
                self.smoothed = Some(Micros::new((7 * smoothed.get() + rtt.get()) / 8));
            }
        }
        self.path.sample(now, rtt, MIN_WINDOW);
        self.recent[self.samples % self.recent.len()] = rtt;
        self.samples += 1;
        if let (true, Some(path)) = (idle, self.path_min()) {
            self.noise = Micros::new((3 * self.noise.get() + rtt.since(path).get()) / 4);
        }
        // Half a round trip: recent enough to see a queue, long enough to filter jitter.
        self.standing.sample(now, rtt, Micros::new(self.smoothed().get() / 2));
    }

    pub(crate) fn measured(&self) -> Option<Micros> {
        self.smoothed
    }

    pub(crate) fn smoothed(&self) -> Micros {
        self.smoothed.unwrap_or(INITIAL)
    }

    pub(crate) fn deviation(&self) -> Micros {
        self.deviation
    }

    pub(crate) fn latest(&self) -> Micros {
        self.latest
    }

    /// Round trip without queues.
    pub(crate) fn path_min(&self) -> Option<Micros> {
        self.path.value()
    }

    /// Round trip with the current queue, without jitter.
    pub(crate) fn standing(&self) -> Micros {
        self.standing.value().unwrap_or(INITIAL)
    }

    /// Queueing delay of a packet.
    pub(crate) fn queueing(&self) -> Micros {
        // The standing minimum contains the smaller half of the noise.
        self.path_min()
            .map_or(Micros::ZERO, |min| self.standing().since(min).since(Micros::new(self.noise.get() / 2)))
    }

    /// Queueing delay from the latest measurements: earlier and less certain.
    pub(crate) fn queueing_soon(&self) -> Micros {
        let Some(path) = self.path_min().filter(|_| self.samples >= self.recent.len()) else {
            return Micros::ZERO;
        };
        self.recent.into_iter().fold(Micros::MAX, Micros::min).since(path).since(self.noise)
    }

    /// Silence after which a packet counts as lost.
    pub(crate) fn probe_timeout(&self) -> Micros {
        // 10 ms: what the other side may wait before it acknowledges, plus polling.
        let deviation = self.deviation.max(Micros::new(250));
        self.smoothed() + Micros::new(4 * deviation.get()) + Micros::from_millis(10)
    }
}

/// Minimum of a time window, accurate to half of the window.
#[derive(Debug, Clone, Default)]
struct Minimum {
    /// Of the previous half window, and of the current one.
    halves: [Option<Micros>; 2],
    half_until: Micros,
}

impl Minimum {
    fn sample(&mut self, now: Micros, value: Micros, window: Micros) {
        if now >= self.half_until {
            let half = Micros::new(window.get() / 2);
            // After a pause longer than a half, the previous one is outdated, too.
            let previous = self.halves[1].filter(|_| now.since(self.half_until) < half);
            self.halves = [previous, None];
            self.half_until = now.saturating_add(half);
        }
        let lowest = self.halves[1].map_or(value, |lowest| lowest.min(value));
        self.halves[1] = Some(lowest);
    }

    fn value(&self) -> Option<Micros> {
        self.halves.into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steady_path_and_new_queue_show_within_one_round_trip() {
        let mut rtt = Rtt::default();
        assert_eq!((rtt.measured(), rtt.smoothed()), (None, INITIAL));
        let ms = Micros::from_millis;
        (0..20).for_each(|n| rtt.sample(ms(n * 10), ms(50), false));
        assert_eq!((rtt.smoothed(), rtt.queueing()), (ms(50), Micros::ZERO));
        assert!(rtt.deviation() < ms(1));
        (20..26).for_each(|n| rtt.sample(ms(n * 10), ms(58), false));
        assert_eq!((rtt.path_min(), rtt.queueing()), (Some(ms(50)), ms(8)));
    }

    #[test]
    fn jitter_is_not_counted_as_queue() {
        let mut rtt = Rtt::default();
        let ms = Micros::from_millis;
        (0..200).for_each(|n| rtt.sample(ms(n), ms(50 + n * 7 % 20), false));
        assert!(rtt.queueing() <= ms(1), "{}", rtt.queueing());
        assert!((4..=8).contains(&rtt.deviation().as_millis()), "{}", rtt.deviation());
    }

    #[test]
    fn longer_path_is_accepted_eventually() {
        let mut rtt = Rtt::default();
        let ms = Micros::from_millis;
        (0..20).for_each(|n| rtt.sample(ms(n * 10), ms(20), false));
        (20..1_300).for_each(|n| rtt.sample(ms(n * 10), ms(80), false));
        assert_eq!(rtt.path_min(), Some(ms(80)));
    }
}
