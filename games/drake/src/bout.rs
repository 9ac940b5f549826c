//! Where a match stands: countdown, round, result, and the end of it all.

use gaggle_kit::State;

/// What goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub enum Phase {
    /// Nobody is here.
    #[default]
    Empty,
    /// The next round is about to begin: drakes wait in their nests.
    Countdown,
    /// A round is played.
    Play,
    /// The result of a round is shown.
    Result,
    /// The match is decided.
    Over,
}

/// Frames of the countdown: three, two, one.
pub const COUNTDOWN_FRAMES: u16 = 180;
/// A round without a winner ends after a minute and a half.
pub const ROUND_FRAMES: u16 = 5_400;
/// Frames a result is shown.
pub const RESULT_FRAMES: u16 = 210;
/// Frames the end of a match is shown before another begins.
pub const OVER_FRAMES: u16 = 480;
/// Frames before a press begins another.
pub const OVER_FRAMES_MIN: u16 = 150;

/// Where a match stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Bout {
    /// What goes on.
    pub phase: Phase,
    /// Frames since it began.
    pub since: u16,
    /// Which round, from 1.
    pub round: u16,
    /// Which match, from 1: a new one forgets all scores.
    pub number: u16,
    /// How good the bots are, from 0: a match won by a player raises it, one won by a bot lowers
    /// it.
    pub level: u8,
    /// Which way everybody turns.
    pub clockwise: bool,
    /// Who won the last round, by seat; nobody if it was a draw.
    pub winner: Option<u8>,
}

impl Bout {
    /// What the countdown says: 3, 2, 1.
    pub fn count(&self) -> u8 {
        (COUNTDOWN_FRAMES.saturating_sub(self.since)).div_ceil(60) as u8
    }

    /// Begins another phase.
    pub fn turn_to(&mut self, phase: Phase) {
        (self.phase, self.since) = (phase, 0);
    }

    /// Seconds of the round that are left.
    pub fn seconds_left(&self) -> u16 {
        ROUND_FRAMES.saturating_sub(self.since).div_ceil(60)
    }
}
