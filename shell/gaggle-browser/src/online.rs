//! A page online: the lobby of the server it came from, and links by whatever way there is.

use gaggle::link::sim::Conditions;
use gaggle::link::{LinksConfig, Path, PathConfig};
use gaggle::{LinksSetup, Online};

use crate::{IceServer, LobbySocket, Servers, links};

/// What a [`Room`](gaggle::Room) in a page needs of the world: the lobby and the relay of the server the page came from.
/// `only` is for players who hide their address and for tests; `conditions` makes a good network feel like a bad one.
pub fn online(only: Option<Path>, conditions: Conditions) -> Online<LobbySocket> {
    let make = move |setup: &LinksSetup<'_>| {
        let servers = Servers {
            ice: setup.ice.iter().map(ice_server).collect(),
            relay: setup.relay.map(|relay| relay_url(&relay.socket)),
        };
        let paths = only.map_or_else(PathConfig::default, PathConfig::only);
        let config = LinksConfig { paths, conditions, ..LinksConfig::default() };
        links(setup.local, setup.ticket, &servers, config, setup.seed)
    };
    Online::new(LobbySocket::here(), Box::new(make))
}

fn ice_server(server: &gaggle::lobby::message::server::IceServer) -> IceServer {
    IceServer {
        urls: server.urls.clone(),
        username: server.username.clone(),
        credential: server.credential.clone(),
    }
}

/// A relay's address may be a path of the server the page came from.
fn relay_url(socket: &str) -> String {
    if !socket.starts_with('/') {
        return socket.to_string();
    }
    let Some(location) = web_sys::window().map(|window| window.location()) else { return socket.to_string() };
    let secure = location.protocol().is_ok_and(|protocol| protocol == "https:");
    let host = location.host().unwrap_or_default();
    format!("{}://{host}{socket}", if secure { "wss" } else { "ws" })
}

/// A random number from the browser.
pub fn random_seed() -> u64 {
    let mut bytes = [0; 8];
    let filled = web_sys::window()
        .and_then(|window| window.crypto().ok())
        .and_then(|crypto| crypto.get_random_values_with_u8_array(&mut bytes).ok());
    match filled {
        Some(_) => u64::from_le_bytes(bytes),
        // Without a safe source any other has to do: seeds decide nothing that must be secret.
        None => js_sys::Math::random().to_bits(),
    }
}
