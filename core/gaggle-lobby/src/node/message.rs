//! Messages between nodes. They may be lost: nothing that has to happen depends on one.
//!
//! Carried by the host of a node, as texts. Absent: how they travel.

#![allow(unreachable_pub, reason = "records declare themselves public")]

use gaggle_kit::PeerId;

use crate::MessageError;
use crate::directory::command::QueueSignal;
use crate::id::{NodeId, ResumeId};
use crate::json::{Raw, Value, record, tagged};

record! {
    /// Asks whether a connection is alive.
    #[derive(Copy)]
    pub struct Probe {
        /// The peer both connections speak for.
        peer: PeerId,
        /// The connection in question.
        session: ResumeId,
        /// Node that asks.
        from: NodeId,
        /// Connection there that waits for the result.
        connection: u64,
    }
}

record! {
    /// Whether a probed connection is alive.
    #[derive(Copy)]
    pub struct ProbeResult {
        /// Connection that waits for the result.
        connection: u64,
        /// Whether the other one answered.
        alive: bool,
    }
}

tagged! {
    /// What one node tells another. A signal is for a member connected there.
    #[allow(missing_docs, reason = "each variant is the record of its name")]
    pub enum NodeMessage by "tell" {
        "signal" => QueueSignal,
        "probe" => Probe,
        "probe_result" => ProbeResult,
    }
}

impl NodeMessage {
    /// The text to send to another node.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    /// Reads what [`NodeMessage::to_text`] wrote.
    ///
    /// # Errors
    /// If it is no such text.
    pub fn from_text(text: &str) -> Result<NodeMessage, MessageError> {
        NodeMessage::read(Raw::parse(text)?, "message")
    }
}
