//! A remote stream in the roster: how far its entries are held.
//!
//! `InputLog` keeps one for each. Absent: the entries, which peer sends them.

use gaggle_kit::Frame;

use crate::roster::RosterEntry;

/// One remote stream in the roster.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RemoteStream {
    pub(crate) row: RosterEntry,
    /// Last frame up to which its entries are held without gap.
    pub(crate) have: Frame,
    /// First frame from which its entries are held without gap.
    pub(crate) since: Frame,
}

impl RemoteStream {
    /// Whether the table holds any entry of the stream.
    pub(crate) fn is_held(&self) -> bool {
        self.have >= self.since
    }

    /// Frame up to which no entry of this stream is awaited.
    #[inline]
    pub(super) fn received_frame(&self) -> Frame {
        // Frames before a row's first one count for no peer; a row that was cut before its first
        // frame counts for none at all.
        let have = self.have.max(self.row.first_frame.previous());
        if have >= self.row.last_frame { Frame::NEVER } else { have }
    }
}

#[cfg(test)]
mod tests {
    use gaggle_kit::{PeerId, SlotSet};

    use super::*;
    use crate::roster::{Incarnation, StreamId};

    fn stream(first: u32, last: Frame, have: u32) -> RemoteStream {
        let stream = StreamId { peer: PeerId::from_u128(2), incarnation: Incarnation(1) };
        let slots = SlotSet::first(1);
        let row = RosterEntry { stream, slots, first_frame: Frame::new(first), last_frame: last };
        RemoteStream { row, have: Frame::new(have), since: Frame::new(first) }
    }

    #[test]
    fn entries_before_first_frame_are_not_awaited() {
        assert_eq!(stream(5, Frame::NEVER, 2).received_frame(), Frame::new(4));
        assert_eq!(stream(5, Frame::NEVER, 7).received_frame(), Frame::new(7));
    }

    #[test]
    fn complete_stream_is_never_awaited() {
        assert_eq!(stream(5, Frame::new(9), 9).received_frame(), Frame::NEVER);
        assert_eq!(stream(5, Frame::new(3), 2).received_frame(), Frame::NEVER, "cut before its first frame");
    }

    #[test]
    fn stream_without_entries_is_not_held() {
        assert!(!stream(5, Frame::NEVER, 4).is_held() && stream(5, Frame::NEVER, 5).is_held());
    }
}
