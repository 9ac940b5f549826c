//! Input delay that suits the network now.
//!
//! `TimeSync` asks; the local stream in `local.rs` applies it. Absent: entries, peers.

use gaggle_kit::Micros;

/// A change is made only after it was needed for this long: one late packet is no trend.
const PATIENCE: Micros = Micros::from_millis(250);
/// The delay is raised when the need exceeds it by this part of a frame, and lowered when it falls
/// short by that much. With equal thresholds the delay would oscillate.
const RAISE_ABOVE_PERCENT: i64 = 30;
const LOWER_BELOW_PERCENT: i64 = 120;
/// Need that may stay uncovered when a delay is chosen, as a part of a frame.
const SLACK_PERCENT: i64 = 10;

/// Adapts the delay within limits, or keeps a fixed one.
#[derive(Debug, Clone)]
pub(crate) struct DelayControl {
    limits: (u32, u32),
    frame_us: i64,
    guessed_quarters: i64,
    target: u32,
    /// Delay to use among other peers before a round trip is measured.
    usual: u32,
    /// Whether the peer was alone and no round trip was measured since.
    was_alone: bool,
    /// Since when a higher (true) or lower delay is needed.
    unhappy: Option<(bool, Micros)>,
    fixed: bool,
    /// The last round trip and the delay it needs, cached because it rarely changes and division is
    /// slow.
    seen: (Micros, i64),
}

impl DelayControl {
    pub(crate) fn new(initial: u32, limits: (u32, u32), frame: Micros, guessed_quarters: i64) -> Self {
        let mut control = DelayControl {
            limits,
            frame_us: frame.get() as i64,
            guessed_quarters,
            target: initial,
            usual: initial,
            was_alone: false,
            unhappy: None,
            fixed: false,
            seen: (Micros::ZERO, 0),
        };
        control.seen.1 = control.need_percent(Micros::ZERO);
        control
    }

    /// The delay to have.
    pub(crate) fn target(&self) -> u32 {
        self.target
    }

    /// Fixes the delay, whatever the network does; `None` adapts again.
    pub(crate) fn fix(&mut self, delay: Option<u32>) {
        self.fixed = delay.is_some();
        self.target = delay.unwrap_or(self.target);
        self.unhappy = None;
    }

    /// Delay, in hundredths of a frame, that leaves exactly the wanted prediction for this round
    /// trip.
    fn need_percent(&self, rtt: Micros) -> i64 {
        rtt.get() as i64 * 100 / (2 * self.frame_us) - self.guessed_quarters * 25
    }

    fn fitting(&self, need_percent: i64) -> u32 {
        // In lockstep, where less than nothing is predicted, no delay makes all wait for all.
        let floor = u32::from(self.guessed_quarters < 0);
        let (min, max) = (self.limits.0.max(floor.min(self.limits.1)), self.limits.1);
        let frames = (need_percent - SLACK_PERCENT + 99).div_euclid(100);
        frames.clamp(min.into(), max.into()) as u32
    }

    /// The first measurement, which takes effect at once.
    pub(crate) fn start(&mut self, rtt: Option<Micros>) {
        if let (false, Some(rtt)) = (self.fixed, rtt) {
            self.target = self.fitting(self.need_percent(rtt));
        }
    }

    /// The peer is alone: no input has to travel, so no delay is needed.
    pub(crate) fn be_alone(&mut self) {
        if !self.fixed && self.limits.0 < self.limits.1 {
            (self.target, self.unhappy, self.was_alone) = (0, None, true);
        }
    }

    /// Called every tick among others, with the worst peer's round trip, and the hundredths of a
    /// frame by which entries are later than half of it.
    pub(crate) fn tick(&mut self, now: Micros, rtt: Option<(Micros, i64)>) {
        if self.was_alone && !self.fixed {
            self.target = self.usual;
            self.was_alone = rtt.is_none();
            self.start(rtt.map(|(rtt, _)| rtt));
        }
        let (Some((rtt, late_percent)), false) = (rtt, self.fixed) else { return };
        if self.seen.0 != rtt {
            self.seen = (rtt, self.need_percent(rtt));
        }
        let need = self.seen.1 + late_percent;
        let have = i64::from(self.target) * 100;
        let fitting = self.fitting(need);
        let higher = need > have + RAISE_ABOVE_PERCENT;
        let lower = need < have - LOWER_BELOW_PERCENT;
        if !(higher || lower) || fitting == self.target {
            self.unhappy = None;
            return;
        }
        match self.unhappy {
            Some((direction, since)) if direction == higher => {
                if now.since(since) >= PATIENCE {
                    self.target = fitting;
                    self.unhappy = None;
                }
            }
            _ => self.unhappy = Some((higher, now)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control() -> DelayControl {
        DelayControl::new(2, (1, 6), Micros::new(16_667), 10)
    }

    fn run(control: &mut DelayControl, from_ms: u64, for_ms: u64, rtt_ms: u64) {
        for at in (from_ms..from_ms + for_ms).step_by(16) {
            control.tick(Micros::from_millis(at), Some((Micros::from_millis(rtt_ms), 0)));
        }
    }

    #[test]
    fn delay_follows_round_trip_within_limits() {
        let mut control = control();
        // 200 ms: six frames one way, less two and a half that may be predicted.
        run(&mut control, 0, 400, 200);
        assert_eq!(control.target(), 4);
        run(&mut control, 1_000, 400, 900);
        assert_eq!(control.target(), 6);
        run(&mut control, 2_000, 400, 40);
        assert_eq!(control.target(), 1);
    }

    #[test]
    fn late_entries_raise_delay() {
        let mut control = DelayControl::new(2, (0, 15), Micros::new(16_667), -4);
        let mut run = |late_percent| {
            for at in 0..30 {
                let rtt = Micros::from_millis(100);
                control.tick(Micros::from_millis(16 * at), Some((rtt, late_percent)));
            }
            control.target()
        };
        assert_eq!([run(0), run(100), run(0)], [4, 5, 5], "a frame less is not worth a change");
        assert_eq!(run(600), 10);
        assert_eq!(run(0), 4);
    }

    #[test]
    fn short_spike_keeps_delay() {
        let mut control = control();
        run(&mut control, 0, 200, 300);
        run(&mut control, 200, 200, 100);
        run(&mut control, 400, 200, 300);
        assert_eq!(control.target(), 2);
    }

    #[test]
    fn delay_alone_is_zero_and_follows_network_again() {
        let mut control = control();
        run(&mut control, 0, 400, 900);
        assert_eq!(control.target(), 6);
        control.be_alone();
        assert_eq!(control.target(), 0);
        // Until a round trip is known it is the default, then at once the delay that the round trip
        // needs.
        control.tick(Micros::from_secs(2), None);
        assert_eq!(control.target(), 2);
        control.tick(Micros::from_secs(3), Some((Micros::from_millis(200), 0)));
        assert_eq!(control.target(), 4);
        control.fix(Some(3));
        control.be_alone();
        assert_eq!(control.target(), 3, "the player's choice");
        control.fix(None);
        control.be_alone();
        assert_eq!(control.target(), 0);
        let mut constant = DelayControl::new(4, (4, 4), Micros::new(16_667), 10);
        constant.be_alone();
        assert_eq!(constant.target(), 4, "the game's choice");
    }

    #[test]
    fn delay_zero_in_lockstep_is_chosen_and_never_adapted_to() {
        let mut control = DelayControl::new(2, (0, 15), Micros::new(16_667), -4);
        control.start(Some(Micros::ZERO));
        run(&mut control, 0, 400, 0);
        assert_eq!(control.target(), 1);
        control.fix(Some(0));
        run(&mut control, 1_000, 400, 100);
        assert_eq!(control.target(), 0);
        let mut rollback = DelayControl::new(2, (0, 15), Micros::new(16_667), 10);
        run(&mut rollback, 0, 400, 0);
        assert_eq!(rollback.target(), 0);
        let mut constant = DelayControl::new(0, (0, 0), Micros::new(16_667), -4);
        run(&mut constant, 0, 400, 100);
        assert_eq!(constant.target(), 0, "the game's choice");
    }

    #[test]
    fn fixed_delay_stays_until_released() {
        let mut control = control();
        control.fix(Some(3));
        run(&mut control, 0, 1_000, 300);
        assert_eq!(control.target(), 3);
        control.fix(None);
        run(&mut control, 1_000, 1_000, 300);
        assert_eq!(control.target(), 6);
    }
}
