//! Everything that is shared, looked up once a frame: a look for every kind and every seat would be
//! dozens, each at all that ever was.

use gaggle_replica::{ObjectId, Session};

use super::view::player_of;
use crate::Craft;
use crate::field::SEATS;

/// The kinds of things by their numbers among [`kinds`](super::kinds).
pub(super) const CRAFT: usize = 0;
pub(super) const STANDING: usize = 1;
pub(super) const ROCK: usize = 2;
pub(super) const SHOT: usize = 3;
pub(super) const PUFFBALL: usize = 4;
pub(super) const HORNET: usize = 5;
pub(super) const LANTERN: usize = 6;
pub(super) const EGG: usize = 7;
const KINDS: usize = 8;

/// What there is in this frame.
#[derive(Debug, Clone, Default)]
pub(super) struct Census {
    ids: [Vec<ObjectId>; KINDS],
    /// What flies for each seat: what its player made, and he or whoever leads holds.
    pub(super) crafts: [Option<(ObjectId, Craft)>; SEATS],
}

impl Census {
    /// Looks at everything.
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

    /// All of a kind, in the order of their ids.
    pub(super) fn of(&self, kind: usize) -> &[ObjectId] {
        &self.ids[kind]
    }

    /// Crafts that were made in the name of a seat and do not fly for it.
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

/// Whether what is known of something is the word of whoever leads, or of somebody who is gone and
/// may have led. What anybody else says does not count, before whoever leads has taken it from him
/// as well as after.
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
    fn kinds_are_found_under_their_numbers() {
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
