//! Who may hold what: a boat is its player's while he is present, and things are anybody's.

use gaggle_replica::{AuthorityRules, ObjectInfo, Roster, RosterMember};

/// The number of [`Boat`](crate::Boat) among [`kinds`](super::kinds).
const BOAT: u8 = 0;

/// The policy of the game: open, but for boats.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules;

impl Rules {
    fn skipper(object: &ObjectInfo, roster: &Roster) -> Option<RosterMember> {
        object.owner.and_then(|home| roster.by_slot(home)).or_else(|| roster.leader())
    }
}

impl AuthorityRules for Rules {
    fn fingerprint(&self) -> u32 {
        2
    }

    fn may_hold(&self, member: RosterMember, object: &ObjectInfo, roster: &Roster) -> bool {
        object.kind != BOAT || Rules::skipper(object, roster) == Some(member)
    }

    fn successor(&self, object: &ObjectInfo, roster: &Roster) -> Option<RosterMember> {
        match object.kind {
            BOAT => Rules::skipper(object, roster),
            _ => roster.by_slot(object.authority).or_else(|| roster.leader()),
        }
    }
}
