//! Actions of members in their room, as the log carries them.
//!
//! [`Room::act`](super::Room::act) decides whether a member may. Absent: limits, connections.

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
    /// The member leaves and may return: its page may only be reloading.
    pub struct LeaveKeepingSlot {}
}

record! {
    /// The server removes a silent member.
    pub struct IdleTimeout {}
}

record! {
    /// The host starts a match.
    #[derive(Copy)]
    pub struct StartMatch {
        /// Milliseconds until it starts.
        countdown_ms: u32,
        /// Seed of the match.
        seed: Seed,
    }
}

record! {
    /// The member changes name or preferred slot.
    pub struct SetProfile {
        /// The name, if it changes.
        name: Option<DisplayName>,
        /// The preferred slot, if it changes.
        preferred_slot as "palette": Option<u8>,
    }
}

tagged! {
    /// Action of a member. Actions that need no check before the room are the messages clients
    /// send.
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
    /// Whether only the host may do it.
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
