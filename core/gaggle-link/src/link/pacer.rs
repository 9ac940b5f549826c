//! Spreads packets over time, so that a transfer fills no queue in bursts.

use gaggle_kit::Micros;

use crate::DATAGRAM_BYTES_MAX;

/// Credit that may be saved up while there is nothing to send: two packets.
const SAVED_BYTES_MAX: i64 = 2 * DATAGRAM_BYTES_MAX as i64;

/// While something waits to be sent, time is paid in full, however late the caller polls; but no
/// more than this at once.
const ABSENCE_MAX: Micros = Micros::from_millis(25);

#[derive(Debug, Clone)]
pub(crate) struct Pacer {
    /// Bytes that may go now; below zero after the last packet overdrew it.
    credit: i64,
    paid_until: Micros,
    bytes_per_second: u64,
}

impl Pacer {
    pub(crate) fn new(now: Micros) -> Pacer {
        Pacer { credit: SAVED_BYTES_MAX, paid_until: now, bytes_per_second: 1 }
    }

    /// Pays for the time since the last call. `waiting` if something was left to be sent then.
    pub(crate) fn refill(&mut self, now: Micros, bytes_per_second: u64, waiting: bool) {
        self.bytes_per_second = bytes_per_second.max(1);
        let absence = now.since(self.paid_until).min(ABSENCE_MAX);
        let paid = u128::from(absence.get()) * u128::from(self.bytes_per_second) / 1_000_000;
        // A microsecond at a low rate pays nothing: leave it to be counted with the next one.
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

    /// When the next packet may go.
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

    /// Sends whenever it may at polls every `interval`, and says how many packets went in one
    /// second and at most at once.
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
    fn the_rate_is_kept_however_rarely_it_is_polled() {
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
    fn ready_is_when_the_next_packet_may_go() {
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
