//! Gaggle outside the browser: what waits, on sockets and by the clock, so that core need not.
//!
//! [`platform`] is what a [`Room`](gaggle::Room) needs; [`mesh`] is the part of it that reaches
//! everybody in a room, direct where that is possible and through a relay where it is not. Without
//! a server, [`UdpCarrier`] lets links run on a UDP socket. A program makes one, says whom to
//! reach, and runs its links once a frame:
//!
//! ```no_run
//! use gaggle_link::{TransportEvent, Endpoint, LinkConfig, Transport};
//! use gaggle_native::{Clock, RoomKey, UdpCarrier, UdpConfig, random_peer_id, random_seed};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let clock = Clock::start();
//! let key = RoomKey::from_phrase("the geese fly at dawn, all forty of them");
//! let mut carrier = UdpCarrier::bind("0.0.0.0:7777".parse()?, random_peer_id()?, &key, UdpConfig::default())?;
//! carrier.connect("192.0.2.7:7777".parse()?);
//! let mut link = Endpoint::new(carrier, LinkConfig::default(), random_seed()?);
//! loop {
//!     while let Some(event) = link.poll(clock.now()) {
//!         if let TransportEvent::Message { peer, bytes, .. } = event {
//!             println!("{peer:?} says {}", String::from_utf8_lossy(bytes));
//!         }
//!     }
//!     std::thread::sleep(std::time::Duration::from_millis(5));
//! }
//! # }
//! ```

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
pub use platform::{GameRoom, NativeConnect, NativePlatform, WorldRoom, platform, platform_with};
pub use relay::RelayWebSocket;
pub use udp::{RoomKey, UdpCarrier, UdpConfig, UdpStats};
pub use webrtc_carrier::WebRtcCarrier;
