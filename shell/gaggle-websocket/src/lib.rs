//! WebSockets of servers: [frames](codec) without a socket, [`Connection`]s that never wait, and a
//! [`Reactor`] that serves thousands of them in few threads.
//!
//! The lobby and the relay run on it, each as a [`Handler`]. A task for each connection would be
//! woken, queued and polled again for every message, and all of that lies cold in memory by the
//! time its client says something. Here the kernel names the socket, and what came is handled at
//! once. Absent: HTTP, what messages mean, which clients are welcome.

pub mod codec;
mod connection;
pub mod handshake;
mod id_hasher;
mod line;
mod reactor;

pub use codec::{Decoder, Encoder, Frame, FrameError, FrameQueue, Message, MessageKind, Queue};
pub use connection::Connection;
pub use id_hasher::IdHasher;
pub use reactor::{Accepted, Flow, Handler, Reactor, ReactorConfig};
