//! Judgment of one record from the facts about its authority: the pure part of resolution.
//! `resolve.rs` asks it for every record that is not simply the next value. Absent: effects of the
//! answer, packets, peers.

use gaggle_kit::Micros;

use super::MembershipView;
use crate::ObjectId;
use crate::ablation::Rule;
use crate::membership::Departed;
use crate::policy::ObjectInfo;
use crate::roster::RosterMember;
use crate::store::Object;
use crate::version::Record;

/// Time after a member left in which forwarded records of it are accepted. Other peers notice its
/// leave seconds later; within this time a peer can forge records of it.
const BEREAVED: Micros = Micros::from_secs(10);

/// Most objects accepted from each peer as created by departed members, in addition to those such a
/// member had announced and not introduced: the objects it spawned in its last seconds.
const LEGACIES_MAX: u32 = 256;

/// A record as a peer sent it, and what is known of its object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim<'a> {
    pub(crate) record: &'a Record,
    pub(crate) object: &'a Object,
    pub(crate) sender: RosterMember,
    /// Objects of departed members that the sender introduced before.
    pub(crate) legacies: u32,
    /// Its authority is present and sends its own records, and another peer sent this one.
    pub(crate) is_spoken_for: bool,
    /// Its id is one that this peer would have assigned and did not.
    pub(crate) is_unmade: bool,
    /// Its object was deleted so long ago that only the id is kept.
    pub(crate) is_forgotten: bool,
}

/// Result for a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Resolution {
    /// It equals the present record.
    Keep,
    /// It replaces the present record if it is greater.
    Adopt,
    /// It replaces the present record: the creator of the object corrects forged constants.
    Correct,
    /// It stays with its peer; its authority is asked about it.
    Ask,
    /// It stays with its peer. This peer would be the successor, but the creator had no authority.
    Unauthorized,
    /// It stays with its peer, and this peer claims its own object anew.
    Contradict,
    /// It stays with its peer and is resolved again when the roster changes.
    Reject,
}

/// Judgment of a record, apart from whether its authority should send it itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Judgment {
    Permitted,
    Refused,
    /// This peer would be the successor, but its creator had no authority.
    Unauthorized,
    /// A member without a right to an object of this peer attributes it to another.
    Forged,
    /// The creator of the object sends its constants; before, another peer sent forged ones.
    Correction,
}

impl MembershipView<'_> {
    /// Resolves a record: a function of its arguments alone.
    pub(crate) fn resolve(&self, claim: &Claim<'_>) -> Resolution {
        let Claim { record, object, .. } = *claim;
        if let Some(world) = &object.record {
            let own_word =
                world.version.authority == self.members.me().id && world.version.same_claim(&record.version);
            if own_word || world.says_the_same(record) {
                return Resolution::Keep;
            }
        }
        if claim.is_unmade {
            return Resolution::Reject;
        }
        match self.judgment(claim) {
            Judgment::Correction => Resolution::Correct,
            _ if claim.is_forgotten => Resolution::Reject,
            Judgment::Permitted if claim.is_spoken_for => Resolution::Ask,
            Judgment::Permitted => Resolution::Adopt,
            Judgment::Unauthorized if !claim.is_spoken_for => Resolution::Unauthorized,
            Judgment::Forged if !claim.is_spoken_for => Resolution::Contradict,
            _ => Resolution::Reject,
        }
    }

    fn judgment(&self, claim: &Claim<'_>) -> Judgment {
        let Claim { record, object, sender, .. } = *claim;
        if self.cx.config.authority.is_open() {
            return Judgment::Permitted;
        }
        let id = object.id;
        let rightful = self.is_rightful(id, record);
        if let Some(world) = object.record {
            // Kind and owner decide which player an object belongs to: a member that changes them
            // must have a right to the object as it is.
            let same = (world.kind, world.home) == (record.kind, record.home);
            let as_it_is = Record { kind: world.kind, home: world.home, ..*record };
            let may_change = rightful && self.is_rightful(id, &as_it_is);
            if !same && !may_change {
                let maker_says =
                    sender.id.tag == id.creator() && record.version.authority == sender.id && rightful;
                return match maker_says && !object.claims.by_maker {
                    true => Judgment::Correction,
                    false => Judgment::Refused,
                };
            }
        }
        if rightful {
            return Judgment::Permitted;
        }
        let inherits = self.succeeds(id, record);
        let is_ours_to_know = inherits || !self.members.roster().contains(record.version.authority);
        match object.record {
            Some(world) if self.is_forged(id, sender, &world, record) => {
                match (world.version.authority == self.members.me().id, inherits) {
                    (true, _) => Judgment::Forged,
                    (false, true) => Judgment::Permitted,
                    (false, false) => Judgment::Refused,
                }
            }
            None if inherits && !record.gone => {
                match !self.cx.config.despawn_unauthorized || self.is_credible(claim) {
                    true => Judgment::Permitted,
                    false => Judgment::Unauthorized,
                }
            }
            // An orphan goes to its successor; no other peer has to get it first.
            None if !record.gone => Judgment::Refused,
            _ if is_ours_to_know && self.is_borne_out(id, sender, object.record, record) => {
                Judgment::Permitted
            }
            _ => Judgment::Refused,
        }
    }

    /// Whether a record of a member that may not have the object would take it from its rightful
    /// authority.
    fn is_forged(&self, id: ObjectId, sender: RosterMember, world: &Record, record: &Record) -> bool {
        let policy = &self.cx.config.authority;
        self.is_rightful(id, world)
            && self.is_above(id, record, world)
            && !policy.may_hold(sender, &ObjectInfo::of(id, world), self.members.roster())
    }

    /// A member that left recently and had a right to an object until then.
    fn late_holder(&self, id: ObjectId, record: &Record) -> Option<&Departed> {
        let info = ObjectInfo::of(id, record);
        self.members.departed().iter().find(|one| {
            one.present.id == record.version.authority
                && self.cx.now.since(one.at) < BEREAVED
                && self.cx.config.authority.may_hold(
                    one.present,
                    &info,
                    &self.members.roster().with(one.present),
                )
        })
    }

    /// Whether an absent member may have sent the record of a known object attributed to it: it had
    /// authority before, or a right to it until it left. A sender that may have the object itself
    /// gains nothing by forging.
    fn is_borne_out(
        &self,
        id: ObjectId,
        sender: RosterMember,
        world: Option<Record>,
        record: &Record,
    ) -> bool {
        let holder = record.version.authority;
        let Some(world) = world.filter(|_| self.cx.ablation.holds(Rule::NamesAreBorneOut)) else {
            return true;
        };
        self.members.roster().contains(holder)
            || holder == world.version.authority
            || self.cx.config.authority.may_hold(sender, &ObjectInfo::of(id, &world), self.members.roster())
            || self.late_holder(id, record).is_some()
    }

    /// Whether the authority of an object that is new to this peer may have had a right to it.
    fn is_credible(&self, claim: &Claim<'_>) -> bool {
        let Claim { record, object: Object { id, .. }, sender, .. } = *claim;
        let (roster, info) = (self.members.roster(), ObjectInfo::of(*id, record));
        if let Some(late) = self.late_holder(*id, record) {
            return claim.legacies < late.unheard.saturating_add(LEGACIES_MAX);
        }
        // An object that was held for this peer while it was away: the leader knows it, or a member
        // that may have it without this peer.
        let before_us = |holder: RosterMember| {
            self.cx.config.authority.may_hold(holder, &info, &roster.without(self.members.me().id))
        };
        !self.members.is_leader()
            && (roster.leader() == Some(sender)
                || roster.of_member(record.version.authority).is_some_and(before_us))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::work::bench::Bench;
    use crate::store::ObjectIndex;
    use crate::version::Version;
    use crate::{AuthorityPolicy, MemberTag};

    /// Resolution of a record that `sender` sends for an object.
    fn resolution(bench: &Bench, place: ObjectIndex, sender: usize, record: &Record) -> Resolution {
        bench.view().resolve(&Claim {
            record,
            object: &bench.objects[place],
            sender: bench.member(sender),
            legacies: 0,
            is_spoken_for: false,
            is_unmade: false,
            is_forgotten: false,
        })
    }

    fn later(record: Record) -> Record {
        let version = Version { claim_seq: record.version.claim_seq + 1, ..record.version };
        Record { version, ..record }
    }

    #[test]
    fn record_already_known_is_kept() {
        let mut bench = Bench::new(AuthorityPolicy::Leader, 3);
        let place = bench.object(0, 1);
        assert_eq!(resolution(&bench, place, 1, &bench.record(0)), Resolution::Keep);
    }

    #[test]
    fn record_under_shared_policy_is_always_adopted() {
        let mut bench = Bench::new(AuthorityPolicy::Anyone, 3);
        let place = bench.object(0, 1);
        assert_eq!(resolution(&bench, place, 2, &later(bench.record(2))), Resolution::Adopt);
    }

    #[test]
    fn claim_of_another_on_own_object_is_contradicted() {
        let mut bench = Bench::new(AuthorityPolicy::OwnerOrLeader, 3);
        let place = bench.object(0, 1);
        // The record names a member that left long ago as the claimant.
        let mut record = later(later(bench.record(0)));
        record.version.authority.tag = MemberTag(77);
        assert_eq!(resolution(&bench, place, 1, &record), Resolution::Reject);
        let gone = bench.member(1).id;
        bench.members.roster_mut().remove(gone);
        bench.cx.config.authority = AuthorityPolicy::Custom(std::sync::Arc::new(Loose));
        assert_eq!(resolution(&bench, place, 1, &record), Resolution::Contradict);
    }

    /// Only slot 0 may have authority; versions are compared as they are.
    #[derive(Debug)]
    struct Loose;

    impl crate::AuthorityRules for Loose {
        fn fingerprint(&self) -> u32 {
            9
        }

        fn may_hold(&self, member: RosterMember, _: &ObjectInfo, _: &crate::Roster) -> bool {
            member.slot.number() == 0
        }

        fn successor(&self, _: &ObjectInfo, roster: &crate::Roster) -> Option<RosterMember> {
            roster.leader()
        }
    }

    #[test]
    fn new_object_of_member_without_right_is_unauthorized() {
        let mut bench = Bench::new(AuthorityPolicy::Leader, 3);
        let place = bench.object(1, 1);
        let record = bench.record(1);
        bench.objects.set_record(place, None);
        assert_eq!(resolution(&bench, place, 1, &record), Resolution::Unauthorized);
        bench.cx.config.despawn_unauthorized = false;
        assert_eq!(resolution(&bench, place, 1, &record), Resolution::Adopt);
    }

    #[test]
    fn forgotten_or_unmade_object_is_rejected() {
        let mut bench = Bench::new(AuthorityPolicy::Anyone, 3);
        let place = bench.object(0, 1);
        let record = later(bench.record(1));
        for (is_unmade, is_forgotten) in [(true, false), (false, true)] {
            let object = &bench.objects[place];
            let sender = bench.member(1);
            let claim = Claim {
                record: &record,
                object,
                sender,
                legacies: 0,
                is_spoken_for: false,
                is_unmade,
                is_forgotten,
            };
            assert_eq!(bench.view().resolve(&claim), Resolution::Reject);
            let claim = Claim { is_spoken_for: true, is_unmade: false, is_forgotten: false, ..claim };
            assert_eq!(bench.view().resolve(&claim), Resolution::Ask);
        }
    }
}
