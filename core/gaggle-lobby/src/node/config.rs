//! What a node is made from, and what it is fed with.
//!
//! Absent: what it does with it.

use std::fmt;

use gaggle_kit::Micros;

use crate::MessageError;
use crate::id::{NodeId, PlayerId};
use crate::message::server::{IceServer, Relay};
use crate::message::{ClientMessage, Envelope, id_of};
use crate::ticket::TicketSigner;

/// Lends the servers that help to make links, with fresh credentials.
pub trait IceProvider: fmt::Debug + Send {
    /// For this person, from now on.
    fn servers(&self, now: Micros, player: PlayerId) -> Vec<IceServer>;
    /// How long the credentials count, in seconds.
    fn ttl_seconds(&self) -> u64;
    /// The relay, if there is one.
    fn relay(&self) -> Option<Relay> {
        None
    }
}

/// No such servers.
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

/// What must be chosen for a node.
#[derive(Debug)]
pub struct NodeConfig {
    /// Its name among the nodes that share a directory.
    pub id: NodeId,
    /// 32 random bytes, never used for anything else.
    pub secret: [u8; 32],
    /// Signs tickets. The same on all nodes.
    pub signer: TicketSigner,
    /// What is told in `welcome`.
    pub server_name: String,
    /// Servers that help to make links.
    pub ice: Box<dyn IceProvider>,
    /// How long the directory waits for a sign of life of this node; `Micros::MAX` if it is the
    /// only one.
    pub lease: Micros,
}

/// A client's message, decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub(super) id: Option<u64>,
    pub(super) bytes: usize,
    pub(super) message: Result<ClientMessage, MessageError>,
}

impl Said {
    /// Reads a text.
    pub fn read(text: &str) -> Said {
        let bytes = text.len();
        match Envelope::<ClientMessage>::decode(text) {
            Ok(Envelope { id, message }) => Said { id, bytes, message: Ok(message) },
            Err(error) => Said { id: id_of(text), bytes, message: Err(error) },
        }
    }
}
