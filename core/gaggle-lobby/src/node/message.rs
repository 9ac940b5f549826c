//! Messages between nodes. They may be lost; everything that must happen works without them.
//!
//! The host of a node carries them as texts. Absent: how they are sent.

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
        /// Peer of both connections.
        peer: PeerId,
        /// Connection to probe.
        session: ResumeId,
        /// Node that asks.
        from: NodeId,
        /// Connection of that node that waits for the result.
        connection: u64,
    }
}

record! {
    /// Result of a probe.
    #[derive(Copy)]
    pub struct ProbeResult {
        /// Connection that waits for the result.
        connection: u64,
        /// Whether the probed connection is alive.
        alive: bool,
    }
}

tagged! {
    /// Message from node to node. A signal is for a member connected there.
    #[allow(missing_docs, reason = "each variant is the record of its name")]
    pub enum NodeMessage by "tell" {
        "signal" => QueueSignal,
        "probe" => Probe,
        "probe_result" => ProbeResult,
    }
}

impl NodeMessage {
    /// The message as text.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    /// Reads the text of [`NodeMessage::to_text`].
    ///
    /// # Errors
    /// If the text is not a node message.
    pub fn from_text(text: &str) -> Result<NodeMessage, MessageError> {
        NodeMessage::read(Raw::parse(text)?, "message")
    }
}
