//! What a machine that does not referee sees: the game as the session tells it, a moment ago and moved on to the present.

use gaggle_replica::{Kind, ObjectId, Player, Session};

use super::ghosts::Ghosts;
use crate::field::SEATS;
use crate::{Bout, Craft, Drake, Lantern, Shot, Standing};

/// Whose value the bout is: everybody's.
pub(super) const ALL: Player = Player::at(0);

/// The player of a seat.
pub(super) fn player_of(seat: usize) -> Player {
    Player::at(seat as u8)
}

/// The craft of a seat: of several that say they are, his own, or the lead's, never a stranger's.
pub(super) fn craft_of(session: &Session, seat: usize) -> Option<(ObjectId, Craft)> {
    let lead = session.roster().lead().map(|lead| lead.player);
    let crafts = session.objects::<Craft>().filter(|(_, craft)| usize::from(craft.seat) == seat);
    let trusted = crafts.filter_map(|(id, craft)| {
        let holder = session.holder(id);
        let own = holder == Some(player_of(seat));
        (own || holder == lead).then_some((!own, id, craft))
    });
    trusted.min_by_key(|(strange, id, _)| (*strange, *id)).map(|(_, id, craft)| (id, craft))
}

/// The standing of a seat: of several, the oldest.
pub(super) fn standing_of(session: &Session, seat: usize) -> Option<(ObjectId, Standing)> {
    let standings = session.objects::<Standing>().filter(|(_, standing)| usize::from(standing.seat) == seat);
    standings.min_by_key(|(id, _)| *id)
}

/// All things of a kind as they should be drawn, in the order of their ids.
fn shown<K: Kind>(session: &Session, pool: &mut [Option<K>], mut change: impl FnMut(ObjectId, K) -> K) {
    let mut ids: Vec<ObjectId> = session.objects::<K>().map(|(id, _)| id).collect();
    ids.sort_unstable();
    let mut places = pool.iter_mut();
    for (id, thing) in ids.into_iter().filter_map(|id| Some((id, session.shown::<K>(id)?))) {
        let Some(place) = places.next() else { break };
        *place = Some(change(id, thing));
    }
    places.for_each(|place| *place = None);
}

/// Takes over everything the session tells, except the craft of `own`, which is moved here.
pub(super) fn look(
    game: &mut Drake,
    session: &Session,
    own: Option<usize>,
    ghosts: &mut Ghosts,
    told: &mut Option<Bout>,
) {
    listen(game, session, told);
    for seat in 0..SEATS {
        let standing = standing_of(session, seat).map(|(_, standing)| standing);
        game.seats[seat] = standing.unwrap_or(Standing { seat: seat as u8, ..Standing::default() });
        if Some(seat) == own {
            continue;
        }
        if let Some(craft) = craft_of(session, seat).and_then(|(id, _)| session.shown::<Craft>(id)) {
            game.crafts[seat] = craft;
        }
    }
    shown(session, &mut game.rocks, |_, rock| rock);
    shown(session, &mut game.shots, |id, shot: Shot| {
        if Some(usize::from(shot.seat)) == own { ghosts.settle(id, shot) } else { shot }
    });
    ghosts.show(&mut game.shots);
    shown(session, &mut game.puffballs, |_, puffball| puffball);
    shown(session, &mut game.hornets, |_, hornet| hornet);
    shown(session, &mut game.eggs, |_, egg| egg);
    let mut lanterns = [None; SEATS];
    shown(session, &mut lanterns, |_, lantern: Lantern| lantern);
    game.lanterns = [None; SEATS];
    for lantern in lanterns.into_iter().flatten() {
        if let Some(place) = game.lanterns.get_mut(usize::from(lantern.seat)) {
            *place = Some(lantern);
        }
    }
}

/// What a referee's own screen shows: other players' crafts glide, while the rules go by what was said last.
pub(super) fn smooth(picture: &mut Drake, session: &Session) {
    for seat in 0..SEATS {
        if let Some((id, _)) = craft_of(session, seat).filter(|(id, _)| !session.is_mine(*id))
            && let Some(craft) = session.shown::<Craft>(id)
        {
            picture.crafts[seat] = craft;
        }
    }
}

/// Where the match stands: told when it changes, counted on in between.
fn listen(game: &mut Drake, session: &Session, told: &mut Option<Bout>) {
    let news = session.value::<Bout>(ALL);
    if news != *told {
        *told = news;
        game.bout = news.unwrap_or_default();
    } else {
        game.bout.since = game.bout.since.saturating_add(1);
    }
}
