//! Who may hold what. A pure function of the object and the roster, the same on every machine:
//! there is no referee, every receiver judges for itself.

use std::fmt;
use std::sync::Arc;

use gaggle_kit::Slot;

use crate::version::Record;
use crate::{ObjectId, Roster, RosterMember};

/// Who may hold what.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum AuthorityPolicy {
    /// Everybody may hold everything.
    Anyone,
    /// Only the host, the member present longest.
    #[default]
    Leader,
    /// An object that has a home is its player's while that player is present; everything else is
    /// the host's.
    OwnerOrLeader,
    /// By rules of the game.
    Custom(Arc<dyn AuthorityRules>),
}

/// What a policy may look at. Not the value: whoever may write it could then choose who may write
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectInfo {
    /// The object.
    pub id: ObjectId,
    /// The number of its kind, in the order of [`Kinds`](crate::Kinds).
    pub kind: u8,
    /// Whose home it has, if any.
    pub owner: Option<Slot>,
    /// Who held it last.
    pub authority: Slot,
}

/// A game's own policy. It must be pure: two machines that answer differently never agree.
pub trait AuthorityRules: fmt::Debug + Send + Sync {
    /// Tells policies apart: peers with another number are refused.
    fn fingerprint(&self) -> u32;

    /// Whether a member who is present may hold the object.
    fn may_hold(&self, member: RosterMember, object: &ObjectInfo, roster: &Roster) -> bool;

    /// Who is to take an object whose holder is gone or may not hold it any more. Somebody present
    /// who may; if there is none the object stays as it is until there is.
    fn successor(&self, object: &ObjectInfo, roster: &Roster) -> Option<RosterMember>;

    /// Whether exactly one member may hold an object at a time. That is its heir then:
    /// [`may_hold`](AuthorityRules::may_hold) is not asked, and [`ObjectInfo::authority`] is player
    /// 0 whoever held it last, so that there is one answer for an object. What that one says beats
    /// a greater version of anybody else's, so after a split one side wins as a whole. Otherwise
    /// the sides mix object by object.
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
                rules.successor(object, roster).filter(|heir| rules.may_hold(*heir, object, roster))
            }
        }
    }

    /// Whether a record of somebody who may hold the object beats a greater one of somebody who may
    /// not.
    pub(crate) fn rightful_first(&self) -> bool {
        match self {
            AuthorityPolicy::Anyone => false,
            AuthorityPolicy::Leader | AuthorityPolicy::OwnerOrLeader => true,
            AuthorityPolicy::Custom(rules) => rules.is_exclusive(),
        }
    }

    /// Whether everybody may hold everything, so that nothing ever has to be refused.
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

/// Who alone may hold an object, whoever held it last.
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
