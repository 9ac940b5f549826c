//! Rate limits of one peer.
//!
//! The part that handles a message spends from them. Absent: what follows beyond a limit.

use gaggle_kit::Micros;
use gaggle_kit::rate_limit::{RateLimit, RateLimiter};

/// Attempts to change the view are the leader's business; others make some when they take it for
/// lost.
const CHANGES: RateLimit = RateLimit::per_second(2, 48);
const CHANGES_OF_LEADER: RateLimit = RateLimit::per_second(8, 256);
/// Promises a peer says it made to another, each of which may make all peers agree anew. Which of
/// the two invented them cannot be told: those beyond are not heeded yet. What is true is told in
/// every packet until it is over.
const PROMISES: RateLimit = RateLimit::per_second(1, 16);

/// What is left of a peer's rate limits.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Allowed {
    /// Packets of the running game.
    pub(crate) packets: RateLimiter,
    /// Messages other than those of a transfer.
    pub(crate) messages: RateLimiter,
    /// Attempts to change the view.
    pub(crate) changes: RateLimiter,
    /// Requests for a state or a feed.
    pub(crate) asks: RateLimiter,
    /// Recoveries it says it made with other peers' states.
    pub(crate) recoveries: RateLimiter,
    /// The highest ballot it has used.
    pub(crate) ballot: u32,
    /// Promises it says it made to others, and the highest of them.
    pub(crate) promises: RateLimiter,
    pub(crate) promise_ballot: u32,
    /// Bytes of messages forwarded for it, and to it.
    pub(crate) forward_bytes_from: RateLimiter,
    pub(crate) forward_bytes_to: RateLimiter,
    /// Ballots of messages it forwarded, and the highest of them.
    pub(crate) forwards: RateLimiter,
    pub(crate) forward_ballot: u32,
}

impl Allowed {
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
