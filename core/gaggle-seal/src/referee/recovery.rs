//! Recovery of a referee without a journal: which clients answered, and the best log among them.
//!
//! The referee feeds it answers and asks whether it may go on. Absent: links, time blocks, sealing.

use gaggle_kit::{Micros, PeerId, VecSet};

use crate::lineage::{Epoch, Lineage};
use crate::log::Log;

/// Time between two questions to clients.
const ASK_INTERVAL: Micros = Micros::from_millis(250);

#[derive(Debug)]
pub(super) struct Recovery {
    /// Members to wait for. `None`: the room has not named them yet.
    expected: Option<VecSet<PeerId>>,
    answered: VecSet<PeerId>,
    best: Option<(Lineage, Log)>,
    deadline: Micros,
    asked_at: Option<Micros>,
}

impl Recovery {
    pub(super) fn new(deadline: Micros) -> Recovery {
        Recovery { expected: None, answered: VecSet::new(), best: None, deadline, asked_at: None }
    }

    /// Sets the members that hold a log according to the room: all of them are waited for.
    pub(super) fn expect(&mut self, peers: impl Iterator<Item = PeerId>) {
        self.expected = Some(peers.collect());
    }

    /// Whether clients must be asked now; if so, the next question is due an interval later.
    pub(super) fn is_ask_due(&mut self, now: Micros) -> bool {
        let is_due = self.asked_at.is_none_or(|asked| now.since(asked) >= ASK_INTERVAL);
        if is_due {
            self.asked_at = Some(now);
        }
        is_due
    }

    pub(super) fn answers(&self) -> usize {
        self.answered.len()
    }

    /// Keeps the log of the highest term, and of those the longest.
    pub(super) fn take(&mut self, peer: PeerId, lineage: Lineage, log: Log) {
        let rank = |lineage: &Lineage, log: &Log| (lineage.epoch(), log.sealed());
        let is_better = self.best.as_ref().is_none_or(|(best, held)| rank(&lineage, &log) > rank(best, held));
        if is_better {
            self.best = Some((lineage, log));
        }
        self.answered.insert(peer);
    }

    /// Whether all expected members answered, or the timeout passed.
    pub(super) fn is_complete(&self, now: Micros) -> bool {
        let has_answered = |peer: &PeerId| self.answered.contains(peer);
        let all = self.expected.as_ref().is_some_and(|expected| expected.iter().all(has_answered));
        all || now >= self.deadline
    }

    /// The log to continue with. `None`: no client holds one, and the match begins again.
    pub(super) fn finish(&mut self, epoch: Epoch) -> Option<(Lineage, Log)> {
        let (mut lineage, log) = self.best.take()?;
        lineage.push(epoch, log.sealed());
        Some((lineage, log))
    }
}
