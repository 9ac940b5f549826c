//! Authority rules: a boat is held by its player's peer, a thing by any peer.
//!
//! The replica session asks them for each claim. Absent: the game's own rules.

use gaggle_replica::{AuthorityRules, ObjectInfo, Roster, RosterMember};

/// Number of [`Boat`](crate::Boat) among [`kinds`](super::kinds).
const BOAT: u8 = 0;

/// Any peer may hold any object, except a boat: its player's peer may, or the leader's if the
/// player is gone.
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
