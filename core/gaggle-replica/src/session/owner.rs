//! Whose things are: by home, by trust, by holder; and the number a player goes by while it is alone.

use super::Session;
use crate::round;
use crate::store::Place;
use crate::version::Record;
use crate::{Kind, ObjectId, Player};

impl Session {
    /// Whose an object is: the player who has its home there or for whom it is kept, else whoever holds it. A player who
    /// returns finds its things by this, also before they have come back into its hands.
    pub fn owner(&self, id: ObjectId) -> Option<Player> {
        let place = self.live(id).ok()?;
        self.store[place].record.map(|record| owner_of(&record))
    }

    /// The ids of a player's objects of a kind: see [`owner`](Session::owner).
    ///
    /// ```
    /// # use gaggle_replica::*;
    /// # #[derive(Kind)]
    /// # struct Ship { fuel: u8 }
    /// # fn enter(session: &mut Session) -> Result<ObjectId, ObjectError> {
    /// // Whoever returns has its ship already; everybody else gets one.
    /// let me = session.player();
    /// let ship = session.owned::<Ship>(me).next();
    /// ship.map_or_else(|| session.spawn_for(me, &Ship { fuel: 100 }), Ok)
    /// # }
    /// ```
    pub fn owned<K: Kind>(&self, player: Player) -> impl Iterator<Item = ObjectId> + '_ {
        let theirs =
            move |place: &Place| self.store[*place].record.is_some_and(|record| owner_of(&record) == player);
        self.places_of::<K>().filter(theirs).map(|place| self.store[place].id)
    }

    /// Goes by another player's number, with all its things; whoever had that number has the old one instead. For
    /// somebody who played alone and now has a seat among others. Whether it did: only while there is no link.
    pub fn become_player(&mut self, player: Player) -> bool {
        if !self.links.is_empty() {
            return false;
        }
        let old = self.me.player;
        if player == old {
            return true;
        }
        let swapped = |other: Player| match other {
            _ if other == old => player,
            _ if other == player => old,
            _ => other,
        };
        self.roster.remove(self.me.member);
        self.me.player = player;
        if self.is_admitted() {
            self.roster.insert(self.me);
        }
        for place in 0..self.store.places() as Place {
            let Some(record) = self.store[place].record else { continue };
            let (home, trust) = (record.home.map(swapped), record.trust.map(swapped));
            let renamed = Record { player: swapped(record.player), home, trust, ..record };
            if renamed != record {
                self.store.set_record(place, Some(renamed));
            }
        }
        for (player, key, entry) in std::mem::take(&mut self.values).into_all() {
            let everybodys = self.kinds.values()[usize::from(key)].name == round::NAME;
            self.values.merge(if everybodys { player } else { swapped(player) }, key, entry);
        }
        self.roster_changed();
        true
    }

    /// Whether a peer has acknowledged all it is to be told about objects: then nothing is lost when this machine goes.
    pub fn has_told_all(&self, peer: gaggle_kit::PeerId) -> bool {
        let Some(link) = self.link_of(peer).filter(|&link| self.links[link].present.is_some()) else {
            return false;
        };
        (0..self.store.places() as Place).all(|place| !self.wants(link, place))
    }
}

fn owner_of(record: &Record) -> Player {
    record.home.or(record.trust).unwrap_or(record.player)
}

#[cfg(test)]
mod tests {
    use gaggle_kit::{Micros, PeerId};

    use crate::{Entry, Kind, Kinds, Player, Policy, Session, SessionConfig, Writer};

    #[derive(Debug, Clone, PartialEq, Kind)]
    struct Ship {
        fuel: u8,
    }

    fn session(policy: Policy) -> Session {
        let config = SessionConfig { policy, ..SessionConfig::default() };
        let kinds = Kinds::new().with::<Ship>().with_value::<u32>("score", Writer::Player);
        Session::new(config, kinds, Player::at(0), Entry::Found, 7).expect("settings that can be")
    }

    #[test]
    fn a_new_number_keeps_everything_one_has() {
        for policy in [Policy::Open, Policy::Host, Policy::Mixed] {
            let mut alone = session(policy);
            alone.tick(Micros::from_secs(1));
            let (me, other) = (Player::at(0), Player::at(3));
            let mine = alone.spawn_for(me, &Ship { fuel: 1 }).expect("mine");
            let theirs = alone.spawn_for(other, &Ship { fuel: 2 });
            alone.set_value(me, &17_u32).expect("my value");
            assert!(alone.become_player(other));
            assert_eq!((alone.player(), alone.owner(mine)), (other, Some(other)));
            assert!(alone.is_lead() && alone.is_mine(mine));
            assert_eq!(alone.value::<u32>(other), Some(17));
            assert_eq!(alone.owned::<Ship>(other).collect::<Vec<_>>(), [mine]);
            if let Ok(theirs) = theirs {
                assert_eq!(alone.owner(theirs), Some(me), "numbers are swapped, things are not");
            }
        }
    }

    #[test]
    fn nobody_changes_its_number_in_company() {
        let mut session = session(Policy::Open);
        session.handle_linked(Micros::ZERO, PeerId::from_u128(9));
        assert!(!session.become_player(Player::at(1)));
        assert_eq!(session.player(), Player::at(0));
        assert!(!session.has_told_all(PeerId::from_u128(9)), "it has not even said who it is");
    }
}
