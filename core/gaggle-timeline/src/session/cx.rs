//! Context of a session: settings, time, randomness, and queues its caller drains.
//!
//! Every part gets it as an argument. Absent: peers, inputs, what any part decides.

use gaggle_kit::{Micros, PeerId, Prng};

use super::outbox::Outbox;
use crate::config::TimelineConfig;
use crate::event::Events;
use crate::roster::Incarnation;
use crate::stats::SessionStats;

/// Ticks without a packet after which a peer counts as silent when sending is decided.
const SILENT_TICKS: u64 = 5;

/// Data every part needs of its session.
#[derive(Debug)]
pub(crate) struct Cx {
    pub(crate) config: TimelineConfig,
    pub(crate) settings_fingerprint: u64,
    /// Fingerprint of the game's state encoding; 0 if it was not set.
    pub(crate) shape: u64,
    pub(crate) slot_count: usize,
    pub(crate) local_peer: PeerId,
    /// Whether this session has no players and follows the frames others confirm.
    pub(crate) spectates: bool,
    /// Duration of one frame.
    pub(crate) frame: Micros,
    /// Silence of a peer after which packets to it are sent every frame.
    pub(crate) silence_max: Micros,
    pub(crate) now: Micros,
    pub(crate) ticked_at: Micros,
    /// Time between the last two ticks.
    pub(crate) tick_span: Micros,
    /// Ticks since the session began, stalled ones included.
    pub(crate) ticks: u64,
    pub(crate) rng: Prng,
    pub(crate) events: Events,
    pub(crate) stats: SessionStats,
    pub(crate) outbox: Outbox,
}

impl Cx {
    pub(crate) fn new<I: gaggle_kit::Input>(
        config: TimelineConfig,
        local_peer: PeerId,
        slot_count: usize,
        incarnation: Incarnation,
    ) -> Self {
        let seed = local_peer.to_u128() as u64 ^ (local_peer.to_u128() >> 64) as u64;
        let frame = config.frame_duration();
        Cx {
            settings_fingerprint: config.settings_fingerprint::<I>(slot_count),
            shape: 0,
            slot_count,
            local_peer,
            spectates: false,
            frame,
            silence_max: Micros::new(SILENT_TICKS * frame.get()),
            now: Micros::ZERO,
            ticked_at: Micros::ZERO,
            tick_span: Micros::ZERO,
            ticks: 0,
            rng: Prng::stream(seed, incarnation.0.into()),
            events: Events::default(),
            stats: SessionStats::default(),
            outbox: Outbox::default(),
            config,
        }
    }

    /// Advances the time, which never goes back, whatever the caller passes.
    pub(crate) fn advance_to(&mut self, now: Micros) {
        self.now = self.now.max(now);
    }

    /// Advances by a tick. True if this peer was suspended so long that the silence of others says
    /// nothing.
    pub(crate) fn tick(&mut self, now: Micros) -> bool {
        self.tick_span = now.since(self.ticked_at);
        let slept = self.tick_span > self.config.interrupted_after;
        self.ticked_at = now;
        self.advance_to(now);
        self.ticks += 1;
        slept
    }

    /// Draws an incarnation for another stay of this peer.
    pub(crate) fn draw_incarnation(&mut self) -> Incarnation {
        Incarnation(self.rng.next_u32())
    }

    #[cfg(test)]
    pub(crate) fn for_test() -> Cx {
        Cx::new::<u8>(TimelineConfig::default(), PeerId::from_u128(1), 4, Incarnation(7))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_of_cx_never_goes_back() {
        let mut cx = Cx::for_test();
        cx.advance_to(Micros::from_millis(50));
        cx.advance_to(Micros::from_millis(40));
        assert_eq!(cx.now, Micros::from_millis(50));
    }

    #[test]
    fn tick_after_sleep_is_reported() {
        let mut cx = Cx::for_test();
        assert!(!cx.tick(Micros::from_millis(16)));
        let slept = Micros::from_millis(17) + cx.config.interrupted_after;
        assert!(cx.tick(slept));
        assert_eq!((cx.ticks, cx.ticked_at), (2, slept));
    }

    #[test]
    fn incarnations_of_same_stream_are_same_and_differ() {
        let (mut one, mut two) = (Cx::for_test(), Cx::for_test());
        let first = one.draw_incarnation();
        assert_eq!(first, two.draw_incarnation());
        assert_ne!(first, one.draw_incarnation());
    }
}
