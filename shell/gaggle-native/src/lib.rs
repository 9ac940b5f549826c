//! Gaggle outside the browser: what waits, on sockets and by the clock, so that core need not.
//!
//! [`online`] is what a [`Room`](gaggle::Room) needs; [`links`] is the part of it that reaches
//! everybody in a room, direct where that is possible and through a relay where it is not. Without
//! a server, [`UdpCarrier`] lets links run on a UDP socket. A program makes one, says whom to
//! reach, and runs its links once a frame:
//!
//! ```no_run
//! use gaggle_link::{Event, Link, LinkConfig, Transport};
//! use gaggle_native::{Clock, RoomKey, UdpCarrier, UdpConfig, random_peer, random_seed};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let clock = Clock::start();
//! let key = RoomKey::from_phrase("the geese fly at dawn, all forty of them");
//! let mut carrier = UdpCarrier::bind("0.0.0.0:7777".parse()?, random_peer()?, &key, UdpConfig::default())?;
//! carrier.connect("192.0.2.7:7777".parse()?);
//! let mut link = Link::new(carrier, LinkConfig::default(), random_seed()?);
//! loop {
//!     while let Some(event) = link.poll(clock.now()) {
//!         if let Event::Message { peer, bytes, .. } = event {
//!             println!("{peer:?} says {}", String::from_utf8_lossy(bytes));
//!         }
//!     }
//!     std::thread::sleep(std::time::Duration::from_millis(5));
//! }
//! # }
//! ```

mod clock;
mod direct;
mod entropy;
mod links;
mod lobby;
mod network_watch;
mod online;
mod relay;
mod sockets;
mod udp;
mod websocket;

pub use clock::Clock;
pub use direct::DirectWay;
pub use entropy::{random_peer, random_seed};
pub use gaggle_rtc::RtcChannelError;
pub use links::{NativeMesh, Servers, links};
pub use lobby::{LobbySocket, ParseLobbyUrlError};
pub use online::{NativeConnect, NativePlatform, NativeRoom, NativeSharedRoom, online, online_with};
pub use relay::RelayLine;
pub use udp::{RoomKey, UdpCarrier, UdpConfig, UdpTotals};
