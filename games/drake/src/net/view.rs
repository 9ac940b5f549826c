//! What a machine that does not referee sees: the game as the session tells it, a moment ago and
//! moved on to the present.

use gaggle_kit::Slot;
use gaggle_replica::{Kind, ObjectId, Session};

use super::census::{self, Census};
use super::ghosts::Ghosts;
use crate::field::SEATS;
use crate::{Bout, Craft, Drake, Lantern, Setup, Shot, Standing};

/// Whose value the bout is: everybody's.
pub(super) const ALL: Slot = Slot::at(0);

/// The player of a seat.
pub(super) fn player_of(seat: usize) -> Slot {
    Slot::at(seat)
}

/// All things of a kind that whoever leads tells of, as they should be drawn, in the order of their
/// ids.
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

/// Takes over everything the session tells, except the crafts of `own`, which are moved here.
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
    // Of several the oldest counts.
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
        // Whoever says nothing of his new life is where it begins, as the referee has it.
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

/// What a referee's own screen shows: other players' crafts glide, while the rules go by what was
/// said last.
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

/// Where the match stands: told when it changes, counted on in between.
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
