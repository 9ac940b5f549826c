//! People coming and going. Who is present arrives with every frame, like the pads: the game only
//! has to notice the difference.

use crate::Gander;
use crate::cue::{Kind, Mark, NOBODY};
use crate::flow::Phase;
use crate::pad::Pad;
use crate::player::{Player, SEATS, Seat, WAIT_FRAMES};

/// Frames an empty seat keeps what was won in it: half a minute.
const KEPT_FRAMES: u16 = 1800;
/// Frames in which whoever sits down there can say that it is not his: two seconds, more than any
/// network needs.
const DOUBT_FRAMES: u16 = 120;

impl Player {
    /// Somebody who has just sat down.
    pub(crate) fn arriving(mounts: u8) -> Player {
        Player { seat: Seat::Waiting, wait: 1, mounts, ..Player::default() }
    }

    /// Somebody who sits down again in time, with what he had.
    fn returning(&self) -> Option<Player> {
        let Player { score, mounts, tally, .. } = *self;
        // Whoever had no goose left does not get one by going out and coming in again.
        let seat = if mounts > 0 { Seat::Waiting } else { Seat::Out };
        let wait = WAIT_FRAMES + DOUBT_FRAMES;
        let back = Player { seat, wait, score, mounts, tally, ..Player::default() };
        (self.wait > 0).then_some(back)
    }

    /// One frame of a seat somebody sits in. If something was kept there it is his, unless he says
    /// in time that it is not: then he is somebody who has just sat down. Once in a stay, and
    /// whoever has it all and says so only loses it.
    fn settle(&mut self, fresh: bool, mounts: u8) {
        if !self.doubted() {
            return;
        }
        self.wait -= 1;
        if fresh {
            let Player { mover, safe, .. } = *self;
            let new = Player::arriving(mounts);
            *self =
                if self.riding() { Player { seat: Seat::Riding, wait: 0, mover, safe, ..new } } else { new };
        } else if !self.doubted() {
            self.wait = u16::from(self.seat == Seat::Waiting);
        }
    }

    /// One frame of an empty seat.
    fn cool(&mut self) {
        self.wait = self.wait.saturating_sub(1);
        if self.wait == 0 {
            *self = Player::default();
        }
    }
}

impl Gander {
    /// Lets newcomers sit down and leavers fly off.
    pub(crate) fn roll_call(&mut self, pads: &[Pad; SEATS], present: [bool; SEATS]) {
        for (seat, here) in present.into_iter().enumerate() {
            match (self.players[seat].present(), here) {
                (false, true) => self.arrive(seat),
                (true, false) => self.leave(seat),
                (false, false) => self.players[seat].cool(),
                (true, true) => self.players[seat].settle(pads[seat].fresh, self.setup.mounts),
            }
        }
        if self.wave.phase != Phase::Empty && !present.contains(&true) {
            self.empty();
        }
    }

    fn arrive(&mut self, seat: usize) {
        self.players[seat] = self.players[seat].returning().unwrap_or(Player::arriving(self.setup.mounts));
        self.mark(Mark { by: seat as u8, ..Mark::at(Kind::Join, seat, 0, 0) });
    }

    /// His goose flies off with him. What he won stays with the seat for a while: pages are
    /// reloaded, and links break.
    fn leave(&mut self, seat: usize) {
        let player = self.players[seat];
        let mark = Mark::at(Kind::Leave, seat, player.mover.x, player.mover.y);
        // `by` tells whether there is a goose to be seen flying off.
        let by = if player.riding() { seat as u8 } else { NOBODY };
        self.mark(Mark { by, left: player.mover.left, ..mark });
        if self.clutch.prey == seat as u8 {
            self.clutch.sink();
        }
        let Player { score, mounts, tally, .. } = player;
        self.players[seat] = Player { wait: KEPT_FRAMES, score, mounts, tally, ..Player::default() };
    }
}
