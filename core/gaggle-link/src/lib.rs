//! Layer 1: moves bytes between peers, directly, relayed or simulated. Knows no game, no frames, no rollback.
//!
//! Engines are written against [`Transport`]. Ways of moving datagrams are [`Carrier`]s.
//!
//! Nothing here reads a clock, waits or opens a socket: time and seeds are arguments, sockets are in `shell/`.

mod carrier;
mod channel;
mod event;
pub mod sim;
mod stats;
mod transport;

pub use carrier::{Busy, Carrier, CarrierEvent, DATAGRAM_BYTES_MAX};
pub use channel::Channel;
pub use event::{Event, Goodbye, LeftReason, PeerFault};
pub use stats::LinkStats;
pub use transport::{SendError, Transport};
