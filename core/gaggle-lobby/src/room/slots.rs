//! Slots and colors of a room: which ones a joiner gets, and which of them another player left.
//!
//! Called by `members.rs`. Games keep state per slot for a while, which does not belong to the next
//! player. Absent: who may join.

use gaggle_kit::{Micros, PeerId, Slot, SlotSet};

use super::{FreedSlot, JoinRequest};
use crate::players::LocalPlayers;
use crate::view::{Member, RoomView};

/// Free slots for a joiner: first those it had before, then those no player had, then those freed
/// longest ago. Among unused ones the preferred slot comes first: many games color players by slot.
pub(super) fn slots_for(view: &RoomView, freed: &[FreedSlot], joiner: &JoinRequest) -> Option<SlotSet> {
    let rank = |slot: Slot| match freed.iter().find(|freed| freed.slot == slot) {
        Some(freed) if freed.peer == joiner.peer => (0, Micros::ZERO),
        None => (1, Micros::ZERO),
        Some(freed) => (2, freed.at),
    };
    let mut free: Vec<Slot> = free_slots(view).iter().collect();
    let is_preferred = |slot: Slot| slot.index() == usize::from(joiner.preferred_slot);
    free.sort_by_key(|slot| (rank(*slot), !is_preferred(*slot), *slot));
    take(&free, joiner.players)
}

/// Slots of a peer whose first one was `first`, if free. Tickets do not name the others, which most
/// likely follow directly.
pub(super) fn slots_from(view: &RoomView, first: Slot, players: LocalPlayers) -> Option<SlotSet> {
    let free = free_slots(view);
    let mut slots: Vec<Slot> = free.iter().collect();
    slots.sort_by_key(|slot| (*slot < first, *slot));
    free.contains(first).then(|| take(&slots, players)).flatten()
}

/// Records that a member's slots become free. Game state in them belongs to the member, unless it
/// stayed only briefly: then to the player before.
pub(super) fn note_freed(freed: &mut Vec<FreedSlot>, now: Micros, member: &Member, passed_by: bool) {
    let (slots, peer, player) = (member.slots(), member.peer, Some(member.player));
    freed.retain(|freed| passed_by || !slots.contains(freed.slot));
    for slot in slots {
        if freed.iter().all(|freed| freed.slot != slot) {
            freed.push(FreedSlot { slot, peer, player, at: now });
        }
    }
}

/// Slots of a member that another player had before: game state in them does not belong to the
/// member.
pub(super) fn reused(freed: &[FreedSlot], member: &Member) -> Vec<Slot> {
    let is_other = |freed: &FreedSlot| {
        freed.peer != member.peer && freed.player.is_none_or(|player| player != member.player)
    };
    let left_by_other = |slot: &Slot| freed.iter().any(|freed| freed.slot == *slot && is_other(freed));
    member.slots().iter().filter(left_by_other).collect()
}

/// The preferred palette, or the lowest unused one.
pub(super) fn free_palette(view: &RoomView, peer: PeerId, preferred: u8) -> u8 {
    let taken = |palette: u8| view.players().any(|member| member.palette == palette && member.peer != peer);
    if !taken(preferred) {
        return preferred;
    }
    (0..=u8::MAX).find(|&palette| !taken(palette)).unwrap_or(preferred)
}

fn free_slots(view: &RoomView) -> SlotSet {
    SlotSet::first(usize::from(view.max_players)).difference(view.occupied_slots())
}

fn take(slots: &[Slot], players: LocalPlayers) -> Option<SlotSet> {
    slots.get(..players.count().into()).map(|slots| slots.iter().copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::PlayerId;

    fn member(number: u8, slot: usize) -> Member {
        Member {
            peer: PeerId::from_bytes([number; 16]),
            player: PlayerId::from_bytes([number; 16]),
            name: "Nia".parse().unwrap(),
            slot: Some(Slot::at(slot)),
            extra_slots: Vec::new(),
            palette: number,
            ready: false,
            away: false,
            resting: false,
        }
    }

    #[test]
    fn freed_slot_remembers_its_last_player() {
        let mut freed = Vec::new();
        note_freed(&mut freed, Micros::ZERO, &member(1, 2), false);
        note_freed(&mut freed, Micros::from_secs(1), &member(2, 2), false);
        assert_eq!(freed.len(), 1);
        assert_eq!((freed[0].peer, freed[0].at), (member(2, 2).peer, Micros::from_secs(1)));
    }

    #[test]
    fn player_passing_by_leaves_no_trace() {
        let mut freed = Vec::new();
        note_freed(&mut freed, Micros::ZERO, &member(1, 2), false);
        note_freed(&mut freed, Micros::from_secs(1), &member(2, 2), true);
        assert_eq!(freed[0].peer, member(1, 2).peer);
    }

    #[test]
    fn slot_of_another_player_is_reused() {
        let mut freed = Vec::new();
        note_freed(&mut freed, Micros::ZERO, &member(1, 2), false);
        assert_eq!(reused(&freed, &member(2, 2)), [Slot::at(2)]);
        assert!(reused(&freed, &member(1, 2)).is_empty());
        assert!(reused(&freed, &member(2, 3)).is_empty());
    }
}
