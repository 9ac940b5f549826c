//! Stream of the local peer as membership knows it: its seat, its first and last frame.
//!
//! `Membership` owns it. Absent: entries, the streams of others, when a peer may leave.

use gaggle_kit::{Frame, SlotSet};

use super::held::{EntryIndex, Held, Streams};
use crate::roster::StreamId;

/// The own stream, and the slots its players want.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct OwnStream {
    /// Number of local players, and their preferred slots.
    players: u8,
    wanted: SlotSet,
    /// Index where the own entry was last found.
    place: EntryIndex,
    first: Option<Frame>,
    /// Kept because the stream may be forgotten before every peer has read its last entry.
    last: Option<Frame>,
    is_leaving: bool,
}

impl OwnStream {
    pub(super) fn new(players: u8, wanted: SlotSet) -> OwnStream {
        let place = EntryIndex::default();
        OwnStream { players, wanted, place, first: None, last: None, is_leaving: false }
    }

    pub(super) fn players(&self) -> u8 {
        self.players
    }

    pub(super) fn wanted(&self) -> SlotSet {
        self.wanted
    }

    /// Slots for a match that this peer creates.
    pub(super) fn slots_to_begin_with(&self) -> SlotSet {
        let players = usize::from(self.players);
        if self.wanted.len() == players { self.wanted } else { SlotSet::first(players) }
    }

    /// First frame of the stream, once it has begun.
    pub(super) fn first(&self) -> Option<Frame> {
        self.first
    }

    /// Last frame of the stream, once the goodbye is written.
    pub(super) fn last(&self) -> Option<Frame> {
        self.last
    }

    /// Whether the players asked to leave.
    pub(super) fn is_leaving(&self) -> bool {
        self.is_leaving
    }

    /// The match begins with these slots for the local players.
    pub(super) fn seat(&mut self, slots: SlotSet, first: Frame) {
        self.prefer(slots);
        self.players = slots.len() as u8;
        self.first = Some(first);
    }

    /// The players want these slots when they join again.
    pub(super) fn prefer(&mut self, slots: SlotSet) {
        self.wanted = slots;
    }

    /// Another stream follows, which has no entry yet.
    pub(super) fn restart(&mut self) {
        (self.first, self.last) = (None, None);
    }

    pub(super) fn set_leaving(&mut self, is_leaving: bool) {
        self.is_leaving = is_leaving;
    }

    /// An entry was written. True if it is the first one.
    #[must_use]
    pub(super) fn note_entry(&mut self, frame: Frame, is_last: bool) -> bool {
        let is_first = self.first.is_none();
        self.first.get_or_insert(frame);
        if is_last {
            self.last = Some(frame);
        }
        is_first
    }

    /// Held entries of the stream.
    pub(super) fn held<'a>(&self, streams: &'a Streams, me: StreamId) -> Option<&'a Held> {
        streams.get_near(self.place, me)
    }

    /// As [`held`](OwnStream::held), and remembers where they are.
    pub(super) fn held_mut<'a>(&mut self, streams: &'a mut Streams, me: StreamId) -> Option<&'a mut Held> {
        streams.get_near_mut(&mut self.place, me)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_entry_is_told_once_and_last_one_kept() {
        let mut own = OwnStream::new(1, SlotSet::EMPTY);
        assert!(own.note_entry(Frame::new(5), false) && !own.note_entry(Frame::new(6), true));
        assert_eq!((own.first(), own.last()), (Some(Frame::new(5)), Some(Frame::new(6))));
        own.restart();
        assert_eq!((own.first(), own.last()), (None, None));
    }

    #[test]
    fn wanted_slots_are_taken_if_they_fit_players() {
        let mut own = OwnStream::new(2, SlotSet::from_bits(0b1010));
        assert_eq!(own.slots_to_begin_with(), SlotSet::from_bits(0b1010));
        own.prefer(SlotSet::from_bits(0b1000));
        assert_eq!(own.slots_to_begin_with(), SlotSet::first(2));
    }

    #[test]
    fn seat_sets_players_and_first_frame() {
        let mut own = OwnStream::new(0, SlotSet::EMPTY);
        own.seat(SlotSet::first(3), Frame::new(1));
        assert_eq!((own.players(), own.first(), own.is_leaving()), (3, Some(Frame::new(1)), false));
    }
}
