//! Layer 1: moves bytes between peers, directly, relayed or simulated. Knows no game, no frames, no
//! rollback.
//!
//! - [`Transport`] is what engines are written against: messages to and from peers, unreliable or
//!   reliable.
//! - [`Endpoint`] is that on top of any [`Carrier`], which moves single datagrams: a socket, a
//!   WebRTC channel, a relay.
//! - [`mod@contract`] says point by point what may be counted on of a transport, as tests any
//!   implementation can run.
//! - [`PathSelector`] chooses the best way to each peer, and [`relay`] is one that leads through a
//!   third party.
//! - [`sim`] is a whole network in virtual time, and [`LinkConditioner`] makes a real one feel like
//!   a bad one.
//!
//! Nothing here reads a clock, waits or opens a socket: time and seeds are arguments, sockets are
//! in `shell/`. A program runs its links like this, once a frame or whenever something arrives:
//!
//! ```
//! # use gaggle_kit::Micros;
//! # use gaggle_link::{Channel, TransportEvent, Transport};
//! fn frame(transport: &mut impl Transport, now: Micros) {
//!     while let Some(event) = transport.poll(now) {
//!         match event {
//!             TransportEvent::Connected { peer } => println!("{peer} is here"),
//!             TransportEvent::Disconnected { peer, reason } => println!("{peer} is gone: {reason:?}"),
//!             TransportEvent::Message { peer, channel, bytes } => println!("{peer} sent {} bytes on {channel:?}", bytes.len()),
//!         }
//!     }
//!     // Refused only if it is too large: what is lost on the way is lost.
//!     _ = transport.broadcast(now, Channel::Unreliable, b"where I am");
//! }
//! ```

mod carrier;
mod carriers;
mod channel;
mod config;
pub mod contract;
mod event;
mod link;
mod link_conditioner;
mod mesh;
mod multipath_mesh;
mod negotiator;
mod paths;
pub mod relay;
mod signal;
pub mod sim;
mod stats;
mod transport;

pub use carrier::{Carrier, CarrierEvent, DATAGRAM_BYTES_MAX, WouldBlock};
pub use carriers::{Carriers, NoDirect, PlatformCarriers};
pub use channel::Channel;
pub use config::LinkConfig;
pub use event::{CloseCode, DisconnectReason, PeerFault, TransportEvent};
pub use gaggle_kit::IceServer;
pub use link::Endpoint;
pub use link_conditioner::LinkConditioner;
pub use mesh::Mesh;
pub use multipath_mesh::{MeshConfig, MultipathMesh, SignaledCarrier};
pub use negotiator::{NegotiationCommand, Negotiator};
pub use paths::{ConnectCarrier, Path, PathChanged, PathConfig, PathReason, PathSelector};
pub use signal::{CANDIDATE_BYTES_MAX, Candidate, DESCRIPTION_BYTES_MAX, Signal, SignalBody};
pub use stats::LinkStats;
pub use transport::{SendError, Transport};
