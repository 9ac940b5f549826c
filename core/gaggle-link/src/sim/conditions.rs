//! What a network does to the datagrams of one direction.

use gaggle_kit::Micros;

use super::Chance;

/// What happens to datagrams on their way from one peer to another. The default is a perfect
/// network: everything arrives, at once.
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
    /// How long every datagram is under way.
    pub latency: Micros,
    /// How much longer at most. It wanders at random from moment to moment, about once a frame from
    /// one value to another. Order is kept, as in a real queue: what is held up holds up what
    /// follows. To break the order use [`Conditions::reorder`].
    pub jitter: Micros,
    /// Datagrams lost one by one.
    pub loss: Chance,
    /// Datagrams lost in bursts, in addition.
    pub burst: Option<Burst>,
    /// Datagrams that arrive twice, the second time within [`Conditions::reorder_by`].
    pub duplicate: Chance,
    /// Datagrams that take up to [`Conditions::reorder_by`] longer and let the ones after them
    /// pass.
    pub reorder: Chance,
    /// How much longer at most.
    pub reorder_by: Micros,
    /// What the line carries; none for no limit. Each datagram counts with [`WIRE_OVERHEAD_BYTES`]
    /// on top.
    pub bytes_per_second: Option<u32>,
    /// How much may wait in front of a limited line; what comes on top is lost.
    pub queue_bytes: u32,
    /// Larger datagrams are lost without a word.
    pub datagram_bytes_max: usize,
    /// Everything is lost: the cable is out.
    pub is_cut: bool,
    /// The sender's carrier says it is busy: its own buffer is full.
    pub is_blocked: bool,
}

/// Headers of IPv4 and UDP, which share the line with every datagram.
pub const WIRE_OVERHEAD_BYTES: usize = 28;

impl Default for Conditions {
    fn default() -> Conditions {
        Conditions::PERFECT
    }
}

impl Conditions {
    /// Everything arrives, at once.
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

    /// Only slow: every datagram takes so many milliseconds.
    pub const fn latency_ms(millis: u64) -> Conditions {
        Conditions { latency: Micros::from_millis(millis), ..Conditions::PERFECT }
    }
}

/// Loss that comes in bursts (Gilbert and Elliott): the line is either good or bad, and changes at
/// random with each datagram. In the bad state everything is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Burst {
    /// How likely a good line turns bad at a datagram.
    pub begin: Chance,
    /// How likely a bad line turns good again at a datagram.
    pub end: Chance,
}

impl Burst {
    /// Bursts of `packets` on average that together lose this share of all datagrams.
    pub const fn of(share: Chance, packets: u32) -> Burst {
        let packets = if packets == 0 { 1 } else { packets };
        let end = 1_000_000 / packets;
        // In the long run the line is bad for begin / (begin + end) of all datagrams.
        let (lost, kept) = (share.parts_per_million(), 1_000_000 - share.parts_per_million());
        let begin = if kept == 0 { 1_000_000 } else { end as u64 * lost as u64 / kept as u64 };
        let begin = if begin > 1_000_000 { 1_000_000 } else { begin as u32 };
        Burst { begin: Chance::per_million(begin), end: Chance::per_million(end) }
    }
}
