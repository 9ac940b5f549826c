//! Policies of authority: pure functions of object and roster, the same on every peer. No peer
//! decides for others: every receiver resolves authority itself. Absent: values, records, links.

use std::fmt;
use std::sync::Arc;

use gaggle_kit::Slot;

use crate::version::Record;
use crate::{ObjectId, Roster, RosterMember};

/// Which peer may have authority over an object.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum AuthorityPolicy {
    /// Every member may have authority over every object.
    Anyone,
    /// Only the leader, the member present longest.
    #[default]
    Leader,
    /// An object with an owner belongs to its player while that player is present; every other
    /// object belongs to the leader.
    OwnerOrLeader,
    /// Rules the game defines.
    Custom(Arc<dyn AuthorityRules>),
}

/// Facts a policy decides by. The value is not among them: a peer that may write the value could
/// then choose which peer may write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectInfo {
    /// Id of the object.
    pub id: ObjectId,
    /// Number of its kind, in the order of [`Kinds`](crate::Kinds).
    pub kind: u8,
    /// Player it belongs to, if any.
    pub owner: Option<Slot>,
    /// Player whose peer had authority last.
    pub authority: Slot,
}

/// A policy defined by the game. It must be pure: two peers that answer differently never agree.
pub trait AuthorityRules: fmt::Debug + Send + Sync {
    /// Identifies the policy: peers with another number are rejected.
    fn fingerprint(&self) -> u32;

    /// Whether a member that is present may have authority over the object.
    fn may_hold(&self, member: RosterMember, object: &ObjectInfo, roster: &Roster) -> bool;

    /// The successor for an object whose authority left or is not allowed any more: a present
    /// member that may have it. With `None` the object stays without a valid authority until there
    /// is one.
    fn successor(&self, object: &ObjectInfo, roster: &Roster) -> Option<RosterMember>;

    /// Whether exactly one member may have authority over an object at a time: its
    /// [`successor`](AuthorityRules::successor). Then [`may_hold`](AuthorityRules::may_hold) is not
    /// called, and [`ObjectInfo::authority`] is always player 0, so that there is one answer for an
    /// object. Records of that member beat greater versions of all others, so after a partition one
    /// branch wins as a whole. Otherwise the branches mix object by object.
    fn is_exclusive(&self) -> bool {
        false
    }
}

impl AuthorityPolicy {
    pub(crate) fn may_hold(&self, member: RosterMember, object: &ObjectInfo, roster: &Roster) -> bool {
        match self {
            AuthorityPolicy::Anyone => true,
            AuthorityPolicy::Leader => roster.leader() == Some(member),
            AuthorityPolicy::OwnerOrLeader => home_or_lead(object, roster) == Some(member),
            AuthorityPolicy::Custom(rules) if rules.is_exclusive() => {
                keeper(rules, object, roster) == Some(member)
            }
            AuthorityPolicy::Custom(rules) => rules.may_hold(member, object, roster),
        }
    }

    pub(crate) fn successor(&self, object: &ObjectInfo, roster: &Roster) -> Option<RosterMember> {
        match self {
            AuthorityPolicy::Anyone => roster.by_slot(object.authority).or_else(|| roster.leader()),
            AuthorityPolicy::Leader => roster.leader(),
            AuthorityPolicy::OwnerOrLeader => home_or_lead(object, roster),
            AuthorityPolicy::Custom(rules) if rules.is_exclusive() => keeper(rules, object, roster),
            AuthorityPolicy::Custom(rules) => {
                rules.successor(object, roster).filter(|next| rules.may_hold(*next, object, roster))
            }
        }
    }

    /// Whether a record of a member that may have the object beats a greater one of a member that
    /// may not.
    pub(crate) fn rightful_first(&self) -> bool {
        match self {
            AuthorityPolicy::Anyone => false,
            AuthorityPolicy::Leader | AuthorityPolicy::OwnerOrLeader => true,
            AuthorityPolicy::Custom(rules) => rules.is_exclusive(),
        }
    }

    /// Whether every member may have every object, so that no record is ever rejected.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self, AuthorityPolicy::Anyone)
    }

    pub(crate) fn fingerprint(&self) -> u64 {
        match self {
            AuthorityPolicy::Anyone => 0,
            AuthorityPolicy::Leader => 1,
            AuthorityPolicy::OwnerOrLeader => 2,
            AuthorityPolicy::Custom(rules) => 3 | u64::from(rules.fingerprint()) << 8,
        }
    }
}

/// The one member that may have an object, whatever its last authority.
fn keeper(rules: &Arc<dyn AuthorityRules>, object: &ObjectInfo, roster: &Roster) -> Option<RosterMember> {
    rules.successor(&ObjectInfo { authority: Slot::at(0), ..*object }, roster)
}

fn home_or_lead(object: &ObjectInfo, roster: &Roster) -> Option<RosterMember> {
    object.owner.and_then(|home| roster.by_slot(home)).or_else(|| roster.leader())
}

impl ObjectInfo {
    pub(crate) fn of(id: ObjectId, record: &Record) -> ObjectInfo {
        ObjectInfo { id, kind: record.kind, owner: record.home, authority: record.player }
    }
}
