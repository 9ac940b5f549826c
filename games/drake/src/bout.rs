//! Progress of a match: phase, round, winner, and level of the bots.
//!
//! The referee advances it and sends it as a value. Absent: scores, which are in `standing`.

use gaggle_kit::State;

/// Phase of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub enum Phase {
    /// All seats are free.
    #[default]
    Empty,
    /// A round is about to begin: crafts wait in their nests.
    Countdown,
    /// A round is being played.
    Play,
    /// The result of a round is shown.
    Result,
    /// The match is decided, and its table is shown.
    Over,
}

/// Frames of the countdown from three.
pub const COUNTDOWN_FRAMES: u16 = 180;
/// Frames after which a round ends without a last survivor: 90 seconds.
pub const ROUND_FRAMES: u16 = 5_400;
/// Frames a result is shown.
pub const RESULT_FRAMES: u16 = 210;
/// Frames the table of a match is shown before the next match.
pub const OVER_FRAMES: u16 = 480;
/// Frames before a button press may start the next match.
pub const OVER_FRAMES_MIN: u16 = 150;

/// Progress of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Bout {
    /// Present phase of the match.
    pub phase: Phase,
    /// Frames since the phase began.
    pub since: u16,
    /// Number of the round, from 1.
    pub round: u16,
    /// Number of the match, from 1; scores start again with each.
    pub number: u16,
    /// Skill of the bots, from 0: up when a player wins a match, down when a bot does.
    pub level: u8,
    /// Turning direction of all crafts.
    pub clockwise: bool,
    /// Seat that won the last round; none after a draw.
    pub winner: Option<u8>,
}

impl Bout {
    /// Number the countdown shows: 3, 2, 1.
    pub fn count(&self) -> u8 {
        (COUNTDOWN_FRAMES.saturating_sub(self.since)).div_ceil(60) as u8
    }

    /// Begins another phase at frame 0.
    pub fn turn_to(&mut self, phase: Phase) {
        (self.phase, self.since) = (phase, 0);
    }

    /// Seconds left of the round.
    pub fn seconds_left(&self) -> u16 {
        ROUND_FRAMES.saturating_sub(self.since).div_ceil(60)
    }
}
