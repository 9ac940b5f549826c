//! Slow peers: how long the match has waited for each, and what its policy does about it.
//!
//! `Session` counts with it in ticks without a new frame. Absent: the roster, how peers agree on an
//! eviction.

use gaggle_kit::{Micros, PeerId};

use super::{HoldMeter, SLOW_SPAN, TimeSync};
use crate::config::SlowPolicy;
use crate::event::{Events, SessionEvent};
use crate::session::Cx;

/// Longest time between two ticks that counts as waiting: a peer that slept has not waited.
const WAIT_SPAN_MAX: Micros = Micros::from_millis(100);

/// One tick without a new frame, counted against the peers whose input is missing.
#[derive(Debug)]
pub(crate) struct StalledTick {
    now: Micros,
    span: Micros,
    policy: SlowPolicy,
    /// The match is waited for so long before it does without a peer; none if it never does.
    take_off_after: Option<Micros>,
    /// Whether one of the peers is slow.
    is_slow: bool,
}

impl StalledTick {
    pub(crate) fn new(cx: &Cx, time: &TimeSync) -> StalledTick {
        let policy = cx.config.slow_policy;
        let may_take_off = match policy {
            SlowPolicy::Wait => false,
            SlowPolicy::TakeOff => true,
            SlowPolicy::Loosen { .. } => time.is_loosened_long(cx.now),
        };
        StalledTick {
            now: cx.now,
            // Several ticks at once make up for a pause of this peer, in which it did not wait.
            span: cx.tick_span.min(WAIT_SPAN_MAX),
            policy,
            take_off_after: may_take_off.then_some(cx.config.take_off_after),
            is_slow: false,
        }
    }

    /// Counts the tick against a peer. Returns how long the match has waited for it, if it should
    /// do without. A peer that is not `is_near` is told of as interrupted instead of slow.
    #[must_use]
    pub(crate) fn count(
        &mut self,
        events: &mut Events,
        peer: PeerId,
        is_near: bool,
        meter: &mut HoldMeter,
    ) -> Option<Micros> {
        meter.note(self.now, self.span);
        if is_near && let Some(share_permille) = meter.take_slow(self.now) {
            events.push(SessionEvent::SlowPeer { peer, share_permille });
        }
        self.is_slow |= meter.is_slow(self.now);
        let waited = meter.waited(self.now);
        self.take_off_after.filter(|after| waited >= *after).map(|_| waited)
    }

    /// All were counted: the window is loosened for a slow one, if the policy says so.
    pub(crate) fn end(self, time: &mut TimeSync) {
        if let SlowPolicy::Loosen { frames } = self.policy
            && self.is_slow
            && time.loosened.is_none()
        {
            time.loosened = Some((frames, self.now));
        }
    }
}

impl TimeSync {
    /// Whether the window has been larger for a slow peer for long.
    fn is_loosened_long(&self, now: Micros) -> bool {
        self.loosened.is_some_and(|(_, since)| now.since(since) >= SLOW_SPAN)
    }

    /// Tells a slow local peer that it is, and closes a loosened window once the others are fast.
    /// For a peer without others, or not in the match, nothing counts.
    pub(crate) fn watch_pace(&mut self, cx: &mut Cx, counts: bool, are_others_fast: impl FnOnce() -> bool) {
        if !counts {
            self.own_pace.reset();
            self.tighten();
            return;
        }
        if let Some(share_permille) = self.own_pace.tick(cx.now, cx.ticks, cx.frame) {
            cx.events.push(SessionEvent::SlowPeer { peer: cx.local_peer, share_permille });
        }
        if self.is_loosened_long(cx.now) && are_others_fast() {
            self.tighten();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stalled(cx: &Cx, time: &mut TimeSync, meter: &mut HoldMeter) -> (Option<Micros>, Events) {
        let (mut tick, mut events) = (StalledTick::new(cx, time), Events::default());
        let waited = tick.count(&mut events, PeerId::from_u128(2), true, meter);
        tick.end(time);
        (waited, events)
    }

    /// Ticks without a frame, ten a second.
    fn stall(cx: &mut Cx, time: &mut TimeSync, meter: &mut HoldMeter, ticks: u64) -> Vec<SessionEvent> {
        let mut told = Vec::new();
        for _ in 0..ticks {
            cx.tick(cx.now + Micros::from_millis(100));
            let (_, mut events) = stalled(cx, time, meter);
            told.extend(std::iter::from_fn(|| events.pop()));
        }
        told
    }

    #[test]
    fn awaited_peer_is_told_once_and_taken_off_by_policy() {
        let (mut cx, mut meter) = (Cx::for_test(), HoldMeter::default());
        let mut time = TimeSync::new(&cx.config);
        cx.config.slow_policy = SlowPolicy::Wait;
        let told = stall(&mut cx, &mut time, &mut meter, 80);
        assert!(matches!(told[..], [SessionEvent::SlowPeer { .. }]), "{told:?}");
        assert_eq!(stalled(&cx, &mut time, &mut meter).0, None);
        cx.config.slow_policy = SlowPolicy::TakeOff;
        cx.config.take_off_after = Micros::from_secs(2);
        assert!(stalled(&cx, &mut time, &mut meter).0.is_some_and(|waited| waited >= Micros::from_secs(2)));
    }

    #[test]
    fn window_is_loosened_for_slow_peer_and_closed_when_it_is_fast() {
        let (mut cx, mut meter) = (Cx::for_test(), HoldMeter::default());
        let mut time = TimeSync::new(&cx.config);
        let usual = time.prediction_frames();
        cx.config.slow_policy = SlowPolicy::Loosen { frames: 2 };
        assert_eq!(stall(&mut cx, &mut time, &mut meter, 20).len(), 1);
        assert!(time.loosened.is_some());
        time.watch_pace(&mut cx, true, || true);
        assert!(time.loosened.is_some(), "not yet");
        cx.tick(cx.now + SLOW_SPAN);
        time.watch_pace(&mut cx, true, || false);
        assert!(time.loosened.is_some(), "another one is slow");
        time.watch_pace(&mut cx, true, || true);
        assert_eq!((time.loosened, time.prediction_frames()), (None, usual));
    }

    #[test]
    fn pace_of_lone_peer_is_forgotten() {
        let mut cx = Cx::for_test();
        let mut time = TimeSync::new(&cx.config);
        time.loosened = Some((2, Micros::ZERO));
        time.watch_pace(&mut cx, false, || false);
        assert_eq!(time.loosened, None);
    }
}
