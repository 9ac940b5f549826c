//! Congestion control: keeps the queue at the bottleneck short and tolerates random loss.
//!
//! `session.rs` owns it. Delay based, after Copa (Arun and Balakrishnan, 2018): queueing delay sets
//! the rate. Random loss changes nothing, because radio links lose packets without being full; the
//! recent delivery rate is the bound, after BBR. Absent: packets, timers.

use std::ops::RangeInclusive;

use gaggle_kit::Micros;

use super::rtt::Rtt;
use super::sent::Mark;
use crate::DATAGRAM_BYTES_MAX;

const PACKET: u64 = DATAGRAM_BYTES_MAX as u64;
/// 16 packets: 17 KB in the first round trip, a snapshot of 100 KB in less than four.
const WINDOW_START: u64 = 16 * PACKET;
const WINDOW_MIN: u64 = 4 * PACKET;
/// 1 MiB: 80 Mbit/s at a round trip of 100 ms, and no more packets than an acknowledgement covers.
const WINDOW_MAX: u64 = 960 * PACKET;
/// Own packets queued at the bottleneck in equilibrium.
const QUEUED_PACKETS: u64 = 2;
/// Queueing delay that ends slow start, as a divisor of the round trip and within limits (RFC
/// 9406).
const START_QUEUE_PART: u64 = 8;
const START_QUEUE: RangeInclusive<Micros> = Micros::from_millis(4)..=Micros::from_millis(16);
/// Longest delay attributed to other traffic or jitter, which resembles a queue but does not shrink
/// with the window.
const FOREIGN_MAX: Micros = Micros::from_millis(40);
/// Part of it that decays every round trip, as a divisor.
const FOREIGN_DECAY: u64 = 16;
/// Slow start ends after this many round trips without a higher delivery rate.
const START_ROUNDS_MAX: u32 = 3;

#[derive(Debug, Clone)]
pub(crate) struct Congestion {
    window: u64,
    starting: bool,
    /// Total bytes acknowledged, when the last of them were, and when those had been sent.
    delivered: u64,
    delivered_at: Micros,
    first_sent_at: Micros,
    rate: Rate,
    /// Delivered bytes when the current round trip began.
    round_at: u64,
    round_window: u64,
    /// Bytes lost since then, and whether the round trip before had many losses.
    round_lost: u64,
    round_delivered: u64,
    lossy: bool,
    round_began_at: Micros,
    /// Part of the delay that is not caused by own packets.
    foreign: Micros,
    evidence: Evidence,
    /// Direction of the window, for how many round trips, and speed.
    rising: bool,
    same_direction_rounds: u32,
    velocity: u64,
    /// Best rate when it last grew, and round trips since.
    start_rate: u64,
    start_rounds: u32,
}

impl Congestion {
    pub(crate) fn new() -> Congestion {
        Congestion {
            window: WINDOW_START,
            starting: true,
            delivered: 0,
            delivered_at: Micros::ZERO,
            first_sent_at: Micros::ZERO,
            rate: Rate::default(),
            round_at: 0,
            round_window: WINDOW_START,
            round_lost: 0,
            round_delivered: 0,
            lossy: false,
            round_began_at: Micros::ZERO,
            foreign: Micros::ZERO,
            evidence: Evidence::default(),
            rising: true,
            same_direction_rounds: 0,
            velocity: 1,
            start_rate: 0,
            start_rounds: 0,
        }
    }

    /// Bytes that may be in flight.
    pub(crate) fn window(&self) -> u64 {
        self.window
    }

    /// Pacing rate for packets.
    pub(crate) fn bytes_per_second(&self, rtt: &Rtt) -> u64 {
        let rtt = if rtt.measured().is_some() { rtt.standing() } else { rtt.smoothed() };
        let per_second = per_second(self.window, rtt);
        // Above the window's rate, so that the window decides, but not so high that packets bunch
        // up.
        if self.starting { per_second * 3 / 2 } else { per_second * 5 / 4 }
    }

    /// State to store with a packet about to be sent, given what is in flight.
    pub(crate) fn mark(&mut self, now: Micros, in_flight_bytes: u64, idle: bool) -> Mark {
        if in_flight_bytes == 0 {
            self.delivered_at = now;
            self.first_sent_at = now;
        }
        Mark {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            idle,
        }
    }

    /// A packet was acknowledged. Its round trip is already in `rtt`.
    pub(crate) fn acked(&mut self, now: Micros, sent_at: Micros, bytes: u32, mark: &Mark, rtt: &Rtt) {
        let bytes = u64::from(bytes);
        self.delivered += bytes;
        self.round_delivered += bytes;
        self.delivered_at = now;
        self.first_sent_at = self.first_sent_at.max(sent_at);
        // Over the longer interval, because acknowledgements that arrive in a burst do not mean a
        // faster path.
        let span = now.since(mark.delivered_at).max(sent_at.since(mark.first_sent_at));
        let round_over = mark.delivered >= self.round_at;
        if !mark.idle {
            self.rate.sample(per_second(self.delivered - mark.delivered, span), round_over);
        }
        if mark.idle {
            // An unused window is untested: it may neither grow nor shrink.
            return;
        }
        if self.starting {
            self.start(bytes, round_over, rtt);
        } else {
            self.steer(bytes, rtt);
        }
        if round_over {
            self.end_round(now, rtt);
        }
        self.window = self.window.min(self.window_max(rtt)).clamp(WINDOW_MIN, WINDOW_MAX);
    }

    pub(crate) fn lost(&mut self, bytes: u32) {
        self.round_lost += u64::from(bytes);
    }

    /// Nothing arrived for so long that knowledge about the path is void.
    pub(crate) fn outage(&mut self) {
        self.window = WINDOW_MIN;
        self.starting = true;
        self.start_rate = 0;
        self.start_rounds = 0;
        self.velocity = 1;
    }

    /// Slow start: 1.5 times per round trip, until a queue builds up or the delivery rate stops
    /// growing. The usual factor 2 would save a snapshot one round trip and delay game packets by
    /// 50 ms or more.
    fn start(&mut self, bytes: u64, round_over: bool, rtt: &Rtt) {
        self.window += bytes / 2;
        if round_over {
            if self.lost_more_than(1, 3) {
                self.start_rounds = START_ROUNDS_MAX;
            } else if self.rate.max() > self.start_rate * 5 / 4 {
                self.start_rate = self.rate.max();
                self.start_rounds = 0;
            } else {
                self.start_rounds += 1;
            }
        }
        let path = rtt.path_min().unwrap_or(rtt.smoothed());
        let queue_max =
            Micros::new(path.get() / START_QUEUE_PART).clamp(*START_QUEUE.start(), *START_QUEUE.end());
        if rtt.queueing().max(rtt.queueing_soon()) < queue_max && self.start_rounds < START_ROUNDS_MAX {
            return;
        }
        self.starting = false;
        // Window that the path holds without a queue. The surplus drains in the next round trip.
        self.window = self.window.min(in_span(self.rate.max(), path) + QUEUED_PACKETS * PACKET);
        self.velocity = 1;
        self.rising = false;
        self.same_direction_rounds = 0;
    }

    /// Moves the window toward [`QUEUED_PACKETS`] in the queue.
    fn steer(&mut self, bytes: u64, rtt: &Rtt) {
        let queueing = rtt.queueing().since(self.foreign);
        let current = per_second(self.window, rtt.standing());
        let rising = queueing == Micros::ZERO || current <= per_second(QUEUED_PACKETS * PACKET, queueing);
        let step = self.velocity * QUEUED_PACKETS * PACKET * bytes / self.window;
        self.window = if rising { self.window + step } else { self.window.saturating_sub(step) };
    }

    fn end_round(&mut self, now: Micros, rtt: &Rtt) {
        self.round_at = self.delivered;
        // Losing one packet in ten may mean that the bottleneck is full.
        self.lossy = self.lost_more_than(1, 10);
        let rate = per_second(self.round_delivered, now.since(self.round_began_at));
        self.round_began_at = now;
        (self.round_lost, self.round_delivered) = (0, 0);
        self.foreign = self.foreign.since(Micros::new(self.foreign.get() / FOREIGN_DECAY));
        if !self.starting
            && let Some(window) = self.evidence.judge(self.window, rate)
        {
            self.foreign = rtt.queueing().clamp(self.foreign, FOREIGN_MAX);
            self.window = window;
        }
        let rising = self.window > self.round_window;
        if rising == self.rising {
            self.same_direction_rounds += 1;
        } else {
            self.rising = rising;
            self.same_direction_rounds = 0;
        }
        // Three round trips in one direction: the target is far away.
        self.velocity = if self.same_direction_rounds < 3 {
            1
        } else {
            // At most an eighth of the window per round trip, because the effect shows only after
            // one.
            (self.velocity * 2).min((self.window / (8 * QUEUED_PACKETS * PACKET)).max(1))
        };
        self.round_window = self.window;
    }

    fn lost_more_than(&self, part: u64, of: u64) -> bool {
        self.round_lost * of > (self.round_lost + self.round_delivered) * part
    }

    /// Slightly above the recent delivery rate, so that a path that drops instead of queueing is
    /// not flooded.
    fn window_max(&self, rtt: &Rtt) -> u64 {
        if self.starting || self.rate.max() == 0 {
            return WINDOW_MAX;
        }
        let arriving = in_span(self.rate.max(), rtt.standing());
        if self.lossy { arriving * 9 / 8 + 3 * PACKET } else { arriving * 5 / 4 + 4 * PACKET }
    }
}

/// Windows of the last round trips, and the delivery rates they caused.
#[derive(Debug, Clone, Default)]
struct Evidence {
    /// Current window: its packets arrive in the next round trip.
    window: u64,
    rounds: [(u64, u64); 8],
    count: usize,
}

impl Evidence {
    /// If a smaller window lowered the delivery rate, the queue was not caused by own packets:
    /// returns the larger window.
    fn judge(&mut self, next_window: u64, rate: u64) -> Option<u64> {
        let window = std::mem::replace(&mut self.window, next_window);
        self.rounds[self.count % self.rounds.len()] = (window, rate);
        self.count += 1;
        let largest = self.rounds.into_iter().max()?;
        follows(largest, (window, rate)).then(|| {
            self.rounds = Default::default();
            largest.0.max(next_window)
        })
    }
}

/// Whether a window at least an eighth smaller had a lower rate, by at least half as much.
fn follows((more, more_rate): (u64, u64), (less, less_rate): (u64, u64)) -> bool {
    let (windows, rates) = (more.saturating_sub(less), more_rate.saturating_sub(less_rate));
    windows * 8 >= more && rates * more * 2 >= windows * more_rate && windows > 0
}

/// Highest rate of the last eight to sixteen round trips.
#[derive(Debug, Clone, Default)]
struct Rate {
    halves: [u64; 2],
    rounds: u32,
}

impl Rate {
    fn sample(&mut self, rate: u64, round_over: bool) {
        if round_over {
            self.rounds += 1;
            if self.rounds >= 8 {
                self.rounds = 0;
                self.halves = [self.halves[1], 0];
            }
        }
        self.halves[1] = self.halves[1].max(rate);
    }

    fn max(&self) -> u64 {
        self.halves[0].max(self.halves[1])
    }
}

fn per_second(bytes: u64, span: Micros) -> u64 {
    (u128::from(bytes) * 1_000_000 / u128::from(span.get().max(1))) as u64
}

fn in_span(bytes_per_second: u64, span: Micros) -> u64 {
    (u128::from(bytes_per_second) * u128::from(span.get()) / 1_000_000) as u64
}
