//! Current phase of a room, for polling. [`Room::phase`](crate::Room::phase) returns it. Absent:
//! events, which report the changes.

use gaggle_kit::{Micros, PeerId};

/// Current phase of a room. [`RoomEvent`](crate::RoomEvent)s report the changes.
///
/// The same for every engine:
///
/// | from | to | when |
/// |---|---|---|
/// | `Solo` | `Joining` | a reservation in a room where a match runs |
/// | `Solo` | `Playing` | a reservation in a new room |
/// | `Solo` | `Lobby` | a reservation in a room that waits for its host |
/// | `Lobby` | `Joining`, `Playing` | the host has started a match |
/// | `Joining` | `Playing`, `Spectating` | the match has arrived; `Solo` if that fails |
/// | `Joining`, `Playing`, `Spectating` | `Lobby` | the match ended in a room whose host starts |
/// | `Playing`, `Spectating` | `Joining`, `Playing` | by [`Room::join`](crate::Room::join) |
/// | all but `Spectating` | `Suspended` | [`Room::suspend`](crate::Room::suspend) |
/// | `Suspended` | `Joining`, `Playing` | [`Room::resume`](crate::Room::resume); `Lobby` if over |
/// | any | `Solo` | left, kicked or restarted; alone in a room that is lost |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Phase {
    /// The local players play without other peers, whether or not the lobby is connected.
    Solo,
    /// In a room whose host [starts](crate::HostCommand::Start) the matches, before or between
    /// them: see [`StartMode`](crate::StartMode). The match shown before goes on.
    Lobby {
        /// When the match starts, while the countdown runs.
        starts_at: Option<Micros>,
    },
    /// The local players still play solo, while this peer joins the match of others.
    Joining {
        /// How much of the match has arrived, 0 to 100.
        percent: u8,
    },
    /// In the match of the room, possibly as its first peer.
    Playing,
    /// Spectating the match of the room, without a slot in it: see
    /// [`JoinTarget::Spectate`](crate::JoinTarget::Spectate).
    Spectating,
    /// Out of the match for a while, because the page is hidden: see
    /// [`Room::suspend`](crate::Room::suspend).
    Suspended,
}

/// A stall of the shown match, because other peers' input is missing: see
/// [`Room::stall`](crate::Room::stall).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stall {
    /// When the last frame advanced.
    pub since: Micros,
    /// Peers whose input is missing.
    pub waiting_for: Vec<PeerId>,
    /// Whether no peer is heard: the local network may be down.
    pub is_isolated: bool,
}
