//! A native program online: a server's lobby, and links by whatever way there is.

use gaggle::{ConnectMesh, MeshSetup, Micros, Online, OnlineConfig};

use crate::lobby::ParseLobbyUrlError;
use crate::{LobbyWebSocket, MeshServers, NativeMesh, mesh};

/// What a native program's room runs on.
pub type NativePlatform = Online<LobbyWebSocket, NativeConnect>;

/// A room of a native program, to be named in a struct.
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

/// The same for a world of shared objects.
pub type WorldRoom<W> = gaggle::WorldRoom<W, NativePlatform>;

/// What a [`Room`](gaggle::Room) needs of the world: the lobby and the relay of this server, as
/// `wss://play.example`.
///
/// # Errors
/// If it is no address of a server.
pub fn platform(server: &str) -> Result<NativePlatform, ParseLobbyUrlError> {
    platform_with(server, OnlineConfig::default())
}

/// As [`platform`], by certain ways only, or as if the network were worse.
///
/// # Errors
/// If it is no address of a server.
pub fn platform_with(server: &str, config: OnlineConfig) -> Result<NativePlatform, ParseLobbyUrlError> {
    let socket = LobbyWebSocket::new(server)?;
    let connect = NativeConnect { origin: socket.origin(), config };
    Ok(Online::new(socket, connect))
}

/// Opens meshes over the relay and the STUN servers the lobby names.
#[derive(Debug)]
pub struct NativeConnect {
    /// Of the server, to complete a relay's address that is a path.
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

/// A relay's address may be a path of the server that tells it.
fn relay_url(origin: &str, socket: &str) -> String {
    if socket.starts_with('/') { format!("{origin}{socket}") } else { socket.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relay_is_found_beside_the_lobby_or_elsewhere() {
        let origin = LobbyWebSocket::new("https://play.example:8443/lobby").unwrap().origin();
        assert_eq!(relay_url(&origin, "/relay"), "wss://play.example:8443/relay");
        assert_eq!(relay_url(&origin, "wss://relay.example/relay"), "wss://relay.example/relay");
    }
}
