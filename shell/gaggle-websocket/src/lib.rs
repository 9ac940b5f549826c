//! WebSockets of servers: frames, connections, a reactor.
//!
#![doc = include_str!("../README.md")]

pub mod codec;
mod connection;
pub mod handshake;
mod id_hasher;
mod line;
mod reactor;
#[cfg_attr(not(feature = "tls"), path = "left_out/tls.rs")]
mod tls;

pub use codec::{Decoder, Encoder, Frame, FrameError, FrameQueue, Message, MessageKind, Queue};
pub use connection::Connection;
pub use id_hasher::IdHasher;
pub use reactor::{Accepted, Flow, Handler, Reactor, ReactorConfig};
pub use tls::TlsSession;
