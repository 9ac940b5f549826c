//! Time measurements between this peer and another: round trip, frame advantage, the other's frame.
//!
//! Packets update it. Absent: speed and delay, which are computed from all peers.

use gaggle_kit::{Frame, Micros};

use crate::clock::EchoClock;
use crate::packet::{AHEAD_NONE, TimeBlock};
use crate::time_sync::{Advantage, FRAME_Q16};

/// A link is too slow after this time; one late packet does not make it so.
const SLOW_GRACE: Micros = Micros::from_secs(2);

/// Measurements of one peer.
#[derive(Debug)]
pub(crate) struct PeerClock {
    clock: EchoClock,
    advantage: Advantage,
    /// Since when the link is too slow for the match, and whether that was reported, once per link.
    slow_since: Option<Micros>,
    is_slow_told: bool,
    /// Half a round trip, in hundredths of a frame; a large value until it is known.
    one_way_percent: u32,
    delay_frames: u32,
    /// The newest frame of its packets, and when it came.
    newest: Option<(Frame, Micros)>,
}

impl Default for PeerClock {
    fn default() -> PeerClock {
        PeerClock {
            clock: EchoClock::new(),
            advantage: Advantage::default(),
            slow_since: None,
            is_slow_told: false,
            one_way_percent: u32::MAX,
            delay_frames: 0,
            newest: None,
        }
    }
}

impl PeerClock {
    #[inline]
    pub(crate) fn clock(&self) -> &EchoClock {
        &self.clock
    }

    #[inline]
    pub(crate) fn advantage(&self) -> &Advantage {
        &self.advantage
    }

    pub(crate) fn advantage_mut(&mut self) -> &mut Advantage {
        &mut self.advantage
    }

    /// Half a round trip, in hundredths of a frame; a large value until it is known.
    #[inline]
    pub(crate) fn one_way_percent(&self) -> u32 {
        self.one_way_percent
    }

    /// Input delay of the peer.
    pub(crate) fn delay_frames(&self) -> u32 {
        self.delay_frames
    }

    #[cfg(test)]
    pub(crate) fn set_one_way_percent(&mut self, percent: u32) {
        self.one_way_percent = percent;
    }

    /// Another link was established.
    pub(crate) fn begin_link(&mut self) {
        (self.slow_since, self.is_slow_told) = (None, false);
    }

    /// Another stay begins, of either peer.
    pub(crate) fn begin_stay(&mut self) {
        self.advantage = Advantage::default();
        self.newest = None;
    }

    /// Takes the time block of a packet.
    pub(crate) fn handle(&mut self, now: Micros, time: &TimeBlock, frame: Micros) {
        self.delay_frames = time.delay_frames.into();
        self.clock.handle(now, time.clock_ms, time.echo_ms, time.hold_ms);
        let rtt_us = self.clock.rtt().map_or(0, |rtt| rtt.get() as i64);
        let one_way = rtt_us * FRAME_Q16 / (2 * frame.get() as i64);
        if time.ahead_quarters != AHEAD_NONE {
            self.advantage.handle_report(time.ahead_quarters, one_way);
        }
        if self.clock.is_known() {
            self.one_way_percent = (one_way * 100 / FRAME_Q16) as u32;
        }
    }

    /// Takes the newest entry of a packet, received while the simulation was at `current`. False if
    /// a newer one came before.
    #[must_use]
    pub(crate) fn handle_newest(&mut self, now: Micros, newest: Frame, current: Frame) -> bool {
        // Input delay does not count as being ahead, or every change of delay would look like
        // drift.
        let theirs = i64::from(newest.number()) - i64::from(self.delay_frames);
        self.advantage.handle_distance(i64::from(current.number()) - theirs);
        if self.newest.is_none_or(|(known, _)| newest > known) {
            self.newest = Some((newest, now));
        }
        self.newest.is_none_or(|(known, _)| newest >= known)
    }

    /// Frame the peer is simulating now, extrapolated from its packets.
    pub(crate) fn present(&self, now: Micros, frame: Micros) -> Option<i64> {
        let ((newest, at), rtt) = (self.newest?, self.clock.rtt()?);
        let under_way = rtt.get() as i64 / 2 + now.since(at).get() as i64;
        Some(i64::from(newest.number()) - i64::from(self.delay_frames) + under_way / frame.get() as i64)
    }

    /// Round trip of a link that has been slower than `max` for a while, once per link.
    #[must_use]
    pub(crate) fn take_slow(&mut self, now: Micros, max: Micros) -> Option<Micros> {
        let rtt = self.clock.rtt_high()?;
        if rtt <= max {
            self.slow_since = None;
            return None;
        }
        let since = *self.slow_since.get_or_insert(now);
        let is_news = now.since(since) >= SLOW_GRACE && !self.is_slow_told;
        self.is_slow_told |= is_news;
        is_news.then_some(rtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Micros = Micros::new(16_667);

    /// A clock that measured this round trip.
    fn measured(rtt_ms: u16) -> PeerClock {
        let mut clock = PeerClock::default();
        for nth in 0..20 {
            let now = Micros::from_millis(1_000 + 100 * nth);
            let echo_ms = crate::clock::clock_of(now).wrapping_sub(rtt_ms);
            let clock_ms = nth as u16;
            let time = TimeBlock { clock_ms, echo_ms, hold_ms: 0, ahead_quarters: 0, delay_frames: 2 };
            clock.handle(now, &time, FRAME);
        }
        clock
    }

    #[test]
    fn one_way_is_unknown_until_measured() {
        assert_eq!(PeerClock::default().one_way_percent, u32::MAX);
        let clock = measured(100);
        assert!((290..=310).contains(&clock.one_way_percent), "{}", clock.one_way_percent);
        assert_eq!(clock.delay_frames, 2);
    }

    #[test]
    fn slow_link_is_told_once_after_grace() {
        let (mut clock, max) = (measured(400), Micros::from_millis(200));
        assert_eq!(clock.take_slow(Micros::ZERO, max), None);
        assert!(clock.take_slow(SLOW_GRACE, max).is_some());
        assert_eq!(clock.take_slow(SLOW_GRACE + SLOW_GRACE, max), None);
        clock.begin_link();
        assert_eq!(clock.take_slow(SLOW_GRACE, max), None, "it is another link");
        assert_eq!(measured(100).take_slow(SLOW_GRACE, max), None);
    }

    #[test]
    fn present_frame_counts_delay_and_way() {
        let (mut clock, now) = (measured(100), Micros::from_secs(5));
        assert_eq!(clock.present(now, FRAME), None, "nothing was told");
        assert!(clock.handle_newest(now, Frame::new(60), Frame::new(58)));
        assert!(!clock.handle_newest(now, Frame::new(50), Frame::new(58)), "it was overtaken");
        let present = clock.present(now + FRAME, FRAME).expect("measured");
        assert!((61..=62).contains(&present), "{present}");
    }
}
