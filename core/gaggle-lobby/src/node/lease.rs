//! The node's own lease: which life it lives, and when to renew it.
//!
//! Absent: the directory that grants it.

use gaggle_kit::Micros;

use crate::directory::command::Lease;
use crate::id::NodeId;

/// The lease of this node.
#[derive(Debug)]
pub(super) struct OwnLease {
    node: NodeId,
    epoch: u32,
    ttl: Micros,
    due: Option<Micros>,
    /// One is in the log and has not been applied: a second one would be for a life that may be
    /// over.
    is_pending: bool,
}

impl OwnLease {
    pub(super) fn new(node: NodeId, ttl: Micros) -> OwnLease {
        OwnLease { node, epoch: 1, ttl, due: None, is_pending: false }
    }

    pub(super) fn node(&self) -> NodeId {
        self.node
    }

    /// Which life the node lives.
    pub(super) fn epoch(&self) -> u32 {
        self.epoch
    }

    /// When to renew it; never if it has no end.
    pub(super) fn due(&self) -> Option<Micros> {
        self.due
    }

    /// The lease to be appended, unless one is on its way.
    #[must_use]
    pub(super) fn renew(&mut self, now: Micros) -> Option<Lease> {
        self.due = (self.ttl < Micros::MAX).then(|| now + Micros::new(self.ttl.get() / 3));
        let lease = Lease { node: self.node, epoch: self.epoch, ttl: self.ttl };
        (!std::mem::replace(&mut self.is_pending, true)).then_some(lease)
    }

    /// Whether this is the reply to the lease on its way.
    #[must_use]
    pub(super) fn is_answered(&mut self, lease: &Lease) -> bool {
        let is_ours = (lease.node, lease.epoch) == (self.node, self.epoch);
        self.is_pending &= !is_ours;
        is_ours
    }

    /// Begins another life.
    pub(super) fn restart(&mut self) {
        self.epoch += 1;
        self.is_pending = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTL: Micros = Micros::from_secs(6);

    #[test]
    fn lease_on_its_way_is_not_doubled() {
        let mut own = OwnLease::new(NodeId(1), TTL);
        let lease = own.renew(Micros::ZERO).unwrap();
        assert_eq!(own.due(), Some(Micros::from_secs(2)));
        assert_eq!(own.renew(Micros::from_secs(2)), None);
        assert!(own.is_answered(&lease));
        assert_eq!(own.renew(Micros::from_secs(4)), Some(lease));
    }

    #[test]
    fn lease_of_earlier_life_answers_nothing() {
        let mut own = OwnLease::new(NodeId(1), TTL);
        let earlier = own.renew(Micros::ZERO).unwrap();
        own.restart();
        let lease = own.renew(Micros::ZERO).unwrap();
        assert_eq!((own.epoch(), lease.epoch), (2, 2));
        assert!(!own.is_answered(&earlier));
        assert_eq!(own.renew(Micros::ZERO), None);
    }

    #[test]
    fn lease_without_end_is_never_due() {
        let mut own = OwnLease::new(NodeId(1), Micros::MAX);
        assert!(own.renew(Micros::ZERO).is_some());
        assert_eq!(own.due(), None);
    }
}
