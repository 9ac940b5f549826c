//! Frames between a peer and a relay, and the peer's side of the protocol.
//!
//! [`RelayClient`] decides, a [`RelaySocket`] has the sockets, [`RelayCarrier`] owns both. A member
//! has one WebSocket to the relay for control frames and, where possible, a WebRTC channel for
//! datagrams. Absent: the relay itself (`shell/gaggle-relay`), tickets' content.

mod carrier;
mod client;
mod frame;
mod leg;
mod ticket_request;

pub use carrier::{RelayCarrier, RelaySocket, RelaySocketEvent};
pub use client::{RelayClient, RelayCommand};
pub use frame::{DATA_HEADER_BYTES, RELAY_FRAME_BYTES_MAX, RELAY_TEXT_BYTES_MAX, RelayFrame, RelayReject};
pub use leg::RelayLeg;

/// Name under which a server itself is a member of a room at its own relay: no ticket is issued for
/// it, and none is accepted.
pub const HOST_PEER: gaggle_kit::PeerId = gaggle_kit::PeerId::from_bytes([0xff; 16]);
