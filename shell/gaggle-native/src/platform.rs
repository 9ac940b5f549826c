//! Platform of native programs: a server's lobby, and a mesh over the best paths.
//!
//! Given to [`Room`](gaggle::Room). Absent: rooms, games.

use gaggle::{ConnectMesh, MeshSetup, Micros, Online, OnlineConfig};

use crate::lobby::ParseLobbyUrlError;
use crate::{LobbyWebSocket, MeshServers, NativeMesh, mesh};

/// Platform of a native program's room.
pub type NativePlatform = Online<LobbyWebSocket, NativeConnect>;

/// A native room, to be named in a struct.
///
/// ```
/// use gaggle::Game;
/// use gaggle_native::GameRoom;
///
/// struct Window<G: Game> {
///     room: GameRoom<G>,
/// }
/// ```
pub type GameRoom<G> = gaggle::GameRoom<G, NativePlatform>;

/// A native room for a world of replicated objects.
pub type WorldRoom<W> = gaggle::WorldRoom<W, NativePlatform>;

/// A native room whose caller keeps the game's state.
pub type RequestRoom<I> = gaggle::RequestRoom<I, NativePlatform>;

/// Platform with the lobby and relay of this server, such as `wss://play.example`.
///
/// # Errors
/// If it is not the address of a server.
pub fn platform(server: &str) -> Result<NativePlatform, ParseLobbyUrlError> {
    platform_with(server, OnlineConfig::default())
}

/// Like [`platform`], with settings of the network.
///
/// # Errors
/// If it is not the address of a server.
pub fn platform_with(server: &str, config: OnlineConfig) -> Result<NativePlatform, ParseLobbyUrlError> {
    let socket = LobbyWebSocket::new(server)?;
    let connect = NativeConnect { origin: socket.origin(), config };
    Ok(Online::new(socket, connect))
}

/// Opens meshes over the relay and the STUN servers that the lobby names.
#[derive(Debug)]
pub struct NativeConnect {
    /// Origin of the server, to complete a relay address that is a path.
    origin: String,
    config: OnlineConfig,
}

impl ConnectMesh for NativeConnect {
    type Mesh = NativeMesh;

    fn open_mesh(&mut self, _now: Micros, setup: &MeshSetup<'_>) -> NativeMesh {
        let servers = MeshServers {
            stun: setup.ice_servers.iter().flat_map(|server| server.urls.iter().cloned()).collect(),
            relay: setup.relay.map(|relay| relay_url(&self.origin, &relay.socket)),
        };
        mesh(setup.local_id, setup.ticket, &servers, self.config.mesh(), setup.seed)
    }
}

/// Address of the relay, which may be given as a path on the server.
fn relay_url(origin: &str, socket: &str) -> String {
    if socket.starts_with('/') { format!("{origin}{socket}") } else { socket.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relay_is_found_beside_lobby_or_elsewhere() {
        let origin = LobbyWebSocket::new("https://play.example:8443/lobby").unwrap().origin();
        assert_eq!(relay_url(&origin, "/relay"), "wss://play.example:8443/relay");
        assert_eq!(relay_url(&origin, "wss://relay.example/relay"), "wss://relay.example/relay");
    }
}
