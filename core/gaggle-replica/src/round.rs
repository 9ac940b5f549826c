//! Rounds of a match: waiting for players, countdown, play, result. Their state is a value the
//! leader writes, so joiners, returning players and the next leader all have it. Games call it
//! every frame. Absent: what decides a round.

use gaggle_kit::{Micros, Slot, State};

use crate::id::slot_of_byte;
use crate::{Kinds, Session, ValueError, ValueWriter};

/// Name of the value in [`SessionEvent::ValueChanged`](crate::SessionEvent::ValueChanged).
pub(crate) const NAME: &str = "gaggle round";
/// Slot the value is stored under; it concerns all players.
const ALL: Slot = Slot::at(0);

/// Settings of the rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundConfig {
    /// Players needed for a round. Default 2.
    pub players_min: usize,
    /// Time from enough players, or from the last result, to play. Default 3 s.
    pub countdown: Micros,
    /// A round without a winner ends after this. [`Micros::MAX`]: never. Default 90 s.
    pub time_limit: Micros,
    /// Time a result is shown. Default 4 s.
    pub result_duration: Micros,
    /// Rounds to win the match; 0 for rounds without end. Default 5.
    pub wins_needed: u8,
}

impl Default for RoundConfig {
    fn default() -> RoundConfig {
        RoundConfig {
            players_min: 2,
            countdown: Micros::from_secs(3),
            time_limit: Micros::from_secs(90),
            result_duration: Micros::from_secs(4),
            wins_needed: 5,
        }
    }
}

/// Phase of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub enum RoundPhase {
    /// There are too few players.
    #[default]
    Waiting,
    /// The next round is about to begin.
    Countdown,
    /// A round is played.
    Playing,
    /// The result of a round is shown.
    Result,
    /// The match is decided.
    Over,
}

/// State of a match, the same on every peer.
#[derive(Debug, Clone, PartialEq, Eq, Default, State)]
pub struct RoundState {
    /// Phase the match is in.
    pub phase: RoundPhase,
    /// Number of the round, from 1; 0 before the first.
    pub round: u16,
    /// Age of the session when the phase began, in milliseconds.
    since_ms: u32,
    /// Slot of the player that won the last round.
    winner: Option<u8>,
    /// Rounds won, by slot.
    #[state(max = 255)]
    wins: Vec<(u8, u8)>,
}

impl RoundState {
    /// Winner of the last round; `None` if it was a draw.
    pub fn winner(&self) -> Option<Slot> {
        self.winner.and_then(slot_of_byte)
    }

    /// Rounds of this match a player has won.
    pub fn wins(&self, player: Slot) -> u8 {
        self.wins.iter().find(|(number, _)| *number == player.byte()).map_or(0, |(_, wins)| *wins)
    }

    /// Time since the phase began.
    pub fn elapsed(&self, session: &Session) -> Micros {
        session.session_age().since(Micros::from_millis(self.since_ms.into()))
    }
}

/// Advances a match through its rounds.
///
/// ```
/// # use gaggle_kit::{Micros, Slot};
/// # use gaggle_replica::*;
/// let rounds = Rounds::new(RoundConfig { players_min: 1, ..RoundConfig::default() });
/// let kinds = Rounds::register(Kinds::new());
/// let (config, player) = (ReplicaConfig::default(), Slot::at(0));
/// let mut session = Session::new(config, kinds, player, JoinMode::Create, 7)?;
/// for millis in (0..4_000).step_by(16) {
///     session.tick(Micros::from_millis(millis));
///     rounds.tick(&mut session);
/// }
/// assert_eq!(rounds.state(&session).phase, RoundPhase::Playing);
/// # Ok::<(), SessionError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Rounds {
    rules: RoundConfig,
}

impl Rounds {
    /// Rounds with these settings, which all peers share.
    pub const fn new(rules: RoundConfig) -> Rounds {
        Rounds { rules }
    }

    /// Registers the value of the rounds beside a game's kinds.
    #[must_use]
    pub fn register(kinds: Kinds) -> Kinds {
        kinds.with_value::<RoundState>(NAME, ValueWriter::Leader)
    }

    /// Present state of the match.
    pub fn state(&self, session: &Session) -> RoundState {
        session.value(ALL).unwrap_or_default()
    }

    /// Time left of the phase; `None` if it does not end by itself.
    pub fn remaining(&self, session: &Session) -> Option<Micros> {
        let state = self.state(session);
        let length = self.length(state.phase)?;
        Some(length.since(state.elapsed(session)))
    }

    /// Call it once a frame on every peer: the leader advances the match.
    pub fn tick(&self, session: &mut Session) {
        if !session.is_leader() {
            return;
        }
        let state = self.state(session);
        let enough = session.roster().len() >= self.rules.players_min;
        let done = self.length(state.phase).is_some_and(|length| state.elapsed(session) >= length);
        let next = match state.phase {
            RoundPhase::Waiting if enough => RoundPhase::Countdown,
            RoundPhase::Countdown if !enough => RoundPhase::Waiting,
            RoundPhase::Countdown if done => RoundPhase::Playing,
            RoundPhase::Playing if done => return self.finish(session, None),
            RoundPhase::Result if done && self.is_decided(&state) => RoundPhase::Over,
            RoundPhase::Result if done && enough => RoundPhase::Countdown,
            RoundPhase::Result if done => RoundPhase::Waiting,
            _ => return,
        };
        let round = state.round + u16::from(next == RoundPhase::Playing);
        self.write(session, RoundState { phase: next, round, ..state });
    }

    /// Ends the round with a winner or a draw. Takes effect only on the leader and while a round is
    /// played.
    pub fn finish(&self, session: &mut Session, winner: Option<Slot>) {
        let mut state = self.state(session);
        if state.phase != RoundPhase::Playing || !session.is_leader() {
            return;
        }
        state.phase = RoundPhase::Result;
        state.winner = winner.map(Slot::byte);
        if let Some(number) = state.winner {
            match state.wins.iter_mut().find(|(other, _)| *other == number) {
                Some((_, wins)) => *wins = wins.saturating_add(1),
                None => state.wins.push((number, 1)),
            }
        }
        self.write(session, state);
    }

    /// Starts a new match. Takes effect only on the leader.
    pub fn restart(&self, session: &mut Session) {
        self.write(session, RoundState::default());
    }

    fn is_decided(&self, state: &RoundState) -> bool {
        self.rules.wins_needed > 0 && state.wins.iter().any(|(_, wins)| *wins >= self.rules.wins_needed)
    }

    fn length(&self, phase: RoundPhase) -> Option<Micros> {
        match phase {
            RoundPhase::Countdown => Some(self.rules.countdown),
            RoundPhase::Playing => Some(self.rules.time_limit).filter(|limit| *limit != Micros::MAX),
            RoundPhase::Result => Some(self.rules.result_duration),
            RoundPhase::Waiting | RoundPhase::Over => None,
        }
    }

    fn write(&self, session: &mut Session, state: RoundState) {
        let since_ms = u32::try_from(session.session_age().as_millis()).unwrap_or(u32::MAX);
        let written: Result<(), ValueError> = session.set_value(ALL, &RoundState { since_ms, ..state });
        // Only the leader may write the value, so an error is expected on every other peer.
        debug_assert!(written.is_ok() || !session.is_leader(), "{written:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{JoinMode, ReplicaConfig};

    fn run(session: &mut Session, rounds: &Rounds, from: u64, millis: u64) -> u64 {
        for now in (from..from + millis).step_by(10) {
            session.tick(Micros::from_millis(now));
            rounds.tick(session);
        }
        from + millis
    }

    #[test]
    fn round_goes_through_its_phases() {
        let rules = RoundConfig {
            players_min: 1,
            wins_needed: 2,
            time_limit: Micros::from_secs(10),
            ..RoundConfig::default()
        };
        let rounds = Rounds::new(rules);
        let kinds = Rounds::register(Kinds::new());
        let mut session =
            Session::new(ReplicaConfig::default(), kinds, Slot::at(3), JoinMode::Create, 1).unwrap();
        assert_eq!(rounds.state(&session), RoundState::default());
        let mut now = run(&mut session, &rounds, 0, 1_000);
        assert_eq!(rounds.state(&session).phase, RoundPhase::Countdown);
        let left = rounds.remaining(&session).unwrap();
        assert!(left > Micros::from_millis(1_900) && left < Micros::from_millis(2_100), "{left:?}");
        now = run(&mut session, &rounds, now, 3_000);
        assert_eq!((rounds.state(&session).phase, rounds.state(&session).round), (RoundPhase::Playing, 1));
        now = run(&mut session, &rounds, now, 10_000);
        assert_eq!(
            (rounds.state(&session).phase, rounds.state(&session).winner()),
            (RoundPhase::Result, None)
        );
        for wins in 1..=2 {
            now = run(&mut session, &rounds, now, 8_000);
            assert_eq!(rounds.state(&session).phase, RoundPhase::Playing);
            rounds.finish(&mut session, Some(Slot::at(3)));
            rounds.finish(&mut session, Some(Slot::at(3)));
            assert_eq!(rounds.state(&session).wins(Slot::at(3)), wins, "a round is won once");
        }
        now = run(&mut session, &rounds, now, 5_000);
        assert_eq!(rounds.state(&session).phase, RoundPhase::Over);
        rounds.restart(&mut session);
        run(&mut session, &rounds, now, 20);
        assert_eq!((rounds.state(&session).phase, rounds.state(&session).round), (RoundPhase::Countdown, 0));
    }
}
