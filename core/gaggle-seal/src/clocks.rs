//! Clocks of a link: when to send the local one, what to echo, and the measured round trip.
//!
//! Client and referee keep one per link. Absent: frames, the speed of any clock.

use gaggle_kit::Micros;

use crate::packet::{NONE, TimeBlock};

/// Time between two time blocks.
const INTERVAL: Micros = Micros::from_millis(100);

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Clocks {
    heard: Option<(u16, Micros)>,
    told_at: Option<Micros>,
    rtt_ms: Option<u16>,
}

impl Clocks {
    /// The block to send with this packet, if one is due.
    pub(crate) fn due(&mut self, now: Micros) -> Option<TimeBlock> {
        if self.told_at.is_some_and(|told| now.since(told) < INTERVAL) {
            return None;
        }
        self.told_at = Some(now);
        let (echo_ms, hold_ms) = match self.heard {
            Some((clock, at)) => (clock, now.since(at).as_millis().min(u64::from(NONE) - 1) as u8),
            None => (0, NONE),
        };
        Some(TimeBlock { clock_ms: clock_ms(now), echo_ms, hold_ms })
    }

    pub(crate) fn heard(&mut self, now: Micros, block: TimeBlock) {
        self.heard = Some((block.clock_ms, now));
        let Some(rtt) = block.rtt_ms(clock_ms(now)) else { return };
        // An echo from the future, or of a very old clock, is not used.
        if rtt < 10_000 {
            self.rtt_ms = Some(rtt);
        }
    }

    /// Last round trip that was measured.
    pub(crate) fn rtt(&self) -> Option<Micros> {
        self.rtt_ms.map(|ms| Micros::from_millis(ms.into()))
    }
}

fn clock_ms(now: Micros) -> u16 {
    now.as_millis() as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn echoed_clocks_measure_round_trip_without_hold() {
        let (mut a, mut b) = (Clocks::default(), Clocks::default());
        let ms = Micros::from_millis;
        let block = a.due(ms(65_500)).unwrap();
        assert_eq!(a.due(ms(65_599)), None);
        b.heard(ms(10_030), block);
        let answer = b.due(ms(10_050)).unwrap();
        a.heard(ms(65_590), answer);
        assert_eq!(a.rtt(), Some(ms(70)));
        assert_eq!(b.rtt(), None);
    }
}
