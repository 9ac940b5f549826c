//! Fate of each datagram of one direction: delays, losses, copies.
//!
//! Used by `network.rs` and `link_conditioner.rs`. Absent: the datagrams.

use gaggle_kit::{Micros, Prng};

use super::conditions::{Conditions, WIRE_OVERHEAD_BYTES};

/// One direction between two peers, with its own random generator, so that other traffic changes
/// nothing here.
#[derive(Debug, Clone)]
pub(crate) struct Shaper {
    conditions: Conditions,
    random: Prng,
    /// Whether a burst of loss is active.
    bad: bool,
    /// When limited bandwidth has sent everything queued.
    line_free_at: Micros,
    last_arrival_at: Micros,
    wobble: Wobble,
}

/// Jitter is a property of the path, not of the packet: it drifts from one random value to the
/// next.
#[derive(Debug, Clone, Copy, Default)]
struct Wobble {
    /// When the next value is reached, and the values before and then, as parts of the jitter.
    until: Micros,
    from: u32,
    to: u32,
}

/// Time between two random values: about a frame, so that packets of a game draw one each.
const WOBBLE_SPAN: Micros = Micros::from_millis(20);

/// Steps of jitter; the extra one makes its maximum reachable.
const WOBBLE_PARTS: u32 = 65_537;

/// Fate of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It arrives at this time, and possibly a second time.
    Arrives { at: Micros, again_at: Option<Micros> },
    /// It does not arrive.
    Lost(Loss),
}

/// Why a datagram does not arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    Cut,
    TooLarge,
    QueueFull,
    Random,
    Burst,
}

impl Shaper {
    pub(crate) fn new(conditions: Conditions, random: Prng) -> Shaper {
        let (line_free_at, last_arrival_at) = (Micros::ZERO, Micros::ZERO);
        Shaper { conditions, random, bad: false, line_free_at, last_arrival_at, wobble: Wobble::default() }
    }

    /// Changes the conditions for datagrams sent from now on.
    pub(crate) fn set_conditions(&mut self, conditions: Conditions) {
        self.conditions = conditions;
    }

    /// Whether the sender is told to try again later.
    pub(crate) fn is_blocked(&self) -> bool {
        self.conditions.is_blocked
    }

    pub(crate) fn send(&mut self, now: Micros, bytes: usize) -> Fate {
        let conditions = self.conditions;
        if conditions.is_cut {
            return Fate::Lost(Loss::Cut);
        }
        if bytes > conditions.datagram_bytes_max {
            return Fate::Lost(Loss::TooLarge);
        }
        let Some(sent_at) = self.through_line(now, bytes) else { return Fate::Lost(Loss::QueueFull) };
        // Loss comes after the bandwidth limit: lost packets have used it.
        if conditions.loss.happens(&mut self.random) {
            return Fate::Lost(Loss::Random);
        }
        if let Some(burst) = conditions.burst {
            let turns = if self.bad { burst.end } else { burst.begin };
            self.bad ^= turns.happens(&mut self.random);
            if self.bad {
                return Fate::Lost(Loss::Burst);
            }
        }
        let straight = sent_at + conditions.latency + self.jitter(sent_at);
        let at = if conditions.reorder.happens(&mut self.random) {
            straight + up_to(conditions.reorder_by, &mut self.random)
        } else {
            self.last_arrival_at = self.last_arrival_at.max(straight);
            self.last_arrival_at
        };
        let again_at = conditions
            .duplicate
            .happens(&mut self.random)
            .then(|| at + up_to(conditions.reorder_by, &mut self.random));
        Fate::Arrives { at, again_at }
    }

    fn jitter(&mut self, at: Micros) -> Micros {
        if self.conditions.jitter == Micros::ZERO {
            return Micros::ZERO;
        }
        let wobble = &mut self.wobble;
        if wobble.until <= at {
            // After a pause the jitter starts at a new value.
            let fresh = at.since(wobble.until) >= WOBBLE_SPAN;
            wobble.from = if fresh { self.random.below(WOBBLE_PARTS) } else { wobble.to };
            wobble.to = self.random.below(WOBBLE_PARTS);
            wobble.until = if fresh { at } else { wobble.until } + WOBBLE_SPAN;
        }
        let left = wobble.until.since(at).min(WOBBLE_SPAN).get();
        let passed = WOBBLE_SPAN.get() - left;
        let level = (u64::from(wobble.from) * left + u64::from(wobble.to) * passed) / WOBBLE_SPAN.get();
        Micros::new(
            (u128::from(self.conditions.jitter.get()) * u128::from(level) / u128::from(WOBBLE_PARTS)) as u64,
        )
    }

    /// When the datagram has passed the bandwidth limit; none if the queue is full.
    fn through_line(&mut self, now: Micros, bytes: usize) -> Option<Micros> {
        let Some(rate) = self.conditions.bytes_per_second else { return Some(now) };
        let rate = u64::from(rate.max(1));
        let bytes = (bytes + WIRE_OVERHEAD_BYTES) as u64;
        let waiting = self.line_free_at.since(now).get().saturating_mul(rate) / 1_000_000;
        if waiting + bytes > u64::from(self.conditions.queue_bytes) {
            return None;
        }
        self.line_free_at = self.line_free_at.max(now) + Micros::new(bytes * 1_000_000 / rate);
        Some(self.line_free_at)
    }
}

fn up_to(span: Micros, random: &mut Prng) -> Micros {
    let end = u32::try_from(span.get()).unwrap_or(u32::MAX - 1) + 1;
    if end == 1 { Micros::ZERO } else { Micros::new(u64::from(random.below(end))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::{Burst, Chance};

    fn shaper(conditions: Conditions) -> Shaper {
        Shaper::new(conditions, Prng::new(1))
    }

    fn arrivals(shaper: &mut Shaper, count: u64) -> Vec<Option<u64>> {
        let send = |n| match shaper.send(Micros::from_millis(n), 100) {
            Fate::Arrives { at, .. } => Some(at.get()),
            Fate::Lost(_) => None,
        };
        (0..count).map(send).collect()
    }

    #[test]
    fn perfect_network_delivers_at_once() {
        let mut shaper = shaper(Conditions::default());
        assert_eq!(shaper.send(Micros::new(7), 1_200), Fate::Arrives { at: Micros::new(7), again_at: None });
        assert_eq!(shaper.send(Micros::new(7), 1_501), Fate::Lost(Loss::TooLarge));
    }

    #[test]
    fn jitter_keeps_order_and_reordering_breaks_it() {
        let jitter = Conditions {
            latency: Micros::from_millis(10),
            jitter: Micros::from_millis(20),
            ..Conditions::default()
        };
        let kept = arrivals(&mut shaper(jitter), 1_000);
        assert!(kept.is_sorted());
        assert!(kept.iter().zip(0..).any(|(at, n)| at.unwrap() > n * 1_000 + 25_000), "nothing was delayed");

        let mixed = arrivals(&mut shaper(Conditions { reorder: Chance::percent(10), ..jitter }), 1_000);
        let overtaken = mixed.windows(2).filter(|pair| pair[0] > pair[1]).count();
        assert!((30..=150).contains(&overtaken), "{overtaken} of 1000 overtaken");
    }

    #[test]
    fn losses_have_configured_rate_and_burst_length() {
        let random = Conditions { loss: Chance::percent(20), ..Conditions::default() };
        let lost = arrivals(&mut shaper(random), 10_000).iter().filter(|at| at.is_none()).count();
        assert!(lost.abs_diff(2_000) < 200, "{lost} of 10000");

        let bursts = Conditions { burst: Some(Burst::of(Chance::percent(30), 10)), ..Conditions::default() };
        let arrived = arrivals(&mut shaper(bursts), 100_000);
        let lost = arrived.iter().filter(|at| at.is_none()).count();
        let runs = arrived.windows(2).filter(|pair| pair[0].is_some() && pair[1].is_none()).count();
        assert!(lost.abs_diff(30_000) < 2_000, "{lost} of 100000");
        assert!((lost / runs).abs_diff(10) <= 1, "{} packets per burst", lost / runs);
    }

    #[test]
    fn limited_bandwidth_queues_up_to_its_limit() {
        let narrow =
            Conditions { bytes_per_second: Some(128_000), queue_bytes: 1_000, ..Conditions::default() };
        let mut shaper = shaper(narrow);
        // 128 bytes with the headers take 1 ms; 7 of them are 896 bytes.
        for n in 1..=7 {
            let at = Micros::from_millis(n);
            assert_eq!(shaper.send(Micros::ZERO, 100), Fate::Arrives { at, again_at: None });
        }
        assert_eq!(shaper.send(Micros::ZERO, 100), Fate::Lost(Loss::QueueFull));
        let later = shaper.send(Micros::from_millis(2), 100);
        assert_eq!(later, Fate::Arrives { at: Micros::from_millis(8), again_at: None });
    }
}
