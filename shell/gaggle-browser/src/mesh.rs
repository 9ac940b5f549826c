//! Links of a page to everybody in a room, by whatever way there is.

use gaggle_kit::PeerId;
use gaggle_link::relay::{RelayCarrier, RelayClient, RelayLeg};
use gaggle_link::{MeshConfig, MultipathMesh, Path, PlatformCarriers};

use crate::{IceServer, RelayWebSocket, WebRtcCarrier};

/// Where a page's links may lead through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MeshServers {
    /// Help to find the direct way. Without any, pages find each other on the same network only.
    pub ice: Vec<IceServer>,
    /// The relay, as `wss://example.org/relay`. Without one, who can't be reached directly can't be
    /// reached.
    pub relay: Option<String>,
}

/// The mesh of a page.
pub type PageMesh = MultipathMesh<WebRtcCarrier, RelayWebSocket>;

/// A mesh for this page: to be told who is in the room, and to be handed signals
/// ([`Mesh`](gaggle_link::Mesh) says how).
///
/// The ticket is the lobby's, for the relay; the seed should be random. Ways that `config.paths`
/// does not allow are not even made.
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
