//! Who may hold what: a craft is its player's while he is present, everything else is the lead's.

use gaggle_replica::{AuthorityRules, ObjectInfo, Roster, RosterMember};

/// The number of [`Craft`](crate::Craft) among [`kinds`](super::kinds).
const CRAFT: u8 = 0;

/// The policy of the game. Unlike
/// [`AuthorityPolicy::OwnerOrLeader`](gaggle_replica::AuthorityPolicy::OwnerOrLeader), only crafts
/// have homes: a standing, an egg or a pea is the lead's alone. What somebody makes of these all
/// the same the lead inherits as it does everything that is nobody's; it knows what it made itself,
/// and deletes the rest.
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
