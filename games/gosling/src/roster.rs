//! Players and bots coming and going: who plays which gosling.
//!
//! Called first in every tick. Absent: the network, the lobby.

use gaggle_kit::{Slot, SlotSet};

use crate::chick::{JOIN_SAFE, KEPT_FRAMES};
use crate::cue::{Kind, Mark};
use crate::reed::Reed;
use crate::round::nest_of;
use crate::water::Swimmer;
use crate::{Chick, Gosling, Seat, Swim};

/// Bots of the first round.
pub(crate) fn fill_at_start(game: &mut Gosling) {
    let seats = game.setup.mode.seats();
    for nth in 0..usize::from(game.setup.fill).min(seats) {
        let brood = (nth % game.setup.mode.broods()) as u8;
        // Players come in at the lowest slots.
        game.chicks[seats - 1 - nth] = Chick { seat: Seat::Bot, brood, ..Chick::default() };
    }
}

/// Lets players in and out, and bots fill up.
pub(crate) fn step(game: &mut Gosling, present: SlotSet, reed: &Reed) {
    let seats = game.setup.mode.seats();
    for slot in 0..seats {
        match (game.chicks[slot].seat, present.contains(Slot::at(slot))) {
            (Seat::Person, false) => leave(game, slot),
            (Seat::Bot | Seat::Free, true) => join(game, slot, reed),
            (Seat::Bot, false) => cool(&mut game.chicks[slot]),
            (Seat::Person, true) | (Seat::Free, false) => {}
        }
    }
    fill(game, reed);
}

/// A bot swims on, with all the gosling carries.
fn leave(game: &mut Gosling, slot: usize) {
    let chick = &mut game.chicks[slot];
    (chick.seat, chick.kept) = (Seat::Bot, KEPT_FRAMES);
    game.clock.wanting &= !(1 << slot);
    let mark = Mark::at(Kind::Leave, slot, game.chicks[slot].at.cell);
    game.mark(mark);
}

/// One frame of a bot: what it keeps for a player is forgotten in the end.
fn cool(chick: &mut Chick) {
    if chick.kept > 0 {
        chick.kept -= 1;
        if chick.kept == 0 {
            *chick = Chick { banked: 0, caught: 0, sent: 0, heaviest: 0, here: 0, rounds: 0, ..*chick };
        }
    }
}

fn join(game: &mut Gosling, slot: usize, reed: &Reed) {
    if game.chicks[slot].seat == Seat::Bot && game.chicks[slot].kept > 0 {
        let chick = &mut game.chicks[slot];
        (chick.seat, chick.kept) = (Seat::Person, 0);
    } else {
        match bot_for(game, slot) {
            Some(bot) => game.chicks.swap(slot, bot),
            None => game.chicks[slot] = fresh(game, slot, reed),
        }
        let chick = &mut game.chicks[slot];
        *chick = Chick {
            seat: Seat::Person,
            safe: JOIN_SAFE.max(chick.safe),
            stale: 0,
            banked: 0,
            caught: 0,
            sent: 0,
            heaviest: 0,
            here: 0,
            rounds: 0,
            ..*chick
        };
    }
    let mark = Mark::at(Kind::Join, slot, game.chicks[slot].at.cell);
    game.mark(mark);
}

/// The bot a joiner takes over: one of the brood with fewest players, in the joiner's slot if it is
/// one, else in the lowest.
fn bot_for(game: &Gosling, slot: usize) -> Option<usize> {
    let persons =
        |brood: u8| game.chicks.iter().filter(|chick| chick.is_person() && chick.brood == brood).count();
    let bots = game.chicks.iter().enumerate().filter(|(_, chick)| chick.seat == Seat::Bot && chick.kept == 0);
    let best = bots.min_by_key(|(nth, chick)| (persons(chick.brood), chick.brood, *nth != slot, *nth));
    best.map(|(nth, _)| nth)
}

/// A gosling in the nest of the smallest brood.
fn fresh(game: &Gosling, slot: usize, reed: &Reed) -> Chick {
    let (brood, _) = smallest_and_largest(game);
    let nest = nest_of(game.setup.mode, brood, slot, reed.nests());
    Chick { brood, swim: Swim::Nest, at: Swimmer::at(nest, 0), ..Chick::default() }
}

fn sizes(game: &Gosling) -> [usize; 4] {
    let mut sizes = [0; 4];
    for chick in game.chicks.iter().filter(|chick| chick.is_here()) {
        sizes[usize::from(chick.brood & 3)] += 1;
    }
    sizes
}

fn smallest_and_largest(game: &Gosling) -> (u8, u8) {
    let sizes = sizes(game);
    let broods = || 0..game.setup.mode.broods() as u8;
    let size = |brood: &u8| sizes[usize::from(*brood)];
    (broods().min_by_key(size).unwrap_or(0), broods().rev().max_by_key(size).unwrap_or(0))
}

/// Goslings there should be: as many as bots fill up to, or so many that the brood with most
/// players has equal rivals.
fn wanted(game: &Gosling) -> usize {
    let mut persons = [0; 4];
    for chick in game.chicks.iter().filter(|chick| chick.is_person()) {
        persons[usize::from(chick.brood & 3)] += 1;
    }
    let mode = game.setup.mode;
    let most = persons.iter().copied().max().unwrap_or(0) * mode.broods();
    let fill = usize::from(game.setup.fill);
    // Without bots, players are all there are.
    if fill == 0 { game.persons() } else { fill.max(most).min(mode.seats()) }
}

/// One bot more, or less, or in another brood: never one that swims.
fn fill(game: &mut Gosling, reed: &Reed) {
    let (here, wanted) = (game.swimmers(), wanted(game));
    let (small, large) = smallest_and_largest(game);
    if here < wanted {
        let seats = game.setup.mode.seats();
        if let Some(slot) = (0..seats).rev().find(|slot| !game.chicks[*slot].is_here()) {
            game.chicks[slot] = Chick { seat: Seat::Bot, ..fresh(game, slot, reed) };
        }
        return;
    }
    let sizes = sizes(game);
    let is_uneven = sizes[usize::from(large)] > sizes[usize::from(small)] + 1;
    if here == wanted && !is_uneven {
        return;
    }
    let resting = |chick: &Chick| chick.seat == Seat::Bot && chick.kept == 0 && !chick.is_swimming();
    let bot = game.chicks.iter().position(|chick| resting(chick) && chick.brood == large);
    let bot = bot.or_else(|| game.chicks.iter().position(resting).filter(|_| here > wanted));
    if let Some(slot) = bot {
        game.chicks[slot] = if here > wanted {
            Chick::default()
        } else {
            Chick { seat: Seat::Bot, ..fresh(game, slot, reed) }
        };
    }
}
