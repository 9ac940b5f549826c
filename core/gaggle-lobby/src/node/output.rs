//! What a node wants done, and what it counts.
//!
//! The host of a node drains `Node::poll_output`(super::Node::poll_output).
//! Absent: who does it, and how.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{AuditRecord, ConnectionId, NodeMessage};
use crate::directory::{LogEntry, Lookup};
use crate::id::{NodeId, PlayerId};
use crate::label::Label;
use crate::message::RejectionCode;

/// What a [`Query`] is for; comes back with its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A client asked.
    Request {
        /// On this connection.
        connection: ConnectionId,
        /// The `id` of its message.
        id: Option<u64>,
    },
    /// A search needs the rating of its player.
    Search(ConnectionId),
}

/// What a node wants done, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum NodeOutput {
    /// Send this text.
    Send {
        /// On which connection.
        connection: ConnectionId,
        /// What.
        text: Arc<str>,
    },
    /// Send a ping that the other side must answer.
    Ping {
        /// On which connection.
        connection: ConnectionId,
    },
    /// Close, after everything sent before has gone out. `Node::handle_closed` is not expected
    /// any more.
    Close {
        /// Which connection.
        connection: ConnectionId,
        /// Why.
        code: RejectionCode,
    },
    /// Append this to the log. Once the directory has applied it, give both to
    /// `Node::handle_applied`; if it cannot be appended, to `Node::handle_rejected`.
    Append(Box<LogEntry>),
    /// Ask the directory and give the answer to `Node::handle_found`.
    LookUp(Lookup),
    /// Tell another node.
    Tell {
        /// Which.
        node: NodeId,
        /// What.
        message: NodeMessage,
    },
    /// Check a token from an outside issuer and say so with `Node::handle_verified`.
    Verify {
        /// Whose.
        connection: ConnectionId,
        /// The token.
        token: String,
    },
    /// Look something up in storage and say so with `Node::handle_answer`.
    Query {
        /// To be given back.
        purpose: Purpose,
        /// The question.
        query: Query,
    },
    /// Something for the log. Nothing has to be done.
    AuditRecord(Box<AuditRecord>),
}

/// What a client wants to know from storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    /// The best of a game and mode.
    Leaderboard {
        /// Which game.
        game: Label,
        /// Which mode.
        mode: Label,
        /// Only confirmed results.
        verified: bool,
        /// At most so many.
        count: u8,
    },
    /// One's own best, rating and last matches.
    PlayerStats {
        /// Who.
        player: PlayerId,
        /// Which game.
        game: Label,
        /// Which mode.
        mode: Label,
    },
}

/// Who an outside issuer says somebody is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The issuer.
    pub issuer: String,
    /// Whom it means.
    pub subject: String,
    /// What they are called there.
    pub name: Option<String>,
}

/// What happened so far, for whoever watches over a server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NodeStats {
    /// Messages received.
    pub messages: u64,
    /// Connections that said hello.
    pub authenticated: u64,
    /// Seats given to joiners.
    pub joined: u64,
    /// Rooms made.
    pub rooms_created: u64,
    /// Seats given back to those who had them.
    pub returned: u64,
    /// Signals handed over.
    pub signals: u64,
    /// Things refused, by why.
    pub rejected: BTreeMap<RejectionCode, u64>,
    /// Connections ended by the server, by why.
    pub closed: BTreeMap<RejectionCode, u64>,
}
