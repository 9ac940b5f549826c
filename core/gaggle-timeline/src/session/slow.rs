//! Slow peers: who keeps the others waiting, and what the match does about it.
//!
//! `Session` calls it in ticks without a new frame, and now and then. Absent: how waiting is
//! counted, how peers agree on an eviction.

use gaggle_kit::{Input, Micros, OutOfRange};

use super::Session;
use crate::config::{SessionError, SlowPolicy};
use crate::event::SessionEvent;
use crate::gossip::SILENCE;
use crate::membership::Mode;
use crate::roster::StreamId;
use crate::time_sync::SLOW_SPAN;

/// Longest time between two ticks that counts as waiting: a peer that slept has not waited.
const WAIT_SPAN_MAX: Micros = Micros::from_millis(100);

impl<I: Input> Session<I> {
    /// Sets what the match does about slow peers: the room's host decides, and all peers should be
    /// told the same. A loosened window closes again.
    ///
    /// # Errors
    /// If it loosens by more than
    /// [`TimelineConfig::loosen_frames_max`](crate::TimelineConfig::loosen_frames_max).
    pub fn set_slow_policy(&mut self, policy: SlowPolicy) -> Result<(), SessionError> {
        self.cx.config.validate_slow_policy(policy)?;
        if self.cx.config.slow_policy != policy {
            self.cx.config.slow_policy = policy;
            self.time.tighten();
        }
        Ok(())
    }

    /// Sets how many frames may be simulated on predicted input from now on; 0 is lockstep. Each
    /// peer may choose for itself.
    ///
    /// # Errors
    /// If it is more than
    /// [`TimelineConfig::prediction_frames_max`](crate::TimelineConfig::prediction_frames_max).
    pub fn set_prediction_frames(&mut self, frames: u32) -> Result<(), SessionError> {
        let max = self.cx.config.prediction_frames_max();
        if frames > max {
            let (value, max) = (frames.into(), max.into());
            return Err(OutOfRange { setting: "prediction_frames", value, min: 0, max }.into());
        }
        self.time.set_prediction_frames(frames);
        Ok(())
    }

    /// Frames that may be simulated on predicted input at the moment.
    pub fn prediction_frames(&self) -> u32 {
        self.time.prediction_frames()
    }

    /// A tick passed without a new frame: counts it against the peers whose input is missing.
    pub(super) fn note_stalled_tick(&mut self) {
        self.cx.stats.stalled_ticks += 1;
        if self.membership.mode() != Mode::Member || self.time.is_catching_up() {
            return;
        }
        let Session { cx, log, peers, time, .. } = self;
        // Several ticks at once make up for a pause of this peer, in which it did not wait.
        let span = cx.tick_span.min(WAIT_SPAN_MAX);
        let loosened_long = |since: Micros| cx.now.since(since) >= SLOW_SPAN;
        let may_take_off = match cx.config.slow_policy {
            SlowPolicy::Wait => false,
            SlowPolicy::TakeOff => true,
            SlowPolicy::Loosen { .. } => time.loosened_since().is_some_and(loosened_long),
        };
        let (mut slow, mut overdue) = (false, Vec::new());
        let missing = |have| have <= log.received();
        for track in log.tracks().iter().filter(|track| track.row.is_active() && missing(track.have)) {
            let stream = track.row.stream;
            let Some(owner) = peers.get_mut(stream.peer) else { continue };
            let meter = &mut owner.presence.hold_meter;
            meter.note(cx.now, span);
            // A silent peer is told of as interrupted.
            if cx.now.since(owner.presence.heard_at) < SILENCE
                && let Some(share_permille) = meter.take_slow(cx.now)
            {
                cx.events.push(SessionEvent::SlowPeer { peer: stream.peer, share_permille });
            }
            slow |= meter.is_slow(cx.now);
            let waited = meter.waited(cx.now);
            if may_take_off && waited >= cx.config.take_off_after {
                overdue.push((stream, waited));
            }
        }
        if let SlowPolicy::Loosen { frames } = cx.config.slow_policy
            && slow
            && time.loosened_since().is_none()
        {
            time.loosen(cx.now, frames);
        }
        for (stream, waited) in overdue {
            self.take_off(stream, waited);
        }
    }

    /// Evicts a peer that was waited for too long. The first of the others in join order decides:
    /// it also refuses to admit that peer again too soon. Another one does after twice the time.
    fn take_off(&mut self, stream: StreamId, waited: Micros) {
        let others = self.membership.known().iter().filter(|row| row.is_active() && row.stream != stream);
        let first = others.min_by_key(|row| row.rank()).map(|row| row.stream.peer);
        let after = self.cx.config.take_off_after;
        let limit = if first == Some(self.cx.local_peer) { after } else { after + after };
        if waited >= limit {
            self.membership.evict_idle(self.cx.now, stream);
        }
    }

    /// Tells a slow local peer that it is, and closes a loosened window once no peer is slow.
    pub(super) fn watch_pace(&mut self, is_alone: bool) {
        if is_alone || self.membership.mode() != Mode::Member {
            self.time.own_pace.reset();
            self.time.tighten();
            return;
        }
        let (now, ticks, frame) = (self.cx.now, self.cx.ticks, self.cx.frame);
        if let Some(share_permille) = self.time.own_pace.tick(now, ticks, frame) {
            let peer = self.cx.local_peer;
            self.cx.events.push(SessionEvent::SlowPeer { peer, share_permille });
        }
        if self.time.loosened_since().is_some_and(|since| now.since(since) >= SLOW_SPAN)
            && self.peers.iter_mut().all(|remote| !remote.is_open || remote.presence.hold_meter.is_fast(now))
        {
            self.time.tighten();
        }
    }
}
