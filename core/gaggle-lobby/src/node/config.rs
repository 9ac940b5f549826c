//! Settings and inputs of a node.
//!
//! Supplied by the host of the node. Absent: their effect.

use std::fmt;

use gaggle_kit::Micros;

use crate::MessageError;
use crate::id::{NodeId, PlayerId};
use crate::message::server::{IceServer, Relay};
use crate::message::{ClientMessage, Envelope, id_of};
use crate::ticket::TicketSigner;

/// Provides ICE servers with fresh credentials.
pub trait IceProvider: fmt::Debug + Send {
    /// Servers with credentials for this player, valid from now on.
    fn servers(&self, now: Micros, player: PlayerId) -> Vec<IceServer>;
    /// Lifetime of the credentials in seconds.
    fn ttl_seconds(&self) -> u64;
    /// Relay, if there is one.
    fn relay(&self) -> Option<Relay> {
        None
    }
}

/// A provider without ICE servers.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoIce;

impl IceProvider for NoIce {
    fn servers(&self, _now: Micros, _player: PlayerId) -> Vec<IceServer> {
        Vec::new()
    }

    fn ttl_seconds(&self) -> u64 {
        0
    }
}

/// Settings of a node; none has a default.
#[derive(Debug)]
pub struct NodeConfig {
    /// Unique among the nodes that share a directory.
    pub id: NodeId,
    /// 32 random bytes, used for nothing else.
    pub secret: [u8; 32],
    /// Signs tickets. The same on all nodes.
    pub signer: TicketSigner,
    /// Name and version shown in `welcome`.
    pub server_name: String,
    /// Provider of ICE servers.
    pub ice: Box<dyn IceProvider>,
    /// Lifetime of this node's lease in the directory; `Micros::MAX` for a single node.
    pub lease: Micros,
}

/// A decoded message of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedMessage {
    pub(super) id: Option<u64>,
    pub(super) bytes: usize,
    pub(super) message: Result<ClientMessage, MessageError>,
}

impl ParsedMessage {
    /// Decodes a received text.
    pub fn read(text: &str) -> ParsedMessage {
        let bytes = text.len();
        match Envelope::<ClientMessage>::decode(text) {
            Ok(Envelope { id, message }) => ParsedMessage { id, bytes, message: Ok(message) },
            Err(error) => ParsedMessage { id: id_of(text), bytes, message: Err(error) },
        }
    }
}
