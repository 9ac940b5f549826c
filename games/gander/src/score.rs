//! Points, and the geese they buy.

use crate::Gander;
use crate::cue::{Kind, Mark};
use crate::player::SEATS;

/// A goose for every so many points.
pub const EXTRA_MOUNT: u32 = 20_000;
/// Most geese anybody can have left.
pub const MOUNTS_MAX: u8 = 99;
/// Geese that never run out.
pub const ENDLESS: u8 = u8::MAX;
/// For the first, second and third egg in a row, and for every further one.
pub const EGG_POINTS: [u16; 4] = [250, 500, 750, 1000];
/// On top, if the egg has not touched ground yet.
pub const MIDAIR_POINTS: u16 = 500;
/// For unseating another knight.
pub const KNIGHT_POINTS: u16 = 2000;
/// Points for a fall.
pub const FALL_POINTS: u16 = 50;
/// For surviving, for leaving each other alone, for the bounty.
pub const BONUS_POINTS: u16 = 3000;

/// What points were given for. Several reasons may give one seat points in one frame, and each must
/// be a cue of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// Unseated another knight.
    Knight = 0,
    /// Unseated a rider.
    Rider = 4,
    /// Killed a Hern.
    Hern = 20,
    /// Fell from the saddle.
    Fall = 23,
    /// A bounty, for a knight.
    Bounty = 24,
    /// A bonus at the end of a wave.
    Bonus = 28,
    /// Tearing loose from the Clutch.
    Free = 29,
}

impl Reason {
    /// The number that tells these points from all others of the frame.
    pub(crate) const fn id(self, number: usize, seat: usize) -> usize {
        (self as usize + number) * SEATS + seat
    }
}

impl Gander {
    /// Gives points to a seat, and a goose if they are enough. `mark` says where the number rises
    /// and which cue it is; its points are filled in.
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
