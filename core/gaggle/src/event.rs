//! What a game tells its players about being online.

use std::fmt;

use gaggle_kit::{Frame, Micros, PeerId};
use gaggle_link::{Path, PathReason};
use gaggle_lobby::client::RequestId;
use gaggle_lobby::view::LeaveReason;
use gaggle_lobby::{Refusal, RoomCode, ServerMessage};
use gaggle_timeline::DesyncCause;

/// How somebody's part in a match ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parting {
    /// They said so, to the match or to the lobby: nobody had to wait for them.
    Goodbye,
    /// Nothing was heard of them any more. Their seat is kept for a while.
    Silence,
}

/// Why a peer's link was closed. Shown as text it says what a developer has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// In a [`Room`](crate::Room): it plays by other rules than we do.
    Match(gaggle_timeline::Refusal),
    /// In a [`Room`](crate::Room): it did what no network can do to a packet.
    MatchFault(gaggle_timeline::PeerFault),
    /// In a [`SharedRoom`](crate::SharedRoom): it plays by other rules than we do.
    World(gaggle_replica::Refusal),
    /// In a [`SharedRoom`](crate::SharedRoom): it did what no network can do to a packet.
    WorldFault(gaggle_replica::PeerFault),
}

impl Rejection {
    /// Whether it is another build of the game, and did nothing wrong.
    pub fn is_other_build(&self) -> bool {
        matches!(self, Rejection::Match(_) | Rejection::World(_))
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rejection::Match(refusal) => write!(f, "{refusal}"),
            Rejection::MatchFault(fault) => write!(f, "{fault}"),
            Rejection::World(refusal) => write!(f, "{refusal}"),
            Rejection::WorldFault(fault) => write!(f, "{fault}"),
        }
    }
}

/// Something players should know, each told once. Shown as text it is a calm sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The server made up a secret for us: keep it and give it the next time, to be the same person.
    Key(String),
    /// We have a seat in a room.
    Seated {
        /// The six letters others join by.
        code: RoomCode,
        /// We had it before.
        returned: bool,
    },
    /// We are not in the room any more and play alone.
    Unseated {
        /// Why.
        reason: LeaveReason,
    },
    /// Another tab or machine has our seat. See [`Room::take_over`](crate::Room::take_over).
    Elsewhere,
    /// The server cannot be reached at the moment; the game goes on.
    ServerLost,
    /// The server is back.
    ServerBack,
    /// The server refused what we asked for.
    Refused(Refusal),
    /// The list of open rooms changed: see [`Client::listed`](gaggle_lobby::client::Client::listed).
    Rooms,
    /// The answer to something asked through [`Room::lobby`](crate::Room::lobby).
    Answer {
        /// What was asked.
        request: RequestId,
        /// What the server says.
        answer: Box<ServerMessage>,
    },
    /// How the match ended is decided and kept: ask for the best, or one's own best, again.
    ResultKept,
    /// We are coming into a running match.
    Joining {
        /// How far it is.
        percent: u8,
    },
    /// That did not work, and we go on alone. [`Event::Rejected`], [`Event::StateTooLarge`] or [`Event::LineTooSlow`] said why, if
    /// more is known than that the others could not be reached in time.
    JoinFailed,
    /// The link to a peer was closed for good: it has another build of the game, or did what only a bug does. If that holds for
    /// everybody in the room, we leave it.
    Rejected {
        /// Who.
        peer: PeerId,
        /// What they are called.
        name: String,
        /// Why.
        reason: Rejection,
    },
    /// The state of the match is larger than can be sent, so no peer can join. To mend in the game: what never changes, such as
    /// levels and tables, belongs outside of its state.
    StateTooLarge {
        /// What it has, in bytes.
        bytes: u64,
        /// What it may have.
        max: u64,
    },
    /// A packet to a peer and back takes longer than this match can bear: it runs slower than it should, and a peer that comes over
    /// such a line may not get in.
    LineTooSlow {
        /// To whom.
        peer: PeerId,
        /// What they are called.
        name: String,
        /// How long it takes.
        rtt: Micros,
        /// How long it may take.
        max: Micros,
    },
    /// We are in the match of the room, for the first time or again after [`Room::rest`](crate::Room::rest). Whoever is there is told by
    /// [`Room::people`](crate::Room::people); Came and Went say what changes from here on.
    Together,
    /// We look on at the match of the room; the same holds.
    Watching,
    /// Somebody came into the match.
    Came {
        /// Who.
        peer: PeerId,
        /// What they are called.
        name: String,
    },
    /// Somebody left the match.
    Went {
        /// Who.
        peer: PeerId,
        /// What they are called.
        name: String,
        /// Why.
        parting: Parting,
    },
    /// Nothing is heard of somebody.
    Interrupted {
        /// Who.
        peer: PeerId,
        /// What they are called.
        name: String,
    },
    /// They are back.
    Resumed {
        /// Who.
        peer: PeerId,
        /// What they are called.
        name: String,
    },
    /// Another way leads to somebody now: see [`Person::path`](crate::Person::path). Links and the match go on.
    PathChanged {
        /// To whom.
        peer: PeerId,
        /// What they are called.
        name: String,
        /// The way from now on; none if there is none at the moment.
        path: Option<Path>,
        /// Why.
        reason: PathReason,
    },
    /// Somebody else is present longest now.
    LeadChanged {
        /// Who.
        peer: PeerId,
        /// What they are called.
        name: String,
    },
    /// Another part of a split match goes on instead of ours. Came and Went follow for whoever is there and was not here, and
    /// the other way round.
    HistoryChanged,
    /// Two machines computed different games from the same inputs: a bug in the game. Whoever is alone with theirs takes the
    /// others'.
    Desync {
        /// With whom.
        peer: PeerId,
        /// What they are called.
        name: String,
        /// The frame that was compared. Up to a second before the games may have parted.
        frame: Frame,
    },
    /// Where the games of an [`Event::Desync`] part, and what could be found out about it.
    DesyncLocated {
        /// With whom.
        peer: PeerId,
        /// What they are called.
        name: String,
        /// What was found.
        cause: DesyncCause,
    },
    /// Somebody whose game differed has taken the others'. If it was us, and we play, [`Room::take_bundle`](crate::Room::take_bundle)
    /// has both games, to see which fields differ.
    Recovered {
        /// Who; perhaps us.
        peer: PeerId,
        /// What they are called.
        name: String,
        /// The frame up to which what they had computed was wrong or in doubt.
        frame: Frame,
    },
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Key(_) => f.write_str("the server knows you now"),
            Event::Seated { code, returned: false } => write!(f, "you are in room {code}"),
            Event::Seated { code, returned: true } => write!(f, "welcome back to room {code}"),
            Event::Unseated { reason } => write!(f, "{}, you play alone", why(*reason)),
            Event::Elsewhere => f.write_str("another tab of yours has this seat"),
            Event::ServerLost => f.write_str("the server is out of reach, the game goes on"),
            Event::ServerBack => f.write_str("the server is back"),
            Event::Refused(refusal) => write!(f, "{}", refusal.text),
            Event::Rooms => f.write_str("the open rooms changed"),
            Event::Answer { answer, .. } => write!(f, "the server answered: {}", answer.kind()),
            Event::ResultKept => f.write_str("the result is kept"),
            Event::Joining { percent } => write!(f, "joining, {percent} %"),
            Event::JoinFailed => f.write_str("joining did not work, you play alone"),
            Event::Rejected { name, reason, .. } if reason.is_other_build() => {
                write!(f, "{name} has another build of the game, you cannot play together")
            }
            Event::Rejected { name, reason, .. } => write!(f, "the link to {name} was closed: it {reason}"),
            Event::StateTooLarge { bytes, max } => write!(
                f,
                "no player can join: the game's state has {bytes} bytes, at most {max} can be sent; what never changes, \
                 such as levels and tables, belongs outside of it"
            ),
            Event::LineTooSlow { name, rtt, max, .. } => write!(
                f,
                "the line to {name} is too slow: {} ms, at most {} ms can be played over",
                rtt.as_millis(),
                max.as_millis()
            ),
            Event::Together => f.write_str("you are in"),
            Event::Watching => f.write_str("you are watching"),
            Event::Came { name, .. } => write!(f, "{name} dropped in"),
            Event::Went { name, parting: Parting::Goodbye, .. } => write!(f, "{name} left"),
            Event::Went { name, parting: Parting::Silence, .. } => write!(f, "lost contact with {name}"),
            Event::Interrupted { name, .. } => write!(f, "waiting for {name}"),
            Event::Resumed { name, .. } => write!(f, "{name} is back"),
            Event::PathChanged { name, path: Some(path), reason, .. } => {
                write!(f, "the way to {name} is now {path}: {reason}")
            }
            Event::PathChanged { name, path: None, .. } => write!(f, "looking for another way to {name}"),
            Event::LeadChanged { name, .. } => write!(f, "{name} is the host now"),
            Event::HistoryChanged => f.write_str("another part of the match went on"),
            Event::Desync { name, .. } => write!(f, "out of sync with {name}, repairing"),
            Event::DesyncLocated { name, cause, .. } => write!(f, "out of sync with {name}: {cause}"),
            Event::Recovered { name, .. } => write!(f, "{name} is in sync again"),
        }
    }
}

fn why(reason: LeaveReason) -> &'static str {
    match reason {
        LeaveReason::Left => "you left the room",
        LeaveReason::Kicked => "the host sent you away",
        LeaveReason::Lost => "your seat was given away",
        LeaveReason::Silent => "the server had not heard from you for long",
        _ => "the room was closed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_and_large_states_are_told_with_reason_and_remedy() {
        let rejected =
            |reason| Event::Rejected { peer: PeerId::from_u128(7), name: "Hob".to_string(), reason };
        let fault = gaggle_timeline::PeerFault::InputChanged { frame: Frame::new(9) };
        let said = rejected(Rejection::MatchFault(fault)).to_string();
        assert!(said.starts_with("the link to Hob was closed: it sent a second, different input"), "{said}");
        let fault = gaggle_replica::PeerFault::TickWentBack { tick: 3, before: 4 };
        let said = rejected(Rejection::WorldFault(fault)).to_string();
        assert_eq!(said, "the link to Hob was closed: it sent tick 3 after tick 4");
        let said = Event::StateTooLarge { bytes: 70_000_001, max: 67_108_864 }.to_string();
        for part in ["70000001 bytes", "at most 67108864", "belongs outside of it"] {
            assert!(said.contains(part), "{said}");
        }
    }
}
