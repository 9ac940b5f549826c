//! Rooms that ended: no ticket restores them.
//!
//! Otherwise a player removed from a room could restore it alone after it ended. Called by
//! [`Directory`](super::Directory). Absent: what the rooms were.

use std::collections::{BTreeSet, VecDeque};

use gaggle_kit::Micros;

use crate::id::RoomId;

/// Ended rooms kept: as many as one address can create in a day.
const ENDED_MAX: usize = 1 << 17;

/// Ended rooms in order, with the time their last ticket expires.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct EndedRooms {
    order: VecDeque<(Micros, RoomId)>,
    known: BTreeSet<RoomId>,
}

impl EndedRooms {
    /// Remembers a room until its last ticket has expired.
    pub(super) fn insert(&mut self, now: Micros, until: Micros, room: RoomId) {
        self.order.push_back((until, room));
        self.known.insert(room);
        while self.order.front().is_some_and(|(until, _)| *until <= now) || self.order.len() > ENDED_MAX {
            if let Some((_, room)) = self.order.pop_front() {
                self.known.remove(&room);
            }
        }
    }

    /// Whether a room ended.
    pub(super) fn contains(&self, room: RoomId) -> bool {
        self.known.contains(&room)
    }

    /// All ended rooms, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Micros, RoomId)> {
        self.order.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(number: u32) -> RoomId {
        let mut id = [0; 16];
        id[..4].copy_from_slice(&number.to_le_bytes());
        RoomId::from_bytes(id)
    }

    #[test]
    fn ended_room_is_known() {
        let mut ended = EndedRooms::default();
        ended.insert(Micros::ZERO, Micros::from_secs(1), room(1));
        assert!(ended.contains(room(1)) && !ended.contains(room(2)));
    }

    #[test]
    fn room_without_valid_tickets_is_forgotten() {
        let mut ended = EndedRooms::default();
        ended.insert(Micros::ZERO, Micros::from_secs(1), room(1));
        ended.insert(Micros::from_secs(1), Micros::from_secs(2), room(2));
        assert_eq!(ended.iter().collect::<Vec<_>>(), [(Micros::from_secs(2), room(2))]);
        assert!(!ended.contains(room(1)));
    }

    #[test]
    fn excess_rooms_push_out_oldest() {
        let mut ended = EndedRooms::default();
        (0..=ENDED_MAX as u32).for_each(|number| ended.insert(Micros::ZERO, Micros::MAX, room(number)));
        assert_eq!((ended.order.len(), ended.known.len()), (ENDED_MAX, ENDED_MAX));
        assert!(!ended.contains(room(0)) && ended.contains(room(1)));
    }
}
