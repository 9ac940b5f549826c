//! Outputs and counters of a node.
//!
//! The host of a node drains [`Node::poll_output`](super::Node::poll_output). Absent: how outputs
//! are carried out.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{AuditRecord, ConnectionId, NodeMessage};
use crate::directory::{LogEntry, Lookup};
use crate::id::{NodeId, PlayerId};
use crate::label::Label;
use crate::message::RejectionCode;

/// Purpose of a [`Query`], returned with its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Answers a client's request.
    Request {
        /// Connection of the client.
        connection: ConnectionId,
        /// The `id` of its message.
        id: Option<u64>,
    },
    /// A search needs the rating of its player.
    Search(ConnectionId),
}

/// Action for the host of the node, to be done in order.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum NodeOutput {
    /// Send this text.
    Send {
        /// Connection that receives it.
        connection: ConnectionId,
        /// Text of the message.
        text: Arc<str>,
    },
    /// Send a ping that requires a pong.
    Ping {
        /// Connection to ping.
        connection: ConnectionId,
    },
    /// Close after everything queued before is sent. `Node::handle_closed` need not follow.
    Close {
        /// Connection to close.
        connection: ConnectionId,
        /// Reason of the close.
        code: RejectionCode,
    },
    /// Append this to the log. Once the directory has applied it, call `Node::handle_applied`; if
    /// it cannot be appended, `Node::handle_rejected`.
    Append(Box<LogEntry>),
    /// Ask the directory and call `Node::handle_found`.
    LookUp(Lookup),
    /// Send a message to another node.
    Tell {
        /// Node that receives it.
        node: NodeId,
        /// Message to send.
        message: NodeMessage,
    },
    /// Check a token of an external issuer and call `Node::handle_verified`.
    Verify {
        /// Connection that showed it.
        connection: ConnectionId,
        /// Token to check.
        token: String,
    },
    /// Query the storage and call `Node::handle_answer`.
    Query {
        /// To be returned with the answer.
        purpose: Purpose,
        /// Query to make.
        query: Query,
    },
    /// Write an audit record to the log.
    AuditRecord(Box<AuditRecord>),
}

/// Question to the storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    /// Best results of a game and mode.
    Leaderboard {
        /// Game of the results.
        game: Label,
        /// Mode of the results.
        mode: Label,
        /// Only results that another player confirmed.
        verified: bool,
        /// Number of entries at most.
        count: u8,
    },
    /// Best result, rating and last matches of one player.
    PlayerStats {
        /// Account of the player.
        player: PlayerId,
        /// Game of the results.
        game: Label,
        /// Mode of the results.
        mode: Label,
    },
}

/// A player as authenticated by an external issuer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Name of the issuer.
    pub issuer: String,
    /// Id of the player at the issuer.
    pub subject: String,
    /// Display name at the issuer.
    pub name: Option<String>,
}

/// Counters since the start, for operators.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NodeStats {
    /// Messages received from clients.
    pub messages: u64,
    /// Connections identified by `hello`.
    pub authenticated: u64,
    /// Reservations given to joiners.
    pub joined: u64,
    /// Rooms created by clients.
    pub rooms_created: u64,
    /// Reservations resumed by clients.
    pub returned: u64,
    /// Signals delivered to clients.
    pub signals: u64,
    /// Rejected requests by reason.
    pub rejected: BTreeMap<RejectionCode, u64>,
    /// Connections closed by the server, by reason.
    pub closed: BTreeMap<RejectionCode, u64>,
}
