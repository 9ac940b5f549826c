//! Rejections: a code for programs, a text for players.
//!
//! `room`, `directory` and `node` make them, nodes send them. Absent: when requests are rejected.

use thiserror::Error;

use super::server::Refused;
use crate::MessageError;
use crate::label::Label;
use crate::word::words;

words! {
    /// Reason of a rejection. docs/protocol/6-lobby.md says how clients should react.
    pub enum RejectionCode: "a known code" {
        /// Not JSON, or not a message.
        BadMessage = "bad-message",
        /// Longer than any message may be.
        TooLarge = "too-large",
        /// Rate limit exceeded; see `retry_ms`.
        TooFast = "too-fast",
        /// The server does not support the protocol version.
        BadVersion = "bad-version",
        /// A message before `hello`, or a second `hello`.
        OutOfOrder = "out-of-order",
        /// The key or device key has a wrong length or wrong characters.
        BadKey = "bad-key",
        /// The token is expired, altered, or of an unknown issuer.
        BadToken = "bad-token",
        /// The name contains forbidden characters or has a wrong length.
        BadName = "bad-name",
        /// The server does not offer this game or mode.
        BadGame = "bad-game",
        /// The settings are not an object or too large, or the number of slots is out of range.
        BadSettings = "bad-settings",
        /// Another connection with the same key uses the reservation.
        AlreadyPlaying = "already-playing",
        /// The peer is in a room already.
        AlreadyInRoom = "already-in-room",
        /// The peer is in no room.
        NotInRoom = "not-in-room",
        /// There is no such room.
        NoSuchRoom = "no-such-room",
        /// The room has no such member.
        NoSuchMember = "no-such-member",
        /// No slot is free.
        RoomFull = "room-full",
        /// The host has locked the room.
        RoomLocked = "room-locked",
        /// The match runs and does not admit joiners.
        RoomStarted = "room-started",
        /// The match is over.
        RoomFinished = "room-finished",
        /// The host removed the player earlier.
        Kicked = "kicked",
        /// Only the host may do this.
        NotHost = "not-host",
        /// A member is not ready yet.
        NotReady = "not-ready",
        /// The room's status does not allow it.
        WrongStatus = "wrong-status",
        /// The ticket is expired, altered, or for another room.
        BadTicket = "bad-ticket",
        /// The report names players that took no part, or impossible scores.
        BadReport = "bad-report",
        /// Too many connections, rooms or reservations of one network or player.
        TooMany = "too-many",
        /// The server has reached its capacity.
        ServerFull = "server-full",
        /// The server is about to stop.
        Draining = "draining",
        /// Another connection with the same key took over.
        Replaced = "replaced",
        /// The server received nothing for too long.
        Silent = "silent",
        /// The client does not read fast enough.
        TooSlow = "too-slow",
        /// The directory, the storage or the token issuer does not answer.
        Unavailable = "unavailable",
    }
}

/// A rejected request, with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{code}: {text}")]
pub struct Rejection {
    /// Reason for programs.
    pub code: RejectionCode,
    /// Explanation for players.
    pub text: String,
    /// Retry after this many milliseconds.
    pub retry_after_ms: Option<u64>,
    /// Game of the requested room, if game or build differ.
    pub game: Option<Label>,
}

impl Rejection {
    /// A rejection without retry time.
    pub fn new(code: RejectionCode, text: impl Into<String>) -> Rejection {
        Rejection { code, text: text.into(), retry_after_ms: None, game: None }
    }
}

impl From<MessageError> for Rejection {
    fn from(error: MessageError) -> Rejection {
        let code = match error {
            MessageError::TooLong { .. } => RejectionCode::TooLarge,
            _ => RejectionCode::BadMessage,
        };
        Rejection::new(code, error.to_string())
    }
}

impl From<Rejection> for Refused {
    fn from(Rejection { code, text, retry_after_ms: retry_ms, game }: Rejection) -> Refused {
        Refused { code, text, retry_ms, game }
    }
}

impl From<Refused> for Rejection {
    fn from(Refused { code, text, retry_ms, game }: Refused) -> Rejection {
        Rejection { code, text, retry_after_ms: retry_ms, game }
    }
}
