//! Mesh of a page: links to all members of a room.
//!
//! Used by `platform.rs`. Absent: choice of paths (`gaggle-link`).

use gaggle_kit::PeerId;
use gaggle_link::relay::{RelayCarrier, RelayClient, RelayLeg};
use gaggle_link::{MeshConfig, MultipathMesh, Path, PlatformCarriers};

use crate::{IceServer, RelayWebSocket, WebRtcCarrier};

/// Servers that a page's links may use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MeshServers {
    /// STUN and TURN servers. Without any, direct links work on the same network only.
    pub ice: Vec<IceServer>,
    /// Relay such as `wss://example.org/relay`. Without one, only direct links work.
    pub relay: Option<String>,
}

/// Mesh of a page.
pub type PageMesh = MultipathMesh<WebRtcCarrier, RelayWebSocket>;

/// Creates a mesh; [`Mesh`](gaggle_link::Mesh) describes how to add members and pass signals.
///
/// `ticket` is the lobby's, for the relay; `seed` should be random. Carriers for paths outside
/// `config.allowed_paths` are not created.
pub fn mesh(local: PeerId, ticket: &str, servers: &MeshServers, config: MeshConfig, seed: u64) -> PageMesh {
    let allowed = |path: Path| config.paths.allowed_paths.contains(&path);
    let direct = allowed(Path::Direct).then(|| WebRtcCarrier::new(local, &servers.ice, seed));
    let legs: Vec<RelayLeg> = [(Path::Relay, RelayLeg::Datagram), (Path::WebSocket, RelayLeg::WebSocket)]
        .into_iter()
        .filter_map(|(path, leg)| allowed(path).then_some(leg))
        .collect();
    let relay = servers.relay.as_ref().filter(|_| !legs.is_empty());
    let relay =
        relay.map(|url| RelayCarrier::new(RelayClient::new(local, ticket, &legs), RelayWebSocket::new(url)));
    MultipathMesh::new(local, config, seed, PlatformCarriers { direct, relay })
}
