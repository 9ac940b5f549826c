//! The relay: forwards datagrams between members of a room who cannot reach each other directly.
//!
//! It serves only who proves by a ticket to be a member of a room, and forwards only within that
//! room. [`Relay`] decides, without a socket or a clock; [`RelayServer`] has those. A server mounts
//! it on a path of its HTTP port:
//!
//! ```no_run
//! # use gaggle_lobby::TicketSigner;
//! # use gaggle_relay::{RelayConfig, RelayServer, UdpPort};
//! # use gaggle_websocket::Accepted;
//! # fn example(accepted: Accepted, signer: &TicketSigner) -> std::io::Result<()> {
//! // Once, inside a tokio runtime:
//! let udp = UdpPort::bind(([0, 0, 0, 0], 8080).into(), &[])?;
//! let relay = RelayServer::start(signer.key(), RelayConfig::default(), Some(udp))?;
//! // For every WebSocket, after its opening handshake:
//! relay.serve(accepted);
//! # Ok(())
//! # }
//! ```

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
