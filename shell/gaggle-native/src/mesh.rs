//! Links of a native program to everybody in a room, by whatever way there is.

use gaggle_kit::PeerId;
use gaggle_link::relay::{RelayCarrier, RelayClient, RelayLeg};
use gaggle_link::{MeshConfig, MultipathMesh, Path, PlatformCarriers};

use crate::{RelayWebSocket, WebRtcCarrier};

/// What links may lead through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MeshServers {
    /// STUN servers, as `stun:example.org:3478`, which help to find the direct way. Others are left
    /// out.
    pub stun: Vec<String>,
    /// The relay, as `wss://example.org/relay`. Without one, who can't be reached directly can't be
    /// reached.
    pub relay: Option<String>,
}

/// The mesh of a native program.
pub type NativeMesh = MultipathMesh<WebRtcCarrier, RelayWebSocket>;

/// A mesh for this program: to be told who is in the room, and to be handed signals
/// ([`Mesh`](gaggle_link::Mesh) says how).
///
/// The ticket is the lobby's, for the relay; the seed should be random. Ways that `config.paths`
/// does not allow are not even made, nor is the direct one on a system without entropy.
pub fn mesh(local: PeerId, ticket: &str, servers: &MeshServers, config: MeshConfig, seed: u64) -> NativeMesh {
    let allowed = |path: Path| config.paths.allowed_paths.contains(&path);
    let direct = allowed(Path::Direct).then(|| WebRtcCarrier::new(local, &servers.stun, seed).ok()).flatten();
    let legs: Vec<RelayLeg> = [(Path::Relay, RelayLeg::Datagram), (Path::WebSocket, RelayLeg::WebSocket)]
        .into_iter()
        .filter_map(|(path, leg)| allowed(path).then_some(leg))
        .collect();
    let relay = servers.relay.as_ref().filter(|_| !legs.is_empty());
    let relay =
        relay.map(|url| RelayCarrier::new(RelayClient::new(local, ticket, &legs), RelayWebSocket::new(url)));
    MultipathMesh::new(local, config, seed, PlatformCarriers { direct, relay })
}
