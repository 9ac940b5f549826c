//! Conditions of one direction of a network: delay, loss, bandwidth.
//!
//! Used by [`SimNet`](super::SimNet) and [`LinkConditioner`](crate::LinkConditioner). Absent: their
//! random draws (`shaper.rs`).

use gaggle_kit::Micros;

use super::Chance;

/// Conditions of datagrams from one peer to another. The default is a perfect network: all arrive
/// at once.
///
/// ```
/// use gaggle_kit::Micros;
/// use gaggle_link::sim::{Burst, Chance, Conditions};
///
/// let bad_wifi = Conditions {
///     latency: Micros::from_millis(40),
///     jitter: Micros::from_millis(20),
///     loss: Chance::percent(1),
///     burst: Some(Burst::of(Chance::percent(5), 8)),
///     ..Conditions::default()
/// };
/// # _ = bad_wifi;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conditions {
    /// One-way delay of every datagram.
    pub latency: Micros,
    /// Largest additional delay. It drifts between random values, about one per frame. Order is
    /// kept, as in a real queue: a delayed datagram delays the following ones.
    /// [`Conditions::reorder`] breaks the order.
    pub jitter: Micros,
    /// Independent losses of datagrams.
    pub loss: Chance,
    /// Losses in bursts, in addition.
    pub burst: Option<Burst>,
    /// Datagrams that arrive twice, the copy within [`Conditions::reorder_by`].
    pub duplicate: Chance,
    /// Datagrams delayed by up to [`Conditions::reorder_by`] and overtaken by later ones.
    pub reorder: Chance,
    /// Largest delay of a reordered datagram.
    pub reorder_by: Micros,
    /// Bandwidth; none for no limit. Each datagram counts with [`WIRE_OVERHEAD_BYTES`] on top.
    pub bytes_per_second: Option<u32>,
    /// Queue in front of limited bandwidth; excess is lost.
    pub queue_bytes: u32,
    /// Larger datagrams are lost silently.
    pub datagram_bytes_max: usize,
    /// Everything is lost, as with an unplugged cable.
    pub is_cut: bool,
    /// The sender's carrier reports backpressure.
    pub is_blocked: bool,
}

/// IPv4 and UDP headers of every datagram, which use bandwidth.
pub const WIRE_OVERHEAD_BYTES: usize = 28;

impl Default for Conditions {
    fn default() -> Conditions {
        Conditions::PERFECT
    }
}

impl Conditions {
    /// Everything arrives at once.
    pub const PERFECT: Conditions = Conditions {
        latency: Micros::ZERO,
        jitter: Micros::ZERO,
        loss: Chance::NEVER,
        burst: None,
        duplicate: Chance::NEVER,
        reorder: Chance::NEVER,
        reorder_by: Micros::from_millis(30),
        bytes_per_second: None,
        queue_bytes: 64 * 1024,
        datagram_bytes_max: 1_500,
        is_cut: false,
        is_blocked: false,
    };

    /// Perfect except for this one-way delay.
    pub const fn latency_ms(millis: u64) -> Conditions {
        Conditions { latency: Micros::from_millis(millis), ..Conditions::PERFECT }
    }
}

/// Bursts of loss (Gilbert and Elliott): the path is good or bad, and changes at random with each
/// datagram. In the bad state everything is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Burst {
    /// Probability that a good path turns bad at a datagram.
    pub begin: Chance,
    /// Probability that a bad path turns good at a datagram.
    pub end: Chance,
}

impl Burst {
    /// Bursts of `packets` on average that together lose this share of all datagrams.
    pub const fn of(share: Chance, packets: u32) -> Burst {
        let packets = if packets == 0 { 1 } else { packets };
        let end = 1_000_000 / packets;
        // In the long run the path is bad for begin / (begin + end) of all datagrams.
        let (lost, kept) = (share.parts_per_million(), 1_000_000 - share.parts_per_million());
        let begin = if kept == 0 { 1_000_000 } else { end as u64 * lost as u64 / kept as u64 };
        let begin = if begin > 1_000_000 { 1_000_000 } else { begin as u32 };
        Burst { begin: Chance::per_million(begin), end: Chance::per_million(end) }
    }
}
