//! What a machine and a relay say to each other, and the machine's side of it.
//!
//! A relay forwards datagrams between members of one room who proved who they are. A member has one
//! connection to it for all its peers: a socket, over which everything that must not get lost is
//! said, and beside it, where the network allows, a channel that is as good as UDP and carries
//! nothing but datagrams. The socket carries datagrams too when there is no channel.
//!
//! [`RelayClient`] decides, a [`RelaySocket`] has the socket and the channel, and [`RelayCarrier`]
//! owns
//! both and is asked by [`RelayLeg`]: [`Path::Relay`](crate::Path::Relay) is the channel,
//! [`Path::WebSocket`](crate::Path::WebSocket) the socket. The other side is in
//! `shell/gaggle-relay`.
//! PROTOCOL.md, "Relay", has the frames.

mod carrier;
mod client;
mod frame;
mod wish;

pub use carrier::{RelayCarrier, RelaySocket, RelaySocketEvent};
pub use client::{RelayClient, RelayCommand, RelayLeg};
pub use frame::{DATA_HEADER_BYTES, RELAY_FRAME_BYTES_MAX, RELAY_TEXT_BYTES_MAX, RelayFrame, RelayReject};
