//! State of one slot: its player, knight, score and geese.
//!
//! Read and written by all rules of the game; `roster.rs` fills and empties slots. Absent: rules.

use gaggle_kit::State;

use crate::mover::Mover;

/// Most players of a match.
pub const SEATS: usize = 4;
/// Frames between losing a goose and appearing again.
pub const WAIT_FRAMES: u16 = 120;
/// Frames a knight that does not move cannot be touched after appearing.
pub const SAFE_FRAMES: u16 = 600;
/// The first of these: the knight is still appearing and cannot move either.
pub const APPEAR_FRAMES: u16 = 40;
/// Frames of safety that remain once the knight moves.
pub const GRACE_FRAMES: u16 = 30;

/// Phase of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub enum Seat {
    /// No player is present.
    #[default]
    Empty,
    /// The knight appears in `wait` frames.
    Waiting,
    /// The knight is on its goose.
    Riding,
    /// The player has no goose left.
    Out,
}

/// One slot of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Player {
    /// Phase of this slot.
    pub seat: Seat,
    /// Frames until the knight appears; in an empty slot, frames until the kept score is forgotten.
    /// Above [`WAIT_FRAMES`] for a player that got a kept score back: see [`Player::doubted`].
    pub wait: u16,
    /// Frames during which the knight cannot be touched.
    #[state(range = 0..=SAFE_FRAMES)]
    pub safe: u16,
    /// Goose the knight rides.
    pub mover: Mover,
    /// Points won in this match.
    pub score: u32,
    /// Geese left, including the one ridden.
    pub mounts: u8,
    /// Eggs taken since the last fall, each worth more than the last.
    pub run: u8,
    /// After the end of a match: flap has been up since, so pressing it starts the next.
    pub let_go: bool,
    /// Statistics of this match.
    pub tally: Tally,
    /// Statistics of this wave, for bonuses.
    pub deeds: Deeds,
}

/// Statistics of a match, for the table at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Tally {
    /// Number of eggs taken.
    pub eggs: u16,
    /// Riders, Herns and knights beaten.
    pub jousts: u16,
    /// Falls for any reason.
    pub falls: u16,
    /// Falls into the fire.
    pub burns: u16,
}

/// Statistics of a wave that decide its bonus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Deeds {
    /// Whether the player was present when it began.
    pub whole: bool,
    /// Whether the knight fell.
    pub fell: bool,
    /// Riders unseated in this wave.
    pub jousts: u8,
}

impl Player {
    /// Whether a player has this slot.
    pub const fn present(&self) -> bool {
        !matches!(self.seat, Seat::Empty)
    }

    /// Whether the player got a score kept in this slot and can still reject it with
    /// [`Pad::fresh`](crate::Pad::fresh). Such a player appears without waiting.
    pub const fn doubted(&self) -> bool {
        self.present() && self.wait > WAIT_FRAMES
    }

    /// Whether the knight is in the fen.
    pub const fn riding(&self) -> bool {
        matches!(self.seat, Seat::Riding)
    }

    /// Whether other bodies can touch the knight.
    #[inline]
    pub const fn tangible(&self) -> bool {
        self.riding() && self.safe == 0
    }

    /// Whether the player has a goose left.
    pub const fn playing(&self) -> bool {
        matches!(self.seat, Seat::Riding | Seat::Waiting)
    }

    /// Whether the knight is still appearing: its input is ignored.
    pub const fn appearing(&self) -> bool {
        self.safe > SAFE_FRAMES - APPEAR_FRAMES
    }
}
