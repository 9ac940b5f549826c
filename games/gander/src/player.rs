//! A seat at the game and the knight who sits in it.

use gaggle_kit::State;

use crate::mover::Mover;

/// Number of players at most.
pub const SEATS: usize = 4;
/// Frames between losing a saddle and appearing again.
pub const WAIT_FRAMES: u16 = 120;
/// Frames nobody can touch a newcomer who does not move.
pub const SAFE_FRAMES: u16 = 600;
/// The first of those: he is still appearing and cannot move either.
pub const APPEAR_FRAMES: u16 = 40;
/// Frames of safety that remain once he moves.
pub const GRACE_FRAMES: u16 = 30;

/// What a seat is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub enum Seat {
    /// Nobody sits in it.
    #[default]
    Empty,
    /// The knight will appear in so many frames.
    Waiting,
    /// The knight is on his goose.
    Riding,
    /// No goose left.
    Out,
}

/// State of one slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Player {
    /// What it is doing.
    pub seat: Seat,
    /// Frames until he appears; of an empty seat, until it forgets what was won in it. More than
    /// [`WAIT_FRAMES`] for whoever has just sat down where something was kept: see
    /// [`Player::doubted`].
    pub wait: u16,
    /// Frames during which nobody can touch him.
    #[state(range = 0..=SAFE_FRAMES)]
    pub safe: u16,
    /// Goose of the player.
    pub mover: Mover,
    /// Score in points.
    pub score: u32,
    /// Geese left, the one he sits on included.
    pub mounts: u8,
    /// Eggs in a row, each worth more than the last.
    pub run: u8,
    /// At the end of a match: he has let go of the button since, so pressing it means something.
    pub let_go: bool,
    /// His match so far.
    pub tally: Tally,
    /// His wave so far.
    pub deeds: Deeds,
}

/// A match in numbers, for the table at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Tally {
    /// Number of eggs taken.
    pub eggs: u16,
    /// Riders, Herns and knights beaten.
    pub jousts: u16,
    /// Number of falls.
    pub falls: u16,
    /// Of those, in the fire.
    pub burns: u16,
}

/// What bonuses ask about a wave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Deeds {
    /// He was there when it began.
    pub whole: bool,
    /// He lost his saddle.
    pub fell: bool,
    /// Riders he beat.
    pub jousts: u8,
}

impl Player {
    /// Whether somebody sits here.
    pub const fn present(&self) -> bool {
        !matches!(self.seat, Seat::Empty)
    }

    /// Whether he has just sat down where something was kept, and may still say that it is not his.
    /// He does not wait.
    pub const fn doubted(&self) -> bool {
        self.present() && self.wait > WAIT_FRAMES
    }

    /// Whether he is in the fen.
    pub const fn riding(&self) -> bool {
        matches!(self.seat, Seat::Riding)
    }

    /// Whether he can be touched.
    #[inline]
    pub const fn tangible(&self) -> bool {
        self.riding() && self.safe == 0
    }

    /// Whether he is still in the match.
    pub const fn playing(&self) -> bool {
        matches!(self.seat, Seat::Riding | Seat::Waiting)
    }

    /// Whether he is still appearing: nothing he does counts yet.
    pub const fn appearing(&self) -> bool {
        self.safe > SAFE_FRAMES - APPEAR_FRAMES
    }
}
