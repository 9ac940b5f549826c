//! What members who left had used up of their limits, until they would have it again: coming back
//! must not be worth anything.

use std::collections::{BTreeMap, VecDeque};

use gaggle_kit::{Micros, PeerId};
use gaggle_lobby::RoomId;

use crate::member::Limits;

/// After this time the slowest of the limits is whole again.
const KEPT: Micros = Micros::from_secs(16);

/// Who left lately.
#[derive(Debug)]
pub(crate) struct Left {
    members_max: usize,
    limits: BTreeMap<(RoomId, PeerId), (Micros, Limits)>,
    /// The same in the order in which they left; some have come back since.
    order: VecDeque<(Micros, (RoomId, PeerId))>,
}

impl Left {
    /// For so many at a time: of more, those who left first are forgotten.
    pub(crate) fn new(members_max: usize) -> Left {
        Left { members_max, limits: BTreeMap::new(), order: VecDeque::new() }
    }

    /// A member left.
    pub(crate) fn put(&mut self, now: Micros, room: RoomId, peer: PeerId, limits: Limits) {
        self.limits.insert((room, peer), (now, limits));
        self.order.push_back((now, (room, peer)));
        while self.order.len() > self.members_max {
            self.forget_first();
        }
    }

    /// A member came: what it had left, if it was here lately.
    pub(crate) fn take(&mut self, now: Micros, room: RoomId, peer: PeerId) -> Option<Limits> {
        while self.order.front().is_some_and(|(at, _)| now.since(*at) >= KEPT) {
            self.forget_first();
        }
        self.limits.remove(&(room, peer)).map(|(_, limits)| limits)
    }

    fn forget_first(&mut self) {
        let Some((at, who)) = self.order.pop_front() else { return };
        if self.limits.get(&who).is_some_and(|(left_at, _)| *left_at == at) {
            self.limits.remove(&who);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::RelayConfig;

    const ROOM: RoomId = RoomId::from_bytes([1; 16]);

    fn at(second: u64) -> Micros {
        Micros::from_secs(second)
    }

    #[test]
    fn it_is_kept_for_a_while_and_taken_once() {
        let (mut left, limits) = (Left::new(10), Limits::new(at(0), &RelayConfig::default()));
        let [ada, ben] = [1, 2].map(PeerId::from_u128);
        left.put(at(1), ROOM, ada, limits);
        left.put(at(2), ROOM, ben, limits);
        assert!(left.take(at(3), ROOM, ada).is_some() && left.take(at(3), ROOM, ada).is_none());
        // Back and gone again: the second time counts.
        left.put(at(16), ROOM, ada, limits);
        assert!(left.take(at(18), ROOM, ben).is_none(), "long gone");
        assert!(left.take(at(18), ROOM, ada).is_some());
        assert!(left.limits.is_empty());
    }

    #[test]
    fn nothing_grows() {
        let (mut left, limits) = (Left::new(10), Limits::new(at(0), &RelayConfig::default()));
        for nth in 0..1_000 {
            left.put(at(1), ROOM, PeerId::from_u128(nth), limits);
            left.put(at(1), ROOM, PeerId::from_u128(7), limits);
        }
        assert!(left.limits.len() <= 10 && left.order.len() <= 10);
        assert!(left.take(at(1), ROOM, PeerId::from_u128(999)).is_some(), "the last is there");
    }
}
