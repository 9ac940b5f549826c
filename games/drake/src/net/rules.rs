//! Who may hold what: a craft is its player's while he is present, everything else is the lead's.

use gaggle_replica::{Facts, PolicyRules, Present, Roster};

/// The number of [`Craft`](crate::Craft) among [`kinds`](super::kinds).
const CRAFT: u8 = 0;

/// The policy of the game. Unlike [`Policy::Mixed`](gaggle_replica::Policy::Mixed), only crafts have homes: a standing, an egg or a pea is
/// the lead's alone. What somebody makes of these all the same the lead inherits as it does everything that is nobody's; it knows what it
/// made itself, and deletes the rest.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules;

impl Rules {
    fn rightful(object: &Facts, roster: &Roster) -> Option<Present> {
        let home = object.home.filter(|_| object.kind == CRAFT).and_then(|home| roster.of_player(home));
        home.or_else(|| roster.lead())
    }
}

impl PolicyRules for Rules {
    fn fingerprint(&self) -> u32 {
        1
    }

    fn may(&self, member: Present, object: &Facts, roster: &Roster) -> bool {
        Rules::rightful(object, roster) == Some(member)
    }

    fn heir(&self, object: &Facts, roster: &Roster) -> Option<Present> {
        Rules::rightful(object, roster)
    }

    fn one_holder(&self) -> bool {
        true
    }
}
