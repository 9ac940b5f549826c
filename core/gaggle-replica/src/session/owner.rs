//! Whose things are: by home, by trust, by holder; and the number a player goes by while it is
//! alone.

use super::Session;
use crate::round;
use crate::store::ObjectIndex;
use crate::version::Record;
use crate::{Kind, ObjectId, Player};

impl Session {
    /// Whose an object is: the player who has its home there or for whom it is kept, else whoever
    /// holds it. A player who returns finds its things by this, also before they have come back
    /// into its hands.
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
    /// let me = session.local_slot();
    /// let ship = session.iter_owned::<Ship>(me).next();
    /// ship.map_or_else(|| session.spawn_owned(me, &Ship { fuel: 100 }), Ok)
    /// # }
    /// ```
    pub fn iter_owned<K: Kind>(&self, player: Player) -> impl Iterator<Item = ObjectId> + '_ {
        let theirs = move |place: &ObjectIndex| {
            self.store[*place].record.is_some_and(|record| owner_of(&record) == player)
        };
        self.places_of::<K>().filter(theirs).map(|place| self.store[place].id)
    }

    /// Goes by another player's number, with all its things; whoever had that number has the old
    /// one instead. For somebody who played alone and now has a seat among others. Whether it did:
    /// only while there is no link.
    pub fn set_local_slot(&mut self, player: Player) -> bool {
        if !self.links.is_empty() {
            return false;
        }
        let old = self.me.slot;
        if player == old {
            return true;
        }
        let swapped = |other: Player| match other {
            _ if other == old => player,
            _ if other == player => old,
            _ => other,
        };
        self.roster.remove(self.me.id);
        self.me.slot = player;
        if self.is_member() {
            self.roster.insert(self.me);
        }
        for place in 0..self.store.places() as ObjectIndex {
            let Some(record) = self.store[place].record else { continue };
            let (home, trust) = (record.home.map(swapped), record.owner_claim.map(swapped));
            let renamed = Record { player: swapped(record.player), home, owner_claim: trust, ..record };
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

    /// Whether a peer has acknowledged all it is to be told about objects: then nothing is lost
    /// when this machine goes.
    pub fn is_synced_to(&self, peer: gaggle_kit::PeerId) -> bool {
        let Some(link) = self.link_of(peer).filter(|&link| self.links[link].present.is_some()) else {
            return false;
        };
        (0..self.store.places() as ObjectIndex).all(|place| !self.wants(link, place))
    }
}

fn owner_of(record: &Record) -> Player {
    record.home.or(record.owner_claim).unwrap_or(record.player)
}

#[cfg(test)]
mod tests {
    use gaggle_kit::{Micros, PeerId};

    use crate::{AuthorityPolicy, JoinMode, Kind, Kinds, Player, ReplicaConfig, Session, ValueWriter};

    #[derive(Debug, Clone, PartialEq, Kind)]
    struct Ship {
        fuel: u8,
    }

    fn session(policy: AuthorityPolicy) -> Session {
        let config = ReplicaConfig { authority: policy, ..ReplicaConfig::default() };
        let kinds = Kinds::new().with::<Ship>().with_value::<u32>("score", ValueWriter::Player);
        Session::new(config, kinds, Player::at(0), JoinMode::Create, 7).expect("settings that can be")
    }

    #[test]
    fn a_new_number_keeps_everything_one_has() {
        for policy in [AuthorityPolicy::Anyone, AuthorityPolicy::Leader, AuthorityPolicy::OwnerOrLeader] {
            let mut alone = session(policy);
            alone.tick(Micros::from_secs(1));
            let (me, other) = (Player::at(0), Player::at(3));
            let mine = alone.spawn_owned(me, &Ship { fuel: 1 }).expect("mine");
            let theirs = alone.spawn_owned(other, &Ship { fuel: 2 });
            alone.set_value(me, &17_u32).expect("my value");
            assert!(alone.set_local_slot(other));
            assert_eq!((alone.local_slot(), alone.owner(mine)), (other, Some(other)));
            assert!(alone.is_leader() && alone.has_authority(mine));
            assert_eq!(alone.value::<u32>(other), Some(17));
            assert_eq!(alone.iter_owned::<Ship>(other).collect::<Vec<_>>(), [mine]);
            if let Ok(theirs) = theirs {
                assert_eq!(alone.owner(theirs), Some(me), "numbers are swapped, things are not");
            }
        }
    }

    #[test]
    fn nobody_changes_its_number_in_company() {
        let mut session = session(AuthorityPolicy::Anyone);
        session.handle_connected(Micros::ZERO, PeerId::from_u128(9));
        assert!(!session.set_local_slot(Player::at(1)));
        assert_eq!(session.local_slot(), Player::at(0));
        assert!(!session.is_synced_to(PeerId::from_u128(9)), "it has not even said who it is");
    }
}
