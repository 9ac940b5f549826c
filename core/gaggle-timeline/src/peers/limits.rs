//! Rate limits of one peer.
//!
//! The part that handles a message spends from them. Absent: what follows beyond a limit.

use gaggle_kit::Micros;
use gaggle_kit::rate_limit::{RateLimit, RateLimiter};

/// Rate of a peer's packets: ten times that of the busiest honest one. Beyond it packets, which a
/// network can multiply, are dropped; messages, which it cannot, are a fault.
const PACKETS: RateLimit = RateLimit::per_second(4_096, 4_096);
const MESSAGES: RateLimit = RateLimit::per_second(256, 1_024);
/// States others may say they took: more than they can have. Those beyond are not heeded.
const RECOVERIES: RateLimit = RateLimit::per_second(1, 4);
/// Requests for a state or a feed.
const ASKS: RateLimit = RateLimit::per_second(1, 16);
/// Attempts to change the view are the leader's business; others make some when they take it for
/// lost.
const CHANGES: RateLimit = RateLimit::per_second(2, 48);
const CHANGES_OF_LEADER: RateLimit = RateLimit::per_second(8, 256);
/// Promises a peer says it made to another, each of which may make all peers agree anew. Which of
/// the two invented them cannot be told: those beyond are not heeded yet. What is true is told in
/// every packet until it is over.
const PROMISES: RateLimit = RateLimit::per_second(1, 16);

/// Attempts to change the view one peer may bring messages about: many more than happen to honest
/// ones.
pub(crate) const FORWARDS: RateLimit = RateLimit::per_second(2, 48);
/// Bytes of messages passed on for one peer, and to one. What two say to each other about a change
/// takes a few thousand. Both are well below what a link keeps for a slow peer: none is cut off for
/// what others have written to it.
const FORWARD_BYTES_FROM: RateLimit = RateLimit::per_second(64 << 10, 512 << 10);
const FORWARD_BYTES_TO: RateLimit = RateLimit::per_second(128 << 10, 1 << 20);

/// What is left of a peer's rate limits.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Allowed {
    /// Packets of the running game.
    packets: RateLimiter,
    /// Messages other than those of a transfer.
    messages: RateLimiter,
    /// Attempts to change the view.
    changes: RateLimiter,
    /// Requests for a state or a feed.
    asks: RateLimiter,
    /// Recoveries it says it made with other peers' states.
    recoveries: RateLimiter,
    /// The highest ballot it has used.
    ballot: u32,
    /// Promises it says it made to others, and the highest of them.
    promises: RateLimiter,
    promise_ballot: u32,
    /// Bytes of messages forwarded for it, and to it.
    forward_bytes_from: RateLimiter,
    forward_bytes_to: RateLimiter,
    /// Ballots of messages it forwarded, and the highest of them.
    forwards: RateLimiter,
    forward_ballot: u32,
}

impl Allowed {
    /// Whether another packet is within the limit.
    #[must_use]
    pub(crate) fn may_send_packet(&mut self, now: Micros) -> bool {
        self.packets.try_acquire(now, &PACKETS, 1).is_ok()
    }

    /// Whether another message is within the limit.
    #[must_use]
    pub(crate) fn may_send_message(&mut self, now: Micros) -> bool {
        self.messages.try_acquire(now, &MESSAGES, 1).is_ok()
    }

    /// Whether another recovery that it says it made is heeded.
    #[must_use]
    pub(crate) fn may_recover(&mut self, now: Micros) -> bool {
        self.recoveries.try_acquire(now, &RECOVERIES, 1).is_ok()
    }

    /// Whether another request for a state or a feed is within the limit.
    #[must_use]
    pub(crate) fn may_ask(&mut self, now: Micros) -> bool {
        self.asks.try_acquire(now, &ASKS, 1).is_ok()
    }

    /// Whether this many bytes may be forwarded for the peer, `to` another. Messages over the limit
    /// are dropped: their senders repeat them.
    #[must_use]
    pub(crate) fn may_forward(&mut self, now: Micros, bytes: usize, to: &mut Allowed) -> bool {
        let count = bytes as u64;
        self.forward_bytes_from.try_acquire(now, &FORWARD_BYTES_FROM, count).is_ok()
            && to.forward_bytes_to.try_acquire(now, &FORWARD_BYTES_TO, count).is_ok()
    }

    /// Whether a forwarded message about a view change with this ballot is within the limit.
    /// Repeating one costs nothing.
    #[must_use]
    pub(crate) fn may_bring(&mut self, now: Micros, ballot: u32) -> bool {
        let is_newer = ballot > self.forward_ballot;
        self.forward_ballot = self.forward_ballot.max(ballot);
        !is_newer || self.forwards.try_acquire(now, &FORWARDS, 1).is_ok()
    }

    /// Whether an attempt to change the view is within the limit. A repeated attempt costs nothing.
    #[must_use]
    pub(crate) fn may_change(&mut self, now: Micros, ballot: u32, leads: bool) -> bool {
        let is_newer = ballot > self.ballot;
        self.ballot = self.ballot.max(ballot);
        let limit = if leads { CHANGES_OF_LEADER } else { CHANGES };
        !is_newer || self.changes.try_acquire(now, &limit, 1).is_ok()
    }

    /// Whether a promise made to another peer is handled: a peer that claims ever higher ones would
    /// restart view changes without end.
    #[must_use]
    pub(crate) fn may_promise(&mut self, now: Micros, ballot: u32) -> bool {
        let is_newer = ballot > self.promise_ballot;
        if is_newer && self.promises.try_acquire(now, &PROMISES, 1).is_err() {
            return false;
        }
        self.promise_ballot = self.promise_ballot.max(ballot);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Micros = Micros::from_secs(1);

    #[test]
    fn attempts_beyond_limit_are_churn_and_repeating_is_free() {
        let mut allowed = Allowed::default();
        let count = (1..500).filter(|ballot| allowed.may_change(NOW, *ballot, false)).count();
        assert_eq!(count, CHANGES.burst as usize);
        assert!(allowed.may_change(NOW, 499, false));
    }

    #[test]
    fn leader_may_attempt_more() {
        let mut allowed = Allowed::default();
        let count = (1..500).filter(|ballot| allowed.may_change(NOW, *ballot, true)).count();
        assert_eq!(count, CHANGES_OF_LEADER.burst as usize);
    }

    #[test]
    fn promise_beyond_limit_is_heeded_later() {
        let mut allowed = Allowed::default();
        let count = (1..99).filter(|ballot| allowed.may_promise(NOW, *ballot)).count();
        assert_eq!(count, PROMISES.burst as usize);
        assert!(!allowed.may_promise(NOW, 99) && allowed.may_promise(NOW + NOW, 99));
    }
}
