//! The roster as the log says, and events for what changed in it.
//!
//! `Sealed` asks after every packet. Absent: inputs, the game, links.

use gaggle_kit::{Frame, PeerId, Slot, SlotSet};
use gaggle_seal::{Log, OutReason, RosterChange};

use crate::event::{Events, SessionEvent};
use crate::roster::{Incarnation, RosterEntry, StreamId};

/// Entries after which the share of refused ones is looked at.
const LOOK_ENTRIES: u32 = 120;
/// Refused entries of that many from which the player lags behind, and below which it does no more.
const LAGGING: (u32, u32) = (12, 3);

/// Rows of the last sealed frame, and where former ones ended.
#[derive(Debug)]
pub(super) struct RosterWatch {
    /// Open rows in join order.
    rows: Vec<RosterEntry>,
    /// Last known end of a row in each slot: the first frame without it.
    left: Vec<Option<(Frame, OutReason)>>,
    /// Frame up to which changes were told.
    told: Frame,
    leader: Option<PeerId>,
}

impl RosterWatch {
    pub(super) fn new(slots: usize) -> RosterWatch {
        RosterWatch { rows: Vec::new(), left: vec![None; slots], told: Frame::START, leader: None }
    }

    pub(super) fn rows(&self) -> &[RosterEntry] {
        &self.rows
    }

    /// First frame without the player that was last in a slot, and why it left. `None` while a
    /// player is in it, or if none was.
    pub(super) fn left(&self, slot: Slot) -> Option<(Frame, OutReason)> {
        let is_taken = self.rows.iter().any(|row| row.slots.contains(slot));
        self.left.get(slot.index()).copied().flatten().filter(|_| !is_taken)
    }

    /// The log begins again at this frame, or ends there: later changes are void.
    pub(super) fn restart(&mut self, kept: Frame, log: &Log, events: &mut Events) {
        self.told = kept;
        self.left.iter_mut().for_each(|left| _ = left.take_if(|(frame, _)| *frame > kept));
        self.compare(log, events);
    }

    /// Tells what newly sealed frames changed.
    pub(super) fn observe(&mut self, log: &Log, events: &mut Events) {
        let sealed = log.sealed();
        if sealed <= self.told {
            return;
        }
        let mut is_changed = false;
        for event in log.roster_events().filter(|event| self.told < event.frame && event.frame <= sealed) {
            is_changed = true;
            if let RosterChange::Left(_, why) = event.change {
                self.left[event.slot.index()] = Some((event.frame, why));
            }
        }
        self.told = sealed;
        if is_changed {
            self.compare(log, events);
        }
    }

    fn compare(&mut self, log: &Log, events: &mut Events) {
        let before = std::mem::replace(&mut self.rows, rows_of(log));
        for row in &before {
            if !self.rows.iter().any(|now| now.stream == row.stream) {
                let end = row.slots.iter().find_map(|slot| self.left[slot.index()]);
                if matches!(end, Some((_, OutReason::Silent))) {
                    events.push(SessionEvent::TimedOut { peer: row.stream.peer });
                }
                let last = end.map_or(log.sealed(), |(frame, _)| frame.previous());
                events.push(SessionEvent::Left { peer: row.stream.peer, last });
            }
        }
        for row in &self.rows {
            if !before.iter().any(|old| old.stream == row.stream) {
                let (peer, slots, first) = (row.stream.peer, row.slots, row.first_frame);
                events.push(SessionEvent::Joined { peer, slots, first });
            }
        }
        let leader = self.rows.first().map(|row| row.stream.peer);
        if let Some(leader) = leader
            && self.leader.replace(leader).is_some_and(|before| before != leader)
        {
            events.push(SessionEvent::LeaderChanged { leader });
        }
    }
}

fn rows_of(log: &Log) -> Vec<RosterEntry> {
    let mut rows: Vec<RosterEntry> = Vec::new();
    for slot in (0..log.shape().slots()).map(Slot::at) {
        let Some(row) = log.row(log.sealed(), slot) else { continue };
        let incarnation = Incarnation(row.stream.incarnation);
        let stream = StreamId { peer: row.stream.peer, incarnation };
        match rows.iter_mut().find(|known| known.stream == stream) {
            Some(known) => known.slots.insert(slot),
            None => rows.push(RosterEntry {
                stream,
                slots: SlotSet::of(slot),
                first_frame: row.first,
                last_frame: Frame::NEVER,
            }),
        }
    }
    rows.sort_unstable_by_key(RosterEntry::rank);
    rows
}

/// Share of own entries that were refused.
#[derive(Debug, Default)]
pub(super) struct RefusedShare {
    entries: u32,
    refused: u32,
    is_lagging: bool,
}

impl RefusedShare {
    pub(super) fn note_refused(&mut self) {
        self.refused += 1;
    }

    /// Counts an own entry, and tells when many of the last ones were refused.
    pub(super) fn note_entry(&mut self, events: &mut Events) {
        self.entries += 1;
        if self.entries < LOOK_ENTRIES {
            return;
        }
        if self.refused >= LAGGING.0 && !self.is_lagging {
            let refused_permille = (self.refused * 1_000 / self.entries).min(1_000) as u16;
            events.push(SessionEvent::LaggingBehind { refused_permille });
        }
        self.is_lagging = self.refused >= if self.is_lagging { LAGGING.1 } else { LAGGING.0 };
        (self.entries, self.refused) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lagging_is_told_once_per_spell() {
        let (mut share, mut events) = (RefusedShare::default(), Events::default());
        let mut spell = |refused: u32| {
            (0..refused).for_each(|_| share.note_refused());
            (0..LOOK_ENTRIES).for_each(|_| share.note_entry(&mut events));
            std::iter::from_fn(|| events.pop()).count()
        };
        assert_eq!([0, 11, 30, 20, 5, 2, 60].map(&mut spell), [0, 0, 1, 0, 0, 0, 1]);
    }
}
