//! What happens when swimmers touch: pikes bite, geese send pikes home and scatter rivals.
//!
//! Called by `tick` after all have moved. Absent: inputs, which no meeting reads.

use crate::chick::{AWAY_FRAMES, DIZZY_FRAMES};
use crate::cue::{Kind, Mark};
use crate::reed::Reed;
use crate::water::{STEPS, TOUCH};
use crate::{Chick, Gosling, PIKES, Pike, SEATS, Swim};

/// Points for a pike sent home.
const PIKE_POINTS: u16 = 5;
/// Distance, in cells, up to which a goose frightens pikes: six tiles, so that it reaches some.
const FRIGHT_CELLS: u8 = 3;

/// Positions of all swimmers, none for those in nest or den.
struct Places {
    chicks: [Option<(i32, i32)>; SEATS],
    pikes: [Option<(i32, i32)>; PIKES],
}

impl Places {
    fn of(game: &Gosling, reed: &Reed) -> Places {
        Places {
            chicks: game.chicks.each_ref().map(|chick| chick.is_swimming().then(|| reed.place(chick.at))),
            pikes: game.pikes.each_ref().map(|pike| pike.is_out.then(|| reed.place(pike.at))),
        }
    }
}

/// Whether two swimmers touch. Walls keep others farther apart than this, so positions suffice.
#[inline]
fn touch(one: (i32, i32), other: (i32, i32)) -> bool {
    (one.0 - other.0).abs() + (one.1 - other.1).abs() <= TOUCH
}

/// Resolves all meetings of a frame, by slot and then by number of the pike.
pub(crate) fn step(game: &mut Gosling, reed: &Reed) {
    frighten(game, reed);
    let places = Places::of(game, reed);
    for slot in 0..SEATS {
        let Some(place) = places.chicks[slot] else { continue };
        for which in 0..PIKES {
            if places.pikes[which].is_some_and(|pike| touch(place, pike)) {
                meet_pike(game, reed, slot, which);
            }
        }
        if game.chicks[slot].is_goose() {
            for other in 0..SEATS {
                let touches = places.chicks[other].is_some_and(|other| touch(place, other));
                if touches && game.are_rivals(slot, other) {
                    meet_rival(game, reed, slot, other, &places);
                }
            }
        }
    }
}

/// Makes pikes near a goose turn back, and shy until it is a gosling again.
fn frighten(game: &mut Gosling, reed: &Reed) {
    for slot in 0..SEATS {
        if !game.chicks[slot].is_goose() {
            continue;
        }
        let (cell, left) = (reed.near(game.chicks[slot].at), game.chicks[slot].goose);
        for pike in game.pikes.iter_mut().filter(|pike| pike.is_out) {
            if reed.distance(reed.near(pike.at), cell) <= FRIGHT_CELLS {
                if pike.shy == 0 {
                    pike.at = reed.turned(pike.at);
                }
                (pike.shy, pike.dash) = (pike.shy.max(left), 0);
            }
        }
    }
}

fn meet_pike(game: &mut Gosling, reed: &Reed, slot: usize, which: usize) {
    let chick = game.chicks[slot];
    if !chick.is_swimming() || !game.pikes[which].is_out {
        return;
    }
    if chick.is_goose() {
        game.pikes[which] = Pike::sent_home();
        game.chicks[slot].sent = chick.sent.saturating_add(1);
        award(game, slot, PIKE_POINTS);
        game.mark(Mark::at(Kind::SentHome, slot, reed.near(chick.at)).worth(which as u8));
    } else if chick.is_prey() && game.pikes[which].bites() {
        game.crumbs.strew(reed, reed.near(chick.at), chick.load);
        game.chicks[slot] = Chick {
            swim: Swim::Away,
            timer: AWAY_FRAMES,
            load: 0,
            dizzy: 0,
            caught: chick.caught.saturating_add(1),
            ..chick
        };
        game.mark(Mark::at(Kind::Caught, slot, reed.near(chick.at)).worth(chick.load));
    }
}

fn meet_rival(game: &mut Gosling, reed: &Reed, goose: usize, other: usize, places: &Places) {
    let rival = game.chicks[other];
    if !rival.is_swimming() || !game.chicks[goose].is_swimming() {
        return;
    }
    if rival.is_goose() {
        // Each pair once, and only while they swim at each other.
        if goose < other {
            let heads = [(goose, other), (other, goose)].map(|(one, other)| {
                let (from, to) =
                    (places.chicks[one].unwrap_or_default(), places.chicks[other].unwrap_or_default());
                let (dx, dy) = STEPS[usize::from(game.chicks[one].at.heading & 3)];
                (to.0 - from.0) * dx + (to.1 - from.1) * dy > 0
            });
            for (slot, heads_there) in [goose, other].into_iter().zip(heads) {
                if heads_there {
                    game.chicks[slot].at = reed.turned(game.chicks[slot].at);
                }
            }
            if heads.contains(&true) {
                game.mark(Mark::at(Kind::Clash, goose, reed.near(rival.at)).worth(other as u8));
            }
        }
    } else if rival.dizzy == 0 && rival.safe == 0 {
        game.crumbs.strew(reed, reed.near(rival.at), rival.load);
        game.chicks[other] =
            Chick { load: 0, dizzy: DIZZY_FRAMES, at: reed.turned(rival.at), stale: 0, ..rival };
        game.mark(Mark::at(Kind::Scattered, other, reed.near(rival.at)).worth(rival.load));
    }
}

/// Points for a gosling and its brood.
pub(crate) fn award(game: &mut Gosling, slot: usize, points: u16) {
    let chick = &mut game.chicks[slot];
    // A bot's points do not count for the absent player whose slot it keeps.
    if chick.is_person() || chick.kept == 0 {
        chick.banked = chick.banked.saturating_add(points);
    }
    let brood = usize::from(chick.brood & 3);
    game.scores[brood] = game.scores[brood].saturating_add(points);
}
