//! Arrival and departure of players.
//!
//! Called by `tick.rs` first in a frame, which compares the presence it is given with that of the
//! last frame. Absent: pads knights appear on (`spawn.rs`).

use crate::Gander;
use crate::cue::{Kind, Mark, NO_SLOT};
use crate::flow::Phase;
use crate::pad::Pad;
use crate::player::{Player, SEATS, Seat, WAIT_FRAMES};

/// Frames an empty slot keeps its score: half a minute.
const KEPT_FRAMES: u16 = 1800;
/// Frames a player can reject a kept score: two seconds, more than any input takes to arrive.
const DOUBT_FRAMES: u16 = 120;

impl Player {
    /// A player that has just arrived, with the geese of a new one.
    pub(crate) fn arriving(mounts: u8) -> Player {
        Player { seat: Seat::Waiting, wait: 1, mounts, ..Player::default() }
    }

    /// A player that arrives while the slot still has a score, which it gets.
    fn returning(&self) -> Option<Player> {
        let Player { score, mounts, tally, .. } = *self;
        // Leaving and returning must not give a new goose to a player without one.
        let seat = if mounts > 0 { Seat::Waiting } else { Seat::Out };
        let wait = WAIT_FRAMES + DOUBT_FRAMES;
        let back = Player { seat, wait, score, mounts, tally, ..Player::default() };
        (self.wait > 0).then_some(back)
    }

    /// One frame of a slot with a player. A player given a kept score can reject it with `fresh`,
    /// once and only while doubted, and then starts anew: a lie costs the score.
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

    /// One frame of a slot without a player.
    fn cool(&mut self) {
        self.wait = self.wait.saturating_sub(1);
        if self.wait == 0 {
            *self = Player::default();
        }
    }
}

impl Gander {
    /// Compares presence with the last frame and lets players arrive and leave.
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

    /// Empties a slot but keeps its score for a while: pages are reloaded, and links fail.
    fn leave(&mut self, seat: usize) {
        let player = self.players[seat];
        let mark = Mark::at(Kind::Leave, seat, player.mover.x, player.mover.y);
        // `by` tells the picture whether a goose flies off.
        let by = if player.riding() { seat as u8 } else { NO_SLOT };
        self.mark(Mark { by, left: player.mover.left, ..mark });
        if self.clutch.prey == seat as u8 {
            self.clutch.sink();
        }
        let Player { score, mounts, tally, .. } = player;
        self.players[seat] = Player { wait: KEPT_FRAMES, score, mounts, tally, ..Player::default() };
    }
}
