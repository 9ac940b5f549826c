//! Who is present at which frame.
//!
//! A stream is what one machine has to say during one stay: it is immutable and has a name. Peers can
//! therefore never disagree about a value in it, only about from which frame to which it counts.

use std::fmt;

use gaggle_kit::{Frame, PeerId, SlotSet};

/// Tells apart the stays of one machine in a match: drawn at random, used once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Incarnation(pub u32);

impl fmt::Debug for Incarnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:08x}", self.0)
    }
}

/// The name of a stream: a machine and its stay.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId {
    /// The machine.
    pub peer: PeerId,
    /// Which of its stays.
    pub incarnation: Incarnation,
}

impl fmt::Debug for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}{:?}", self.peer, self.incarnation)
    }
}

/// One stream's place in the roster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Whose machine.
    pub peer: PeerId,
    /// Which players.
    pub slots: SlotSet,
    /// The first frame in which it counts.
    pub first: Frame,
    /// The last frame in which it counts; [`Frame::NEVER`] while it is open.
    pub last: Frame,
}

impl Row {
    /// A stream that counts from the first frame on.
    pub fn from_start(peer: PeerId, slots: SlotSet) -> Row {
        Row { peer, slots, first: Frame::START.next(), last: Frame::NEVER }
    }

    /// Whether it counts at `frame`.
    pub fn counts_at(&self, frame: Frame) -> bool {
        self.first <= frame && frame <= self.last
    }

    /// Longest present first; of those who came together, the lowest slot.
    pub fn rank(&self) -> (Frame, u32) {
        (self.first, self.slots.bits().trailing_zeros())
    }
}

/// The slots present at `frame`.
pub(crate) fn present_at<'a>(rows: impl IntoIterator<Item = &'a Row>, frame: Frame) -> SlotSet {
    rows.into_iter().filter(|row| row.counts_at(frame)).fold(SlotSet::EMPTY, |set, row| set.union(row.slots))
}

/// Who leads at `frame`: the peer present longest.
pub(crate) fn lead_at<'a>(rows: impl IntoIterator<Item = &'a Row>, frame: Frame) -> Option<PeerId> {
    rows.into_iter().filter(|row| row.counts_at(frame)).min_by_key(|row| row.rank()).map(|row| row.peer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gaggle_kit::Slot;

    #[test]
    fn the_lead_is_who_was_there_longest_then_the_lowest_slot() {
        let row = |peer: u128, slot, first, last| Row {
            peer: PeerId::from_u128(peer),
            slots: SlotSet::of(Slot::at(slot)),
            first: Frame::new(first),
            last,
        };
        let rows = [row(1, 2, 1, Frame::new(50)), row(2, 1, 1, Frame::new(20)), row(3, 0, 9, Frame::NEVER)];
        let lead = |frame| lead_at(&rows, Frame::new(frame)).map(PeerId::to_u128);
        assert_eq!(
            [lead(1), lead(20), lead(21), lead(50), lead(51)],
            [Some(2), Some(2), Some(1), Some(1), Some(3)]
        );
        assert_eq!(present_at(&rows, Frame::new(30)).bits(), 0b101);
        assert_eq!(lead_at(&rows, Frame::START), None);
    }
}
