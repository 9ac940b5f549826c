//! Pacing: spreads packets over time, so that a transfer fills no queue in bursts.
//!
//! Owned by `session.rs`. Absent: the rate (`congestion.rs`).

use gaggle_kit::Micros;

use crate::DATAGRAM_BYTES_MAX;

/// Credit saved while there is nothing to send: two packets.
const SAVED_BYTES_MAX: i64 = 2 * DATAGRAM_BYTES_MAX as i64;

/// Longest time that is credited at once while packets wait; below that, late polls cost nothing.
const ABSENCE_MAX: Micros = Micros::from_millis(25);

#[derive(Debug, Clone)]
pub(crate) struct Pacer {
    /// Bytes that may be sent now; negative after the last packet.
    credit: i64,
    paid_until: Micros,
    bytes_per_second: u64,
}

impl Pacer {
    pub(crate) fn new(now: Micros) -> Pacer {
        Pacer { credit: SAVED_BYTES_MAX, paid_until: now, bytes_per_second: 1 }
    }

    /// Credits the time since the last call. `waiting` if packets were left to be sent then.
    pub(crate) fn refill(&mut self, now: Micros, bytes_per_second: u64, waiting: bool) {
        self.bytes_per_second = bytes_per_second.max(1);
        let absence = now.since(self.paid_until).min(ABSENCE_MAX);
        let paid = u128::from(absence.get()) * u128::from(self.bytes_per_second) / 1_000_000;
        // A microsecond at a low rate adds nothing: count it with the next one.
        if paid > 0 {
            self.credit = self.credit.min(SAVED_BYTES_MAX) + i64::try_from(paid).unwrap_or(i64::MAX / 2);
            self.paid_until = now;
        }
        if !waiting {
            self.credit = self.credit.min(SAVED_BYTES_MAX);
        }
    }

    pub(crate) fn may_send(&self) -> bool {
        self.credit > 0
    }

    pub(crate) fn sent(&mut self, bytes: usize) {
        self.credit -= bytes as i64;
    }

    /// When the next packet may be sent.
    pub(crate) fn ready_at(&self) -> Micros {
        if self.credit > 0 {
            return self.paid_until;
        }
        let missing = u128::from(self.credit.unsigned_abs() + 1) * 1_000_000;
        let wait = missing.div_ceil(u128::from(self.bytes_per_second));
        self.paid_until.saturating_add(Micros::new(u64::try_from(wait).unwrap_or(u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends whenever permitted at polls every `interval`; returns packets in one second, and the
    /// largest burst.
    fn run(interval: Micros) -> (u32, u32) {
        let mut pacer = Pacer::new(Micros::ZERO);
        let (mut total, mut burst_max) = (0, 0);
        let mut now = Micros::ZERO;
        while now < Micros::from_secs(1) {
            let mut burst = 0;
            pacer.refill(now, 500_000, true);
            while pacer.may_send() {
                pacer.sent(1_000);
                burst += 1;
            }
            total += burst;
            burst_max = burst_max.max(burst);
            now += interval;
        }
        (total, burst_max)
    }

    #[test]
    fn pacing_rate_is_independent_of_polling() {
        for (interval, packets, at_once) in
            [(100, 500, 3), (1_000, 500, 3), (16_667, 500, 11), (100_000, 125, 15)]
        {
            let (total, burst_max) = run(Micros::new(interval));
            assert!(
                (packets - 10..=packets + 5).contains(&total),
                "{total} packets, polled every {interval} µs"
            );
            assert!(burst_max <= at_once, "{burst_max} at once, polled every {interval} µs");
        }
    }

    #[test]
    fn ready_at_is_when_next_packet_may_be_sent() {
        let mut pacer = Pacer::new(Micros::ZERO);
        pacer.refill(Micros::ZERO, 1_000_000, false);
        pacer.sent(2_700);
        assert!(!pacer.may_send());
        let at = pacer.ready_at();
        assert_eq!(at, Micros::new(501));
        pacer.refill(at.since(Micros::new(1)), 1_000_000, true);
        assert!(!pacer.may_send());
        pacer.refill(at, 1_000_000, true);
        assert!(pacer.may_send());
    }
}
