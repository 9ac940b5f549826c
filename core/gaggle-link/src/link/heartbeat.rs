//! Pings, which measure the round trip and keep a quiet link alive.
//!
//! Owned by `session.rs`. Absent: smoothing (`rtt.rs`).

use gaggle_kit::Micros;

use super::packet::{Echo, Ping};
use crate::LinkConfig;

/// A longer round trip is impossible: the answered ping was never sent.
const ECHO_AGE_MAX: Micros = Micros::from_secs(60);

#[derive(Debug, Clone)]
pub(crate) struct Heartbeat {
    /// When the round trip was last requested or measured.
    asked_at: Option<Micros>,
    /// A received ping to answer, and its arrival.
    question: Option<(u32, Micros)>,
    /// Whether the other side pings first.
    patient: bool,
}

impl Heartbeat {
    /// `patient` is true on one of the two sides: it pings with its answer, so that three packets
    /// serve both sides instead of four.
    pub(crate) fn new(patient: bool) -> Heartbeat {
        Heartbeat { asked_at: None, question: None, patient }
    }

    /// Pings at once, because the measured round trip is void or the other side needs a sign of
    /// life.
    pub(crate) fn ask_now(&mut self) {
        self.asked_at = None;
    }

    /// The round trip was measured by an acknowledgement.
    pub(crate) fn learned(&mut self, now: Micros) {
        self.asked_at = Some(now);
    }

    /// Handles a ping or an answer. Returns the round trip if it contains one.
    pub(crate) fn handle(&mut self, now: Micros, ping: &Ping) -> Option<Micros> {
        if let Some(clock) = ping.clock {
            self.question = Some((clock, now));
        }
        let Echo { clock, hold } = ping.echo.filter(|echo| echo.hold != u16::MAX)?;
        let elapsed = Micros::new(u64::from((now.get() as u32).wrapping_sub(clock)));
        if elapsed > ECHO_AGE_MAX {
            return None;
        }
        self.learned(now);
        Some(elapsed.since(Micros::new(u64::from(hold))))
    }

    /// Whether a received ping waits for its answer.
    pub(crate) fn owes_answer(&self) -> bool {
        self.question.is_some()
    }

    /// When to ping, given the last time of sending and hearing.
    pub(crate) fn ask_at(&self, config: &LinkConfig, sent_at: Micros, heard_at: Micros) -> Micros {
        let Some(asked_at) = self.asked_at else { return Micros::ZERO };
        let quarter = Micros::new(config.heartbeat_interval.get() / 4);
        let patience = if self.patient { quarter } else { Micros::ZERO };
        let regular = asked_at
            .saturating_add(config.rtt_probe_interval)
            .min(sent_at.saturating_add(config.heartbeat_interval));
        // Silence longer than a heartbeat: one lost packet must not count as the start of a
        // timeout.
        let overdue = heard_at.saturating_add(config.heartbeat_interval).saturating_add(quarter);
        let worried = overdue.max(asked_at.saturating_add(Micros::new(config.heartbeat_interval.get() / 16)));
        regular.saturating_add(patience).min(worried)
    }

    /// The ping to send now.
    pub(crate) fn ping(&self, now: Micros, config: &LinkConfig, loss_permille: u16) -> Ping {
        let echo = self.question.map(|(clock, came_at)| Echo {
            clock,
            hold: u16::try_from(now.since(came_at).get()).unwrap_or(u16::MAX),
        });
        // An answer also pings if that would be due soon.
        let soon = Micros::new(config.rtt_probe_interval.get() / 2);
        let asks = self.asked_at.is_none_or(|at| at.saturating_add(soon) <= now) || echo.is_none();
        let loss = u32::from(loss_permille) * 255 / 1_000;
        Ping { loss: loss as u8, clock: asks.then_some(now.get() as u32), echo }
    }

    /// The ping was sent.
    pub(crate) fn sent(&mut self, now: Micros, asks: bool, answers: bool) {
        if asks {
            self.asked_at = Some(now);
        }
        if answers {
            self.question = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Micros = Micros::from_millis;

    #[test]
    fn three_packets_give_both_sides_round_trip() {
        let config = LinkConfig::default();
        let (mut a, mut b) = (Heartbeat::new(false), Heartbeat::new(true));
        // Two unrelated clocks, 30 ms each way, an answer after 2 ms.
        let first = a.ping(MS(5_000), &config, 0);
        a.sent(MS(5_000), true, false);
        assert_eq!(b.handle(MS(900_030), &first), None);
        let second = b.ping(MS(900_032), &config, 0);
        b.sent(MS(900_032), true, true);
        assert_eq!(a.handle(MS(5_062), &second), Some(MS(60)));
        let third = a.ping(MS(5_062), &config, 0);
        assert_eq!((third.clock, a.owes_answer()), (None, true));
        assert_eq!(b.handle(MS(900_092), &third), Some(MS(60)));
        assert!(!b.owes_answer());
    }

    #[test]
    fn pings_are_rare_when_busy_and_frequent_when_overdue() {
        let config = LinkConfig::default();
        let mut heartbeat = Heartbeat::new(false);
        assert_eq!(heartbeat.ask_at(&config, MS(9), MS(9)), Micros::ZERO);
        heartbeat.sent(MS(10_000), true, false);
        assert_eq!(heartbeat.ask_at(&config, MS(10_000), MS(10_000)), MS(11_000));
        assert_eq!(heartbeat.ask_at(&config, MS(11_900), MS(11_900)), MS(12_000));
        assert_eq!(heartbeat.ask_at(&config, MS(10_000), MS(8_000)), Micros::new(10_062_500));
        let mut patient = Heartbeat::new(true);
        patient.learned(MS(10_000));
        assert_eq!(patient.ask_at(&config, MS(10_000), MS(10_000)), MS(11_250));
    }

    #[test]
    fn unrequested_and_saturated_answers_are_ignored() {
        let mut heartbeat = Heartbeat::new(false);
        let answer = |clock, hold| Ping { echo: Some(Echo { clock, hold }), ..Ping::default() };
        assert_eq!(heartbeat.handle(MS(100_000), &answer(1, 0)), None);
        assert_eq!(heartbeat.handle(MS(100_000), &answer(200_000_000, 0)), None);
        assert_eq!(heartbeat.handle(MS(100_000), &answer(99_000_000, u16::MAX)), None);
        assert_eq!(heartbeat.handle(MS(100_000), &answer(99_990_000, 20_000)), Some(Micros::ZERO));
        // The 32 bits of the clock wrap every 71 minutes.
        let now = Micros::new(0x1_0000_0010);
        assert_eq!(heartbeat.handle(now, &answer(0xffff_fff0, 0)), Some(Micros::new(0x20)));
    }
}
