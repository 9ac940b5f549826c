//! Authority rules: a craft is held by its player's peer, everything else by the leader.
//!
//! The replica session asks them for each claim. Absent: the game's own rules.

use gaggle_replica::{AuthorityRules, ObjectInfo, Roster, RosterMember};

/// Number of [`Craft`](crate::Craft) among [`kinds`](super::kinds).
const CRAFT: u8 = 0;

/// Rules of the game. Unlike
/// [`AuthorityPolicy::OwnerOrLeader`](gaggle_replica::AuthorityPolicy::OwnerOrLeader), only crafts
/// may be held by their owner. Standings, eggs or peas that another peer spawns go to the leader,
/// which knows its own and deletes the rest.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules;

impl Rules {
    fn rightful(object: &ObjectInfo, roster: &Roster) -> Option<RosterMember> {
        let home = object.owner.filter(|_| object.kind == CRAFT).and_then(|home| roster.by_slot(home));
        home.or_else(|| roster.leader())
    }
}

impl AuthorityRules for Rules {
    fn fingerprint(&self) -> u32 {
        1
    }

    fn may_hold(&self, member: RosterMember, object: &ObjectInfo, roster: &Roster) -> bool {
        Rules::rightful(object, roster) == Some(member)
    }

    fn successor(&self, object: &ObjectInfo, roster: &Roster) -> Option<RosterMember> {
        Rules::rightful(object, roster)
    }

    fn is_exclusive(&self) -> bool {
        true
    }
}
