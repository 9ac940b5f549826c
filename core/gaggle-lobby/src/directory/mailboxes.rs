//! Signals queued for members that are away.
//!
//! [`Directory`](super::Directory) fills them and delivers them when the member returns. Absent:
//! rooms, connections.

use std::collections::{BTreeMap, VecDeque};

use gaggle_kit::PeerId;

use super::command::QueuedSignal;
use crate::room::Attached;
use crate::rules::Rules;

/// Queue of each member that has one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Mailboxes(BTreeMap<PeerId, VecDeque<QueuedSignal>>);

impl Mailboxes {
    /// Queues a signal; drops the oldest ones beyond the limits.
    pub(super) fn push(&mut self, to: PeerId, signal: QueuedSignal, rules: &Rules) {
        let mailbox = self.0.entry(to).or_default();
        mailbox.push_back(signal);
        let bytes = |mailbox: &VecDeque<QueuedSignal>| {
            mailbox.iter().map(|signal| signal.data.as_str().len()).sum::<usize>()
        };
        while mailbox.len() > rules.queued_signals_max || bytes(mailbox) > rules.queued_signal_bytes_max {
            mailbox.pop_front();
        }
    }

    /// Queued signals of a returned member. Without a resume, signals numbered for its old
    /// connection are dropped.
    pub(super) fn take(&mut self, peer: PeerId, attached: Attached) -> Vec<QueuedSignal> {
        let is_useful =
            |signal: &QueuedSignal| signal.n.is_none() || matches!(attached, Attached::Resumed { .. });
        self.0.remove(&peer).unwrap_or_default().into_iter().filter(is_useful).collect()
    }

    /// Drops the queue of a member that left.
    pub(super) fn remove(&mut self, peer: PeerId) {
        self.0.remove(&peer);
    }

    /// Queues of all members.
    pub(super) fn iter(&self) -> impl Iterator<Item = (PeerId, &VecDeque<QueuedSignal>)> {
        self.0.iter().map(|(peer, signals)| (*peer, signals))
    }

    /// Restores an item of [`Mailboxes::iter`].
    pub(super) fn insert(&mut self, peer: PeerId, signals: Vec<QueuedSignal>) {
        self.0.insert(peer, signals.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::RawJson;

    fn signal(n: Option<u64>, bytes: usize) -> QueuedSignal {
        let data = RawJson::new(&format!("\"{}\"", "x".repeat(bytes - 2))).unwrap();
        QueuedSignal { from: PeerId::from_u128(1), n, data }
    }

    const TO: PeerId = PeerId::from_bytes([2; 16]);

    #[test]
    fn mailbox_over_count_drops_oldest() {
        let rules = Rules { queued_signals_max: 2, ..Rules::default() };
        let mut mailboxes = Mailboxes::default();
        (1..=3).for_each(|n| mailboxes.push(TO, signal(Some(n), 10), &rules));
        let resumed = Attached::Resumed { next_signal: 1, got: None };
        let numbers: Vec<_> = mailboxes.take(TO, resumed).iter().map(|signal| signal.n).collect();
        assert_eq!(numbers, [Some(2), Some(3)]);
        assert!(mailboxes.take(TO, resumed).is_empty());
    }

    #[test]
    fn mailbox_over_bytes_drops_oldest() {
        let rules = Rules { queued_signal_bytes_max: 25, ..Rules::default() };
        let mut mailboxes = Mailboxes::default();
        (1..=3).for_each(|_| mailboxes.push(TO, signal(None, 10), &rules));
        assert_eq!(mailboxes.take(TO, Attached::Fresh).len(), 2);
    }

    #[test]
    fn fresh_member_gets_no_numbered_signals() {
        let mut mailboxes = Mailboxes::default();
        mailboxes.push(TO, signal(Some(7), 10), &Rules::default());
        mailboxes.push(TO, signal(None, 10), &Rules::default());
        assert_eq!(mailboxes.take(TO, Attached::Fresh), [signal(None, 10)]);
    }

    #[test]
    fn member_that_left_has_no_mailbox() {
        let mut mailboxes = Mailboxes::default();
        mailboxes.push(TO, signal(None, 10), &Rules::default());
        mailboxes.remove(TO);
        assert_eq!(mailboxes.iter().count(), 0);
    }
}
