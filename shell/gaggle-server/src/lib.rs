//! The server as a library: the binary and tests start it the same way.
//!
#![doc = include_str!("../README.md")]
#![cfg_attr(
    not(feature = "redis"),
    allow(dead_code, unused_variables, reason = "a shared log uses what one process does not")
)]

pub mod assets;
mod background;
mod body;
mod client_address;
mod clock;
pub mod config;
mod dispatcher;
mod embedded;
mod extensions;
mod handshake_limit;
#[cfg(feature = "tls")]
mod handshakes;
mod http;
mod ice;
#[cfg_attr(not(feature = "sign-in"), path = "left_out/identity.rs")]
mod identity;
#[cfg(all(test, feature = "tls"))]
mod limits;
pub mod metrics;
mod notes;
mod operator;
mod pace;
mod page_policy;
mod progress;
mod referee;
mod relay;
mod server;
mod shared;
mod socket;
pub mod storage;
#[cfg_attr(not(feature = "tls"), path = "left_out/tls.rs")]
mod tls;

pub use background::BackgroundServer;
pub use client_address::{ParsePrefixError, Prefix};
pub use config::Config;
pub use embedded::Embedded;
pub use extensions::{Extensions, Lobby, Upgrade, UpgradedStream};
pub use page_policy::inline_scripts;
pub use server::{Server, StartError};

/// Name and version.
pub const NAME: &str = concat!("gaggle-server ", env!("CARGO_PKG_VERSION"));
