//! Rooms and links outside the browser: sockets, clock, entropy.
//!
#![doc = include_str!("../README.md")]

mod clock;
mod entropy;
mod lobby;
mod mesh;
mod network_watch;
mod platform;
mod relay;
mod sockets;
mod udp;
mod webrtc_carrier;
mod websocket;

pub use clock::Clock;
pub use entropy::{random_peer_id, random_seed};
pub use gaggle_rtc::RtcChannelError;
pub use lobby::{LobbyWebSocket, ParseLobbyUrlError};
pub use mesh::{MeshServers, NativeMesh, mesh};
pub use platform::{
    GameRoom, NativeConnect, NativePlatform, RequestRoom, WorldRoom, platform, platform_with,
};
pub use relay::RelayWebSocket;
pub use udp::{RoomKey, UdpCarrier, UdpConfig, UdpStats};
pub use webrtc_carrier::WebRtcCarrier;
