//! Questions and answers about the round trip, which are also what is sent when nothing else is.

use gaggle_kit::Micros;

use super::packet::{Echo, Ping};
use crate::LinkConfig;

/// An answer that seems to have taken longer is to a question that was never asked.
const ECHO_AGE_MAX: Micros = Micros::from_secs(60);

#[derive(Debug, Clone)]
pub(crate) struct Heartbeat {
    /// When the round trip was last asked for or learnt.
    asked_at: Option<Micros>,
    /// A question to be answered, and when it came.
    question: Option<(u32, Micros)>,
    /// Lets the other side ask first.
    patient: bool,
}

impl Heartbeat {
    /// One of two sides should be patient: it asks with its answer, and three packets serve both
    /// instead of four.
    pub(crate) fn new(patient: bool) -> Heartbeat {
        Heartbeat { asked_at: None, question: None, patient }
    }

    /// The round trip is of no more use, or the other side wants a sign: ask at once.
    pub(crate) fn ask_now(&mut self) {
        self.asked_at = None;
    }

    /// The round trip was learnt in another way.
    pub(crate) fn learnt(&mut self, now: Micros) {
        self.asked_at = Some(now);
    }

    /// A question or an answer came. If it tells the round trip: how long it was.
    pub(crate) fn handle(&mut self, now: Micros, ping: &Ping) -> Option<Micros> {
        if let Some(clock) = ping.clock {
            self.question = Some((clock, now));
        }
        let Echo { clock, hold } = ping.echo.filter(|echo| echo.hold != u16::MAX)?;
        let elapsed = Micros::new(u64::from((now.get() as u32).wrapping_sub(clock)));
        if elapsed > ECHO_AGE_MAX {
            return None;
        }
        self.learnt(now);
        Some(elapsed.since(Micros::new(u64::from(hold))))
    }

    /// Whether a question waits for its answer.
    pub(crate) fn owes_answer(&self) -> bool {
        self.question.is_some()
    }

    /// When to ask, given when something was last sent and heard.
    pub(crate) fn ask_at(&self, config: &LinkConfig, sent_at: Micros, heard_at: Micros) -> Micros {
        let Some(asked_at) = self.asked_at else { return Micros::ZERO };
        let quarter = Micros::new(config.heartbeat_interval.get() / 4);
        let patience = if self.patient { quarter } else { Micros::ZERO };
        let regular = asked_at
            .saturating_add(config.rtt_probe_interval)
            .min(sent_at.saturating_add(config.heartbeat_interval));
        // Nothing heard for longer than a heartbeat: one lost packet must not look like the
        // beginning of the end.
        let overdue = heard_at.saturating_add(config.heartbeat_interval).saturating_add(quarter);
        let worried = overdue.max(asked_at.saturating_add(Micros::new(config.heartbeat_interval.get() / 16)));
        regular.saturating_add(patience).min(worried)
    }

    /// What to send now.
    pub(crate) fn ping(&self, now: Micros, config: &LinkConfig, loss_permille: u16) -> Ping {
        let echo = self.question.map(|(clock, came_at)| Echo {
            clock,
            hold: u16::try_from(now.since(came_at).get()).unwrap_or(u16::MAX),
        });
        // An answer asks back if it would be time to ask soon.
        let soon = Micros::new(config.rtt_probe_interval.get() / 2);
        let asks = self.asked_at.is_none_or(|at| at.saturating_add(soon) <= now) || echo.is_none();
        let loss = u32::from(loss_permille) * 255 / 1_000;
        Ping { loss: loss as u8, clock: asks.then_some(now.get() as u32), echo }
    }

    /// A ping has gone.
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
    fn three_packets_tell_both_sides_the_round_trip() {
        let config = LinkConfig::default();
        let (mut a, mut b) = (Heartbeat::new(false), Heartbeat::new(true));
        // Two clocks that have nothing to do with each other, 30 ms each way, an answer after 2 ms.
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
    fn asks_when_quiet_rarely_when_not_and_often_when_worried() {
        let config = LinkConfig::default();
        let mut heartbeat = Heartbeat::new(false);
        assert_eq!(heartbeat.ask_at(&config, MS(9), MS(9)), Micros::ZERO);
        heartbeat.sent(MS(10_000), true, false);
        assert_eq!(heartbeat.ask_at(&config, MS(10_000), MS(10_000)), MS(11_000));
        assert_eq!(heartbeat.ask_at(&config, MS(11_900), MS(11_900)), MS(12_000));
        assert_eq!(heartbeat.ask_at(&config, MS(10_000), MS(8_000)), Micros::new(10_062_500));
        let mut patient = Heartbeat::new(true);
        patient.learnt(MS(10_000));
        assert_eq!(patient.ask_at(&config, MS(10_000), MS(10_000)), MS(11_250));
    }

    #[test]
    fn answers_nobody_asked_for_and_saturated_ones_tell_nothing() {
        let mut heartbeat = Heartbeat::new(false);
        let answer = |clock, hold| Ping { echo: Some(Echo { clock, hold }), ..Ping::default() };
        assert_eq!(heartbeat.handle(MS(100_000), &answer(1, 0)), None);
        assert_eq!(heartbeat.handle(MS(100_000), &answer(200_000_000, 0)), None);
        assert_eq!(heartbeat.handle(MS(100_000), &answer(99_000_000, u16::MAX)), None);
        assert_eq!(heartbeat.handle(MS(100_000), &answer(99_990_000, 20_000)), Some(Micros::ZERO));
        // The clock's 32 bits wrap every 71 minutes.
        let now = Micros::new(0x1_0000_0010);
        assert_eq!(heartbeat.handle(now, &answer(0xffff_fff0, 0)), Some(Micros::new(0x20)));
    }
}
