//! Membership: present members in join order, departed ones, and the identity of this peer. The
//! session asks it at every hello, tick and leave. Absent: objects, packets.

mod handshake;
mod join_order;

pub(crate) use handshake::mismatch;

use std::collections::VecDeque;

use gaggle_kit::{Micros, PeerId, Prng, Slot, SlotSet};

use crate::config::JoinMode;
use crate::message::NUMBER_NONE;
use crate::roster::{Roster, RosterMember};
use crate::session::cx::Cx;
use crate::{MemberId, MemberTag};

/// Most members remembered to have left.
const DEPARTED_MAX: usize = 256;

/// Members as this peer sees them.
#[derive(Debug)]
pub(crate) struct Membership {
    me: RosterMember,
    roster: Roster,
    /// Members this peer had a link with.
    known_members: VecDeque<KnownMember>,
    /// Peers that came after this one became a member.
    joiners: VecDeque<PeerId>,
    /// The peer that did not accept this one's join order, and assigns another.
    renumbered_by: Option<PeerId>,
    /// All peers that did not accept it, a few times each.
    doubted_by: Vec<PeerId>,
    /// Identities of peers that the caller stated; `None` for a spectator.
    identities: Vec<(PeerId, Option<Identity>)>,
    /// Members who left, the latest last.
    departed: VecDeque<Departed>,
    spectator: bool,
    /// More peers are expected: a session created now would be a second one.
    awaits_others: bool,
    /// Highest join order received so far.
    highest: u32,
    epoch: u32,
    admitted_at: Micros,
    /// Since when there is a peer to wait for, but no member among them.
    waiting_since: Option<Micros>,
    joined_leader: Option<MemberId>,
    /// Time since which the present leader leads.
    leader_since: Micros,
    age: SessionAge,
    /// Generator of member tags.
    random: Prng,
}

/// Slots of the players at one peer: the first, and the others.
pub(crate) type Identity = (Slot, SlotSet);

/// A member this peer had a link with.
#[derive(Debug, Clone, Copy)]
struct KnownMember {
    member: MemberId,
    /// Its peer, if this one was a member itself.
    at: Option<PeerId>,
    /// Whether it introduced itself in answer to this peer's present identity: a later member at
    /// that peer came after this one.
    answered_us: bool,
}

/// A member who left.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Departed {
    pub(crate) present: RosterMember,
    pub(crate) at: Micros,
    /// It announced that it leaves.
    pub(crate) goodbye: bool,
    /// Objects it had announced and not introduced yet.
    pub(crate) unheard: u32,
}

/// Age of the session, from the first member in join order.
#[derive(Debug, Default)]
struct SessionAge {
    /// Age in µs when ticks began to count here; negative if those ticks are older than the
    /// session.
    at_start: i64,
    /// Member that decides the age, and the age in µs when its ticks began to count.
    by: Option<MemberId>,
    there: Option<i64>,
}

impl Membership {
    /// This peer as a member, with the slots of its players.
    #[inline]
    pub(crate) fn me(&self) -> RosterMember {
        self.me
    }

    #[inline]
    pub(crate) fn roster(&self) -> &Roster {
        &self.roster
    }

    /// Members who left, the latest last.
    pub(crate) fn departed(&self) -> &VecDeque<Departed> {
        &self.departed
    }

    #[inline]
    pub(crate) fn is_spectator(&self) -> bool {
        self.spectator
    }

    /// Sets whether more peers are expected: a session created now would be a second one.
    pub(crate) fn set_awaits_others(&mut self, awaits: bool) {
        self.awaits_others = awaits;
    }

    /// Highest join order received so far.
    pub(crate) fn highest(&self) -> u32 {
        self.highest
    }

    /// Takes note of the join order of a member.
    pub(crate) fn note_join_order(&mut self, order: u32) {
        self.highest = self.highest.max(order);
    }

    /// Time since which the present leader leads.
    pub(crate) fn leader_since(&self) -> Micros {
        self.leader_since
    }

    /// A member is present from now on.
    pub(crate) fn insert(&mut self, member: RosterMember) {
        self.roster.insert(member);
    }

    #[cfg(test)]
    pub(crate) fn me_mut(&mut self) -> &mut RosterMember {
        &mut self.me
    }

    #[cfg(test)]
    pub(crate) fn roster_mut(&mut self) -> &mut Roster {
        &mut self.roster
    }

    /// A dishonest spectator acts as a player.
    #[cfg(test)]
    pub(crate) fn pretend_to_play(&mut self) {
        self.spectator = false;
    }

    /// `random` has drawn `tag`.
    pub(crate) fn new(player: Slot, entry: JoinMode, tag: MemberTag, mut random: Prng) -> Membership {
        let join_order = match entry {
            JoinMode::Create => 0,
            JoinMode::Join | JoinMode::Spectate => NUMBER_NONE,
            JoinMode::Start(number) => number.min(NUMBER_NONE - 1),
        };
        let id = MemberId { join_order, tag };
        let by = (join_order != NUMBER_NONE).then_some(id);
        Membership {
            me: RosterMember::new(id, player),
            roster: Roster::default(),
            known_members: VecDeque::new(),
            joiners: VecDeque::new(),
            renumbered_by: None,
            doubted_by: Vec::new(),
            identities: Vec::new(),
            departed: VecDeque::new(),
            spectator: entry == JoinMode::Spectate,
            awaits_others: false,
            highest: 0,
            epoch: random.next_u32() >> 1 | 1,
            admitted_at: Micros::ZERO,
            waiting_since: None,
            joined_leader: None,
            leader_since: Micros::ZERO,
            age: SessionAge { by, ..SessionAge::default() },
            random,
        }
    }

    pub(crate) fn is_member(&self) -> bool {
        self.me.id.join_order != NUMBER_NONE
    }

    pub(crate) fn is_leader(&self) -> bool {
        self.roster.leader().is_some_and(|leader| leader.id == self.me.id)
    }

    /// Epoch of the next link.
    pub(crate) fn next_epoch(&mut self) -> u32 {
        self.epoch = self.epoch.wrapping_add(1).max(1);
        self.epoch
    }

    /// Becomes a member with this join order. Returns whether it was one before, under another.
    pub(crate) fn admit(&mut self, join_order: u32, now: Micros) -> bool {
        self.me.id.join_order = join_order.min(NUMBER_NONE - 1);
        self.highest = self.highest.max(self.me.id.join_order);
        self.waiting_since = None;
        self.admitted_at = now;
        self.roster.insert(self.me);
        self.renumbered_by.take().is_some()
    }

    /// Removes a member that left.
    pub(crate) fn remove(&mut self, departed: Departed) {
        if self.departed.len() == DEPARTED_MAX {
            self.departed.pop_front();
        }
        self.departed.push_back(departed);
        self.roster.remove(departed.present.id);
    }

    /// Changes the slots of this peer.
    pub(crate) fn set_slots(&mut self, (slot, extra_slots): Identity) {
        self.roster.remove(self.me.id);
        (self.me.slot, self.me.extra_slots) = (slot, extra_slots);
        if self.is_member() {
            self.roster.insert(self.me);
        }
    }

    /// The leader, if it changed since the last call, and whether there was one before.
    #[must_use]
    pub(crate) fn take_new_leader(&mut self, now: Micros) -> Option<(RosterMember, bool)> {
        let leader = self.roster.leader().filter(|leader| self.joined_leader != Some(leader.id))?;
        let was_led = self.joined_leader.replace(leader.id).is_some();
        self.leader_since = now;
        Some((leader, was_led))
    }

    /// Age of the session, about equal on all peers.
    pub(crate) fn session_age(&self, cx: &Cx) -> Micros {
        Micros::new(u64::try_from(self.age.at_start + cx.ticked_for()).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn membership(entry: JoinMode) -> Membership {
        Membership::new(Slot::at(1), entry, MemberTag(5), Prng::new(3))
    }

    #[test]
    fn joiner_is_no_member_until_admitted() {
        let mut members = membership(JoinMode::Join);
        assert!(!members.is_member() && members.roster.is_empty() && members.age.by.is_none());
        assert!(!members.admit(4, Micros::from_secs(1)));
        assert!(members.is_member() && members.is_leader());
        assert_eq!((members.highest, members.admitted_at), (4, Micros::from_secs(1)));
    }

    #[test]
    fn renumbered_member_was_one_before() {
        let mut members = membership(JoinMode::Start(2));
        members.renumbered_by = Some(PeerId::from_u128(9));
        assert!(members.admit(7, Micros::ZERO) && members.renumbered_by.is_none());
        assert!(!members.admit(8, Micros::ZERO));
    }

    #[test]
    fn departed_members_are_forgotten_oldest_first() {
        let mut members = membership(JoinMode::Create);
        for number in 0..DEPARTED_MAX as u32 + 3 {
            let id = MemberId { join_order: number, tag: MemberTag(number) };
            let present = RosterMember::new(id, Slot::at(0));
            members.roster.insert(present);
            members.remove(Departed { present, at: Micros::ZERO, goodbye: false, unheard: 0 });
            assert!(!members.roster.contains(id));
        }
        assert_eq!(members.departed.len(), DEPARTED_MAX);
        assert_eq!(members.departed[0].present.id.join_order, 3);
    }

    #[test]
    fn leader_change_is_reported_once() {
        let mut members = membership(JoinMode::Create);
        members.admit(0, Micros::ZERO);
        let me = members.me;
        assert_eq!(members.take_new_leader(Micros::from_secs(2)), Some((me, false)));
        assert_eq!(members.take_new_leader(Micros::from_secs(3)), None);
        assert_eq!(members.leader_since, Micros::from_secs(2));
    }

    #[test]
    fn slot_change_moves_roster_entry() {
        let mut members = membership(JoinMode::Create);
        members.admit(0, Micros::ZERO);
        members.set_slots((Slot::at(6), SlotSet::EMPTY));
        assert_eq!(members.roster.len(), 1);
        assert!(members.roster.by_slot(Slot::at(6)).is_some());
    }
}
