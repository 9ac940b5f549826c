//! Platform of pages: the lobby of the page's server, and a mesh over the best paths.
//!
//! Given to [`Room`](gaggle::Room). Absent: rooms, games.

use gaggle::link::Path;
use gaggle::{ConnectMesh, MeshSetup, Micros, Online, OnlineConfig};

use crate::lobby::own_server;
use crate::{LobbyWebSocket, MeshServers, PageMesh, mesh};

#[doc = text!(PagePlatform)]
pub type PagePlatform = Online<LobbyWebSocket, PageConnect>;

#[doc = text!(platform)]
pub fn platform() -> PagePlatform {
    platform_with(OnlineConfig::default())
}

#[doc = text!(platform_with)]
pub fn platform_with(config: OnlineConfig) -> PagePlatform {
    make_online(own_server(), config)
}

#[doc = text!(platform_at)]
pub fn platform_at(server: &str, config: OnlineConfig) -> PagePlatform {
    make_online(server.trim_end_matches('/').to_string(), config)
}

fn make_online(server: String, config: OnlineConfig) -> PagePlatform {
    let socket = LobbyWebSocket::new(&format!("{server}/lobby"));
    Online::new(socket, PageConnect { server, config })
}

/// Opens meshes over the relay and the ICE servers that the lobby names.
#[derive(Debug)]
pub struct PageConnect {
    /// Origin of the server, to complete a relay address that is a path.
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
        // Without WebRTC only a WebSocket can work: this avoids waiting for timeouts.
        let only_path = self.config.only_path.or((!has_webrtc()).then_some(Path::WebSocket));
        let config = OnlineConfig { only_path, ..self.config };
        mesh(setup.local_id, setup.ticket, &servers, config.mesh(), setup.seed)
    }
}

/// Address of the relay, which may be given as a path on the server.
fn relay_url(server: &str, socket: &str) -> String {
    if socket.starts_with('/') { format!("{server}{socket}") } else { socket.to_string() }
}

#[doc = text!(has_webrtc)]
pub fn has_webrtc() -> bool {
    let window = web_sys::window();
    window.is_some_and(|window| {
        js_sys::Reflect::get(&window, &"RTCPeerConnection".into()).is_ok_and(|class| class.is_function())
    })
}

#[doc = text!(random_seed)]
pub fn random_seed() -> u64 {
    let mut bytes = [0; 8];
    let filled = web_sys::window()
        .and_then(|window| window.crypto().ok())
        .and_then(|crypto| crypto.get_random_values_with_u8_array(&mut bytes).ok());
    match filled {
        Some(_) => u64::from_le_bytes(bytes),
        // Without a secure source a weaker one suffices: no secret depends on seeds.
        None => js_sys::Math::random().to_bits(),
    }
}
