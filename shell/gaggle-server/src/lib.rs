//! The server of Gaggle, as a library: the binary and the tests start it the same way.
//!
//! What rooms are and who may do what is decided in `gaggle-lobby`; here are sockets, time, disks
//! and other processes. [`Server::start_with`] takes what others add to it: a page, a relay.
//!
//! ```no_run
//! # async fn example() -> Result<(), gaggle_server::StartError> {
//! use gaggle_server::{Config, Server};
//!
//! let config = Config { listen: ([127, 0, 0, 1], 0).into(), ..Config::default() };
//! let server = Server::start(config).await?;
//! println!("ws://{}/lobby", server.address());
//! server.stop().await;
//! # Ok(())
//! # }
//! ```

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
mod handshakes;
mod http;
mod ice;
mod identity;
#[cfg(test)]
mod limits;
pub mod metrics;
mod notes;
mod operator;
mod pace;
mod page_policy;
mod progress;
mod relay;
mod server;
mod shared;
mod socket;
pub mod storage;
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
