//! Forwarding between members of a room that cannot reach each other.
//!
#![doc = include_str!("../README.md")]

mod consent;
mod fair_queue;
mod fair_share;
mod limiter;
mod limits;
#[cfg(feature = "loopback")]
pub mod loopback;
mod machine;
mod member;
mod opening;
mod outbox;
mod server;
mod sockets;
mod totals;
mod udp;

pub use gaggle_rtc::is_contained;
pub use machine::{ConnectionId, Epochs, Outbound, Relay, RelayConfig, Request};
pub use server::{RelayServer, UnixClock};
pub use totals::Totals;
pub use udp::UdpPort;
