//! Frames between a peer and a relay, and the peer's side of it.
//!
//! A relay forwards datagrams between authenticated members of one room. A member has one WebSocket
//! to it for all its peers, which carries control frames, and, where the network allows, a WebRTC
//! channel for datagrams; without a channel the WebSocket carries datagrams, too.
//!
//! [`RelayClient`] decides, a [`RelaySocket`] has the socket and the channel, and [`RelayCarrier`]
//! owns both and is asked by [`RelayLeg`]: [`Path::Relay`](crate::Path::Relay) is the channel,
//! [`Path::WebSocket`](crate::Path::WebSocket) the WebSocket. The server is `shell/gaggle-relay`;
//! the frames are in docs/protocol/7-paths-and-relay.md.

mod carrier;
mod client;
mod frame;
mod leg;
mod ticket_request;

pub use carrier::{RelayCarrier, RelaySocket, RelaySocketEvent};
pub use client::{RelayClient, RelayCommand};
pub use frame::{DATA_HEADER_BYTES, RELAY_FRAME_BYTES_MAX, RELAY_TEXT_BYTES_MAX, RelayFrame, RelayReject};
pub use leg::RelayLeg;
