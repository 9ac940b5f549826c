//! Players that join and leave: the slots with a player are an input of every frame, like the pads.
//!
//! Called first in every tick. Absent: the network, the lobby.

use crate::Skein;
use crate::course::{self, Phase};
use crate::cue::{Kind, Mark};
use crate::fall::row_of;
use crate::goose::{BREATH_START, Flight, Goose, SEATS, Seat, Tally};
use crate::pad::Pad;
use crate::score::add_spare;

/// Frames for which a free slot keeps the statistics of the player who left.
const KEPT_FRAMES: u16 = 1_800;
/// Frames in which a player who takes a kept slot can say that the statistics belong to another.
const DOUBT_FRAMES: u8 = 120;

/// Handles players that joined or left since the last frame.
pub(crate) fn step(game: &mut Skein, pads: &[Pad; SEATS], present: [bool; SEATS]) {
    let is_empty = game.course.phase == Phase::Empty;
    for (which, here) in present.into_iter().enumerate() {
        match (game.geese[which].seat, here) {
            (Seat::Person, true) => settle(&mut game.geese[which], pads[which]),
            (Seat::Person, false) => leave(game, which),
            (_, true) => arrive(game, which, is_empty),
            (Seat::Away, false) => cool(&mut game.geese[which]),
            (Seat::Free | Seat::Young, false) => {}
        }
    }
    match (is_empty, present.contains(&true)) {
        (true, true) => course::begin(game),
        (false, false) => *game = Skein { frame: game.frame, ..cleared(game) },
        _ => {}
    }
}

/// An empty sky with the random numbers of this one.
fn cleared(game: &mut Skein) -> Skein {
    Skein { random: game.random, marks: game.marks, ..Skein::new(game.setup, 0) }
}

fn arrive(game: &mut Skein, which: usize, is_empty: bool) {
    let goose = &mut game.geese[which];
    if goose.seat == Seat::Away {
        (goose.seat, goose.doubt) = (Seat::Person, DOUBT_FRAMES);
        if goose.flight == Flight::None {
            *goose = goose.entering(row_of(which));
        }
    } else {
        let flight = Goose { seat: Seat::Person, breath: BREATH_START, ..Goose::default() };
        *goose = flight.entering(row_of(which));
        if game.course.phase == Phase::Over {
            game.geese[which].flight = Flight::Out;
        } else if !is_empty {
            add_spare(game);
        }
    }
    let mark = Mark::at(Kind::Join, which, game.geese[which].spot());
    game.mark(mark);
}

/// First frames of a player in a slot: the kept statistics may belong to another.
fn settle(goose: &mut Goose, pad: Pad) {
    if goose.doubt > 0 {
        goose.doubt -= 1;
        if pad.holds(Pad::FRESH) {
            (goose.doubt, goose.tally) = (0, Tally::default());
        }
    }
}

/// Handles a leave: the goose flies on by itself with all it has.
fn leave(game: &mut Skein, which: usize) {
    let goose = &mut game.geese[which];
    (goose.seat, goose.kept, goose.held) = (Seat::Away, KEPT_FRAMES, 0);
    let mark = Mark::at(Kind::Leave, which, goose.spot());
    game.mark(mark);
}

/// Runs one frame of a slot whose player left.
fn cool(goose: &mut Goose) {
    goose.kept = goose.kept.saturating_sub(1);
    // Until the next roost the player may take the goose back.
    if goose.kept == 0 && goose.flight == Flight::None {
        *goose = Goose::default();
    }
}
