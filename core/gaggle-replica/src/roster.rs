//! Members present, as this peer knows them. Rosters of two peers may differ for a while; agreement
//! needs equal ones only in the end. Policies and games read it. Absent: links, how members join.

use gaggle_kit::{Slot, SlotSet};

use crate::MemberId;

/// Most players at one peer.
pub(crate) const LOCAL_PLAYERS_MAX: usize = 8;

/// A member that is present, with the slots of the players at its peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RosterMember {
    /// This stay of the peer.
    pub id: MemberId,
    /// Slot of its player; if it has several, of the first.
    pub slot: Slot,
    /// Slots of the other players at the same peer, all after the first; usually empty.
    pub extra_slots: SlotSet,
}

impl RosterMember {
    /// A member with one player.
    pub(crate) fn new(id: MemberId, slot: Slot) -> RosterMember {
        RosterMember { id, slot, extra_slots: SlotSet::EMPTY }
    }

    /// Slots of all players at the peer, the lowest first.
    pub fn slots(&self) -> impl Iterator<Item = Slot> + use<> {
        std::iter::once(self.slot).chain(self.extra_slots)
    }

    /// Whether a player at the peer has this slot.
    pub fn has_slot(&self, slot: Slot) -> bool {
        self.slot == slot || self.extra_slots.contains(slot)
    }

    /// Number of players at the peer, 1 to 8.
    pub(crate) fn player_count(&self) -> usize {
        1 + self.extra_slots.len()
    }
}

/// Members present, this peer included, in join order.
#[derive(Clone, Debug, Default)]
pub struct Roster {
    present: Vec<RosterMember>,
}

impl Roster {
    /// All members, in join order.
    pub fn iter(&self) -> impl Iterator<Item = RosterMember> {
        self.present.iter().copied()
    }

    /// Number of members present.
    pub fn len(&self) -> usize {
        self.present.len()
    }

    /// Whether the roster is empty: this peer has not been admitted yet.
    pub fn is_empty(&self) -> bool {
        self.present.is_empty()
    }

    /// The member present longest, which is the leader.
    pub fn leader(&self) -> Option<RosterMember> {
        self.present.first().copied()
    }

    /// Whether this member is present.
    pub fn contains(&self, member: MemberId) -> bool {
        self.present.binary_search_by_key(&member, |present| present.id).is_ok()
    }

    /// A member, if it is present.
    pub(crate) fn of_member(&self, member: MemberId) -> Option<RosterMember> {
        let found = self.present.binary_search_by_key(&member, |present| present.id);
        found.ok().map(|index| self.present[index])
    }

    /// The roster with this member added.
    pub(crate) fn with(&self, present: RosterMember) -> Roster {
        let mut roster = self.clone();
        if !roster.contains(present.id) {
            roster.insert(present);
        }
        roster
    }

    /// The roster without this member.
    pub(crate) fn without(&self, member: MemberId) -> Roster {
        let mut roster = self.clone();
        roster.remove(member);
        roster
    }

    /// The member whose peer has this slot, if it is present: the latest stay if two have it.
    pub fn by_slot(&self, player: Slot) -> Option<RosterMember> {
        self.present.iter().rev().find(|present| present.has_slot(player)).copied()
    }

    pub(crate) fn insert(&mut self, present: RosterMember) {
        let place = self.present.partition_point(|other| other.id < present.id);
        self.present.insert(place, present);
    }

    pub(crate) fn remove(&mut self, member: MemberId) {
        self.present.retain(|present| present.id != member);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemberTag;

    #[test]
    fn first_in_join_order_leads_and_latest_stay_counts() {
        let present = |join_order, tag, slot| {
            RosterMember::new(MemberId { join_order, tag: MemberTag(tag) }, Slot::at(slot))
        };
        let mut roster = Roster::default();
        for stay in [present(3, 1, 0), present(1, 7, 1), present(1, 5, 2), present(4, 2, 1)] {
            roster.insert(stay);
        }
        assert_eq!(roster.leader(), Some(present(1, 5, 2)));
        assert_eq!(roster.by_slot(Slot::at(1)), Some(present(4, 2, 1)));
        roster.remove(present(4, 2, 1).id);
        assert_eq!(roster.by_slot(Slot::at(1)), Some(present(1, 7, 1)));
        assert!(!roster.contains(present(4, 2, 1).id) && roster.contains(present(3, 1, 0).id));
    }

    #[test]
    fn member_with_two_players_is_found_by_either_slot() {
        let id = MemberId { join_order: 1, tag: MemberTag(9) };
        let two =
            RosterMember { extra_slots: SlotSet::of(Slot::at(5)), ..RosterMember::new(id, Slot::at(2)) };
        let mut roster = Roster::default();
        roster.insert(two);
        assert_eq!([2, 5, 3].map(|slot| roster.by_slot(Slot::at(slot))), [Some(two), Some(two), None]);
        assert_eq!(two.slots().map(Slot::index).collect::<Vec<_>>(), [2, 5]);
        assert_eq!(two.player_count(), 2);
    }
}
