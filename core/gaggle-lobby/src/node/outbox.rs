//! Queue of a node's outputs, in order, and its counters.
//!
//! Owned by [`Node`](super::Node). Absent: state of connections; it only names them.

use std::collections::VecDeque;
use std::sync::Arc;

use gaggle_kit::PeerId;

use super::{ConnectionId, NodeOutput, NodeStats};
use crate::message::server::SignalReceived;
use crate::message::{Envelope, ServerMessage};
use crate::view::RawJson;

/// Queued outputs and counters.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    queue: VecDeque<NodeOutput>,
    /// Buffer for a signal's text before its length is known.
    scratch: String,
    stats: NodeStats,
}

impl Outbox {
    /// Counters since the start.
    pub(super) fn stats(&self) -> &NodeStats {
        &self.stats
    }

    /// Raises counters of the node.
    pub(super) fn count(&mut self, raise: impl FnOnce(&mut NodeStats)) {
        raise(&mut self.stats);
    }

    pub(super) fn push(&mut self, output: NodeOutput) {
        self.queue.push_back(output);
    }

    pub(super) fn poll(&mut self) -> Option<NodeOutput> {
        self.queue.pop_front()
    }

    /// Queues a message, as the answer to a request if `id` is given.
    pub(super) fn send(
        &mut self,
        connection: ConnectionId,
        id: Option<u64>,
        message: impl Into<ServerMessage>,
    ) {
        let text = Envelope { id, message: message.into() }.encode().into();
        self.push(NodeOutput::Send { connection, text });
    }

    /// Queues one text for several connections, encoded once.
    pub(super) fn send_all(
        &mut self,
        connections: impl Iterator<Item = ConnectionId>,
        message: impl Into<ServerMessage>,
    ) {
        let mut connections = connections.peekable();
        if connections.peek().is_some() {
            let text: Arc<str> = Envelope { id: None, message: message.into() }.encode().into();
            connections.for_each(|connection| {
                self.queue.push_back(NodeOutput::Send { connection, text: text.clone() });
            });
        }
    }

    /// Queues a signal and returns its data: encoded before it is stored, so that nothing is
    /// copied.
    #[must_use]
    pub(super) fn send_signal(
        &mut self,
        connection: ConnectionId,
        from: PeerId,
        n: u64,
        data: RawJson,
    ) -> RawJson {
        let said = Envelope { id: None, message: ServerMessage::from(SignalReceived { from, n, data }) };
        self.scratch.clear();
        said.encode_into(&mut self.scratch);
        let text = self.scratch.as_str().into();
        self.queue.push_back(NodeOutput::Send { connection, text });
        match said.message {
            ServerMessage::SignalReceived(SignalReceived { data, .. }) => data,
            _ => RawJson::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::server::Done;

    fn texts(outbox: &mut Outbox) -> Vec<(u64, String)> {
        let text = |output| match output {
            NodeOutput::Send { connection, text } => (connection.0, text.to_string()),
            other => panic!("{other:?}"),
        };
        std::iter::from_fn(|| outbox.poll()).map(text).collect()
    }

    #[test]
    fn outputs_leave_in_order() {
        let mut outbox = Outbox::default();
        outbox.send(ConnectionId(1), Some(7), Done {});
        outbox.send(ConnectionId(2), None, Done {});
        let done = |text: &str| text.to_string();
        assert_eq!(texts(&mut outbox), [(1, done(r#"{"type":"ok","id":7}"#)), (2, done(r#"{"type":"ok"}"#))]);
    }

    #[test]
    fn message_to_several_is_written_once() {
        let mut outbox = Outbox::default();
        outbox.send_all([ConnectionId(1), ConnectionId(2)].into_iter(), Done {});
        let texts: Vec<Arc<str>> = std::iter::from_fn(|| outbox.poll())
            .map(|output| match output {
                NodeOutput::Send { text, .. } => text,
                other => panic!("{other:?}"),
            })
            .collect();
        assert!(Arc::ptr_eq(&texts[0], &texts[1]));
        outbox.send_all([].into_iter(), Done {});
        assert_eq!(outbox.poll(), None);
    }

    #[test]
    fn signal_gives_its_data_back() {
        let mut outbox = Outbox::default();
        let data = RawJson::new("[1]").unwrap();
        assert_eq!(outbox.send_signal(ConnectionId(1), PeerId::from_u128(1), 4, data.clone()), data);
        let sent = texts(&mut outbox);
        assert!(sent[0].1.contains(r#""n":4,"data":[1]"#), "{sent:?}");
    }
}
