//! State of the match on this peer, the same for every engine, and its transitions.
//!
//! Every engine has one [`State`]; [`Transitions`](super::transitions::Transitions) changes it and
//! does what follows. Absent: sessions, links, the lobby.

use gaggle_kit::Micros;

use crate::phase::Phase;

/// Longest time a peer that is suspended alone admits joiners: after it they give up.
const HAND_OVER: Micros = Micros::from_secs(1);

/// What the shown match is to the room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// A match of this peer: it has no room, or the room waits for its host.
    Solo,
    /// A match of this peer, while the room's is being joined.
    Joining,
    /// The room's match.
    Playing,
    /// A match that others may join, in a room whose match could not be joined.
    Separate,
    /// A match that does not go on, or will soon not go on any more.
    Suspended(Suspension),
}

/// What a suspended peer has left to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Suspension {
    /// It is alone in the room's match and admits joiners.
    Alone {
        /// Since when other members could join.
        since: Option<Micros>,
    },
    /// It has said goodbye; the others may still need its last packets.
    Leaving {
        /// When it said goodbye.
        since: Micros,
    },
    /// It is in no match and has no links.
    Left,
}

/// Why a state changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The shown match becomes the room's.
    OpenMatch,
    /// The shown match is opened for others, because theirs could not be joined.
    OpenSeparate,
    /// The room's match is to be joined.
    BeginJoin,
    /// The room's match has arrived and is shown.
    Joined,
    /// The peers of the room have joined a separate match.
    PeersMet,
    /// There is no room any more, or it waits for its host.
    GoSolo,
    /// The player leaves the room.
    Leave,
    /// The page is hidden. Who is in the match must be told.
    Suspend {
        /// Time of the call.
        now: Micros,
        /// Whether other peers are in the match.
        with_peers: bool,
    },
    /// Time passes while suspended.
    Wait {
        /// Time of the call.
        now: Micros,
        /// Who could go on with the match.
        others: Others,
        /// How long the others need the packets of a peer that has said goodbye.
        goodbye: Micros,
    },
    /// The page is visible again.
    Resume,
}

/// Who could go on with the match of a suspended peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Others {
    /// No peer is in the match, and no member is awake.
    Absent,
    /// Members are awake and not in the match yet.
    Awake,
    /// Peers in the match lack parts of it.
    Incomplete,
    /// Peers in the match have all of it.
    Complete,
}

impl State {
    pub(crate) const fn is_suspended(self) -> bool {
        matches!(self, State::Suspended(_))
    }

    /// Whether the shown match is the room's, so that packets and events belong to it.
    pub(crate) const fn is_in_match(self) -> bool {
        use Suspension::{Alone, Leaving};
        matches!(self, State::Playing | State::Separate | State::Suspended(Alone { .. } | Leaving { .. }))
    }

    /// The phase that players see. `percent` is the progress of joining, unless it goes on unseen.
    pub(crate) fn phase(self, percent: Option<u8>, is_spectating: bool) -> Phase {
        match (self, percent) {
            (State::Suspended(_), _) => Phase::Suspended,
            (State::Joining, Some(percent)) => Phase::Joining { percent },
            _ if is_spectating => Phase::Spectating,
            (State::Playing, _) => Phase::Playing,
            (State::Solo | State::Joining | State::Separate, _) => Phase::Solo,
        }
    }

    /// The state after `cause`. Causes that mean nothing in a state leave it as it is.
    #[must_use]
    pub(crate) fn next(self, cause: Cause) -> State {
        use State::{Joining, Playing, Separate, Solo, Suspended};
        use Suspension::{Alone, Leaving, Left};
        match (self, cause) {
            (_, Cause::Leave) => Solo,
            (Suspended(_), Cause::OpenMatch | Cause::OpenSeparate) => Suspended(Alone { since: None }),
            // A join begins when the peer resumes.
            (Suspended(_), Cause::BeginJoin | Cause::GoSolo) => Suspended(Left),
            (Suspended(Alone { .. }), Cause::Resume) => Playing,
            (Suspended(Leaving { .. } | Left), Cause::Resume) => Solo,
            (Suspended(suspension), Cause::Wait { now, others, goodbye }) => {
                Suspended(suspension.after(now, others, goodbye))
            }
            (Suspended(_), _) => self,

            (Playing | Separate, Cause::Suspend { now, with_peers: true }) => {
                Suspended(Leaving { since: now })
            }
            (Playing, Cause::Suspend { .. }) => Suspended(Alone { since: None }),
            // No other peer has this match, and after it the room's is joined.
            (Solo | Joining | Separate, Cause::Suspend { .. }) => Suspended(Left),
            (_, Cause::OpenMatch) => Playing,
            (_, Cause::OpenSeparate) => Separate,
            (_, Cause::BeginJoin) => Joining,
            (_, Cause::GoSolo) => Solo,
            (Joining, Cause::Joined) | (Separate, Cause::PeersMet) => Playing,
            (_, Cause::Joined | Cause::PeersMet | Cause::Wait { .. } | Cause::Resume) => self,
        }
    }
}

impl Suspension {
    fn after(self, now: Micros, others: Others, goodbye: Micros) -> Suspension {
        use Suspension::{Alone, Leaving, Left};
        match (self, others) {
            (Alone { .. }, Others::Absent) => Alone { since: None },
            (Alone { .. }, Others::Complete) => Leaving { since: now },
            (Alone { since }, Others::Awake | Others::Incomplete) => {
                let since = since.unwrap_or(now);
                match (now.since(since) >= HAND_OVER, others) {
                    (false, _) => Alone { since: Some(since) },
                    (true, Others::Incomplete) => Leaving { since: now },
                    (true, _) => Left,
                }
            }
            (Leaving { since }, _) if now.since(since) >= goodbye => Left,
            (Leaving { .. } | Left, _) => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    const START: Micros = Micros::from_secs(10);
    const GOODBYE: Micros = Micros::from_millis(500);

    const STATES: [(&str, State); 8] = [
        ("Solo", State::Solo),
        ("Joining", State::Joining),
        ("Playing", State::Playing),
        ("Separate", State::Separate),
        ("Alone", State::Suspended(Suspension::Alone { since: None })),
        ("Watched", State::Suspended(Suspension::Alone { since: Some(START) })),
        ("Leaving", State::Suspended(Suspension::Leaving { since: START })),
        ("Left", State::Suspended(Suspension::Left)),
    ];

    fn causes() -> Vec<(String, Cause)> {
        let suspend = |with_peers| Cause::Suspend { now: START, with_peers };
        let plain = [
            ("OpenMatch", Cause::OpenMatch),
            ("OpenSeparate", Cause::OpenSeparate),
            ("BeginJoin", Cause::BeginJoin),
            ("Joined", Cause::Joined),
            ("PeersMet", Cause::PeersMet),
            ("GoSolo", Cause::GoSolo),
            ("Leave", Cause::Leave),
            ("Suspend", suspend(false)),
            ("SuspendWithPeers", suspend(true)),
            ("Resume", Cause::Resume),
        ];
        let waits = [Others::Absent, Others::Awake, Others::Incomplete, Others::Complete]
            .into_iter()
            .flat_map(|others| {
                [0, 700, 1_000].map(|ms| {
                    let cause =
                        Cause::Wait { now: START + Micros::from_millis(ms), others, goodbye: GOODBYE };
                    (format!("{others:?}{ms}"), cause)
                })
            });
        plain.into_iter().map(|(name, cause)| (name.to_string(), cause)).chain(waits).collect()
    }

    fn name(state: State) -> &'static str {
        match state {
            State::Suspended(Suspension::Alone { since: None }) => "Alone",
            State::Suspended(Suspension::Alone { since: Some(_) }) => "Watched",
            State::Suspended(Suspension::Leaving { .. }) => "Leaving",
            state => STATES.iter().find(|(_, known)| *known == state).expect("a state").0,
        }
    }

    const TABLE: &str = "
                 | Solo     | Joining  | Playing  | Separate | Alone    | Watched  | Leaving  | Left
OpenMatch        | Playing  | Playing  | Playing  | Playing  | Alone    | Alone    | Alone    | Alone
OpenSeparate     | Separate | Separate | Separate | Separate | Alone    | Alone    | Alone    | Alone
BeginJoin        | Joining  | Joining  | Joining  | Joining  | Left     | Left     | Left     | Left
Joined           | Solo     | Playing  | Playing  | Separate | Alone    | Watched  | Leaving  | Left
PeersMet         | Solo     | Joining  | Playing  | Playing  | Alone    | Watched  | Leaving  | Left
GoSolo           | Solo     | Solo     | Solo     | Solo     | Left     | Left     | Left     | Left
Leave            | Solo     | Solo     | Solo     | Solo     | Solo     | Solo     | Solo     | Solo
Suspend          | Left     | Left     | Alone    | Left     | Alone    | Watched  | Leaving  | Left
SuspendWithPeers | Left     | Left     | Leaving  | Leaving  | Alone    | Watched  | Leaving  | Left
Resume           | Solo     | Joining  | Playing  | Separate | Playing  | Playing  | Solo     | Solo
Absent0          | Solo     | Joining  | Playing  | Separate | Alone    | Alone    | Leaving  | Left
Absent700        | Solo     | Joining  | Playing  | Separate | Alone    | Alone    | Left     | Left
Absent1000       | Solo     | Joining  | Playing  | Separate | Alone    | Alone    | Left     | Left
Awake0           | Solo     | Joining  | Playing  | Separate | Watched  | Watched  | Leaving  | Left
Awake700         | Solo     | Joining  | Playing  | Separate | Watched  | Watched  | Left     | Left
Awake1000        | Solo     | Joining  | Playing  | Separate | Watched  | Left     | Left     | Left
Incomplete0      | Solo     | Joining  | Playing  | Separate | Watched  | Watched  | Leaving  | Left
Incomplete700    | Solo     | Joining  | Playing  | Separate | Watched  | Watched  | Left     | Left
Incomplete1000   | Solo     | Joining  | Playing  | Separate | Watched  | Leaving  | Left     | Left
Complete0        | Solo     | Joining  | Playing  | Separate | Leaving  | Leaving  | Leaving  | Left
Complete700      | Solo     | Joining  | Playing  | Separate | Leaving  | Leaving  | Left     | Left
Complete1000     | Solo     | Joining  | Playing  | Separate | Leaving  | Leaving  | Left     | Left
";

    #[test]
    fn every_state_with_every_cause_follows_table() {
        let mut table = format!("\n{:16}", "");
        STATES.iter().for_each(|(name, _)| write!(table, " | {name:8}").expect("memory"));
        for (title, cause) in causes() {
            write!(table, "\n{title:16}").expect("memory");
            STATES
                .iter()
                .for_each(|(_, state)| write!(table, " | {:8}", name(state.next(cause))).expect("memory"));
        }
        let lines: Vec<&str> = table.lines().map(str::trim_end).collect();
        assert_eq!(lines, TABLE.trim_end().lines().collect::<Vec<_>>());
    }

    #[test]
    fn waiting_peer_counts_from_first_other_member() {
        let wait =
            |ms, others| Cause::Wait { now: START + Micros::from_millis(ms), others, goodbye: GOODBYE };
        let mut state = State::Playing.next(Cause::Suspend { now: START, with_peers: false });
        for (ms, others) in
            [(0, Others::Awake), (900, Others::Absent), (1_000, Others::Awake), (1_900, Others::Awake)]
        {
            state = state.next(wait(ms, others));
            assert!(state.is_in_match(), "{ms} ms: {state:?}");
        }
        assert_eq!(state.next(wait(2_000, Others::Awake)), State::Suspended(Suspension::Left));
    }

    #[test]
    fn phase_shows_suspension_before_all_else() {
        for (_, state) in STATES {
            let phases =
                [None, Some(7)].map(|percent| [false, true].map(|watches| state.phase(percent, watches)));
            let own = match state {
                State::Suspended(_) => Phase::Suspended,
                State::Playing => Phase::Playing,
                _ => Phase::Solo,
            };
            let [watches, joining] = match state {
                State::Suspended(_) => [Phase::Suspended; 2],
                State::Joining => [Phase::Spectating, Phase::Joining { percent: 7 }],
                _ => [Phase::Spectating, own],
            };
            let joining_watches = if state == State::Joining { joining } else { watches };
            assert_eq!(phases, [[own, watches], [joining, joining_watches]], "{state:?}");
        }
    }
}
