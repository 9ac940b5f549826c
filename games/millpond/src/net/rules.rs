//! Who may hold what: a boat is its player's while he is present, and things are anybody's.

use gaggle_replica::{Facts, PolicyRules, Present, Roster};

/// The number of [`Boat`](crate::Boat) among [`kinds`](super::kinds).
const BOAT: u8 = 0;

/// The policy of the game: open, but for boats.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules;

impl Rules {
    fn skipper(object: &Facts, roster: &Roster) -> Option<Present> {
        object.home.and_then(|home| roster.of_player(home)).or_else(|| roster.lead())
    }
}

impl PolicyRules for Rules {
    fn fingerprint(&self) -> u32 {
        2
    }

    fn may(&self, member: Present, object: &Facts, roster: &Roster) -> bool {
        object.kind != BOAT || Rules::skipper(object, roster) == Some(member)
    }

    fn heir(&self, object: &Facts, roster: &Roster) -> Option<Present> {
        match object.kind {
            BOAT => Rules::skipper(object, roster),
            _ => roster.of_player(object.player).or_else(|| roster.lead()),
        }
    }
}
