//! Rows of a match: which stream has which slot since when, and why former rows ended.
//!
//! The log owns it, advances it with every sealed frame, and reverts it with frames taken back.
//! Absent: values, kinds, links, tickets.

use std::collections::VecDeque;

use gaggle_kit::{Frame, PeerId, Slot};

/// One process of a peer: its entries have one value for each frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId {
    /// Peer the process belongs to.
    pub peer: PeerId,
    /// Number of the process, higher after each restart.
    pub incarnation: u32,
}

/// A stream in a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Stream whose entries count for the slot.
    pub stream: StreamId,
    /// Frame of its join.
    pub first: Frame,
}

/// Why a row ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutReason {
    /// The peer left.
    Goodbye,
    /// Its entries were missed for too long.
    Silent,
    /// The application removed it.
    Removed,
    /// A newer process of the same peer took its slots.
    Replaced,
}

impl OutReason {
    pub(crate) const fn code(self) -> u64 {
        match self {
            OutReason::Goodbye => 0,
            OutReason::Silent => 1,
            OutReason::Removed => 2,
            OutReason::Replaced => 3,
        }
    }

    pub(crate) const fn from_code(code: u64) -> OutReason {
        match code & 3 {
            0 => OutReason::Goodbye,
            1 => OutReason::Silent,
            2 => OutReason::Removed,
            _ => OutReason::Replaced,
        }
    }
}

/// The beginning or end of a row in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RosterChange {
    /// The row begins, with a missed entry.
    Joined(StreamId),
    /// The row ended: it is not in this frame.
    Left(Row, OutReason),
}

/// A change of a slot's row, with its frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RosterEvent {
    /// First frame after the change.
    pub frame: Frame,
    /// Slot of the row.
    pub slot: Slot,
    /// What changed for the slot.
    pub change: RosterChange,
}

/// Rows by slot, with the changes of the frames that are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Roster {
    rows: Vec<Option<Row>>,
    /// Sorted by frame for each slot.
    events: VecDeque<RosterEvent>,
}

impl Roster {
    pub(crate) fn new(slots: usize) -> Roster {
        // Room for a join per frame and an end of each row: more than a stable match ever has.
        Roster { rows: vec![None; slots], events: VecDeque::with_capacity(16) }
    }

    pub(crate) fn row(&self, slot: usize) -> Option<Row> {
        *self.rows.get(slot)?
    }

    /// The row at the end of an earlier frame that is still kept.
    pub(crate) fn row_at(&self, slot: usize, frame: Frame) -> Option<Row> {
        let later = |event: &&RosterEvent| event.slot.index() == slot && event.frame > frame;
        // The oldest change after the frame tells the row before it.
        match self.events.iter().find(later).map(|event| event.change) {
            Some(RosterChange::Left(row, _)) => Some(row),
            Some(RosterChange::Joined(_)) => None,
            None => self.rows[slot],
        }
    }

    /// Changes of this frame and slot, oldest first: an end, a join, or both.
    pub(crate) fn changes(&self, frame: Frame, slot: usize) -> impl Iterator<Item = RosterChange> + '_ {
        let is_here = move |event: &&RosterEvent| event.frame == frame && event.slot.index() == slot;
        self.events.iter().filter(is_here).map(|event| event.change)
    }

    /// Change number `index` of the newest frame with changes, if that is this frame.
    pub(crate) fn nth_of(&self, frame: Frame, index: usize) -> Option<RosterEvent> {
        let count = self.events.iter().rev().take_while(|event| event.frame == frame).count();
        (index < count).then(|| self.events[self.events.len() - count + index])
    }

    pub(crate) fn events(&self) -> impl Iterator<Item = &RosterEvent> {
        self.events.iter()
    }

    pub(crate) fn join(&mut self, frame: Frame, slot: usize, stream: StreamId) {
        self.rows[slot] = Some(Row { stream, first: frame });
        let change = RosterChange::Joined(stream);
        self.events.push_back(RosterEvent { frame, slot: Slot::at(slot), change });
    }

    /// Ends a row. `None` if the slot has none.
    pub(crate) fn leave(&mut self, frame: Frame, slot: usize, why: OutReason) -> Option<Row> {
        let row = self.rows[slot].take()?;
        let change = RosterChange::Left(row, why);
        self.events.push_back(RosterEvent { frame, slot: Slot::at(slot), change });
        Some(row)
    }

    /// Sets a row without recording a change, from a checkpoint.
    pub(crate) fn set(&mut self, slot: usize, row: Option<Row>) {
        self.rows[slot] = row;
    }

    /// Takes back all changes after a frame.
    pub(crate) fn truncate(&mut self, keep: Frame) {
        for slot in 0..self.rows.len() {
            self.rows[slot] = self.row_at(slot, keep);
        }
        self.events.retain(|event| event.frame <= keep);
    }

    /// Reverts the changes of one lane's slots after a frame, because a packet was wrong in the
    /// middle of a frame.
    pub(crate) fn undo(&mut self, slots: std::ops::Range<usize>, keep: Frame) {
        for slot in slots.clone() {
            self.rows[slot] = self.row_at(slot, keep);
        }
        self.events.retain(|event| event.frame <= keep || !slots.contains(&event.slot.index()));
    }

    /// Drops changes up to a frame, which are before all kept frames.
    pub(crate) fn forget(&mut self, through: Frame) {
        while self.events.front().is_some_and(|event| event.frame <= through) {
            self.events.pop_front();
        }
    }

    pub(crate) fn clear(&mut self) {
        self.rows.fill(None);
        self.events.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(number: u128) -> StreamId {
        StreamId { peer: PeerId::from_u128(number), incarnation: 0 }
    }

    #[test]
    fn truncated_roster_is_as_it_was_then() {
        let mut roster = Roster::new(3);
        let mut then = Vec::new();
        for frame in 1..=20 {
            let now = Frame::new(frame);
            let slot = frame as usize % 3;
            if roster.row(slot).is_some() {
                roster.leave(now, slot, OutReason::Replaced);
            }
            if frame % 4 != 0 {
                roster.join(now, slot, stream(frame.into()));
            }
            then.push((now, roster.rows.clone()));
        }
        for (frame, rows) in then.iter().rev() {
            let seen: Vec<_> = (0..3).map(|slot| roster.row_at(slot, *frame)).collect();
            assert_eq!(seen, *rows, "{frame}");
            let mut back = roster.clone();
            back.truncate(*frame);
            assert_eq!(back.rows, *rows);
            roster = back;
        }
    }

    #[test]
    fn out_reasons_round_trip_their_codes() {
        for why in [OutReason::Goodbye, OutReason::Silent, OutReason::Removed, OutReason::Replaced] {
            assert_eq!(OutReason::from_code(why.code()), why);
        }
    }
}
