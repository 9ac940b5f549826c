//! One frame: who acts in which order, and which questions are asked.
//!
//! Called by `game`. Absent: the rules of the parts, which are in their files.

use gaggle_kit::Slot;
use gaggle_timeline::Inputs;

use crate::bots::Look;
use crate::chick::{LOAD_MAX, NEST_FRAMES, SAFE_FRAMES};
use crate::cue::{Kind, Mark};
use crate::pike::{DASH_FRAMES, Hunt, Prey, SPEED, SPEED_LATE, SPEED_STEP};
use crate::reed::Reed;
use crate::round::{self, LATE_FRAMES, nest_of};
use crate::water::{EDGE, NOWHERE, Swimmer, TILE, Way, ways};
use crate::wish::{self, Turn};
use crate::{Chick, Gosling, Mode, PIKES, Phase, SEATS, Seat, Swim, Wish, meet, roster};

/// Frames between two questions to a player: in the nest, and while the result is shown.
const NEST_ASKED: u32 = 12;
const AGAIN_ASKED: u32 = 6;
/// Frames from one growth of crumbs to the next, and from one crust (five crumbs) to the next.
const GROWTH_FRAMES: u32 = 30;
const CRUST_FRAMES: u32 = 600;
/// Points for a full load that is brought home.
const DOZEN: u16 = 15;
/// Frames a nest of `free` rests after it took crumbs.
const REST_FRAMES: u8 = 240;
/// Units around a gosling in which no crumb grows: three tiles.
const GROWTH_APART: i32 = 3 * TILE;

/// What a gosling swam over in a frame.
#[derive(Clone, Copy)]
struct Passed {
    /// The cell it reached.
    cell: u16,
    /// The tiles whose middle it crossed.
    tiles: [u16; 2],
}

const NOTHING: Passed = Passed { cell: NOWHERE, tiles: [NOWHERE; 2] };

/// Plays one frame.
pub(crate) fn step(game: &mut Gosling, inputs: &Inputs<'_, Wish>) {
    let reed = game.keep_reed();
    game.frame = game.frame.wrapping_add(1);
    roster::step(game, inputs.present_slots(), &reed);
    round::step(game);
    if game.clock.phase == Phase::Result {
        ask_again(game, inputs);
        return;
    }
    // The clock may have begun a round in another maze.
    let reed = &*game.keep_reed();
    let mut passed = [NOTHING; SEATS];
    for (slot, passed) in passed.iter_mut().enumerate() {
        if game.chicks[slot].is_here() {
            *passed = swim(game, reed, slot, inputs);
        }
    }
    pikes(game, reed);
    meet::step(game, reed);
    game.rests.iter_mut().for_each(|rest| *rest = rest.saturating_sub(1));
    for (slot, passed) in passed.into_iter().enumerate() {
        if game.chicks[slot].is_swimming() {
            bank(game, reed, slot, passed.cell);
            eat(game, slot, passed);
        }
    }
    grow(game, reed);
    let mut random = game.random;
    game.feathers.step(game.setup.mode.feathers(), reed, &mut random);
    game.random = random;
    round::follow_lead(game);
}

/// While the result is shown: asks which players want the next round.
fn ask_again(game: &mut Gosling, inputs: &Inputs<'_, Wish>) {
    if !game.frame.is_multiple_of(AGAIN_ASKED) {
        return;
    }
    for slot in 0..SEATS {
        if game.chicks[slot].is_person() {
            game.questions += 1;
            let wants = inputs.ask(Slot::at(slot), (), wish::again);
            game.clock.wanting = game.clock.wanting & !(1 << slot) | u64::from(wants) << slot;
        }
    }
}

/// One frame of a gosling.
fn swim(game: &mut Gosling, reed: &Reed, slot: usize, inputs: &Inputs<'_, Wish>) -> Passed {
    match game.chicks[slot].swim {
        Swim::Away => {
            let mode = game.setup.mode;
            let chick = &mut game.chicks[slot];
            chick.timer = chick.timer.saturating_sub(1);
            if chick.timer == 0 {
                let nest = nest_of(mode, chick.brood, slot, reed.nests());
                (chick.swim, chick.at, chick.stale) = (Swim::Nest, Swimmer::at(nest, 0), 0);
            }
            NOTHING
        }
        Swim::Nest => {
            wait(game, reed, slot, inputs);
            NOTHING
        }
        Swim::Swimming => advance(game, reed, slot, inputs),
    }
}

/// Waits in the nest until its player, a bot or the time says to leave.
fn wait(game: &mut Gosling, reed: &Reed, slot: usize, inputs: &Inputs<'_, Wish>) {
    let chick = &mut game.chicks[slot];
    chick.timer = chick.timer.saturating_add(1);
    let (seat, timer, cell) = (chick.seat, chick.timer, chick.at.cell);
    let exits = reed.exits(cell);
    let mut out = Wish::NO_WAY;
    if seat == Seat::Person {
        if game.frame.wrapping_add(slot as u32).is_multiple_of(NEST_ASKED) {
            game.questions += 1;
            out = inputs.ask(Slot::at(slot), exits, wish::out);
        }
        if out == Wish::NO_WAY && timer >= NEST_FRAMES {
            out = ways(exits).next().unwrap_or(0);
        }
    } else if timer >= 8 + (slot * 7 % 24) as u8 {
        let mut random = game.random;
        out = Look::of(game, reed, slot).choose(cell, None, &mut random);
        game.random = random;
    }
    if out < Wish::NO_WAY {
        let chick = &mut game.chicks[slot];
        let swim = Chick { swim: Swim::Swimming, at: Swimmer::at(cell, out), timer: 0, stale: 0, ..*chick };
        *chick = Chick { safe: chick.safe.max(SAFE_FRAMES), ..swim };
    }
}

/// Moves a gosling ahead; in the middle of a cell it turns.
fn advance(game: &mut Gosling, reed: &Reed, slot: usize, inputs: &Inputs<'_, Wish>) -> Passed {
    let chick = &mut game.chicks[slot];
    (chick.safe, chick.dizzy) = (chick.safe.saturating_sub(1), chick.dizzy.saturating_sub(1));
    if chick.goose > 0 {
        chick.goose -= 1;
        if chick.goose == 0 {
            let mark = Mark::at(Kind::GooseOver, slot, chick.at.cell);
            game.mark(mark);
        }
    }
    let chick = &mut game.chicks[slot];
    let mut passed = NOTHING;
    let before = chick.at.way;
    chick.at.way += chick.speed();
    if i32::from(before) < TILE && i32::from(chick.at.way) >= TILE {
        passed.tiles[0] = reed.tile_beside(chick.at.cell, chick.at.heading);
    }
    if chick.at.way >= EDGE {
        let cell = reed.next(chick.at.cell, chick.at.heading);
        chick.at = Swimmer { cell, way: chick.at.way - EDGE, ..chick.at };
        (passed.cell, passed.tiles[1]) = (cell, reed.tile_of(cell));
        let heading = chick.at.heading;
        let turn = decide(game, reed, slot, inputs);
        let frame = game.frame as u16;
        let chick = &mut game.chicks[slot];
        (chick.at.heading, chick.stale) = (turn.heading & 3, turn.stale);
        if turn.heading != heading {
            chick.turned = frame;
        }
    }
    passed
}

/// The way a gosling takes in the middle of the cell it has reached.
fn decide(game: &mut Gosling, reed: &Reed, slot: usize, inputs: &Inputs<'_, Wish>) -> Turn {
    let chick = &game.chicks[slot];
    let (Swimmer { cell, heading, .. }, stale) = (chick.at, chick.stale);
    let exits = reed.exits(cell);
    let is_junction = exits.count_ones() > 2;
    if chick.is_dizzy() {
        let heading = if is_junction {
            wish::turn(Wish::default(), (exits, heading, 0)).heading
        } else {
            reed.bend(cell, heading)
        };
        return Turn { heading, stale: 0 };
    }
    if !chick.is_person() {
        let mut random = game.random;
        let heading = Look::of(game, reed, slot).steer(cell, heading, &mut random);
        game.random = random;
        return Turn { heading, stale: 0 };
    }
    game.questions += 1;
    if is_junction {
        inputs.ask(Slot::at(slot), (exits, heading, stale), wish::turn)
    } else {
        inputs.ask(Slot::at(slot), (heading, reed.bend(cell, heading), stale), wish::pass)
    }
}

/// One frame of all pikes.
fn pikes(game: &mut Gosling, reed: &Reed) {
    let mut prey = [Prey { slot: 0, place: (0, 0), cell: 0, at: Swimmer::default(), load: 0 }; SEATS];
    let (mut geese, mut prey_count, mut geese_count) = ([NOWHERE; SEATS], 0, 0);
    for (slot, chick) in game.chicks.iter().enumerate() {
        let (at, load) = (chick.at, chick.load);
        if chick.is_prey() {
            prey[prey_count] = Prey { slot, place: reed.place(at), cell: reed.near(at), at, load };
            prey_count += 1;
        } else if chick.is_goose() {
            geese[geese_count] = reed.near(at);
            geese_count += 1;
        }
    }
    let hunt = Hunt { reed, prey: &prey[..prey_count], geese: &geese[..geese_count], frame: game.frame };
    let count = (2 + game.swimmers().div_ceil(4)).min(PIKES);
    let pace = pace(game);
    for which in 0..PIKES {
        let mut pike = game.pikes[which];
        if !pike.is_out {
            if which < count {
                pike.timer = pike.timer.saturating_sub(1);
                if pike.timer == 0 {
                    pike.is_out = true;
                    // Each leaves its den by either side.
                    let side = game.random.below(2) as usize;
                    pike.at = Swimmer::at(reed.den()[side], [2, 0][side]);
                    pike.at.heading = hunt.choose(which, &pike, &mut game.random);
                }
            }
            game.pikes[which] = pike;
            continue;
        }
        (pike.shy, pike.dash) = (pike.shy.saturating_sub(1), pike.dash.saturating_sub(1));
        if pike.shy == 0 && pike.dash == 0 && hunt.in_sight(pike.at).is_some() {
            pike.dash = DASH_FRAMES;
            game.mark(Mark::at(Kind::Dash, which, pike.at.cell));
        }
        pike.at.way += pike.speed(pace);
        if pike.at.way >= EDGE {
            pike.at.way -= EDGE;
            pike.at.cell = reed.next(pike.at.cell, pike.at.heading);
            pike.at.heading = hunt.choose(which, &pike, &mut game.random);
        }
        game.pikes[which] = pike;
    }
}

/// Speed, in units a frame, of a pike that neither dashes nor flees.
fn pace(game: &Gosling) -> u16 {
    let played = game.setup.round_frames.saturating_sub(game.clock.left);
    SPEED + SPEED_STEP * (played / LATE_FRAMES) + if game.clock.is_late() { SPEED_LATE } else { 0 }
}

/// Turns the load of a gosling at its nest into points.
fn bank(game: &mut Gosling, reed: &Reed, slot: usize, cell: u16) {
    let Some(nest) = reed.nest_at(cell).filter(|_| cell != NOWHERE) else { return };
    let chick = &mut game.chicks[slot];
    let is_free = game.setup.mode == Mode::Free;
    let is_home = if is_free { game.rests[nest] == 0 } else { usize::from(chick.brood) == nest };
    if !is_home || chick.load == 0 {
        return;
    }
    let points = if chick.load == LOAD_MAX { DOZEN } else { chick.load.into() };
    chick.heaviest = chick.heaviest.max(chick.load);
    chick.load = 0;
    if is_free {
        game.rests[nest] = REST_FRAMES;
    }
    meet::award(game, slot, points);
    game.mark(Mark::at(Kind::Bank, slot, cell).worth(points as u8));
}

/// Lets a gosling take crumbs, crusts and feathers it swam over.
fn eat(game: &mut Gosling, slot: usize, passed: Passed) {
    let (worth, frame) = (if game.clock.is_late() { 2 } else { 1 }, game.frame as u16);
    for tile in passed.tiles {
        let chick = &mut game.chicks[slot];
        if chick.load < LOAD_MAX && game.crumbs.take(tile) {
            (chick.load, chick.fed) = ((chick.load + worth).min(LOAD_MAX), frame);
        }
    }
    if passed.cell == NOWHERE {
        return;
    }
    if game.chicks[slot].load < LOAD_MAX && game.crumbs.take_crust(passed.cell) {
        let chick = &mut game.chicks[slot];
        chick.load = (chick.load + worth * crate::crumb::CRUST).min(LOAD_MAX);
        game.mark(Mark::at(Kind::Crust, slot, passed.cell));
    }
    if game.feathers.take(passed.cell) {
        game.chicks[slot].goose = crate::chick::GOOSE_FRAMES;
        game.mark(Mark::at(Kind::Feather, slot, passed.cell));
    }
}

/// Lets crumbs grow again, away from goslings, and lays crusts.
fn grow(game: &mut Gosling, reed: &Reed) {
    if game.frame.is_multiple_of(GROWTH_FRAMES) {
        let across = reed.tile_size().0 as i32;
        let places = game.chicks.each_ref().map(|chick| chick.is_swimming().then(|| reed.place(chick.at)));
        let is_near = |tile: u16| {
            let (x, y) = ((i32::from(tile) % across - 1) * TILE, (i32::from(tile) / across - 1) * TILE);
            places
                .iter()
                .flatten()
                .any(|place| (place.0 - x).abs() <= GROWTH_APART && (place.1 - y).abs() <= GROWTH_APART)
        };
        game.crumbs.grow(reed, &mut game.random, is_near);
    }
    if game.frame.is_multiple_of(CRUST_FRAMES) {
        game.crumbs.lay_crust(reed, &mut game.random);
    }
}

/// The next cell of a player's gosling and the way it would take there, for pages that show it.
pub fn foresee(game: &Gosling, reed: &Reed, slot: usize, wish: Wish) -> (u16, Way) {
    let chick = &game.chicks[slot];
    let cell = reed.next(chick.at.cell, chick.at.heading);
    let exits = reed.exits(cell);
    let turn = if exits.count_ones() > 2 {
        wish::turn(wish, (exits, chick.at.heading, chick.stale))
    } else {
        wish::pass(wish, (chick.at.heading, reed.bend(cell, chick.at.heading), chick.stale))
    };
    (cell, turn.heading)
}
