//! Object ids by kind and the craft of each seat, read from the session once a frame.
//!
//! `Coop` takes it before `view` and `Referee` read it; one pass replaces a scan for each kind and
//! seat. Absent: what the objects mean.

use gaggle_replica::{ObjectId, Session};

use super::view::player_of;
use crate::Craft;
use crate::field::SEATS;

/// Numbers of the kinds in the order of [`kinds`](super::kinds).
pub(super) const CRAFT: usize = 0;
pub(super) const STANDING: usize = 1;
pub(super) const ROCK: usize = 2;
pub(super) const SHOT: usize = 3;
pub(super) const PUFFBALL: usize = 4;
pub(super) const HORNET: usize = 5;
pub(super) const LANTERN: usize = 6;
pub(super) const EGG: usize = 7;
const KINDS: usize = 8;

/// Objects of the session in one frame.
#[derive(Debug, Clone, Default)]
pub(super) struct Census {
    ids: [Vec<ObjectId>; KINDS],
    /// Craft of each seat: owned by its player, with the player's peer or the leader as authority.
    pub(super) crafts: [Option<(ObjectId, Craft)>; SEATS],
}

impl Census {
    /// Reads all objects of the session.
    pub(super) fn take(&mut self, session: &Session) {
        self.ids.iter_mut().for_each(Vec::clear);
        for thing in session.iter_info() {
            if let Some(ids) = self.ids.get_mut(usize::from(thing.kind)) {
                ids.push(thing.id);
            }
        }
        self.ids.iter_mut().for_each(|ids| ids.sort_unstable());
        self.crafts = std::array::from_fn(|seat| self.craft_of(session, seat));
    }

    /// Objects of a kind, ascending by id.
    pub(super) fn of(&self, kind: usize) -> &[ObjectId] {
        &self.ids[kind]
    }

    /// Crafts owned by a seat's player that are not the one that flies for it.
    pub(super) fn idle_crafts(&self, session: &Session, seat: usize) -> Vec<ObjectId> {
        let flies = self.crafts[seat].map(|(id, _)| id);
        let theirs = self.of(CRAFT).iter().copied().filter(|id| session.owner(*id) == Some(player_of(seat)));
        theirs.filter(|id| Some(*id) != flies).collect()
    }

    fn craft_of(&self, session: &Session, seat: usize) -> Option<(ObjectId, Craft)> {
        let player = player_of(seat);
        let crafts = self.of(CRAFT).iter().filter(|id| session.owner(**id) == Some(player));
        let trusted = crafts.filter_map(|&id| {
            let craft = session.get::<Craft>(id).filter(|craft| usize::from(craft.seat) == seat)?;
            let own = session.authority(id) == Some(player);
            (own || is_refereed(session, id)).then_some((!own, id, craft))
        });
        trusted.min_by_key(|(strange, id, _)| (*strange, *id)).map(|(_, id, craft)| (id, craft))
    }
}

/// Whether the leader wrote the object's present version, or a peer that is gone and may have led.
/// Versions of other peers do not count, neither before nor after the leader has taken the object.
pub(super) fn is_refereed(session: &Session, id: ObjectId) -> bool {
    let (Some(version), roster) = (session.version(id), session.roster()) else { return false };
    let leads = roster.leader().is_some_and(|lead| lead.id == version.authority);
    leads || !roster.contains(version.authority)
}

#[cfg(test)]
mod tests {
    use gaggle_kit::Slot;
    use gaggle_replica::JoinMode;

    use super::*;
    use crate::net;
    use crate::{Egg, Hornet, Lantern, Puffball, Rock, Shot, Standing};

    #[test]
    fn kind_numbers_match_registered_kinds() {
        let (config, kinds) = (net::config(), net::kinds_with_input());
        let mut session = Session::new(config, kinds, Slot::at(2), JoinMode::Create, 1).unwrap();
        let ids = [
            session.spawn_owned(Slot::at(2), &Craft::hatched(2, 1)),
            session.spawn(&Standing::default()),
            session.spawn(&Rock::default()),
            session.spawn(&Shot::default()),
            session.spawn(&Puffball::default()),
            session.spawn(&Hornet::default()),
            session.spawn(&Lantern::default()),
            session.spawn(&Egg::default()),
        ]
        .map(Result::unwrap);
        let stray = session.spawn_owned(Slot::at(2), &Craft::hatched(1, 1)).unwrap();
        let gone = session.spawn(&Egg::default()).unwrap();
        session.despawn(gone).unwrap();
        let mut census = Census::default();
        census.take(&session);
        let kinds = [CRAFT, STANDING, ROCK, SHOT, PUFFBALL, HORNET, LANTERN, EGG];
        for (kind, id) in kinds.into_iter().zip(ids) {
            let all = if kind == CRAFT { vec![id, stray] } else { vec![id] };
            assert_eq!(census.of(kind), all, "kind {kind}");
        }
        assert_eq!(census.crafts[2].map(|(id, craft)| (id, craft.seat)), Some((ids[CRAFT], 2)));
        assert_eq!((census.crafts[1], census.idle_crafts(&session, 2)), (None, vec![stray]));
    }
}
