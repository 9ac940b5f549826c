//! People coming and going. Who is present arrives with every frame, like the pads: the game only has to
//! notice the difference.

use crate::Gander;
use crate::cue::{Kind, Mark, NOBODY};
use crate::flow::Phase;
use crate::player::{Player, SEATS, Seat};

impl Player {
    /// Somebody who has just sat down.
    pub(crate) fn arriving(mounts: u8) -> Player {
        Player { seat: Seat::Waiting, wait: 1, mounts, ..Player::default() }
    }
}

impl Gander {
    /// Lets newcomers sit down and leavers fly off.
    pub(crate) fn roll_call(&mut self, present: [bool; SEATS]) {
        for (seat, here) in present.into_iter().enumerate() {
            match (self.players[seat].present(), here) {
                (false, true) => self.arrive(seat),
                (true, false) => self.leave(seat),
                _ => {}
            }
        }
        if self.wave.phase != Phase::Empty && !present.contains(&true) {
            self.empty();
        }
    }

    fn arrive(&mut self, seat: usize) {
        self.players[seat] = Player::arriving(self.setup.mounts);
        self.mark(Mark { by: seat as u8, ..Mark::at(Kind::Join, seat, 0, 0) });
    }

    /// His goose flies off with him; what he won goes with him too.
    fn leave(&mut self, seat: usize) {
        let player = self.players[seat];
        let mark = Mark::at(Kind::Leave, seat, player.mover.x, player.mover.y);
        // `by` tells whether there is a goose to be seen flying off.
        let by = if player.riding() { seat as u8 } else { NOBODY };
        self.mark(Mark { by, left: player.mover.left, ..mark });
        if self.clutch.prey == seat as u8 {
            self.clutch.sink();
        }
        self.players[seat] = Player::default();
    }
}
