//! Roles in the lobby room: host, readiness and settings, as the lobby keeps them.
//!
//! The room calls it. Absent: the match, whose leader is another role that the engine has.

use std::error::Error;
use std::fmt;

use gaggle_kit::{Micros, PeerId};
use gaggle_lobby::client::{Client, RequestId};
use gaggle_lobby::message::client::{Access, Finish, Host, Kick, Ready, Settings, Start};
use gaggle_lobby::view::{RawJson, RoomUpdate};

use super::LobbyRoom;
use crate::event::RoomEvent;
use crate::platform::Platform;

/// Commands of the [host](crate::Room::host) of a room: see
/// [`Room::host_command`](crate::Room::host_command).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HostCommand {
    /// Starts the next match, after a countdown.
    Start {
        /// How long the lobby waits, at most 60 s; zero starts at once.
        countdown: Micros,
    },
    /// Ends the match in the lobby, so that results count and the next one can start.
    EndMatch,
    /// Removes a member. Neither it nor another player of its network can join this room again.
    Kick(PeerId),
    /// Makes another member the host.
    TransferHost(PeerId),
    /// Replaces the room's [settings](crate::Room::settings): a JSON object.
    Settings(RawJson),
    /// Changes which players may join. `None` fields stay as they are.
    Access {
        /// Whether joining is blocked.
        locked: Option<bool>,
        /// Whether the room is kept out of the list and of matchmaking, so that it is joined by
        /// code only.
        private: Option<bool>,
        /// Number of players that the room admits.
        max_players: Option<u8>,
    },
}

/// The command needs the host of a room: see [`Room::is_host`](crate::Room::is_host).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotHost;

impl fmt::Display for NotHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("only the host of the room can do that; check `Room::is_host` first")
    }
}

impl Error for NotHost {}

impl<S, P: Platform> LobbyRoom<S, P> {
    pub(crate) fn host(&self) -> Option<PeerId> {
        self.reservation?;
        self.lobby_client.as_ref().and_then(Client::room).map(|room| room.host)
    }

    pub(crate) fn is_host(&self) -> bool {
        self.me().is_some_and(|me| self.host() == Some(me))
    }

    pub(crate) fn settings(&self) -> &RawJson {
        let room = self.lobby_client.as_ref().and_then(Client::room).filter(|_| self.reservation.is_some());
        room.map_or(&self.config.room_settings, |room| &room.settings)
    }

    pub(crate) fn set_ready(&mut self, ready: bool) {
        if let Some(client) = self.lobby_client.as_mut().filter(|_| self.reservation.is_some()) {
            client.ready(Ready { ready });
        }
    }

    pub(crate) fn host_command(&mut self, command: HostCommand) -> Result<RequestId, NotHost> {
        let is_host = self.is_host();
        let client = self.lobby_client.as_mut().filter(|_| is_host).ok_or(NotHost)?;
        Ok(match command {
            HostCommand::Start { countdown } => {
                let millis = u32::try_from(countdown.as_millis()).unwrap_or(u32::MAX);
                client.start(Start { countdown_ms: (millis > 0).then_some(millis) })
            }
            HostCommand::EndMatch => client.finish(Finish {}),
            HostCommand::Kick(peer) => client.kick(Kick { peer }),
            HostCommand::TransferHost(peer) => client.hand_over(Host { peer }),
            HostCommand::Settings(settings) => client.set_settings(Settings { settings }),
            HostCommand::Access { locked, private, max_players } => {
                client.set_access(Access { locked, private, max_players })
            }
        })
    }

    /// Reports a change of roles or settings.
    pub(super) fn report_roles(&mut self, update: &RoomUpdate) {
        if self.reservation.is_none() {
            return;
        }
        let event = match update {
            RoomUpdate::HostChanged(change) => {
                RoomEvent::HostChanged { peer: change.peer, name: self.name(change.peer) }
            }
            RoomUpdate::ReadyChanged(change) => RoomEvent::ReadyChanged {
                peer: change.peer,
                name: self.name(change.peer),
                ready: change.ready,
            },
            RoomUpdate::SettingsChanged(_) => RoomEvent::SettingsChanged,
            _ => return,
        };
        self.push(event);
    }
}
