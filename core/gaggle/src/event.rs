//! Events of a room, for players and developers. Engines and the lobby side queue them,
//! [`Room::poll_event`](crate::Room::poll_event) returns them. Absent: how a room reacts to them.

use std::fmt;

use gaggle_kit::{Frame, Micros, PeerId};
use gaggle_link::{Path, PathReason};
use gaggle_lobby::client::RequestId;
use gaggle_lobby::view::LeaveReason;
use gaggle_lobby::{Rejection, RoomCode, ServerMessage};
use gaggle_timeline::DesyncCause;

/// How a player left a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaveCause {
    /// The peer announced it, to the match or to the lobby: no peer had to wait for it.
    Left,
    /// No packet of the peer arrived any more. Its reservation is kept for a while.
    TimedOut,
}

/// Why a peer's link was closed. Its text says what a developer has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PeerRejection {
    /// In a [`GameRoom`](crate::GameRoom): its build or settings differ.
    Match(gaggle_timeline::RejectReason),
    /// In a [`GameRoom`](crate::GameRoom): it sent data that no correct peer sends.
    MatchFault(gaggle_timeline::PeerFault),
    /// In a [`WorldRoom`](crate::WorldRoom): its build or settings differ.
    World(gaggle_replica::RejectReason),
    /// In a [`WorldRoom`](crate::WorldRoom): it sent data that no correct peer sends.
    WorldFault(gaggle_replica::PeerFault),
}

impl PeerRejection {
    /// Whether it has another build of the game, and committed no violation.
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

/// An event for players or developers, reported once. `Display` gives a short sentence for players.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RoomEvent {
    /// A secret the server made for this player: store it and pass it as
    /// [`ClientConfig::guest_key`](crate::ClientConfig::guest_key) next time, to be the same
    /// player.
    GuestKey(String),
    /// The lobby accepted the [token](crate::Room::set_token).
    SignedIn {
        /// The display name, which is the issuer's.
        name: String,
    },
    /// The lobby rejected the token, and the player is a guest: sign in again for another token.
    SignInRejected(Rejection),
    /// This peer is a member of a room.
    RoomJoined {
        /// Six letters that others join by.
        code: RoomCode,
        /// It had a reservation there before.
        resumed: bool,
    },
    /// This peer is no longer a member and plays solo.
    RoomLeft {
        /// Why it left.
        reason: LeaveReason,
    },
    /// Another tab or device has the reservation. See [`Room::take_over`](crate::Room::take_over).
    OpenedElsewhere,
    /// The lobby cannot be reached; the match goes on.
    LobbyDisconnected,
    /// The lobby is connected again.
    LobbyReconnected,
    /// The lobby rejected a request.
    RequestRejected {
        /// The request, as [`Room::host_command`](crate::Room::host_command) returned it; none if
        /// the lobby ended the connection.
        request: Option<RequestId>,
        /// Code and text of the lobby.
        rejection: Rejection,
    },
    /// The list of open rooms changed: see
    /// [`Client::room_list`](gaggle_lobby::client::Client::room_list).
    RoomListChanged,
    /// The answer to a request made through [`Room::lobby_client`](crate::Room::lobby_client).
    LobbyReply {
        /// The request it answers.
        request: RequestId,
        /// What the lobby answered.
        answer: Box<ServerMessage>,
    },
    /// The result of the match is stored: leaderboards may have changed.
    ResultStored,
    /// The host starts a match: see [`Phase::Lobby`](crate::Phase::Lobby).
    /// [`RoomEvent::MatchJoined`] follows when it runs.
    MatchStarting {
        /// When it starts, in the time of `update`.
        at: Micros,
    },
    /// The match is over, and the room waits for the host to start another: see
    /// [`Phase::Lobby`](crate::Phase::Lobby).
    MatchEnded,
    /// This peer joins a running match.
    Joining {
        /// How much of it has arrived, 0 to 100.
        percent: u8,
    },
    /// Joining failed; this peer goes on solo. [`RoomEvent::Rejected`],
    /// [`RoomEvent::StateTooLarge`] or [`RoomEvent::LinkTooSlow`] said why, unless the other peers
    /// were only unreachable.
    JoinFailed,
    /// The link to a peer was closed and is not opened again: it has another build of the game, or
    /// violated the protocol. If that holds for all members, this peer leaves the room.
    Rejected {
        /// The other peer.
        peer: PeerId,
        /// Its display name.
        name: String,
        /// What differs, or what it did.
        reason: PeerRejection,
    },
    /// The state of the match is too large to send, so no peer can join. Fix it in the game:
    /// constant data, such as levels and tables, belongs outside of its state.
    StateTooLarge {
        /// Size of the encoded state.
        bytes: u64,
        /// Largest size that can be sent.
        max: u64,
    },
    /// An input of the local players arrived too late: the referee sealed its frame without it.
    InputRefused {
        /// Frame of the input.
        frame: Frame,
    },
    /// Many inputs of the local players arrive too late to count.
    LaggingBehind {
        /// Thousandths of the last inputs that did not count.
        refused_permille: u16,
    },
    /// The round trip to a peer is longer than this match tolerates: the match runs slower than it
    /// should, and joining over such a link may fail.
    LinkTooSlow {
        /// The other peer.
        peer: PeerId,
        /// Its display name.
        name: String,
        /// The measured round trip.
        rtt: Micros,
        /// The longest tolerated one.
        max: Micros,
    },
    /// This peer is in the room's match, for the first time or again after
    /// [`Room::suspend`](crate::Room::suspend). [`Room::members`](crate::Room::members) lists the
    /// others; [`RoomEvent::PlayerJoined`] and [`RoomEvent::PlayerLeft`] report changes from here
    /// on.
    MatchJoined,
    /// This peer spectates the room's match; `members` and later events as for `MatchJoined`.
    SpectatingStarted,
    /// A player joined the match.
    PlayerJoined {
        /// The other peer.
        peer: PeerId,
        /// Its display name.
        name: String,
    },
    /// A player left the match.
    PlayerLeft {
        /// The other peer.
        peer: PeerId,
        /// Its display name.
        name: String,
        /// By its own decision, or not.
        cause: LeaveCause,
    },
    /// A peer computes too slowly, or its packets arrive too late: the others spent more than a
    /// tenth of the last 10 s waiting for it. What follows is up to
    /// [`SlowPolicy`](crate::SlowPolicy), or to the host, who may
    /// [kick](crate::HostCommand::Kick) it.
    SlowPlayer {
        /// The slow peer, perhaps this one.
        peer: PeerId,
        /// Its display name.
        name: String,
        /// It is this peer that the others wait for.
        is_local: bool,
        /// Thousandths of the last 10 s that were spent waiting for it.
        share_permille: u16,
    },
    /// Nothing arrives from a player at the moment.
    PlayerInterrupted {
        /// The other peer.
        peer: PeerId,
        /// Its display name.
        name: String,
    },
    /// Packets of an interrupted player arrive again.
    PlayerResumed {
        /// The other peer.
        peer: PeerId,
        /// Its display name.
        name: String,
    },
    /// The link to a peer runs over another path: see [`Member::path`](crate::Member::path). The
    /// match goes on.
    PathChanged {
        /// The other peer.
        peer: PeerId,
        /// Its display name.
        name: String,
        /// The new path; none if there is none at the moment.
        path: Option<Path>,
        /// Why it changed.
        reason: PathReason,
    },
    /// Another member may change the room now: see [`Room::host`](crate::Room::host).
    HostChanged {
        /// The new host.
        peer: PeerId,
        /// The host's display name.
        name: String,
    },
    /// A member is ready for the next match, or no longer ready. The start of a match clears
    /// readiness without this event.
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
        /// The other peer.
        peer: PeerId,
        /// Its display name.
        name: String,
    },
    /// A partitioned match was merged, and the other branch goes on. [`RoomEvent::PlayerJoined`]
    /// and [`RoomEvent::PlayerLeft`] follow for players that only one branch had.
    BranchAbandoned,
    /// Two peers computed different states from the same inputs: a bug in the game. The peer in the
    /// minority takes the others' state.
    DesyncDetected {
        /// The other peer.
        peer: PeerId,
        /// Its display name.
        name: String,
        /// The frame that was compared. The states may differ since up to a second before.
        frame: Frame,
    },
    /// The first frame that differs after a [`RoomEvent::DesyncDetected`], and its likely cause.
    DesyncLocated {
        /// The other peer.
        peer: PeerId,
        /// Its display name.
        name: String,
        /// What the audit found.
        cause: DesyncCause,
    },
    /// Two peers received different inputs for one frame: a peer sends different inputs to
    /// different peers, or reports wrongly what it received.
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
    /// This peer's state cannot be decoded from its own encoding, so no peer can join through it: a
    /// bug in the game's `State`. [`check_determinism`](crate::check_determinism) names the field.
    StateNotDecodable {
        /// The frame whose state was encoded.
        frame: Frame,
    },
    /// A peer whose state differed has taken the others' state. If it is this peer,
    /// [`Room::take_desync_bundle`](crate::Room::take_desync_bundle) has both states and names the
    /// fields that differ.
    DesyncRecovered {
        /// The peer, perhaps this one.
        peer: PeerId,
        /// Its display name.
        name: String,
        /// Its states up to this frame were wrong or in doubt.
        frame: Frame,
    },
}

impl fmt::Display for RoomEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RoomEvent::GuestKey(_) => f.write_str("the server knows you now"),
            RoomEvent::SignedIn { name } => write!(f, "you are signed in as {name}"),
            RoomEvent::SignInRejected(rejection) => {
                write!(f, "signing in failed: {}; you play as a guest", rejection.text)
            }
            RoomEvent::RoomJoined { code, resumed: false } => write!(f, "you are in room {code}"),
            RoomEvent::RoomJoined { code, resumed: true } => write!(f, "welcome back to room {code}"),
            RoomEvent::RoomLeft { reason } => write!(f, "{}, you play alone", why(*reason)),
            RoomEvent::OpenedElsewhere => f.write_str("another tab of yours has this room open"),
            RoomEvent::LobbyDisconnected => f.write_str("the server is out of reach, the game goes on"),
            RoomEvent::LobbyReconnected => f.write_str("the server is back"),
            RoomEvent::RequestRejected { rejection, .. } => f.write_str(&rejection.text),
            RoomEvent::RoomListChanged => f.write_str("the open rooms changed"),
            RoomEvent::LobbyReply { .. } => f.write_str("the server has answered"),
            RoomEvent::ResultStored => f.write_str("the result is kept"),
            RoomEvent::MatchStarting { .. } => f.write_str("get ready"),
            RoomEvent::MatchEnded => f.write_str("the match is over"),
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
            RoomEvent::LinkTooSlow { name, rtt, max, .. } => write!(
                f,
                "the link to {name} is too slow: {} ms, at most {} ms can be played over",
                rtt.as_millis(),
                max.as_millis()
            ),
            RoomEvent::InputRefused { frame } => write!(f, "your input for {frame} came too late"),
            RoomEvent::LaggingBehind { refused_permille } => {
                write!(f, "you lag behind: {}% of your inputs came too late", refused_permille / 10)
            }
            RoomEvent::MatchJoined => f.write_str("you are in"),
            RoomEvent::SpectatingStarted => f.write_str("you are watching"),
            RoomEvent::PlayerJoined { name, .. } => write!(f, "{name} dropped in"),
            RoomEvent::PlayerLeft { name, cause: LeaveCause::Left, .. } => write!(f, "{name} left"),
            RoomEvent::PlayerLeft { name, cause: LeaveCause::TimedOut, .. } => {
                write!(f, "lost contact with {name}")
            }
            RoomEvent::SlowPlayer { is_local: true, .. } => {
                f.write_str("your machine is too slow, the others wait for you")
            }
            RoomEvent::SlowPlayer { name, .. } => write!(f, "{name}'s machine is slow, the others wait"),
            RoomEvent::PlayerInterrupted { name, .. } => write!(f, "waiting for {name}"),
            RoomEvent::PlayerResumed { name, .. } => write!(f, "{name} is back"),
            RoomEvent::PathChanged { name, path: Some(path), reason, .. } => {
                write!(f, "the path to {name} is now {path}: {reason}")
            }
            RoomEvent::PathChanged { name, path: None, .. } => {
                write!(f, "looking for another path to {name}")
            }
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
        LeaveReason::ConnectionLost => "your slot was given to another player",
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
