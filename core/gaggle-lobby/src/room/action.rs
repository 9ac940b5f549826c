//! Actions of members in their room, as the log carries them.
//!
//! [`Room::act`](super::Room::act) decides whether a member may. Absent: who acts, limits.

use crate::id::Seed;
use crate::json::{record, tagged};
use crate::label::DisplayName;
use crate::message::client::{
    Access, Finish, Host as TransferHost, Kick, OwnScore, Ready, Report, Rest, Settings,
};

record! {
    /// The member leaves.
    pub struct Leave {}
}

record! {
    /// The member leaves and may be back in a moment: the page is perhaps only loaded again.
    pub struct LeaveKeepingSlot {}
}

record! {
    /// The server removes the member because nothing is heard of it.
    pub struct IdleTimeout {}
}

record! {
    /// The host starts a match.
    #[derive(Copy)]
    pub struct StartMatch {
        /// Milliseconds until it starts.
        countdown_ms: u32,
        /// The seed of the match.
        seed: Seed,
    }
}

record! {
    /// The member changes name or colors.
    pub struct SetProfile {
        /// The name, if it changes.
        name: Option<DisplayName>,
        /// The colors, if they change.
        palette: Option<u8>,
    }
}

tagged! {
    /// What a member does in its room. Actions that need no check before the room are the records
    /// clients send.
    #[allow(missing_docs, reason = "each variant is the record of its name")]
    pub enum RoomAction by "action" {
        "leave" => Leave,
        "leave_keeping_slot" => LeaveKeepingSlot,
        "idle_timeout" => IdleTimeout,
        "ready" => Ready,
        "rest" => Rest,
        "start" => StartMatch,
        "finish" => Finish,
        "settings" => Settings,
        "access" => Access,
        "kick" => Kick,
        "transfer_host" => TransferHost,
        "profile" => SetProfile,
        "report" => Report,
        "own_score" => OwnScore,
    }
}

impl RoomAction {
    /// Whether only a host may do it.
    pub fn needs_host(&self) -> bool {
        match self {
            RoomAction::StartMatch(_)
            | RoomAction::Finish(_)
            | RoomAction::Settings(_)
            | RoomAction::Access(_)
            | RoomAction::Kick(_)
            | RoomAction::TransferHost(_) => true,
            RoomAction::Leave(_)
            | RoomAction::LeaveKeepingSlot(_)
            | RoomAction::IdleTimeout(_)
            | RoomAction::Ready(_)
            | RoomAction::Rest(_)
            | RoomAction::SetProfile(_)
            | RoomAction::Report(_)
            | RoomAction::OwnScore(_) => false,
        }
    }
}
