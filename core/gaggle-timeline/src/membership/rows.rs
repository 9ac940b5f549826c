//! Roster table: which stream counts from which frame to which, and which one leads.
//!
//! All of membership reads it. Absent: how rows are agreed.

use gaggle_kit::{Frame, SlotSet};

pub(crate) use crate::roster::RosterEntry;
use crate::roster::StreamId;

/// Most rows of a table, ended ones that still matter included.
pub(crate) const ROWS_MAX: usize = 64;

/// Changes of the known roster: whether one was not read yet, and when the next one may come.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Changes {
    is_unread: bool,
    /// The roster does not change before this frame.
    quiet_until: Frame,
}

impl Changes {
    /// The roster changed.
    pub(super) fn note(&mut self) {
        self.is_unread = true;
    }

    pub(super) fn is_unread(&self) -> bool {
        self.is_unread
    }

    /// Whether it changed since the last call.
    pub(super) fn take(&mut self) -> bool {
        std::mem::take(&mut self.is_unread)
    }

    pub(super) fn quiet_until(&self) -> Frame {
        self.quiet_until
    }

    pub(super) fn set_quiet_until(&mut self, frame: Frame) {
        self.quiet_until = frame;
    }
}

/// Finds the row of a stream.
pub(crate) fn row_of(rows: &[RosterEntry], stream: StreamId) -> Option<&RosterEntry> {
    rows.iter().find(|row| row.stream == stream)
}

/// Whether a stream has an open row, one without a last frame.
pub(crate) fn is_open(rows: &[RosterEntry], stream: StreamId) -> bool {
    row_of(rows, stream).is_some_and(RosterEntry::is_active)
}

/// Leader at `frame`: the stream first in join order.
pub(crate) fn leader_at(rows: &[RosterEntry], frame: Frame) -> Option<&RosterEntry> {
    rows.iter().filter(|row| row.is_present_at(frame)).min_by_key(|row| row.rank())
}

/// Slots that are free at `frame` and later.
pub(crate) fn free_slots(rows: &[RosterEntry], frame: Frame, slot_count: usize) -> SlotSet {
    let taken = rows.iter().filter(|row| row.last_frame >= frame && row.last_frame >= row.first_frame);
    let taken = taken.fold(SlotSet::EMPTY, |set, row| set.union(row.slots));
    SlotSet::first(slot_count).difference(taken)
}

/// Whether two tables are equal for every frame after `after` up to `to`.
pub(crate) fn agree_between(left: &[RosterEntry], right: &[RosterEntry], after: Frame, to: Frame) -> bool {
    let clip = |row: &RosterEntry| {
        let (first, last) = (row.first_frame.max(after.next()), row.last_frame.min(to));
        (first <= last).then_some((row.stream, row.slots, first, last))
    };
    let all_in = |these: &[RosterEntry], those: &[RosterEntry]| {
        these.iter().filter_map(clip).all(|clipped| those.iter().any(|row| clip(row) == Some(clipped)))
    };
    all_in(left, right) && all_in(right, left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roster::Incarnation;
    use gaggle_kit::PeerId;

    fn row(peer: u128, slot: u64, first: u32, last: u32) -> RosterEntry {
        let stream = StreamId { peer: PeerId::from_u128(peer), incarnation: Incarnation(1) };
        let last = if last == 0 { Frame::NEVER } else { Frame::new(last) };
        RosterEntry {
            stream,
            slots: SlotSet::from_bits(1 << slot),
            first_frame: Frame::new(first),
            last_frame: last,
        }
    }

    #[test]
    fn leader_is_first_in_join_order_then_lowest_slot() {
        let rows = [row(1, 2, 1, 50), row(2, 1, 1, 20), row(3, 0, 9, 0)];
        let leader = |frame| leader_at(&rows, Frame::new(frame)).map(|row| row.stream.peer.to_u128());
        assert_eq!([leader(1), leader(20), leader(21), leader(51)], [Some(2), Some(2), Some(1), Some(3)]);
        assert_eq!(leader(0), None);
    }

    #[test]
    fn slot_is_free_after_row_ends() {
        let rows = [row(1, 0, 1, 50), row(2, 1, 1, 0), row(3, 2, 60, 59)];
        assert_eq!(free_slots(&rows, Frame::new(50), 3).bits(), 0b100);
        assert_eq!(free_slots(&rows, Frame::new(51), 3).bits(), 0b101);
        assert!(!rows[0].collides(&row(4, 0, 51, 0)));
        assert!(rows[0].collides(&row(4, 0, 50, 0)));
    }

    #[test]
    fn tables_agree_where_their_rows_do() {
        let (long, short) = ([row(1, 0, 1, 0), row(2, 1, 1, 0)], [row(1, 0, 1, 0), row(2, 1, 1, 30)]);
        assert!(agree_between(&long, &short, Frame::new(10), Frame::new(30)));
        assert!(!agree_between(&long, &short, Frame::new(10), Frame::new(31)));
        assert!(!agree_between(&long, &short[..1], Frame::new(10), Frame::new(11)));
        assert!(agree_between(&short, &short[..1], Frame::new(30), Frame::new(40)));
    }
}
