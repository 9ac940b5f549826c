//! Pace of a client: its clock follows how early its entries arrive, then its input delay.
//!
//! `Sealed` passes measurements and asks once per tick. Absent: inputs, packets, who plays.

use gaggle_kit::{Frame, Micros};

use crate::config::TimelineConfig;
use crate::event::{Events, SessionEvent};
use crate::sealed::SealConfig;
use crate::time_sync::{CATCH_UP_FRAMES, FRAME_Q16, Speed};

/// Ticks between two adjustments of the speed.
const ADJUST_TICKS: u32 = 3;
/// A larger distance is made up or skipped at once.
const JUMP_FRAMES: i64 = 6;
/// Time after a jump for which measurements of before may still arrive.
const JUMP_REST: Micros = Micros::from_secs(2);
/// Shortest time between two changes of the delay.
const STEP_INTERVAL: Micros = Micros::from_millis(500);
/// Part of a frame the clock must have gained before the delay is lowered by one.
const GAINED: i64 = FRAME_Q16 * 9 / 10;
/// Depth above which a lowering that was begun is given up.
const GIVE_UP_FRAMES: i64 = 2;
/// Frames by which ticks may be ahead of the time: what a slow display owes.
const BUDGET_FRAMES: i64 = 8;
/// Frames by which a spectator is behind the last frame it holds.
const SPECTATOR_FRAMES: i64 = 8;

/// Outcome of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plan {
    /// Simulate up to this frame.
    Advance(Frame),
    /// No frame in this tick: the clock is ahead, or the tick is not due.
    Hold,
    /// The window is used up: the referee is not heard.
    Stall,
}

/// Measurements of a tick.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured {
    pub(super) now: Micros,
    pub(super) current: Frame,
    pub(super) sealed: Frame,
    pub(super) is_playing: bool,
    pub(super) is_spectator: bool,
    /// How early entries arrive, in quarter frames.
    pub(super) low: Option<i8>,
    pub(super) rtt: Option<Micros>,
}

/// Speed, input delay and stalls of one client.
#[derive(Debug)]
pub(super) struct Pace {
    speed: Speed,
    frame_us: i64,
    window: u32,
    margin: i64,
    depth_range: (u32, u32),
    delay: u32,
    delay_range: (u32, u32),
    is_fixed: bool,
    stepped_at: Micros,
    is_lowering: bool,
    /// Mean of the frames simulated beyond the sealed one.
    depth: Option<i64>,
    ignores_until: Micros,
    hold: u32,
    make_up: u32,
    ticks: u32,
    ticked_at: Option<Micros>,
    budget: i64,
    stalled_ticks: u32,
}

impl Pace {
    pub(super) fn new(config: &TimelineConfig, seal: &SealConfig) -> Pace {
        let frame_us = config.frame_duration().get().max(1) as i64;
        let (min, max) = config.input_delay_range;
        Pace {
            speed: Speed::new(config.tick_rate, ADJUST_TICKS),
            frame_us,
            window: seal.window_frames,
            margin: seal.margin.get() as i64 * FRAME_Q16 / frame_us,
            depth_range: seal.depth_range,
            delay: config.input_delay_frames.clamp(min, max),
            delay_range: (min, max),
            is_fixed: false,
            stepped_at: Micros::ZERO,
            is_lowering: false,
            depth: None,
            ignores_until: Micros::ZERO,
            hold: 0,
            make_up: 0,
            ticks: 0,
            ticked_at: None,
            budget: BUDGET_FRAMES * FRAME_Q16,
            stalled_ticks: 0,
        }
    }

    pub(super) fn speed_ppm(&self) -> u32 {
        self.speed.ppm()
    }

    /// Thousandths of a frame by which entries arrive earlier than they must.
    pub(super) fn advantage_permille(&self) -> i32 {
        (self.speed.apart() * 1_000 / FRAME_Q16) as i32
    }

    pub(super) fn delay(&self) -> u32 {
        self.delay
    }

    pub(super) fn fix_delay(&mut self, frames: Option<u32>) {
        let (min, max) = self.delay_range;
        (self.is_fixed, self.is_lowering) = (frames.is_some(), false);
        self.delay = frames.unwrap_or(self.delay.clamp(min, max));
    }

    pub(super) fn stalled_ticks(&self) -> u32 {
        self.stalled_ticks
    }

    /// Another stay begins.
    pub(super) fn restart(&mut self) {
        (self.depth, self.hold, self.make_up) = (None, 0, 0);
    }

    /// Whether this tick is due. After a freeze a clock that owes many ticks must not run ahead.
    pub(super) fn begin_tick(&mut self, now: Micros) -> bool {
        let elapsed = now.since(self.ticked_at.unwrap_or(now)).get().min(1_000_000) as i64;
        self.ticked_at = Some(now);
        // A tenth more than the time allows for a clock that runs fast.
        let earned = elapsed * FRAME_Q16 * 11 / (10 * self.frame_us);
        self.budget = (self.budget + earned).min(BUDGET_FRAMES * FRAME_Q16);
        let is_due = self.budget >= 0;
        self.budget -= if is_due { FRAME_Q16 } else { 0 };
        is_due
    }

    /// Usual frames beyond the sealed one; before there is a mean, what the round trip suggests.
    fn lead(&self, rtt: Option<Micros>) -> u32 {
        let flight = rtt.map_or(2, |rtt| (rtt.get() as i64 + self.frame_us - 1) / self.frame_us);
        let first = flight + 2 - i64::from(self.delay);
        let lead = self.depth.map_or(first, |depth| (depth + FRAME_Q16 / 2) / FRAME_Q16);
        lead.clamp(1, i64::from(self.window)) as u32
    }

    /// The first entries of a stay follow: makes up what the clock lacks for them to be in time.
    pub(super) fn begin_entries(&mut self, measured: Measured) {
        let depth = measured.current.since(measured.sealed);
        self.make_up = self.lead(measured.rtt).saturating_sub(depth);
    }

    /// Decides how far this tick simulates.
    pub(super) fn plan(&mut self, events: &mut Events, measured: Measured) -> Plan {
        let Measured { current, sealed, .. } = measured;
        let next = current.next();
        if measured.is_spectator {
            return self.plan_spectator(measured);
        }
        if current >= sealed && self.hold > 0 {
            self.hold -= 1;
            return Plan::Hold;
        }
        let limit = sealed + self.window;
        // After a stall the sealed frames are waited for, so that it ends once.
        let is_ahead = self.stalled_ticks > 0 && current.since(sealed) > self.lead(measured.rtt);
        if next > limit || is_ahead {
            if self.stalled_ticks == 0 {
                events.push(SessionEvent::Stalled { waiting_for: gaggle_kit::SlotSet::EMPTY });
            }
            self.stalled_ticks += 1;
            return Plan::Stall;
        }
        if self.stalled_ticks > 0 {
            events.push(SessionEvent::StallEnded { ticks: self.stalled_ticks });
            self.stalled_ticks = 0;
        }
        let made_up = next + std::mem::take(&mut self.make_up);
        let goal = match current < sealed {
            true => made_up.max(sealed + self.lead(measured.rtt)),
            false => made_up,
        };
        Plan::Advance(goal.min(limit).min(current + CATCH_UP_FRAMES))
    }

    fn plan_spectator(&mut self, measured: Measured) -> Plan {
        let Measured { current, sealed, .. } = measured;
        let behind = sealed.distance(current) - SPECTATOR_FRAMES;
        let is_far = behind > 4 * SPECTATOR_FRAMES;
        self.ticks += 1;
        if self.ticks.is_multiple_of(ADJUST_TICKS) {
            let apart = (!is_far).then_some(-behind * FRAME_Q16 / 4);
            self.speed.tick(apart.into_iter());
        }
        match current < sealed {
            true if is_far => Plan::Advance(current + CATCH_UP_FRAMES.min(behind as u32)),
            true => Plan::Advance(current.next()),
            false => Plan::Hold,
        }
    }

    /// Adjusts speed and delay after a tick.
    pub(super) fn adjust(&mut self, measured: Measured) {
        let Measured { now, current, sealed, is_playing, low, .. } = measured;
        if current < sealed || self.stalled_ticks > 0 {
            return;
        }
        let sample = i64::from(current.since(sealed)) * FRAME_Q16;
        if !is_playing {
            // No entry is measured: the usual lead is kept.
            let apart = sample - i64::from(self.lead(measured.rtt)) * FRAME_Q16;
            self.speed.tick(std::iter::once(apart / 2));
            return;
        }
        let depth = self.depth.get_or_insert(sample);
        *depth += (sample - *depth) / 32;
        self.ticks += 1;
        if !self.ticks.is_multiple_of(ADJUST_TICKS) {
            return;
        }
        let low = low.map(|quarters| i64::from(quarters) * (FRAME_Q16 / 4));
        let low = low.filter(|_| now >= self.ignores_until);
        let target = self.margin + if self.is_lowering { FRAME_Q16 } else { 0 };
        let apart = low.map(|low| low - target);
        match apart.map(|apart| apart / FRAME_Q16).filter(|frames| frames.abs() > JUMP_FRAMES) {
            Some(frames) => {
                let distance = frames.unsigned_abs() as u32;
                if frames > 0 {
                    self.hold = distance;
                } else {
                    self.make_up = distance;
                }
                self.ignores_until = now + JUMP_REST;
            }
            None => _ = self.speed.tick(apart.into_iter()),
        }
        self.step_delay(now, low);
    }

    fn step_delay(&mut self, now: Micros, low: Option<i64>) {
        let Some(depth) = self.depth.filter(|_| !self.is_fixed) else { return };
        let (low_depth, high_depth) = self.depth_range;
        let (min, max) = self.delay_range;
        let is_over = |frames: i64| depth > frames * FRAME_Q16;
        if is_over(i64::from(low_depth) + GIVE_UP_FRAMES) {
            self.is_lowering = false;
        }
        if now.since(self.stepped_at) < STEP_INTERVAL {
            return;
        }
        if is_over(high_depth.into()) && self.delay < max {
            self.delay += 1;
            (self.stepped_at, self.is_lowering) = (now, false);
        } else if self.is_lowering && self.delay > min && low.is_some_and(|low| low >= self.margin + GAINED) {
            self.delay -= 1;
            (self.stepped_at, self.is_lowering) = (now, false);
        } else if !is_over(i64::from(low_depth) - 1) && self.delay > min {
            // A frame less of delay is a frame more of depth.
            self.is_lowering = true;
        }
    }

    /// Whether measurements of before a jump must be forgotten.
    pub(super) fn is_jumping(&self, now: Micros) -> bool {
        self.ignores_until == now + JUMP_REST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace() -> Pace {
        Pace::new(
            &TimelineConfig { input_delay_range: (1, 10), ..TimelineConfig::default() },
            &SealConfig::default(),
        )
    }

    fn measured(millis: u64, current: u32, sealed: u32, low: Option<i8>) -> Measured {
        Measured {
            now: Micros::from_millis(millis),
            current: Frame::new(current),
            sealed: Frame::new(sealed),
            is_playing: true,
            is_spectator: false,
            low,
            rtt: None,
        }
    }

    #[test]
    fn late_entries_speed_clock_up_and_early_ones_slow_it() {
        let speed_at = |low| {
            let mut pace = pace();
            (0..30).for_each(|_| pace.adjust(measured(100, 13, 10, Some(low))));
            pace.speed_ppm()
        };
        assert!(speed_at(-8) > 1_030_000, "{}", speed_at(-8));
        assert!(speed_at(12) < 970_000, "{}", speed_at(12));
        assert!((999_000..1_001_000).contains(&speed_at(2)), "{}", speed_at(2));
    }

    #[test]
    fn far_clock_jumps_once_and_rests() {
        let mut pace = pace();
        (0..3).for_each(|_| pace.adjust(measured(100, 13, 10, Some(-40))));
        let mut events = Events::default();
        assert_eq!(pace.plan(&mut events, measured(100, 13, 10, None)), Plan::Advance(Frame::new(24)));
        (0..90).for_each(|_| pace.adjust(measured(1_000, 13, 10, Some(-40))));
        assert_eq!(pace.plan(&mut events, measured(1_000, 13, 10, None)), Plan::Advance(Frame::new(14)));
        (0..3).for_each(|_| pace.adjust(measured(3_000, 13, 10, Some(40))));
        assert_eq!(pace.plan(&mut events, measured(3_000, 13, 10, None)), Plan::Hold);
    }

    #[test]
    fn client_behind_sealed_frames_jumps_to_its_usual_lead() {
        let (mut pace, mut events) = (pace(), Events::default());
        (0..200).for_each(|_| pace.adjust(measured(100, 15, 10, None)));
        let mut current = 15;
        let mut plan = |current| pace.plan(&mut events, measured(2_000, current, 130, None));
        while let Plan::Advance(frame) = plan(current)
            && current < 130
        {
            assert!(frame.number() - current <= 12);
            current = frame.number();
        }
        assert_eq!(current, 135);
    }

    #[test]
    fn delay_rises_with_depth_and_falls_after_clock_gained() {
        let mut pace = pace();
        let step = |pace: &mut Pace, millis: u64, depth: u32, low: i8| {
            (0..300).for_each(|_| pace.adjust(measured(millis, 20 + depth, 20, Some(low))));
        };
        step(&mut pace, 1_000, 12, 2);
        assert_eq!(pace.delay(), 3, "one step per 500 ms");
        step(&mut pace, 2_000, 12, 2);
        assert_eq!(pace.delay(), 4);
        // The mean of the depth falls, before another step is allowed.
        step(&mut pace, 2_100, 3, 2);
        step(&mut pace, 3_000, 3, 2);
        assert_eq!(pace.delay(), 4, "the clock has not gained the frame");
        step(&mut pace, 4_000, 3, 6);
        assert_eq!(pace.delay(), 3);
    }

    #[test]
    fn delay_fixed_at_zero_amid_lowering_rises_from_there() {
        let mut pace = pace();
        (0..300).for_each(|_| pace.adjust(measured(1_000, 23, 20, Some(2))));
        pace.fix_delay(Some(0));
        (0..300).for_each(|_| pace.adjust(measured(2_000, 23, 20, Some(8))));
        assert_eq!(pace.delay(), 0);
        pace.fix_delay(None);
        (0..300).for_each(|_| pace.adjust(measured(3_000, 23, 20, Some(8))));
        assert_eq!(pace.delay(), 1, "the least automatic delay");
    }

    #[test]
    fn window_limits_prediction_and_stall_is_told_once() {
        let (mut pace, mut events) = (pace(), Events::default());
        for _ in 0..3 {
            assert_eq!(pace.plan(&mut events, measured(0, 26, 10, None)), Plan::Stall);
        }
        assert_eq!(pace.plan(&mut events, measured(0, 26, 11, None)), Plan::Stall);
        assert_eq!(pace.plan(&mut events, measured(0, 26, 24, None)), Plan::Advance(Frame::new(27)));
        let told: Vec<SessionEvent> = std::iter::from_fn(|| events.pop()).collect();
        assert!(matches!(told[..], [SessionEvent::Stalled { .. }, SessionEvent::StallEnded { ticks: 4 }]));
    }

    #[test]
    fn ticks_owed_after_freeze_are_not_due() {
        let mut pace = pace();
        let due = |pace: &mut Pace, millis, ticks| {
            (0..ticks).filter(|_| pace.begin_tick(Micros::from_millis(millis))).count()
        };
        assert_eq!((1..200).map(|n| due(&mut pace, n * 17, 1)).sum::<usize>(), 199);
        assert!(due(&mut pace, 6_000, 120) < 12);
    }
}
