//! Growing totals converted to rates of the last second. `Arcade` samples them. Absent: what is
//! counted.

use gaggle::Micros;

/// Amounts in the last second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PerSecond {
    pub(super) bytes_in: u32,
    pub(super) bytes_out: u32,
    pub(super) packets: u32,
}

/// Totals of a second ago.
#[derive(Debug, Default)]
pub(super) struct Rates {
    since: Micros,
    totals: [u64; 3],
    now: PerSecond,
    rollbacks: u64,
    /// Start of the current second, and pictures drawn in it and in the one before.
    drawn: (Micros, u32),
    pictures: u32,
}

impl Rates {
    /// Rates of the last whole second.
    pub(super) fn sample(&mut self, now: Micros, bytes_in: u64, bytes_out: u64, packets: u64) -> PerSecond {
        let passed_ms = now.since(self.since).as_millis();
        if passed_ms >= 1_000 {
            let totals = [bytes_in, bytes_out, packets];
            // The totals drop when a link ends.
            let rate = |nth: usize| (totals[nth].saturating_sub(self.totals[nth]) * 1_000 / passed_ms) as u32;
            self.now = PerSecond { bytes_in: rate(0), bytes_out: rate(1), packets: rate(2) };
            (self.since, self.totals) = (now, totals);
        }
        self.now
    }

    /// Counts a drawn picture.
    pub(super) fn note_drawn(&mut self, now: Micros) {
        let (since, drawn) = self.drawn;
        let passed_ms = now.since(since).as_millis();
        self.drawn.1 += 1;
        if passed_ms >= 1_000 {
            // After a pause of the page, the next whole second gives the rate.
            self.pictures =
                if passed_ms < 3_000 { (u64::from(drawn + 1) * 1_000 / passed_ms) as u32 } else { 0 };
            self.drawn = (now, 0);
        }
    }

    /// Pictures drawn in the last whole second.
    pub(super) fn pictures(&self) -> u32 {
        self.pictures
    }

    /// Depth of the rollback since the last call; 0 if there was none.
    pub(super) fn rollback_depth(&mut self, rollbacks: u64, last_frames: u32) -> u32 {
        let is_new = rollbacks > self.rollbacks;
        self.rollbacks = rollbacks;
        if is_new { last_frames } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_pictures_are_counted_per_second() {
        let mut rates = Rates::default();
        for nth in 0..=150 {
            rates.note_drawn(Micros::from_millis(nth * 20));
        }
        assert_eq!(rates.pictures(), 50);
        rates.note_drawn(Micros::from_secs(60));
        assert_eq!(rates.pictures(), 0, "a minute unseen is no rate");
    }

    #[test]
    fn rates_are_per_second_and_survive_links_that_end() {
        let mut rates = Rates::default();
        for tenth in 0..=10 {
            rates.sample(Micros::from_millis(tenth * 100), tenth * 200, tenth * 100, tenth * 6);
        }
        assert_eq!(rates.now, PerSecond { bytes_in: 2_000, bytes_out: 1_000, packets: 60 });
        let after = rates.sample(Micros::from_millis(2_000), 5, 5, 5);
        assert_eq!(after, PerSecond::default());
    }
}
