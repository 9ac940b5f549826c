//! A page online: the lobby of the server it came from, and links by whatever way there is.

use gaggle::link::Path;
use gaggle::{ConnectMesh, MeshSetup, Micros, Online, OnlineConfig};

use crate::lobby::own_server;
use crate::{LobbyWebSocket, MeshServers, PageMesh, mesh};

/// What a page's room runs on.
pub type PagePlatform = Online<LobbyWebSocket, PageConnect>;

/// What a [`Room`](gaggle::Room) in a page needs of the world: the lobby and the relay of the
/// server the page came from.
pub fn platform() -> PagePlatform {
    platform_with(OnlineConfig::default())
}

/// As [`platform`], by certain ways only, or as if the network were worse.
pub fn platform_with(config: OnlineConfig) -> PagePlatform {
    make_online(own_server(), config)
}

/// As [`platform_with`], for a page that came from somewhere else than its server, which is called
/// `wss://play.example`. The server must allow the page's origin.
pub fn platform_at(server: &str, config: OnlineConfig) -> PagePlatform {
    make_online(server.trim_end_matches('/').to_string(), config)
}

fn make_online(server: String, config: OnlineConfig) -> PagePlatform {
    let socket = LobbyWebSocket::new(&format!("{server}/lobby"));
    Online::new(socket, PageConnect { server, config })
}

/// Opens meshes over the relay and the ICE servers the lobby names.
#[derive(Debug)]
pub struct PageConnect {
    /// To complete a relay's address that is a path.
    server: String,
    config: OnlineConfig,
}

impl ConnectMesh for PageConnect {
    type Mesh = PageMesh;

    fn open_mesh(&mut self, _now: Micros, setup: &MeshSetup<'_>) -> PageMesh {
        let servers = MeshServers {
            ice: setup.ice_servers.to_vec(),
            relay: setup.relay.map(|relay| relay_url(&self.server, &relay.socket)),
        };
        // Without WebRTC nothing but a socket can work: no need to find out by waiting.
        let only_path = self.config.only_path.or((!has_webrtc()).then_some(Path::WebSocket));
        let config = OnlineConfig { only_path, ..self.config };
        mesh(setup.local_id, setup.ticket, &servers, config.mesh(), setup.seed)
    }
}

/// A relay's address may be a path of the server that tells it.
fn relay_url(server: &str, socket: &str) -> String {
    if socket.starts_with('/') { format!("{server}{socket}") } else { socket.to_string() }
}

/// Whether this browser has WebRTC. Where it is switched off, everything goes through a socket of
/// the server.
pub fn has_webrtc() -> bool {
    let window = web_sys::window();
    window.is_some_and(|window| {
        js_sys::Reflect::get(&window, &"RTCPeerConnection".into()).is_ok_and(|class| class.is_function())
    })
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
