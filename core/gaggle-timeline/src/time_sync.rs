//! Pace of this peer: speed, input delay, the frame to reach in a tick, and stalls.
//!
//! `Session` passes measurements and asks once per tick. Absent: which peers are in the roster and
//! why, packets, inputs.

mod delay;
mod hold_meter;
mod slow;
mod speed;
mod stall_timer;

use gaggle_kit::{Frame, Micros, SlotSet};

use crate::config::TimelineConfig;
use crate::event::{Events, SessionEvent};
use crate::roster::StreamId;

use delay::DelayControl;
#[cfg(not(feature = "seal"))]
use speed::Speed;
use speed::{FramesQ16, frames_to_make_up};

use hold_meter::OwnPace;

pub(crate) use hold_meter::{HoldMeter, SLOW_SPAN};
pub(crate) use slow::StalledTick;
#[cfg(feature = "seal")]
pub(crate) use speed::Speed;
pub(crate) use speed::{Advantage, FRAME_Q16};
pub(crate) use stall_timer::StallTimer;

/// Frames that may be simulated in one tick to catch up.
pub(crate) const CATCH_UP_FRAMES: u32 = 12;
/// Ticks between two adjustments of speed and input delay: measurements are averages over many
/// packets, so more frequent ones would change nothing.
const ADJUST_TICKS: u64 = 3;
/// Time for which reports measured before catching up may still arrive.
const REPORTS_TIMEOUT: Micros = Micros::from_millis(500);
/// Longest time counted between two checks of a stall: a suspended peer has not waited.
const STALL_LOOK_MAX: Micros = Micros::from_secs(1);
/// A peer that sends one entry where this many are due is slow; with fewer no game can be played.
const SLOWEST: u64 = 8;

/// Speed, input delay and stalls of one session.
#[derive(Debug)]
pub(crate) struct TimeSync {
    speed: Speed,
    delay: DelayControl,
    /// Frame to reach, in step with the others, while this peer joins.
    pace_frame: Frame,
    /// Whether the simulation is behind the local entries, after joining.
    is_catching_up: bool,
    /// Ticks to run in addition to the regular ones.
    ticks_owed: u32,
    /// Reports of others are ignored before this time: they were measured before catching up.
    measure_from: Micros,
    /// Stalled ticks in a row.
    stalled_ticks: u32,
    stall_looked_at: Micros,
    /// Entries a peer must send within the time after which it would be evicted.
    enough_frames: u32,
    /// Frames that may be simulated on predicted input, and the most that ever may.
    window_frames: u32,
    window_frames_max: u32,
    /// Frames that the window is larger by while a peer is slow, and since when.
    loosened: Option<(u32, Micros)>,
    /// Ticks of this peer beside those that are due.
    own_pace: OwnPace,
}

/// Frame to simulate up to in a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum TickPlan {
    /// Simulate up to this frame.
    Advance(Frame),
    /// Stall, because the window is used up.
    Stall,
}

impl TimeSync {
    pub(crate) fn new(config: &TimelineConfig) -> Self {
        let due = u64::from(config.tick_rate) * config.evict_stalled_after.get() / 1_000_000;
        TimeSync {
            speed: Speed::new(config.tick_rate, ADJUST_TICKS as u32),
            delay: DelayControl::new(
                config.input_delay_frames,
                config.input_delay_range,
                config.frame_duration(),
                config.guessing_quarters(),
            ),
            pace_frame: Frame::START,
            is_catching_up: false,
            ticks_owed: 0,
            measure_from: Micros::ZERO,
            stalled_ticks: 0,
            stall_looked_at: Micros::ZERO,
            enough_frames: (due / SLOWEST).max(1) as u32,
            window_frames: config.prediction_frames(),
            window_frames_max: config.prediction_frames_max(),
            loosened: None,
            own_pace: OwnPace::default(),
        }
    }

    /// Frames that may be simulated on predicted input now.
    #[inline]
    pub(crate) fn prediction_frames(&self) -> u32 {
        let loosened = self.loosened.map_or(0, |(frames, _)| frames);
        (self.window_frames + loosened).min(self.window_frames_max)
    }

    pub(crate) fn set_prediction_frames(&mut self, frames: u32) {
        self.window_frames = frames;
    }

    /// The window is as large as usual again.
    pub(crate) fn tighten(&mut self) {
        self.loosened = None;
    }

    /// Another stay begins with the state of `frame`.
    pub(crate) fn begin_stay(&mut self, frame: Frame) {
        self.pace_frame = frame;
        self.is_catching_up = false;
    }

    /// Input delay to use, in frames.
    #[inline]
    pub(crate) fn delay(&self) -> u32 {
        self.delay.target()
    }

    /// Fixes the delay; `None` adapts again.
    pub(crate) fn fix_delay(&mut self, frames: Option<u32>) {
        self.delay.fix(frames);
    }

    /// The first measurement of a stay: the worst round trip, if any is known.
    pub(crate) fn start_delay(&mut self, rtt: Option<Micros>, is_alone: bool) {
        self.delay.start(rtt);
        if is_alone {
            self.delay.be_alone();
        }
    }

    /// Speed in millionths of the game's own.
    pub(crate) fn speed_ppm(&self) -> u32 {
        self.speed.ppm()
    }

    /// Thousandths of a frame this peer is ahead of the others.
    pub(crate) fn advantage_permille(&self) -> i32 {
        (self.speed.apart() * 1_000 / FRAME_Q16) as i32
    }

    /// Whether speed and delay are adjusted in this tick.
    #[inline]
    pub(crate) fn is_adjustment_due(&self, ticks: u64) -> bool {
        ticks.is_multiple_of(ADJUST_TICKS)
    }

    /// Speed follows how far the others are `apart`, delay the worst round trip among them and by
    /// how many hundredths of a frame more than half of it entries are late. No round trip matters
    /// to a peer that is alone.
    pub(crate) fn adjust(
        &mut self,
        now: Micros,
        apart: impl Iterator<Item = FramesQ16> + Clone,
        rtt: impl FnOnce() -> Option<(Micros, i64)>,
        is_alone: bool,
    ) {
        let behind = if self.speed.tick(apart.clone()) { frames_to_make_up(apart) } else { 0 };
        if behind > 0 && self.ticks_owed == 0 && now >= self.measure_from {
            self.ticks_owed = behind;
        }
        match is_alone {
            true => self.delay.be_alone(),
            false => self.delay.tick(now, rtt()),
        }
    }

    /// Ticks to run now in addition to the regular ones.
    pub(crate) fn take_ticks_owed(&mut self, now: Micros, limit: u32) -> u32 {
        let ticks = self.ticks_owed.min(limit);
        self.ticks_owed -= ticks;
        if ticks > 0 {
            self.measure_from = now + REPORTS_TIMEOUT;
        }
        ticks
    }

    #[inline]
    pub(crate) fn is_catching_up(&self) -> bool {
        self.is_catching_up
    }

    pub(crate) fn set_catching_up(&mut self, is_catching_up: bool) {
        self.is_catching_up = is_catching_up;
    }

    /// Begins to follow the other peers, which are at this frame.
    pub(crate) fn begin_following(&mut self, present: Frame) {
        self.pace_frame = present;
    }

    /// While joining: the next frame to reach, with the others at `present`. While they stall they
    /// are behind what the clock predicts: local entries end at `until`.
    #[must_use]
    pub(crate) fn follow(&mut self, next: Frame, present: Option<Frame>, until: Frame) -> Frame {
        self.pace_frame = self.pace_frame.next().max(next);
        if let Some(present) = present
            && present.distance(self.pace_frame) > 2
        {
            self.pace_frame = present;
        }
        self.pace_frame = self.pace_frame.min(until.saturating_sub(self.delay.target()));
        self.pace_frame
    }

    /// End of this tick: at `goal`, no further than `limit`, starting from `current`. `waiting_for`
    /// are the slots whose input is missing, for a stall.
    pub(crate) fn plan(
        &mut self,
        events: &mut Events,
        current: Frame,
        limit: Frame,
        goal: Frame,
        waiting_for: impl FnOnce() -> SlotSet,
    ) -> TickPlan {
        let next = current.next();
        if next > limit {
            if self.stalled_ticks == 0 {
                events.push(SessionEvent::Stalled { waiting_for: waiting_for() });
            }
            self.stalled_ticks += 1;
            return TickPlan::Stall;
        }
        self.note_progress(events);
        let most = current.saturating_add(CATCH_UP_FRAMES);
        TickPlan::Advance(goal.max(next).min(limit).min(most))
    }

    /// Ends a stall, if there was one.
    #[inline]
    pub(crate) fn note_progress(&mut self, events: &mut Events) {
        if self.stalled_ticks > 0 {
            events.push(SessionEvent::StallEnded { ticks: self.stalled_ticks });
            self.stalled_ticks = 0;
        }
    }

    /// Stalled ticks in a row.
    #[inline]
    pub(crate) fn stalled_ticks(&self) -> u32 {
        self.stalled_ticks
    }

    /// Time since the last check that was spent in a stall; none outside of one.
    #[must_use]
    pub(crate) fn stall_span(&mut self, now: Micros) -> Option<Micros> {
        let span = now.since(self.stall_looked_at).min(STALL_LOOK_MAX);
        self.stall_looked_at = now;
        (self.stalled_ticks > 0).then_some(span)
    }

    /// Whether the match has waited for a stream, held up to `have`, for too long. Reports of
    /// others that they hear its peer do not count, nor do single entries: neither is playing.
    #[must_use]
    pub(crate) fn is_overdue(
        &self,
        timer: &mut StallTimer,
        stream: StreamId,
        have: Frame,
        span: Micros,
        timeout: Micros,
    ) -> bool {
        timer.wait(stream, have, self.enough_frames, span) >= timeout
    }
}

#[cfg(test)]
mod tests {
    use gaggle_kit::PeerId;

    use super::*;
    use crate::roster::Incarnation;

    fn sync() -> TimeSync {
        TimeSync::new(&TimelineConfig::default())
    }

    fn frame(number: u32) -> Frame {
        Frame::new(number)
    }

    #[test]
    fn plan_beyond_limit_stalls_and_tells_once() {
        let (mut sync, mut events) = (sync(), Events::default());
        let missing = || SlotSet::first(2);
        for _ in 0..3 {
            assert_eq!(sync.plan(&mut events, frame(9), frame(9), frame(10), missing), TickPlan::Stall);
        }
        assert_eq!(sync.stalled_ticks(), 3);
        let plan = sync.plan(&mut events, frame(9), frame(20), frame(10), missing);
        assert_eq!(plan, TickPlan::Advance(frame(10)));
        assert_eq!(events.pop(), Some(SessionEvent::Stalled { waiting_for: SlotSet::first(2) }));
        assert_eq!(events.pop(), Some(SessionEvent::StallEnded { ticks: 3 }));
        assert_eq!(events.pop(), None);
    }

    #[test]
    fn plan_far_behind_advances_in_bounded_steps() {
        let (mut sync, mut events) = (sync(), Events::default());
        let mut plan = |limit, goal| sync.plan(&mut events, frame(100), limit, goal, || SlotSet::EMPTY);
        assert_eq!(plan(frame(900), frame(500)), TickPlan::Advance(frame(100 + CATCH_UP_FRAMES)));
        assert_eq!(plan(frame(104), frame(500)), TickPlan::Advance(frame(104)));
        assert_eq!(plan(frame(900), frame(90)), TickPlan::Advance(frame(101)));
    }

    #[test]
    fn follower_jumps_to_present_and_ends_before_limit() {
        let mut sync = sync();
        sync.fix_delay(Some(2));
        sync.begin_following(frame(50));
        assert_eq!(sync.follow(frame(10), None, Frame::NEVER), frame(51));
        assert_eq!(sync.follow(frame(10), Some(frame(53)), Frame::NEVER), frame(52), "near enough");
        assert_eq!(sync.follow(frame(10), Some(frame(90)), Frame::NEVER), frame(90));
        assert_eq!(sync.follow(frame(10), Some(frame(90)), frame(80)), frame(78));
    }

    #[test]
    fn owed_ticks_are_taken_once_and_not_measured_again_at_once() {
        let (mut sync, far) = (sync(), [-200 * FRAME_Q16]);
        let adjust = |sync: &mut TimeSync, at| sync.adjust(at, far.into_iter(), || None, false);
        adjust(&mut sync, Micros::ZERO);
        assert_eq!(sync.take_ticks_owed(Micros::ZERO, 150), 150);
        assert_eq!(sync.take_ticks_owed(Micros::ZERO, 150), 50);
        adjust(&mut sync, Micros::from_millis(100));
        assert_eq!(sync.take_ticks_owed(Micros::from_millis(100), 150), 0);
        adjust(&mut sync, REPORTS_TIMEOUT);
        assert_eq!(sync.take_ticks_owed(REPORTS_TIMEOUT, 150), 150);
    }

    #[test]
    fn stalled_stream_is_overdue_after_timeout() {
        let (mut sync, mut events, mut timer) = (sync(), Events::default(), StallTimer::default());
        assert_eq!(sync.stall_span(Micros::from_secs(5)), None, "no stall");
        assert_eq!(sync.plan(&mut events, frame(9), frame(9), frame(9), || SlotSet::EMPTY), TickPlan::Stall);
        let span = sync.stall_span(Micros::from_secs(50)).expect("it stalls");
        assert_eq!(span, STALL_LOOK_MAX, "it slept meanwhile");
        let stream = StreamId { peer: PeerId::from_u128(1), incarnation: Incarnation(1) };
        let mut overdue = || sync.is_overdue(&mut timer, stream, frame(9), span, Micros::from_secs(2));
        assert_eq!([overdue(), overdue()], [false, true]);
    }
}
