//! Handshake: what a peer states in a hello, the checks of it, and when a waiting peer becomes a
//! member. Absent: objects, what is sent.

use gaggle_kit::{Micros, PeerId, Slot};

use super::{Identity, Membership};
use crate::event::RejectReason;
use crate::message::{Hello, PROTOCOL_VERSION};
use crate::peers::{Peer, PeerTable};
use crate::schema::Schema;
use crate::session::cx::Cx;
use crate::store::ObjectStore;

/// Time of being linked only to joiners after which one of them creates the session.
const CREATE_AFTER: Micros = Micros::from_secs(1);
/// Peers whose identity the caller has stated.
const IDENTITIES_MAX: usize = 1_024;

impl Membership {
    /// The caller states a peer's slots; `None` if it may only spectate. A slot belongs to one
    /// peer.
    pub(crate) fn set_identity(&mut self, peer: PeerId, identity: Option<Identity>) {
        let is_other = |known: Identity| identity.is_none_or(|identity| !shares_slot(known, identity));
        self.identities.retain(|(other, known)| *other != peer && known.is_none_or(is_other));
        if self.identities.len() == IDENTITIES_MAX {
            self.identities.remove(0);
        }
        self.identities.push((peer, identity));
    }

    /// Reason to reject a peer with this hello, if there is one.
    pub(crate) fn objection(
        &self,
        schema: &Schema,
        peers: &PeerTable,
        peer: PeerId,
        hello: &Hello,
    ) -> Option<RejectReason> {
        if hello.version != PROTOCOL_VERSION {
            return Some(RejectReason::Version { ours: PROTOCOL_VERSION, theirs: hello.version });
        }
        if let Some(reason) = schema.objection(hello.fingerprint, &hello.parts) {
            return Some(reason);
        }
        match self.identities.iter().find(|(other, _)| *other == peer) {
            _ if hello.spectator => {}
            Some((_, Some(known))) if *known != hello.identity() => {
                return Some(mismatch(hello.identity(), *known));
            }
            Some((_, None)) => return Some(RejectReason::NotAPlayer),
            None if self.is_taken(hello.identity()) => return Some(RejectReason::TagTaken),
            _ => {}
        }
        self.is_tag_of_another(peers, hello.member.tag, peer).then_some(RejectReason::TagTaken)
    }

    /// Whether another peer is known to have one of these slots.
    fn is_taken(&self, identity: Identity) -> bool {
        self.identities.iter().any(|(_, known)| known.is_some_and(|known| shares_slot(known, identity)))
    }

    /// Hello of this peer; `unknown` states that the other peer's join order is not accepted.
    pub(crate) fn hello(
        &self,
        cx: &Cx,
        schema: &Schema,
        objects: &ObjectStore,
        peer: &Peer,
        unknown: bool,
    ) -> Hello {
        Hello {
            version: PROTOCOL_VERSION,
            fingerprint: schema.fingerprint(),
            epoch: peer.handshake.epoch(),
            echo: peer.handshake.their_epoch(),
            member: self.me.id,
            player: self.me.slot,
            extra_slots: self.me.extra_slots,
            highest: self.highest,
            age_ms: self.age_at_tick_ms(cx),
            tick: cx.tick,
            blank: objects.is_blank(),
            unknown,
            spectator: self.spectator,
            objects: objects.count_of(self.me.id) as u32,
            parts: schema.hashes(),
        }
    }

    /// Join order under which this peer becomes a member now, if it does: if all known peers are
    /// joiners, the one of lowest tag creates the session.
    #[must_use]
    pub(crate) fn admission(&mut self, now: Micros, peers: &PeerTable) -> Option<u32> {
        let was_member = self.renumbered_by.is_some();
        if self.is_member() || self.spectator || (peers.is_empty() && !was_member) {
            return None;
        }
        if self.awaits_others {
            self.waiting_since = None;
            return None;
        }
        let since = *self.waiting_since.get_or_insert(now);
        let waited = now.since(since) >= CREATE_AFTER;
        let knows_members = peers.members().next().is_some();
        let renumberer_gone = self.renumbered_by.is_some_and(|renumberer| peers.find(renumberer).is_none());
        let next = self.highest.saturating_add(1);
        if was_member && (peers.is_empty() || (knows_members && (waited || renumberer_gone))) {
            return Some(next);
        }
        let all_greeted = peers.iter().all(|peer| peer.handshake.is_greeted());
        let mut others = peers.iter().filter(|peer| !peer.handshake.is_spectator());
        let lowest = others.all(|peer| self.me.id.tag < peer.handshake.their_tag());
        (waited && all_greeted && lowest).then_some(if was_member { next } else { 0 })
    }
}

fn all_slots((slot, extra_slots): Identity) -> impl Iterator<Item = Slot> {
    std::iter::once(slot).chain(extra_slots)
}

fn shares_slot(one: Identity, other: Identity) -> bool {
    all_slots(one).any(|slot| all_slots(other).any(|another| another == slot))
}

/// The first slot in which a peer's hello differs from its known identity.
pub(crate) fn mismatch(said: Identity, known: Identity) -> RejectReason {
    let differing = |of: Identity, other: Identity| {
        all_slots(of).find(|slot| all_slots(other).all(|another| another != *slot)).unwrap_or(of.0)
    };
    RejectReason::SlotMismatch { said: differing(said, known), is: differing(known, said) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::Handshake;
    use crate::session::work::bench::{Bench, peer};
    use crate::{AuthorityPolicy, JoinMode, MemberTag};
    use gaggle_kit::{Prng, SlotSet};

    fn hello(bench: &Bench, slot: u8) -> Hello {
        let stranger = Peer::new(peer(9), 1, 0, 0, bench.cx.config.send_interval);
        let mut hello = bench.members.hello(&bench.cx, &bench.schema, &bench.objects, &stranger, false);
        hello.member.tag = MemberTag(99);
        hello.player = Slot::at(slot.into());
        hello
    }

    fn objection(bench: &Bench, hello: &Hello) -> Option<RejectReason> {
        bench.members.objection(&bench.schema, &bench.peers, peer(9), hello)
    }

    #[test]
    fn peer_with_another_slot_than_known_is_rejected() {
        let mut bench = Bench::new(AuthorityPolicy::Leader, 2);
        assert_eq!(objection(&bench, &hello(&bench, 5)), None);
        bench.members.set_identity(peer(9), Some((Slot::at(4), SlotSet::EMPTY)));
        let reason = RejectReason::SlotMismatch { said: Slot::at(5), is: Slot::at(4) };
        assert_eq!(objection(&bench, &hello(&bench, 5)), Some(reason));
        bench.members.set_identity(peer(9), None);
        assert_eq!(objection(&bench, &hello(&bench, 4)), Some(RejectReason::NotAPlayer));
    }

    #[test]
    fn slot_of_known_peer_is_rejected_for_others() {
        let mut bench = Bench::new(AuthorityPolicy::Leader, 2);
        bench.members.set_identity(peer(3), Some((Slot::at(5), SlotSet::EMPTY)));
        assert_eq!(objection(&bench, &hello(&bench, 5)), Some(RejectReason::TagTaken));
    }

    #[test]
    fn extra_slots_are_compared_with_identity() {
        let mut bench = Bench::new(AuthorityPolicy::Leader, 2);
        let two = SlotSet::of(Slot::at(6));
        bench.members.set_identity(peer(9), Some((Slot::at(5), two)));
        assert_eq!(objection(&bench, &Hello { extra_slots: two, ..hello(&bench, 5) }), None);
        let reason = RejectReason::SlotMismatch { said: Slot::at(5), is: Slot::at(6) };
        assert_eq!(objection(&bench, &hello(&bench, 5)), Some(reason));
        bench.members.set_identity(peer(3), Some((Slot::at(6), SlotSet::EMPTY)));
        let taken = Hello { extra_slots: two, ..hello(&bench, 5) };
        assert_eq!(objection(&bench, &taken), Some(RejectReason::TagTaken), "slot 6 belongs to peer 3");
    }

    #[test]
    fn hello_of_another_version_is_rejected_first() {
        let bench = Bench::new(AuthorityPolicy::Leader, 2);
        let old = Hello { version: PROTOCOL_VERSION - 1, fingerprint: 0, ..hello(&bench, 5) };
        assert!(matches!(objection(&bench, &old), Some(RejectReason::Version { .. })));
    }

    #[test]
    fn joiner_among_joiners_creates_session_after_one_second() {
        let mut bench = Bench::new(AuthorityPolicy::Leader, 2);
        bench.members = Membership::new(Slot::at(0), JoinMode::Join, MemberTag(1), Prng::new(1));
        let joiner = |bench: &mut Bench, tag| {
            bench.peers[0].handshake = Handshake::new(1);
            bench.peers[0].handshake.note_hello(1, MemberTag(tag), Micros::ZERO);
        };
        joiner(&mut bench, 2);
        let at = |bench: &mut Bench, ms| bench.members.admission(Micros::from_millis(ms), &bench.peers);
        assert_eq!((at(&mut bench, 0), at(&mut bench, 999), at(&mut bench, 1_000)), (None, None, Some(0)));
        joiner(&mut bench, 0);
        assert_eq!(at(&mut bench, 2_000), None, "the other joiner creates the session");
    }
}
