//! Join order of members, which the admitting member assigns. A peer that came later, as the lobby
//! or its own former membership shows, is not accepted as earlier: a hello says so, and an honest
//! peer then joins again as a new member. `Membership` calls it. Absent: objects, messages.

use gaggle_kit::{Micros, PeerId};

use super::{KnownMember, Membership};
use crate::authority::MembershipView;
use crate::message::{Hello, NUMBER_NONE};
use crate::peers::{Peer, PeerTable};
use crate::session::cx::Cx;
use crate::{MemberId, MemberTag};

/// Members remembered as known, and peers that came later.
const KNOWN_MAX: usize = 1_024;
/// Succession delays after which every member knows all members that any member knows. Members that
/// join at about the same time through different members may get join orders in any sequence.
const SETTLED_AFTER: u64 = 3;
/// Times one peer may make this one join again: each time all others process all of its objects.
const RENUMBERED_MAX: usize = 3;

/// Errors of the session's age above this are corrected at once.
const AGE_ERROR_MAX: Micros = Micros::from_millis(250);
/// Divisor of the correction of smaller errors in a tick.
const AGE_SLOWLY: i64 = 16;
/// Largest correction backwards in a tick, in µs: less than a frame takes, so that the age never
/// goes back.
const AGE_BACK_US: i64 = 2_000;

impl Membership {
    /// Whether a peer is known to have come after this one became a member.
    pub(crate) fn came_later(&self, peer: PeerId) -> bool {
        self.joiners.contains(&peer)
    }

    /// Notes that a peer came after this one became a member.
    pub(crate) fn note_joiner(&mut self, peer: PeerId) {
        if self.came_later(peer) {
            return;
        }
        if self.joiners.len() == KNOWN_MAX {
            self.joiners.pop_front();
        }
        self.joiners.push_back(peer);
    }

    /// Learns from a hello whether its peer came later, and the age of the session. A peer's claim
    /// to be new proves nothing: its hello may be old when it arrives, and then each of two peers
    /// would take the other for the later one.
    pub(crate) fn regard(&mut self, cx: &Cx, peer: &Peer, hello: &Hello) {
        // A hello sent before its sender can have known this peer may be older than this peer: each
        // would take the other for the later one.
        let was_another = self
            .known_members
            .iter()
            .any(|met| met.answered_us && met.at == Some(peer.id) && met.member != hello.member);
        if self.is_member() && !hello.spectator && was_another {
            self.note_joiner(peer.id);
        }
        if hello.member.join_order == NUMBER_NONE || self.came_later(peer.id) {
            return;
        }
        // The first member in join order decides the age of the session.
        if self.age.by.is_none_or(|by| hello.member <= by) {
            let then = i64::from(hello.age_ms) * 1_000;
            if self.age.by != Some(hello.member) {
                self.age.at_start = then + peer.playback.one_way() - cx.ticked_for();
            }
            self.age.by = Some(hello.member);
            self.age.there = Some(then - i64::from(hello.tick) * cx.config.send_interval.get() as i64);
        }
        if hello.highest <= self.claims_max(cx) {
            self.highest = self.highest.max(hello.highest);
        }
    }

    fn claims_max(&self, cx: &Cx) -> u32 {
        MembershipView { cx, members: self }.claims_max()
    }

    /// Age of the session when this tick began. Sent with the tick number, it gives the age at
    /// which this peer's ticks began to count, however late it arrives.
    pub(crate) fn age_at_tick_ms(&self, cx: &Cx) -> u32 {
        let age = self.age.at_start + i64::from(cx.tick) * cx.config.send_interval.get() as i64;
        u32::try_from(age.max(0) / 1_000).unwrap_or(u32::MAX)
    }

    /// Corrects the local age of the session by that of the deciding member, whose clock is known
    /// from its packets.
    pub(crate) fn correct_age(&mut self, cx: &Cx, peers: &PeerTable) {
        let (Some(by), Some(age_there)) = (self.age.by, self.age.there) else { return };
        let Some(peer) = peers.of(by) else { return };
        let (Some(there), Some(_)) = (peer.playback.their_now(cx.now), peer.playback.rtt()) else { return };
        let age = age_there + there + peer.playback.one_way();
        let error = age - cx.ticked_for() - self.age.at_start;
        let leaps = error.unsigned_abs() > AGE_ERROR_MAX.get();
        self.age.at_start += if leaps { error } else { (error / AGE_SLOWLY).max(-AGE_BACK_US) };
    }

    /// Whether a peer may be the member it claims to be.
    pub(crate) fn is_believable(&self, cx: &Cx, peers: &PeerTable, peer: &Peer, member: MemberId) -> bool {
        let known = self.known_members.iter().any(|met| met.member == member && met.at == Some(peer.id));
        if known || !self.is_member() {
            return true;
        }
        // There are never more members than possible claims.
        let claims_max = self.claims_max(cx);
        if member.join_order > claims_max || !self.came_later(peer.id) {
            return member.join_order <= claims_max;
        }
        let leader = self.roster.leader().map(|leader| leader.id);
        let settled = Micros::new(cx.config.succession_delay.get() * SETTLED_AFTER);
        let counts = |other: MemberId, since: Micros| {
            Some(other) == leader || peer.handshake.greeted_at().since(since) >= settled
        };
        let is_behind = |other: MemberId, since: Micros| member > other || !counts(other, since);
        let welcomed = |peer: &Peer| peer.member().map(|it| (it.id, peer.handshake.welcomed_at()));
        is_behind(self.me.id, self.admitted_at)
            && peers.iter().filter_map(welcomed).all(|(other, since)| is_behind(other, since))
    }

    /// Whether this peer has to join again, because a member does not know it under its join order.
    pub(crate) fn is_doubted_by(&self, peer: &Peer, hello: &Hello) -> bool {
        hello.unknown
            && self.is_member()
            && hello.echo == peer.handshake.epoch()
            && hello.member.join_order != NUMBER_NONE
            && !self.came_later(peer.id)
            && self.doubted_by.iter().filter(|by| **by == peer.id).count() < RENUMBERED_MAX
    }

    /// Becomes a joiner again, to be admitted by the peer that did not accept this one's join
    /// order.
    pub(crate) fn stand_down(&mut self, peer: PeerId, highest: u32) {
        self.roster.remove(self.me.id);
        self.me.id = MemberId { join_order: NUMBER_NONE, tag: MemberTag(self.random.next_u32() | 1) };
        self.joiners.clear();
        self.known_members.iter_mut().for_each(|met| (met.at, met.answered_us) = (None, false));
        self.age.by = None;
        self.highest = highest;
        self.renumbered_by = Some(peer);
        self.doubted_by.push(peer);
    }

    /// Whether this member may admit this peer: the one that did not accept its join order, while
    /// there is a link to it, else any.
    pub(crate) fn is_let_in_by(&self, peers: &PeerTable, peer: PeerId) -> bool {
        let renumberer = self.renumbered_by.filter(|renumberer| peers.find(*renumberer).is_some());
        renumberer.is_none_or(|renumberer| renumberer == peer)
    }

    /// Notes a known member, which introduced itself in answer to this peer, or before. Returns
    /// true the first time.
    pub(crate) fn note_met(&mut self, member: MemberId, peer: PeerId, in_answer: bool) -> bool {
        let before = self.known_members.iter().position(|met| met.member.tag == member.tag);
        let known = before.and_then(|index| self.known_members.remove(index));
        if self.known_members.len() == KNOWN_MAX {
            self.known_members.pop_front();
        }
        let answered_us = in_answer || known.is_some_and(|met| met.answered_us);
        self.known_members.push_back(KnownMember {
            member,
            at: self.is_member().then_some(peer),
            answered_us,
        });
        known.is_none()
    }

    /// Whether a tag belongs, or belonged, to another peer than this.
    pub(crate) fn is_tag_of_another(&self, peers: &PeerTable, tag: MemberTag, peer: PeerId) -> bool {
        let is_taken =
            |other: &Peer| other.id != peer && other.present().is_some_and(|present| present.id.tag == tag);
        let was_taken = |met: &KnownMember| met.member.tag == tag && met.at.is_some_and(|at| at != peer);
        self.me.id.tag == tag || peers.iter().any(is_taken) || self.known_members.iter().any(was_taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AuthorityPolicy;
    use crate::session::work::bench::{Bench, peer};

    fn stranger(bench: &Bench) -> Peer {
        Peer::new(peer(9), 1, 0, 0, bench.cx.config.send_interval)
    }

    #[test]
    fn joiner_claiming_first_place_is_not_believed() {
        let mut bench = Bench::new(AuthorityPolicy::Leader, 2);
        let stranger = stranger(&bench);
        let senior = MemberId { join_order: 0, tag: MemberTag(0) };
        let junior = MemberId { join_order: 5, tag: MemberTag(77) };
        let believes =
            |bench: &Bench, member| bench.members.is_believable(&bench.cx, &bench.peers, &stranger, member);
        assert!(believes(&bench, senior), "it may have been here before");
        bench.members.note_joiner(peer(9));
        assert!(!believes(&bench, senior) && believes(&bench, junior));
        let absurd = MemberId { join_order: 1 << 30, tag: MemberTag(77) };
        assert!(!believes(&bench, absurd));
    }

    #[test]
    fn member_is_met_for_first_time_once() {
        let mut bench = Bench::new(AuthorityPolicy::Leader, 1);
        let member = MemberId { join_order: 3, tag: MemberTag(30) };
        assert!(bench.members.note_met(member, peer(3), false));
        assert!(!bench.members.note_met(member, peer(3), true));
        assert!(bench.members.is_tag_of_another(&bench.peers, MemberTag(30), peer(4)));
        assert!(!bench.members.is_tag_of_another(&bench.peers, MemberTag(30), peer(3)));
    }

    #[test]
    fn renumbered_peer_waits_for_its_sponsor() {
        let mut bench = Bench::new(AuthorityPolicy::Leader, 3);
        let tag = bench.members.me.id.tag;
        bench.members.stand_down(peer(2), 40);
        assert!(!bench.members.is_member() && bench.members.me.id.tag != tag);
        assert!(bench.members.is_let_in_by(&bench.peers, peer(2)));
        assert!(!bench.members.is_let_in_by(&bench.peers, peer(1)));
        bench.peers.swap_remove(1);
        assert!(bench.members.is_let_in_by(&bench.peers, peer(1)), "the peer that renumbered it is gone");
    }

    #[test]
    fn age_without_earlier_peer_is_not_corrected() {
        let mut bench = Bench::new(AuthorityPolicy::Leader, 2);
        bench.members.age.there = Some(1_000_000);
        bench.members.correct_age(&bench.cx, &bench.peers);
        assert_eq!((bench.members.age.at_start, bench.members.age_at_tick_ms(&bench.cx)), (0, 0));
    }
}
