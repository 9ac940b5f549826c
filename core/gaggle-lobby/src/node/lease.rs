//! The node's own lease: its epoch, and when to renew it.
//!
//! Owned by [`Node`](super::Node). Absent: the directory that grants it.

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
    /// A renewal is in the log and not applied: a second one could be for an epoch that has ended.
    is_pending: bool,
}

impl OwnLease {
    pub(super) fn new(node: NodeId, ttl: Micros) -> OwnLease {
        OwnLease { node, epoch: 1, ttl, due: None, is_pending: false }
    }

    pub(super) fn node(&self) -> NodeId {
        self.node
    }

    /// Epoch of this node.
    pub(super) fn epoch(&self) -> u32 {
        self.epoch
    }

    /// When to renew it; never if it has no end.
    pub(super) fn due(&self) -> Option<Micros> {
        self.due
    }

    /// The renewal to append, unless one is pending.
    #[must_use]
    pub(super) fn renew(&mut self, now: Micros) -> Option<Lease> {
        self.due = (self.ttl < Micros::MAX).then(|| now + Micros::new(self.ttl.get() / 3));
        let lease = Lease { node: self.node, epoch: self.epoch, ttl: self.ttl };
        (!std::mem::replace(&mut self.is_pending, true)).then_some(lease)
    }

    /// Whether this is the reply to the pending renewal.
    #[must_use]
    pub(super) fn is_answered(&mut self, lease: &Lease) -> bool {
        let is_ours = (lease.node, lease.epoch) == (self.node, self.epoch);
        self.is_pending &= !is_ours;
        is_ours
    }

    /// Starts the next epoch.
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
    fn pending_lease_is_not_doubled() {
        let mut own = OwnLease::new(NodeId(1), TTL);
        let lease = own.renew(Micros::ZERO).unwrap();
        assert_eq!(own.due(), Some(Micros::from_secs(2)));
        assert_eq!(own.renew(Micros::from_secs(2)), None);
        assert!(own.is_answered(&lease));
        assert_eq!(own.renew(Micros::from_secs(4)), Some(lease));
    }

    #[test]
    fn lease_of_earlier_epoch_answers_nothing() {
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
