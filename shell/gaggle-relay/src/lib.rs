//! Forwarding between members of a room that cannot reach each other.
//!
#![doc = include_str!("../README.md")]

mod config;
mod consent;
mod fair_queue;
mod fair_share;
mod insider;
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
mod stats;
mod udp;

pub use config::RelayConfig;
pub use gaggle_rtc::is_contained;
pub use insider::{InsiderBatch, InsiderEvent, InsiderQueue};
pub use machine::{ConnectionId, Epochs, Host, Outbound, Relay, Request};
pub use server::{RelayServer, UnixClock};
pub use stats::RelayStats;
pub use udp::UdpPort;
