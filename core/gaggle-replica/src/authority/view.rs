//! Rules of authority as one peer applies them to its roster: which members may have authority,
//! succeed and outrank. Parts get it as a read-only argument. Absent: state of peers, bandwidth.

use gaggle_kit::Micros;

use crate::ablation::Rule;
use crate::membership::Membership;
use crate::policy::ObjectInfo;
use crate::session::cx::Cx;
use crate::version::Record;
use crate::{MemberId, ObjectId};

/// Most claims an object can have had when a session begins; [`CLAIMS_PER_SECOND`] are added every
/// second. A peer that lies about the count locks an object for seconds, not permanently.
const CLAIMS_BASE: u64 = 1_024;
const CLAIMS_PER_SECOND: u64 = 256;
/// Largest assumed difference between the clocks of two peers.
const CLAIMS_SLACK: Micros = Micros::from_secs(5);

/// Roster, settings and time, read-only.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MembershipView<'a> {
    pub(crate) cx: &'a Cx,
    pub(crate) members: &'a Membership,
}

impl MembershipView<'_> {
    /// Whether the policy lets this peer have authority over an object.
    pub(crate) fn may_hold(&self, id: ObjectId, record: &Record) -> bool {
        let (me, roster) = (self.members.me(), self.members.roster());
        self.members.is_member() && self.cx.config.authority.may_hold(me, &ObjectInfo::of(id, record), roster)
    }

    /// Whether the authority of a record is present and permitted.
    pub(crate) fn is_rightful(&self, id: ObjectId, record: &Record) -> bool {
        let roster = self.members.roster();
        let holder = roster.of_member(record.version.authority);
        holder.is_some_and(|holder| {
            self.cx.config.authority.may_hold(holder, &ObjectInfo::of(id, record), roster)
        })
    }

    /// Successor for an object without a valid authority.
    pub(crate) fn successor(&self, id: ObjectId, record: &Record) -> Option<MemberId> {
        let successor =
            self.cx.config.authority.successor(&ObjectInfo::of(id, record), self.members.roster());
        successor.map(|present| present.id)
    }

    /// Whether this peer is the successor for an object.
    pub(crate) fn succeeds(&self, id: ObjectId, record: &Record) -> bool {
        self.successor(id, record) == Some(self.members.me().id)
    }

    /// Highest lock and claim count that can be honest now.
    pub(crate) fn claims_max(&self) -> u32 {
        let seconds = (self.members.session_age(self.cx) + CLAIMS_SLACK).get() / 1_000_000;
        u32::try_from(CLAIMS_BASE + CLAIMS_PER_SECOND * seconds).unwrap_or(u32::MAX)
    }

    /// Whether record `a` is above `b`.
    pub(crate) fn is_above(&self, id: ObjectId, a: &Record, b: &Record) -> bool {
        if self.cx.config.authority.rightful_first() {
            let (a_rank, b_rank) = (self.rank(id, a), self.rank(id, b));
            if a_rank != b_rank {
                return a_rank > b_rank;
            }
        }
        if !self.cx.ablation.holds(Rule::LaterWins) && a.version.same_claim(&b.version) {
            return true;
        }
        a.version > b.version
    }

    /// Records of permitted members come first, then those of departed members, which may have been
    /// permitted; last those of present members that are not. Otherwise such a member would only
    /// have to wait for the leader to leave.
    fn rank(&self, id: ObjectId, record: &Record) -> u8 {
        match (self.is_rightful(id, record), self.members.roster().contains(record.version.authority)) {
            (true, _) => 2,
            (false, false) => 1,
            (false, true) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use gaggle_kit::Micros;

    use crate::session::work::bench::Bench;
    use crate::version::{Record, Version};
    use crate::{AuthorityPolicy, MemberTag, ObjectId};

    fn record(bench: &Bench, member: usize, claim_seq: u32) -> Record {
        let version = Version { lock_seq: 0, claim_seq, authority: bench.member(member).id, tick: 1 };
        Record {
            version,
            player: bench.member(member).slot,
            held: false,
            owner_claim: None,
            home: None,
            gone: false,
            kind: 0,
        }
    }

    const ID: ObjectId = ObjectId::new(MemberTag(1), 1);

    #[test]
    fn leader_outranks_greater_version_of_another() {
        let bench = Bench::new(AuthorityPolicy::Leader, 3);
        let (leader, other) = (record(&bench, 0, 1), record(&bench, 1, 9));
        assert!(bench.view().is_above(ID, &leader, &other) && !bench.view().is_above(ID, &other, &leader));
        assert!(bench.view().is_rightful(ID, &leader) && !bench.view().is_rightful(ID, &other));
    }

    #[test]
    fn greater_version_wins_under_shared_policy() {
        let bench = Bench::new(AuthorityPolicy::Anyone, 3);
        let (a, b) = (record(&bench, 0, 1), record(&bench, 1, 9));
        assert!(bench.view().is_above(ID, &b, &a) && bench.view().may_hold(ID, &b));
    }

    #[test]
    fn claims_max_grows_with_session_age() {
        let mut bench = Bench::new(AuthorityPolicy::Anyone, 1);
        let before = bench.view().claims_max();
        bench.cx.note_now(Micros::ZERO);
        bench.cx.note_now(Micros::from_secs(10));
        assert_eq!(bench.view().claims_max(), before + 2_560);
    }
}
