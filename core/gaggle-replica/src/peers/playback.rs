//! Timing of one peer: its clock, estimated from its packets, and the time of it that is displayed.
//! Smoothing reads it. Absent: objects, motion.

use gaggle_kit::Micros;

use crate::playout::{Depth, Playhead, SenderClock};

/// Timing of one peer.
#[derive(Debug)]
pub(crate) struct Playback {
    rtt: Option<Micros>,
    clock: SenderClock,
    playhead: Playhead,
    /// Time jitter was last measured, and its value.
    lateness: (Micros, Micros),
}

impl Playback {
    pub(crate) fn new(interval: Micros) -> Playback {
        Playback {
            rtt: None,
            clock: SenderClock::new(interval),
            playhead: Playhead::default(),
            lateness: (Micros::ZERO, Micros::ZERO),
        }
    }

    /// Advances the displayed time, given the newest tick received.
    pub(crate) fn advance(&mut self, now: Micros, their_tick: u32, depth: Depth) {
        let newest = self.clock.time_of(their_tick);
        let lateness = self.lateness(now);
        self.playhead.advance(now, newest, lateness, depth);
    }

    /// Jitter of packets, measured once a second.
    fn lateness(&mut self, now: Micros) -> Micros {
        let (at, lateness) = self.lateness;
        if now.since(at) >= Micros::from_secs(1) {
            self.lateness = (now, self.clock.lateness());
        }
        lateness
    }

    /// Time of its clock at which a packet of this tick was made.
    pub(crate) fn time_of(&self, tick: u32) -> i64 {
        self.clock.time_of(tick)
    }

    /// Time of its clock now, half a round trip late; `None` before its first packet.
    pub(crate) fn their_now(&self, now: Micros) -> Option<i64> {
        self.clock.now(now)
    }

    /// Time of its clock that is displayed.
    pub(crate) fn displayed_at(&self) -> f64 {
        self.playhead.at()
    }

    /// A packet arrived that was made in this tick, at this 256th of it.
    pub(crate) fn note_packet(&mut self, now: Micros, tick: u32, phase: u8) {
        self.clock.note(now, tick, phase);
    }

    /// Smoothed round trip, without the time acknowledgements were held.
    pub(crate) fn rtt(&self) -> Option<Micros> {
        self.rtt
    }

    /// Half a round trip in µs, 0 before one was measured.
    pub(crate) fn one_way(&self) -> i64 {
        self.rtt.map_or(0, |rtt| rtt.get() / 2) as i64
    }

    /// Adds a measured round trip to the smoothed one.
    pub(crate) fn note_rtt(&mut self, sample: Micros) {
        self.rtt = Some(match self.rtt {
            None => sample,
            Some(rtt) => Micros::new((rtt.get() * 7 + sample.get()) / 8),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn playback() -> Playback {
        Playback::new(Micros::from_millis(50))
    }

    #[test]
    fn round_trip_time_weighs_first_sample_whole_later_eighth() {
        let mut playback = playback();
        assert_eq!(playback.one_way(), 0);
        playback.note_rtt(Micros::from_millis(80));
        assert_eq!(playback.one_way(), 40_000);
        playback.note_rtt(Micros::from_millis(160));
        assert_eq!(playback.rtt, Some(Micros::from_millis(90)));
    }

    #[test]
    fn lateness_is_zero_before_first_packet() {
        let mut playback = playback();
        assert_eq!(playback.lateness(Micros::from_secs(5)), Micros::ZERO);
        assert_eq!(playback.lateness(Micros::from_secs(7)), Micros::ZERO);
    }

    #[test]
    fn lateness_changes_once_per_second() {
        let mut playback = playback();
        for (tick, ms) in [(1, 1_050), (2, 1_180), (3, 1_150), (4, 1_290)] {
            playback.note_packet(Micros::from_millis(ms), tick, 0);
        }
        let first = playback.lateness(Micros::from_secs(2));
        assert_eq!(
            playback.lateness(Micros::from_millis(2_500)),
            playback.lateness(Micros::from_millis(2_600))
        );
        assert_eq!(first, Micros::ZERO, "a sample counts from the next call on");
    }
}
