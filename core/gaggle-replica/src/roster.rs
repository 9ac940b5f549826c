//! Who is present, as this machine sees it. Every machine has its own view; equal views are what agreement needs in the
//! end, not at every moment.

use crate::{Member, Player};

/// Somebody present.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Present {
    /// This stay of the player.
    pub member: Member,
    /// Who plays.
    pub player: Player,
}

/// Everybody present, this machine included, seniors first.
#[derive(Clone, Debug, Default)]
pub struct Roster {
    present: Vec<Present>,
}

impl Roster {
    /// Everybody, seniors first.
    pub fn iter(&self) -> impl Iterator<Item = Present> {
        self.present.iter().copied()
    }

    /// How many are present.
    pub fn len(&self) -> usize {
        self.present.len()
    }

    /// Whether nobody is present: this machine has not been admitted yet.
    pub fn is_empty(&self) -> bool {
        self.present.is_empty()
    }

    /// The one present longest: the host, where there is one.
    pub fn lead(&self) -> Option<Present> {
        self.present.first().copied()
    }

    /// Whether this member is present.
    pub fn contains(&self, member: Member) -> bool {
        self.present.binary_search_by_key(&member, |present| present.member).is_ok()
    }

    /// A member, if it is present.
    pub(crate) fn of_member(&self, member: Member) -> Option<Present> {
        let found = self.present.binary_search_by_key(&member, |present| present.member);
        found.ok().map(|index| self.present[index])
    }

    /// The roster as it would be if this one were present, too.
    pub(crate) fn with(&self, present: Present) -> Roster {
        let mut roster = self.clone();
        if !roster.contains(present.member) {
            roster.insert(present);
        }
        roster
    }

    /// The roster as it would be if this one were not present.
    pub(crate) fn without(&self, member: Member) -> Roster {
        let mut roster = self.clone();
        roster.remove(member);
        roster
    }

    /// The latest stay of a player, if it is present.
    pub fn of_player(&self, player: Player) -> Option<Present> {
        self.present.iter().rev().find(|present| present.player == player).copied()
    }

    pub(crate) fn insert(&mut self, present: Present) {
        let place = self.present.partition_point(|other| other.member < present.member);
        self.present.insert(place, present);
    }

    pub(crate) fn remove(&mut self, member: Member) {
        self.present.retain(|present| present.member != member);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemberTag;

    #[test]
    fn the_senior_leads_and_the_latest_stay_counts() {
        let present = |number, tag, player| Present {
            member: Member { number, tag: MemberTag(tag) },
            player: Player::at(player),
        };
        let mut roster = Roster::default();
        for stay in [present(3, 1, 0), present(1, 7, 1), present(1, 5, 2), present(4, 2, 1)] {
            roster.insert(stay);
        }
        assert_eq!(roster.lead(), Some(present(1, 5, 2)));
        assert_eq!(roster.of_player(Player::at(1)), Some(present(4, 2, 1)));
        roster.remove(present(4, 2, 1).member);
        assert_eq!(roster.of_player(Player::at(1)), Some(present(1, 7, 1)));
        assert!(!roster.contains(present(4, 2, 1).member) && roster.contains(present(3, 1, 0).member));
    }
}
