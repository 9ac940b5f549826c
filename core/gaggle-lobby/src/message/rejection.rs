//! Why something was not done: a code for programs, a text for people.

use thiserror::Error;

use super::server::Refused;
use crate::MessageError;
use crate::label::Label;
use crate::word::words;

words! {
    /// Why something was not done. PROTOCOL.md lists what a client should make of each.
    pub enum RejectionCode: "a known code" {
        /// Not JSON, or not a message.
        BadMessage = "bad-message",
        /// Longer than any message may be.
        TooLarge = "too-large",
        /// More often than allowed.
        TooFast = "too-fast",
        /// The protocol version is not spoken here.
        BadVersion = "bad-version",
        /// Something else was said before `hello`, or `hello` twice.
        OutOfOrder = "out-of-order",
        /// The key or seat is too short, too long, or has characters it may not have.
        BadKey = "bad-key",
        /// The token is expired, altered, or from somebody we don't know.
        BadToken = "bad-token",
        /// The name cannot be shown.
        BadName = "bad-name",
        /// The game or mode is not played here.
        BadGame = "bad-game",
        /// The settings are no object or too large; the seats are out of range.
        BadSettings = "bad-settings",
        /// Another tab or machine with the same key has the seat.
        AlreadyPlaying = "already-playing",
        /// Already in a room.
        AlreadyInRoom = "already-in-room",
        /// Not in a room.
        NotInRoom = "not-in-room",
        /// There is no such room.
        NoSuchRoom = "no-such-room",
        /// There is no such member in the room.
        NoSuchMember = "no-such-member",
        /// No seat is free.
        RoomFull = "room-full",
        /// The host let nobody in.
        RoomLocked = "room-locked",
        /// It is not possible to join while the match runs.
        RoomStarted = "room-started",
        /// The match is over.
        RoomFinished = "room-finished",
        /// Sent away by the host earlier.
        Kicked = "kicked",
        /// Only the host may do that.
        NotHost = "not-host",
        /// Somebody is not ready yet.
        NotReady = "not-ready",
        /// It cannot be done at this point of the room's life.
        WrongStatus = "wrong-status",
        /// The ticket is expired, altered, or for another room.
        BadTicket = "bad-ticket",
        /// The report names people who were not there, or scores that cannot be.
        BadReport = "bad-report",
        /// Too many connections, rooms or seats from one place.
        TooMany = "too-many",
        /// The server has no room for more.
        ServerFull = "server-full",
        /// The server is about to stop.
        Draining = "draining",
        /// Another connection with the same key took over.
        Replaced = "replaced",
        /// Nothing was heard for too long.
        Silent = "silent",
        /// What was sent was not taken fast enough.
        TooSlow = "too-slow",
        /// The directory, the storage or the issuer of tokens does not answer.
        Unavailable = "unavailable",
    }
}

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{code}: {text}")]
pub struct Rejection {
    /// For programs.
    pub code: RejectionCode,
    /// For people.
    pub text: String,
    /// Try again after so many milliseconds.
    pub retry_after_ms: Option<u64>,
    /// What is played in the room that was asked for, if it is another game or build.
    pub game: Option<Label>,
}

impl Rejection {
    /// A refusal with nothing to wait for.
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
