//! Which gosling is controlled by which player or bot, as they come and go.
//!
//! Called first in each tick. Absent: the network, the lobby.

use gaggle_kit::{Slot, SlotSet};

use crate::chick::{JOIN_SAFE, KEPT_FRAMES};
use crate::cue::{Kind, Mark};
use crate::reed::Reed;
use crate::round::nest_of;
use crate::water::Swimmer;
use crate::{Chick, Gosling, Seat, Swim};

/// Fills the first round with bots.
pub(crate) fn fill_at_start(game: &mut Gosling) {
    let seats = game.setup.mode.seats();
    for nth in 0..usize::from(game.setup.fill).min(seats) {
        let brood = (nth % game.setup.mode.broods()) as u8;
        // Players get the lowest slots, so bots get the highest.
        game.chicks[seats - 1 - nth] = Chick { seat: Seat::Bot, brood, ..Chick::default() };
    }
}

/// Lets players join and leave, and adds or removes at most one bot.
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

/// Hands a gosling, with all it carries, to a bot.
fn leave(game: &mut Gosling, slot: usize) {
    let chick = &mut game.chicks[slot];
    (chick.seat, chick.kept) = (Seat::Bot, KEPT_FRAMES);
    game.clock.wanting &= !(1 << slot);
    let mark = Mark::at(Kind::Leave, slot, game.chicks[slot].at.cell);
    game.mark(mark);
}

/// Counts down how long a bot keeps the figures of a player who left, and then clears them.
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

/// The bot a joiner takes over, of the brood with fewest players: that of the joiner's slot if it
/// is of that brood, else that of the lowest slot.
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

/// Number of goslings there should be: that of the setup, or more so that all broods are as large
/// as the one with most players.
fn wanted(game: &Gosling) -> usize {
    let mut persons = [0; 4];
    for chick in game.chicks.iter().filter(|chick| chick.is_person()) {
        persons[usize::from(chick.brood & 3)] += 1;
    }
    let mode = game.setup.mode;
    let most = persons.iter().copied().max().unwrap_or(0) * mode.broods();
    let fill = usize::from(game.setup.fill);
    // A setup without bots.
    if fill == 0 { game.persons() } else { fill.max(most).min(mode.seats()) }
}

/// Adds a bot, removes one or moves one to another brood; only bots that do not swim.
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
