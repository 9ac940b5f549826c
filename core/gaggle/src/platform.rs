//! The platform a room runs on: a socket to the lobby, and a mesh of links to the members.
//!
//! `gaggle-native`, `gaggle-browser` and simulations implement it; the room calls it. Absent:
//! rooms, games, clocks.

mod no_network;
mod online;

use gaggle_kit::{IceServer, Micros, PeerId};
use gaggle_link::Mesh;
use gaggle_lobby::client::LobbySocket;
use gaggle_lobby::message::server::Relay;

pub use no_network::{NoLobby, NoMesh, NoNetwork};
pub use online::{ConnectMesh, Online, OnlineConfig};

/// Parameters of a new mesh.
#[derive(Debug, Clone, Copy)]
pub struct MeshSetup<'a> {
    /// Id of this peer in the room, from the lobby.
    pub local_id: PeerId,
    /// Ticket that proves to relays that this peer is a member.
    pub ticket: &'a str,
    /// Servers that help to find direct paths.
    pub ice_servers: &'a [IceServer],
    /// The server's relay, if it has one.
    pub relay: Option<&'a Relay>,
    /// A random number for the mesh.
    pub seed: u64,
}

/// The platform a [`Room`](crate::Room) runs on. No method blocks; events are polled. A room is
/// `Send` if its platform, the socket and the mesh are.
pub trait Platform {
    /// The connection to the lobby.
    type Lobby: LobbySocket;
    /// The links to the members of a room.
    type Mesh: Mesh;

    /// The connection to the lobby, the same for the platform's whole lifetime.
    fn lobby(&mut self) -> &mut Self::Lobby;

    /// Opens a mesh for a room. The caller owns it, and drops it before it opens the next.
    fn open_mesh(&mut self, now: Micros, setup: &MeshSetup<'_>) -> Self::Mesh;
}
