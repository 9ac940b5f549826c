//! Which frame to be at after a tick, how fast to run, and how far ahead to tell inputs.

use gaggle_kit::{Frame, Input, Micros, PeerId, SlotSet};

use super::Session;
use crate::config::SessionError;
use crate::event::SessionEvent;
use crate::membership::Mode;
use crate::remote::Peer;
use crate::time_sync::frames_to_make_up;

/// Speed and input delay are looked after once in so many ticks.
pub(super) const TIME_TICKS: u64 = 3;

/// Lines are looked at once in so many ticks.
const LINE_TICKS: u64 = 30;
/// A line is too slow if it has been for so long: one late packet is none.
const SLOW_FOR: Micros = Micros::from_secs(2);

/// Ticks this machine has to make up for.
#[derive(Debug, Default)]
pub(super) struct CatchUp {
    owed: u32,
    /// What others say of us is worth nothing before this: it was measured before we caught up.
    measure_from: Micros,
}

/// After catching up, reports made before it are still under way for about so long.
const MAKE_UP_PAUSE: Micros = Micros::from_millis(500);

impl<I: Input> Session<I> {
    /// The input delay from now on; `None` lets it adapt again. Changes without a stall and without
    /// losing or doubling a press.
    ///
    /// # Errors
    /// If it is outside
    /// [`TimelineConfig::input_delay_range`](crate::TimelineConfig::input_delay_range), which all
    /// peers rely on.
    pub fn set_input_delay(&mut self, frames: Option<u32>) -> Result<(), SessionError> {
        let (min, max) = self.config.input_delay_range;
        let usual = self.config.input_delay_frames;
        let (min, max) = (min.min(usual), max.max(usual));
        if let Some(frames) = frames
            && !(min..=max).contains(&frames)
        {
            let (value, min, max) = (frames.into(), min.into(), max.into());
            return Err(SessionError::OutOfRange { setting: "input_delay_frames", value, min, max });
        }
        self.delay.fix(frames);
        Ok(())
    }

    /// How fast to run, in millionths of the game's own pace: 950,000 to 1,050,000.
    pub fn speed_ppm(&self) -> u32 {
        self.speed.ppm()
    }

    /// Ticks to make now besides those that are due, at most `limit`: this machine slept and is far
    /// behind everybody. 0 as a rule.
    pub fn take_catch_up_ticks(&mut self, limit: u32) -> u32 {
        let ticks = self.catch_up.owed.min(limit);
        self.catch_up.owed -= ticks;
        if ticks > 0 {
            self.remotes.iter_mut().for_each(|remote| remote.advantage.shift(ticks.into()));
            self.catch_up.measure_from = self.now + MAKE_UP_PAUSE;
        }
        ticks
    }

    /// Whose input is missing, while the match stands still for it.
    pub fn stalled_on(&self) -> Option<SlotSet> {
        (self.stalled_ticks > 0).then(|| self.ledger.waiting_for())
    }

    /// For how long nothing has been heard of somebody in the match; none of those who are not in
    /// it.
    pub fn time_since_heard(&self, peer: PeerId) -> Option<Micros> {
        let remote = self.remotes.iter().find(|remote| remote.peer == peer && remote.is_open);
        remote.map(|remote| self.now.since(remote.heard_at))
    }

    /// Writes local entries and says which frame to be at after this tick.
    pub(super) fn pace(&mut self, next: Frame, waits: bool) -> Frame {
        let observes = self.membership.mode() != Mode::Member;
        if !observes && !self.catching_up {
            // What we do in the next frame is told even while we wait for it: with neither window
            // nor delay everybody would wait for everybody.
            if !waits || self.ledger.local.newest() < next {
                self.emit(next);
            }
            return next;
        }
        self.pace_frame = self.pace_frame.next().max(next);
        if let Some(present) = self.present_frame()
            && present.distance(self.pace_frame) > 2
        {
            self.pace_frame = present;
        }
        // While others stand still they are not where they would be by the clock. An observer
        // learns late what is confirmed, but holds what others will confirm.
        let until = match observes {
            true => {
                let (confirmed, reach) = (self.membership.confirmed(), self.config.reach_frames());
                self.received_frame
                    .clamp(confirmed, confirmed.saturating_add(3 * reach))
                    .saturating_add(reach)
            }
            false => self.membership.emit_until(),
        };
        self.pace_frame = self.pace_frame.min(until.saturating_sub(self.delay.target()));
        if !observes || self.joining.has_begun() {
            self.emit(self.pace_frame);
        }
        self.catching_up = !observes && next < self.pace_frame;
        self.pace_frame
    }

    pub(super) fn rtt_worst(&self) -> Option<Micros> {
        self.members().filter_map(|remote| remote.clock.rtt_high()).max()
    }

    /// Tells of lines over which neither window nor input delay reach.
    pub(super) fn watch_lines(&mut self) {
        if !self.ticks.is_multiple_of(LINE_TICKS) {
            return;
        }
        let delay = self.config.input_delay_range.1.max(self.config.input_delay_frames);
        let frames = 2 * u64::from(self.config.prediction_frames() + delay);
        let (now, max) = (self.now, Micros::new(frames * self.frame.get()));
        let counts_all = self.membership.mode() != Mode::Member;
        for remote in self.remotes.iter_mut().filter(|remote| remote.is_trusted()) {
            let Some(rtt) = remote.clock.rtt_high().filter(|_| remote.is_open || counts_all) else {
                continue;
            };
            if rtt <= max {
                remote.slow_since = None;
                continue;
            }
            let since = *remote.slow_since.get_or_insert(now);
            if now.since(since) >= SLOW_FOR && !remote.slow_told {
                remote.slow_told = true;
                self.events.push(SessionEvent::LineTooSlow { peer: remote.peer, rtt, max });
            }
        }
    }

    /// Speed and input delay follow what was measured.
    pub(super) fn keep_time(&mut self) {
        // What is measured is an average over many packets: looking at it in every tick finds
        // nothing new.
        if !self.ticks.is_multiple_of(TIME_TICKS) {
            return;
        }
        let apart = || self.remotes.iter().filter(|r| r.is_open).filter_map(|r| r.advantage.apart());
        let behind = if self.speed.tick(apart()) { frames_to_make_up(apart()) } else { 0 };
        if behind > 0 && self.catch_up.owed == 0 && self.now >= self.catch_up.measure_from {
            self.catch_up.owed = behind;
        }
        if self.is_alone() {
            self.delay.be_alone();
        } else {
            self.delay.tick(self.now, self.rtt_worst().or_else(|| self.rtt_of_joiners()));
        }
    }

    /// No other peer is in the match or joining it.
    pub(super) fn is_alone(&self) -> bool {
        let is_coming = |remote: &Peer| remote.is_up && !remote.watches;
        self.membership.mode() == Mode::Member
            && self.members().next().is_none()
            && !self.remotes.iter().any(is_coming)
    }

    /// The first who comes should find a delay that fits: it is needed from the frame they are in.
    fn rtt_of_joiners(&self) -> Option<Micros> {
        let joiners = self.remotes.iter().filter(|remote| remote.is_up && !remote.watches);
        joiners.filter_map(|remote| remote.clock.rtt_high()).max()
    }

    pub(super) fn note_stall(&mut self) {
        if self.stalled_ticks == 0 {
            let waiting_for = self.ledger.waiting_for();
            self.events.push(SessionEvent::Stalled { waiting_for });
        }
        self.stalled_ticks += 1;
        self.stats.stalled_ticks += 1;
    }

    pub(super) fn note_progress(&mut self) {
        if self.stalled_ticks > 0 {
            self.events.push(SessionEvent::StallEnded { ticks: self.stalled_ticks });
            self.stalled_ticks = 0;
        }
    }
}
