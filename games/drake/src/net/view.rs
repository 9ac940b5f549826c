//! The game as a peer that does not lead sees it: interpolated from the session.
//!
//! `Coop` calls it each frame. Absent: decisions of the rules, local crafts.

use gaggle_kit::Slot;
use gaggle_replica::{Kind, ObjectId, Session};

use super::census::{self, Census};
use super::ghosts::Ghosts;
use crate::field::SEATS;
use crate::{Bout, Craft, Drake, Lantern, Setup, Shot, Standing};

/// Slot of the shared values, which only the leader writes.
pub(super) const ALL: Slot = Slot::at(0);

/// Slot of a seat's player.
pub(super) fn player_of(seat: usize) -> Slot {
    Slot::at(seat)
}

/// Fills a pool with the leader's objects of a kind, interpolated, ascending by id.
fn shown<K: Kind>(
    session: &Session,
    ids: &[ObjectId],
    pool: &mut [Option<K>],
    mut change: impl FnMut(ObjectId, K) -> K,
) {
    let ids = ids.iter().copied().filter(|id| census::is_refereed(session, *id));
    let mut places = pool.iter_mut();
    for (id, thing) in ids.filter_map(|id| Some((id, session.interpolated::<K>(id)?))) {
        let Some(place) = places.next() else { break };
        *place = Some(change(id, thing));
    }
    places.for_each(|place| *place = None);
}

/// Replaces the game by the session's state, except the crafts of `own`, which move locally.
pub(super) fn look(
    game: &mut Drake,
    session: &Session,
    census: &Census,
    own: &[bool; SEATS],
    ghosts: &mut [Ghosts; SEATS],
    told: &mut Option<Bout>,
) {
    listen(game, session, told);
    game.seats = std::array::from_fn(|seat| Standing { seat: seat as u8, ..Standing::default() });
    // Of several standings of a seat the oldest counts.
    for &id in census.of(census::STANDING).iter().rev().filter(|id| census::is_refereed(session, **id)) {
        let standing = session.get::<Standing>(id);
        if let Some((seat, standing)) =
            standing.and_then(|it| Some((game.seats.get_mut(usize::from(it.seat))?, it)))
        {
            *seat = standing;
        }
    }
    for seat in (0..SEATS).filter(|seat| !own[*seat]) {
        if let Some(craft) = census.crafts[seat].and_then(|(id, _)| session.interpolated::<Craft>(id)) {
            game.crafts[seat] = craft;
        }
        // A player that has not reported its new life is at its nest, as at the leader.
        let standing = game.seats[seat];
        if standing.alive() && game.crafts[seat].life != standing.life {
            game.crafts[seat] = Craft::hatched(seat, standing.life);
        }
    }
    shown(session, census.of(census::ROCK), &mut game.rocks, |_, rock| rock);
    shown(session, census.of(census::SHOT), &mut game.shots, |id, shot: Shot| {
        let seat = usize::from(shot.seat);
        if own.get(seat).is_some_and(|own| *own) { ghosts[seat].settle(id, shot) } else { shot }
    });
    ghosts.iter().for_each(|ghosts| ghosts.show(&mut game.shots));
    shown(session, census.of(census::PUFFBALL), &mut game.puffballs, |_, puffball| puffball);
    shown(session, census.of(census::HORNET), &mut game.hornets, |_, hornet| hornet);
    shown(session, census.of(census::EGG), &mut game.eggs, |_, egg| egg);
    let mut lanterns = [None; SEATS];
    shown(session, census.of(census::LANTERN), &mut lanterns, |_, lantern: Lantern| lantern);
    game.lanterns = [None; SEATS];
    for lantern in lanterns.into_iter().flatten() {
        if let Some(place) = game.lanterns.get_mut(usize::from(lantern.seat)) {
            *place = Some(lantern);
        }
    }
}

/// Interpolates remote crafts in the leader's picture; its rules use the last reported positions.
pub(super) fn smooth(picture: &mut Drake, session: &Session, census: &Census) {
    for (seat, known) in census.crafts.iter().enumerate() {
        if let Some((id, _)) = known.filter(|(id, _)| !session.has_authority(*id))
            && let Some(craft) =
                session.interpolated::<Craft>(id).filter(|it| it.life == picture.seats[seat].life)
        {
            picture.crafts[seat] = craft;
        }
    }
}

/// Reads settings and bout; between two versions of the bout its frames are counted here.
fn listen(game: &mut Drake, session: &Session, told: &mut Option<Bout>) {
    if let Some(setup) = session.value::<Setup>(ALL) {
        game.setup = setup.clamped();
    }
    let news = session.value::<Bout>(ALL);
    if news != *told {
        *told = news;
        game.bout = news.unwrap_or_default();
    } else {
        game.bout.since = game.bout.since.saturating_add(1);
    }
}
