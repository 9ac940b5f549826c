//! What a game tells its players about being online.

use std::fmt;

use gaggle_kit::{Frame, Micros, PeerId};
use gaggle_link::{Path, PathReason};
use gaggle_lobby::client::RequestId;
use gaggle_lobby::view::LeaveReason;
use gaggle_lobby::{Rejection, RoomCode, ServerMessage};
use gaggle_timeline::DesyncCause;

/// How somebody's part in a match ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaveCause {
    /// They said so, to the match or to the lobby: nobody had to wait for them.
    Left,
    /// Nothing was heard of them any more. Their seat is kept for a while.
    TimedOut,
}

/// Why a peer's link was closed. Shown as text it says what a developer has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PeerRejection {
    /// In a [`Room`](crate::Room): it plays by other rules than we do.
    Match(gaggle_timeline::RejectReason),
    /// In a [`Room`](crate::Room): it did what no network can do to a packet.
    MatchFault(gaggle_timeline::PeerFault),
    /// In a [`WorldRoom`](crate::WorldRoom): it plays by other rules than we do.
    World(gaggle_replica::RejectReason),
    /// In a [`WorldRoom`](crate::WorldRoom): it did what no network can do to a packet.
    WorldFault(gaggle_replica::PeerFault),
}

impl PeerRejection {
    /// Whether it is another build of the game, and did nothing wrong.
    pub fn is_other_build(&self) -> bool {
        matches!(self, PeerRejection::Match(_) | PeerRejection::World(_))
    }
}

impl fmt::Display for PeerRejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PeerRejection::Match(refusal) => write!(f, "{refusal}"),
            PeerRejection::MatchFault(fault) => write!(f, "{fault}"),
            PeerRejection::World(refusal) => write!(f, "{refusal}"),
            PeerRejection::WorldFault(fault) => write!(f, "{fault}"),
        }
    }
}

/// Something players should know, each told once. Shown as text it is a calm sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RoomEvent {
    /// The server made up a secret for us: keep it and give it the next time, to be the same
    /// person.
    GuestKey(String),
    /// We have a seat in a room.
    RoomJoined {
        /// The six letters others join by.
        code: RoomCode,
        /// We had it before.
        resumed: bool,
    },
    /// We are not in the room any more and play alone.
    RoomLeft {
        /// Why.
        reason: LeaveReason,
    },
    /// Another tab or machine has our seat. See [`Room::take_over`](crate::Room::take_over).
    OpenedElsewhere,
    /// The server cannot be reached at the moment; the game goes on.
    LobbyDisconnected,
    /// The server is back.
    LobbyReconnected,
    /// The server refused what we asked for.
    RequestRejected(Rejection),
    /// The list of open rooms changed: see
    /// [`Client::room_list`](gaggle_lobby::client::Client::room_list).
    RoomListChanged,
    /// The answer to something asked through [`Room::lobby_client`](crate::Room::lobby_client).
    LobbyReply {
        /// What was asked.
        request: RequestId,
        /// What the server says.
        answer: Box<ServerMessage>,
    },
    /// How the match ended is decided and kept: ask for the best, or one's own best, again.
    ResultStored,
    /// We are coming into a running match.
    Joining {
        /// How far it is.
        percent: u8,
    },
    /// That did not work, and we go on alone. [`RoomEvent::Rejected`], [`RoomEvent::StateTooLarge`]
    /// or [`RoomEvent::LineTooSlow`] said why, if more is known than that the others could not be
    /// reached in time.
    JoinFailed,
    /// The link to a peer was closed for good: it has another build of the game, or did what only a
    /// bug does. If that holds for everybody in the room, we leave it.
    Rejected {
        /// Who.
        peer: PeerId,
        /// What they are called.
        name: String,
        /// Why.
        reason: PeerRejection,
    },
    /// The state of the match is larger than can be sent, so no peer can join. To mend in the game:
    /// what never changes, such as levels and tables, belongs outside of its state.
    StateTooLarge {
        /// What it has, in bytes.
        bytes: u64,
        /// What it may have.
        max: u64,
    },
    /// A packet to a peer and back takes longer than this match can bear: it runs slower than it
    /// should, and a peer that comes over such a line may not get in.
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
    /// We are in the match of the room, for the first time or again after
    /// [`Room::suspend`](crate::Room::suspend). Whoever is there is told by
    /// [`Room::members`](crate::Room::members); [`RoomEvent::PlayerJoined`] and
    /// [`RoomEvent::PlayerLeft`] say what changes from here on.
    MatchJoined,
    /// We look on at the match of the room; the same holds.
    SpectatingStarted,
    /// Somebody came into the match.
    PlayerJoined {
        /// Who.
        peer: PeerId,
        /// What they are called.
        name: String,
    },
    /// Somebody left the match.
    PlayerLeft {
        /// Who.
        peer: PeerId,
        /// What they are called.
        name: String,
        /// Why.
        cause: LeaveCause,
    },
    /// Nothing is heard of somebody.
    PlayerInterrupted {
        /// Who.
        peer: PeerId,
        /// What they are called.
        name: String,
    },
    /// They are back.
    PlayerResumed {
        /// Who.
        peer: PeerId,
        /// What they are called.
        name: String,
    },
    /// Another way leads to somebody now: see [`Member::path`](crate::Member::path). Links and the
    /// match go on.
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
    /// Another member may change the room now: see [`Room::host`](crate::Room::host).
    HostChanged {
        /// The new host.
        peer: PeerId,
        /// The host's display name.
        name: String,
    },
    /// A member is ready for the next match, or takes it back. A match that starts clears readiness
    /// without this event.
    ReadyChanged {
        /// The member, perhaps this peer.
        peer: PeerId,
        /// The member's display name.
        name: String,
        /// Whether it is ready now.
        ready: bool,
    },
    /// A member changed a value: see [`Room::value`](crate::Room::value).
    ValueChanged {
        /// The member whose value it is.
        peer: PeerId,
        /// Which of its values.
        key: u8,
    },
    /// The host changed the room's settings: see [`Room::settings`](crate::Room::settings).
    SettingsChanged,
    /// Another peer has been in the match longest now: see [`Room::leader`](crate::Room::leader).
    LeaderChanged {
        /// Who.
        peer: PeerId,
        /// What they are called.
        name: String,
    },
    /// Another part of a split match goes on instead of ours. [`RoomEvent::PlayerJoined`] and
    /// [`RoomEvent::PlayerLeft`] follow for whoever is there and was not here, and the other way
    /// round.
    BranchAbandoned,
    /// Two machines computed different games from the same inputs: a bug in the game. Whoever is
    /// alone with theirs takes the others'.
    DesyncDetected {
        /// With whom.
        peer: PeerId,
        /// What they are called.
        name: String,
        /// The frame that was compared. Up to a second before the games may have parted.
        frame: Frame,
    },
    /// Where the games of an [`RoomEvent::DesyncDetected`] part, and what could be found out about
    /// it.
    DesyncLocated {
        /// With whom.
        peer: PeerId,
        /// What they are called.
        name: String,
        /// What was found.
        cause: DesyncCause,
    },
    /// Two peers received different inputs for one frame: a peer sends different inputs to
    /// different peers, or lies about what it received.
    InputsDiverged {
        /// The peer whose inputs differ from this one's.
        peer: PeerId,
        /// Its display name.
        name: String,
        /// The frame whose inputs differ.
        frame: Frame,
        /// The peer that sent them, once known.
        suspect: Option<PeerId>,
    },
    /// This peer's state cannot be decoded from its own encoding, so no peer can join by it: a bug
    /// in the game's `State`. [`check_determinism`](crate::check_determinism) names the field.
    StateNotDecodable {
        /// The frame whose state was encoded.
        frame: Frame,
    },
    /// Somebody whose game differed has taken the others'. If it was us, and we play,
    /// [`Room::take_desync_bundle`](crate::Room::take_desync_bundle) has both games, to see which
    /// fields differ.
    DesyncRecovered {
        /// Who; perhaps us.
        peer: PeerId,
        /// What they are called.
        name: String,
        /// The frame up to which what they had computed was wrong or in doubt.
        frame: Frame,
    },
}

impl fmt::Display for RoomEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RoomEvent::GuestKey(_) => f.write_str("the server knows you now"),
            RoomEvent::RoomJoined { code, resumed: false } => write!(f, "you are in room {code}"),
            RoomEvent::RoomJoined { code, resumed: true } => write!(f, "welcome back to room {code}"),
            RoomEvent::RoomLeft { reason } => write!(f, "{}, you play alone", why(*reason)),
            RoomEvent::OpenedElsewhere => f.write_str("another tab of yours has this seat"),
            RoomEvent::LobbyDisconnected => f.write_str("the server is out of reach, the game goes on"),
            RoomEvent::LobbyReconnected => f.write_str("the server is back"),
            RoomEvent::RequestRejected(refusal) => write!(f, "{}", refusal.text),
            RoomEvent::RoomListChanged => f.write_str("the open rooms changed"),
            RoomEvent::LobbyReply { .. } => f.write_str("the server has answered"),
            RoomEvent::ResultStored => f.write_str("the result is kept"),
            RoomEvent::Joining { percent } => write!(f, "joining, {percent} %"),
            RoomEvent::JoinFailed => f.write_str("joining did not work, you play alone"),
            RoomEvent::Rejected { name, reason, .. } if reason.is_other_build() => {
                write!(f, "{name} has another build of the game, you cannot play together")
            }
            RoomEvent::Rejected { name, reason, .. } => {
                write!(f, "the link to {name} was closed: it {reason}")
            }
            RoomEvent::StateTooLarge { bytes, max } => write!(
                f,
                "no player can join: the game's state has {bytes} bytes, at most {max} can be sent; what never changes, \
                 such as levels and tables, belongs outside of it"
            ),
            RoomEvent::LineTooSlow { name, rtt, max, .. } => write!(
                f,
                "the line to {name} is too slow: {} ms, at most {} ms can be played over",
                rtt.as_millis(),
                max.as_millis()
            ),
            RoomEvent::MatchJoined => f.write_str("you are in"),
            RoomEvent::SpectatingStarted => f.write_str("you are watching"),
            RoomEvent::PlayerJoined { name, .. } => write!(f, "{name} dropped in"),
            RoomEvent::PlayerLeft { name, cause: LeaveCause::Left, .. } => write!(f, "{name} left"),
            RoomEvent::PlayerLeft { name, cause: LeaveCause::TimedOut, .. } => {
                write!(f, "lost contact with {name}")
            }
            RoomEvent::PlayerInterrupted { name, .. } => write!(f, "waiting for {name}"),
            RoomEvent::PlayerResumed { name, .. } => write!(f, "{name} is back"),
            RoomEvent::PathChanged { name, path: Some(path), reason, .. } => {
                write!(f, "the way to {name} is now {path}: {reason}")
            }
            RoomEvent::PathChanged { name, path: None, .. } => write!(f, "looking for another way to {name}"),
            RoomEvent::HostChanged { name, .. } => write!(f, "{name} is the host now"),
            RoomEvent::ReadyChanged { name, ready: true, .. } => write!(f, "{name} is ready"),
            RoomEvent::ReadyChanged { name, .. } => write!(f, "{name} is not ready"),
            RoomEvent::ValueChanged { .. } => f.write_str("a player changed something"),
            RoomEvent::SettingsChanged => f.write_str("the host changed the settings"),
            RoomEvent::LeaderChanged { name, .. } => write!(f, "{name} admits new players now"),
            RoomEvent::BranchAbandoned => f.write_str("another part of the match went on"),
            RoomEvent::DesyncDetected { name, .. } => write!(f, "out of sync with {name}, repairing"),
            RoomEvent::DesyncLocated { name, cause, .. } => write!(f, "out of sync with {name}: {cause}"),
            RoomEvent::InputsDiverged { name, frame, .. } => {
                write!(f, "{name} received other inputs for frame {}", frame.number())
            }
            RoomEvent::StateNotDecodable { frame } => write!(
                f,
                "no player can join: the game's state of frame {} cannot be read back, see check_determinism",
                frame.number()
            ),
            RoomEvent::DesyncRecovered { name, .. } => write!(f, "{name} is in sync again"),
        }
    }
}

fn why(reason: LeaveReason) -> &'static str {
    match reason {
        LeaveReason::Left => "you left the room",
        LeaveReason::Kicked => "the host sent you away",
        LeaveReason::ConnectionLost => "your seat was given away",
        LeaveReason::IdleTimeout => "the server had not heard from you for long",
        _ => "the room was closed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_and_large_states_are_told_with_reason_and_remedy() {
        let rejected =
            |reason| RoomEvent::Rejected { peer: PeerId::from_u128(7), name: "Hob".to_string(), reason };
        let fault = gaggle_timeline::PeerFault::InputChanged { frame: Frame::new(9) };
        let said = rejected(PeerRejection::MatchFault(fault)).to_string();
        assert!(said.starts_with("the link to Hob was closed: it sent a second, different input"), "{said}");
        let fault = gaggle_replica::PeerFault::TickRegressed { tick: 3, before: 4 };
        let said = rejected(PeerRejection::WorldFault(fault)).to_string();
        assert_eq!(said, "the link to Hob was closed: it sent tick 3 after tick 4");
        let said = RoomEvent::StateTooLarge { bytes: 70_000_001, max: 67_108_864 }.to_string();
        for part in ["70000001 bytes", "at most 67108864", "belongs outside of it"] {
            assert!(said.contains(part), "{said}");
        }
    }
}
