//! Leases of nodes: which nodes are alive, in which epoch.
//!
//! [`Directory`](super::Directory) checks them before it attaches a connection. Absent: rooms,
//! clocks.

use std::collections::BTreeMap;

use gaggle_kit::Micros;

use super::command::Lease;
use crate::id::NodeId;
use crate::room::Attachment;

/// Leases of all nodes.
#[derive(Debug, Default)]
pub(super) struct Leases {
    /// Epoch and lease end of each node that is alive.
    alive: BTreeMap<NodeId, (u32, Micros)>,
    /// Last expired epoch of each node.
    dead: BTreeMap<NodeId, u32>,
}

/// Result of a renewal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(super) enum Renewal {
    /// The lease is extended.
    Continued,
    /// A new epoch starts and ends the previous one, if there was one.
    Started { ended: Option<u32> },
    /// This epoch had expired before.
    Expired,
}

impl Leases {
    /// Starts or extends a lease.
    pub(super) fn renew(&mut self, now: Micros, lease: Lease) -> Renewal {
        let Lease { node, epoch, ttl } = lease;
        let known = self.alive.get(&node).map(|(epoch, _)| *epoch);
        let died = self.dead.get(&node).copied();
        if known.max(died).is_some_and(|later| later > epoch) || died == Some(epoch) {
            return Renewal::Expired;
        }
        let ended = known.filter(|known| *known < epoch);
        if let Some(ended) = ended {
            self.dead.insert(node, ended);
        }
        self.alive.insert(node, (epoch, now.saturating_add(ttl)));
        if known == Some(epoch) { Renewal::Continued } else { Renewal::Started { ended } }
    }

    /// Whether the node of a connection is still in the epoch in which the connection was made.
    pub(super) fn is_alive(&self, link: Attachment) -> bool {
        self.alive.get(&link.node).is_some_and(|(epoch, _)| *epoch == link.epoch)
    }

    /// Expires one node whose lease has ended.
    pub(super) fn expire(&mut self, now: Micros) -> Option<(NodeId, u32)> {
        let over = self.alive.iter().find(|(_, (_, until))| *until <= now);
        let (node, epoch) = over.map(|(node, (epoch, _))| (*node, *epoch))?;
        self.alive.remove(&node);
        self.dead.insert(node, epoch);
        Some((node, epoch))
    }

    /// When the next lease ends.
    pub(super) fn next_deadline(&self) -> Option<Micros> {
        self.alive.values().map(|(_, until)| *until).min().filter(|until| *until < Micros::MAX)
    }

    /// Every known epoch with the end of its lease; none if expired.
    pub(super) fn iter(&self) -> impl Iterator<Item = (NodeId, u32, Option<Micros>)> {
        let alive = self.alive.iter().map(|(node, (epoch, until))| (*node, *epoch, Some(*until)));
        alive.chain(self.dead.iter().map(|(node, epoch)| (*node, *epoch, None)))
    }

    /// Restores an item of [`Leases::iter`].
    pub(super) fn insert(&mut self, node: NodeId, epoch: u32, until: Option<Micros>) {
        match until {
            Some(until) => drop(self.alive.insert(node, (epoch, until))),
            None => drop(self.dead.insert(node, epoch)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::ResumeId;

    const SECOND: Micros = Micros::from_secs(1);

    fn lease(epoch: u32) -> Lease {
        Lease { node: NodeId(1), epoch, ttl: SECOND }
    }

    fn link(epoch: u32) -> Attachment {
        Attachment { node: NodeId(1), epoch, session: ResumeId(1) }
    }

    #[test]
    fn lease_renewed_in_time_continues() {
        let mut leases = Leases::default();
        assert_eq!(leases.renew(Micros::ZERO, lease(1)), Renewal::Started { ended: None });
        assert_eq!(leases.renew(Micros::from_millis(900), lease(1)), Renewal::Continued);
        assert_eq!(leases.expire(SECOND), None);
        assert!(leases.is_alive(link(1)));
        assert_eq!(leases.next_deadline(), Some(Micros::from_millis(1_900)));
    }

    #[test]
    fn expired_epoch_never_returns() {
        let mut leases = Leases::default();
        let _ = leases.renew(Micros::ZERO, lease(1));
        assert_eq!(leases.expire(SECOND), Some((NodeId(1), 1)));
        assert!(!leases.is_alive(link(1)));
        assert_eq!(leases.renew(SECOND, lease(1)), Renewal::Expired);
        assert_eq!(leases.renew(SECOND, lease(2)), Renewal::Started { ended: None });
        assert_eq!(leases.renew(SECOND, lease(1)), Renewal::Expired);
    }

    #[test]
    fn later_epoch_ends_earlier_one() {
        let mut leases = Leases::default();
        let _ = leases.renew(Micros::ZERO, lease(1));
        assert_eq!(leases.renew(Micros::ZERO, lease(2)), Renewal::Started { ended: Some(1) });
        assert!(leases.is_alive(link(2)) && !leases.is_alive(link(1)));
    }

    #[test]
    fn lease_without_end_has_no_deadline() {
        let mut leases = Leases::default();
        let _ = leases.renew(SECOND, Lease { ttl: Micros::MAX, ..lease(1) });
        assert_eq!((leases.next_deadline(), leases.expire(Micros::from_secs(1 << 30))), (None, None));
    }
}
