//! A native program online: a server's lobby, and links by whatever way there is.

use gaggle::{LinksSetup, Online, OnlineConfig, Room, SharedRoom};

use crate::lobby::ParseLobbyUrlError;
use crate::{LobbySocket, Servers, links};

/// A room of a native program, to be named in a struct.
///
/// ```
/// use gaggle::Game;
/// use gaggle_native::NativeRoom;
///
/// struct Window<G: Game> {
///     room: NativeRoom<G>,
/// }
/// ```
pub type NativeRoom<G> = Room<G, Online<LobbySocket>>;

/// The same for a world of shared objects.
pub type NativeSharedRoom<W> = SharedRoom<W, Online<LobbySocket>>;

/// What a [`Room`](gaggle::Room) needs of the world: the lobby and the relay of this server, as `wss://play.example`.
///
/// # Errors
/// If it is no address of a server.
pub fn online(server: &str) -> Result<Online<LobbySocket>, ParseLobbyUrlError> {
    online_with(server, OnlineConfig::default())
}

/// As [`online`], by certain ways only, or as if the network were worse.
///
/// # Errors
/// If it is no address of a server.
pub fn online_with(server: &str, config: OnlineConfig) -> Result<Online<LobbySocket>, ParseLobbyUrlError> {
    let socket = LobbySocket::new(server)?;
    let origin = socket.origin();
    let make = move |setup: &LinksSetup<'_>| {
        let servers = Servers {
            stun: setup.ice.iter().flat_map(|server| server.urls.iter().cloned()).collect(),
            relay: setup.relay.map(|relay| relay_url(&origin, &relay.socket)),
        };
        links(setup.local, setup.ticket, &servers, config.links(), setup.seed)
    };
    Ok(Online::new(socket, Box::new(make)))
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
        let origin = LobbySocket::new("https://play.example:8443/lobby").unwrap().origin();
        assert_eq!(relay_url(&origin, "/relay"), "wss://play.example:8443/relay");
        assert_eq!(relay_url(&origin, "wss://relay.example/relay"), "wss://relay.example/relay");
    }
}
