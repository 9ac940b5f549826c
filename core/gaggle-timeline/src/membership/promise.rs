//! Promise of a ballot, and the streams that may still grow until its view change is over.
//!
//! `Membership` owns it. Absent: what follows from a view.

use super::ballot::Ballot;
use super::rules::Rules;
use crate::roster::StreamId;

/// A promise and the restriction on streams that keeps it.
///
/// A peer that has reported its entries to a coordinator must not take more from streams about to
/// be cut: it could confirm a frame that the view then decides without them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Fence {
    promised: Ballot,
    /// Highest ballot number ever seen.
    number_seen: u32,
    /// Streams that may still grow, in order; all of them if no promise restricts them.
    allow: Option<Vec<StreamId>>,
}

impl Fence {
    pub(crate) fn new(promised: Ballot) -> Fence {
        Fence { promised, number_seen: 0, allow: None }
    }

    /// A stay begins in a view of this ballot: promises of the one before are void, the numbers
    /// they used are not.
    pub(crate) fn restart(&mut self, promised: Ballot) {
        *self = Fence { number_seen: self.number_seen, ..Fence::new(promised) };
    }

    pub(crate) fn number_seen(&self) -> u32 {
        self.number_seen
    }

    /// A ballot with this number is in use.
    pub(crate) fn see(&mut self, number: u32) {
        self.number_seen = self.number_seen.max(number);
    }

    pub(crate) fn promised(&self) -> Ballot {
        self.promised
    }

    pub(crate) fn is_up(&self) -> bool {
        self.allow.is_some()
    }

    /// Promises `ballot`: from now on only streams of the quorum grow, and only those that still
    /// might. A later promise never allows more.
    pub(crate) fn promise(&mut self, ballot: Ballot, circle: &[StreamId], rules: &Rules) {
        self.promised = self.promised.max(ballot);
        if !rules.fence {
            return;
        }
        let before = if rules.fence_never_widens { self.allow.take() } else { None };
        self.allow = Some(match before {
            None => circle.to_vec(),
            Some(mut allow) => {
                allow.retain(|stream| circle.contains(stream));
                allow
            }
        });
    }

    /// Promises without excluding any stream.
    pub(crate) fn raise(&mut self, ballot: Ballot) {
        self.promised = self.promised.max(ballot);
    }

    /// Ends with the installation of a view made at `ballot`.
    pub(crate) fn settle(&mut self, ballot: Ballot, rules: &Rules) {
        if ballot >= self.promised || !rules.promise_binds {
            self.allow = None;
        }
        self.promised = self.promised.max(ballot);
    }

    /// Ends because the promise was for a view that was replaced.
    pub(crate) fn lower(&mut self) {
        self.allow = None;
    }

    /// Whether this stream may grow. Streams not known yet are excluded as well.
    pub(crate) fn admits(&self, stream: StreamId, is_known: bool, rules: &Rules) -> bool {
        match &self.allow {
            None => true,
            Some(allow) => allow.contains(&stream) || !is_known && !rules.fence_covers_strangers,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roster::Incarnation;
    use gaggle_kit::PeerId;

    #[test]
    fn fence_only_narrows_until_its_view_arrives() {
        let stream = |n: u128| StreamId { peer: PeerId::from_u128(n), incarnation: Incarnation(0) };
        let ballot = |number| Ballot { number, by: stream(1) };
        let rules = Rules::ALL;
        let mut fence = Fence::new(ballot(0));
        assert!(fence.admits(stream(3), true, &rules));
        fence.promise(ballot(1), &[stream(1), stream(2)], &rules);
        fence.promise(ballot(2), &[stream(1), stream(2), stream(3)], &rules);
        assert!(fence.admits(stream(2), true, &rules));
        assert!(!fence.admits(stream(3), true, &rules), "a newer promise readmits no stream");
        assert!(!fence.admits(stream(9), false, &rules), "nor an unknown one");
        fence.settle(ballot(1), &rules);
        assert!(fence.is_up(), "an older view does not end it");
        fence.settle(ballot(2), &rules);
        assert!(!fence.is_up());
    }
}
