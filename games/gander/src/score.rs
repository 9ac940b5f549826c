//! Points, what they are for, and the geese they earn.
//!
//! Called by all rules that give points. Absent: statistics of a match (`player.rs`).

use crate::Gander;
use crate::cue::{Kind, Mark};
use crate::player::SEATS;

/// Points for another goose.
pub const EXTRA_MOUNT: u32 = 20_000;
/// Most geese a player can have left.
pub const MOUNTS_MAX: u8 = 99;
/// A number of geese that never decreases.
pub const ENDLESS: u8 = u8::MAX;
/// Points for the first, second and third egg in a row, and for every further one.
pub const EGG_POINTS: [u16; 4] = [250, 500, 750, 1000];
/// Added for an egg that has not touched ground.
pub const MIDAIR_POINTS: u16 = 500;
/// Points for unseating another knight.
pub const KNIGHT_POINTS: u16 = 2000;
/// Consolation for a fall.
pub const FALL_POINTS: u16 = 50;
/// Points of the bonuses of waves and of the bounty.
pub const BONUS_POINTS: u16 = 3000;

/// Reason of an award. A slot may get points for several reasons in one frame, and each must be a
/// cue of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// Another knight unseated.
    Knight = 0,
    /// A rider unseated.
    Rider = 4,
    /// A Hern killed.
    Hern = 20,
    /// Fall of the knight itself.
    Fall = 23,
    /// Bounty for a knight unseated in a gladiator wave.
    Bounty = 24,
    /// Bonus at the end of a wave.
    Bonus = 28,
    /// Escape from the Clutch.
    Free = 29,
}

impl Reason {
    /// `who` of the cue, unique among the awards of a frame. `number` tells bodies of one reason
    /// apart.
    pub(crate) const fn id(self, number: usize, seat: usize) -> usize {
        (self as usize + number) * SEATS + seat
    }
}

impl Gander {
    /// Gives `points` to a slot, and a goose for every [`EXTRA_MOUNT`] reached. `mark` is the cue,
    /// whose `by` and `value` are filled in.
    pub(crate) fn award(&mut self, seat: usize, points: u16, mark: Mark) {
        let player = &mut self.players[seat];
        let before = player.score / EXTRA_MOUNT;
        player.score = player.score.saturating_add(u32::from(points));
        let geese = player.score / EXTRA_MOUNT - before;
        let (x, y) = (player.mover.x, player.mover.y);
        if geese > 0 && player.mounts != ENDLESS {
            player.mounts = player.mounts.saturating_add(geese as u8).min(MOUNTS_MAX);
        }
        self.mark(Mark { by: seat as u8, value: points, ..mark });
        if geese > 0 {
            self.mark(Mark { by: seat as u8, ..Mark::at(Kind::ExtraMount, seat, x, y) });
        }
    }
}
