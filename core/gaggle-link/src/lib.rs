//! Bytes between peers: transports, links, paths, a simulated network.
//!
#![doc = include_str!("../README.md")]

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
pub use paths::{ConnectCarrier, Path, PathChanged, PathConfig, PathReason, PathSelector, probe_answer};
pub use signal::{CANDIDATE_BYTES_MAX, Candidate, DESCRIPTION_BYTES_MAX, Signal, SignalBody};
pub use stats::LinkStats;
pub use transport::{SendError, Transport};
