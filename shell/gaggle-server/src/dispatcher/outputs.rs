//! Outputs of node and directory, carried out under the lock.
//!
//! [`Dispatcher`](super::Dispatcher) calls it. Absent: the lock, work after its release.

use gaggle_kit::Micros;
use gaggle_lobby::directory::LogEntry;
use gaggle_lobby::node::{ConnectionId, NodeOutput};
use gaggle_lobby::{Rejection, RejectionCode};
use tracing::error;

use super::{Deferred, Machines};
use crate::shared::{Logged, Share, unavailable};
use crate::socket::{LobbySocket, Socket};

impl Machines {
    /// Carries out outputs until there are none.
    pub(super) fn settle(&mut self, now: Micros, deferred: &mut Deferred) {
        self.pass_on_notices(now, deferred);
        while let Some(output) = self.node.poll_output() {
            self.take(now, output, deferred);
        }
    }

    /// Appends an entry to the log; without a shared log it is applied at once.
    pub(super) fn append(&mut self, now: Micros, entry: Box<LogEntry>, deferred: &mut Deferred) {
        match &mut self.share {
            Some(share) => {
                if let Err(entry) = share.append(entry) {
                    self.node.handle_rejected(now, &entry, unavailable());
                }
            }
            None => {
                let reply = self.directory.apply(now, &entry);
                // The node expects notices before the reply.
                self.pass_on_notices(now, deferred);
                self.node.handle_applied(now, &entry, reply);
            }
        }
    }

    /// Applies an entry of the shared log. An unreadable one is skipped on every node: restarting
    /// would only reach it again.
    pub(super) fn apply_logged(&mut self, now: Micros, logged: &Logged, deferred: &mut Deferred) {
        let Some(share) = &mut self.share else { return };
        let own = share.take(now, logged);
        let reply = LogEntry::from_text(&logged.text).map(|entry| self.directory.apply(logged.time, &entry));
        self.pass_on_notices(now, deferred);
        match (reply, own) {
            (Ok(reply), Some(own)) => self.node.handle_applied(now, &own, reply),
            (Ok(_), None) => {}
            (Err(error), own) => {
                error!(at = logged.at, %error, "an unreadable entry of the log is skipped");
                own.iter().for_each(|own| self.node.handle_rejected(now, own, unavailable()));
            }
        }
        if let Some(share) = &mut self.share {
            share.snapshot_after(logged, &self.directory);
        }
    }

    pub(super) fn pass_on_notices(&mut self, now: Micros, deferred: &mut Deferred) {
        let own = self.share.as_ref().map(Share::id);
        while let Some((node, notice)) = self.directory.poll_notice() {
            if own.is_none_or(|own| own == node) {
                self.node.handle_notice(now, notice);
            }
        }
        while let Some(record) = self.directory.poll_record() {
            deferred.records.push(record);
        }
    }

    pub(super) fn take(&mut self, now: Micros, output: NodeOutput, deferred: &mut Deferred) {
        match output {
            NodeOutput::Send { connection, text } => {
                self.with_socket(now, connection, deferred, |socket| socket.queue_text(text));
            }
            NodeOutput::Ping { connection } => {
                self.with_socket(now, connection, deferred, Socket::queue_ping);
            }
            NodeOutput::Close { connection, code } => {
                if let Some(socket) = self.sockets.remove(&connection) {
                    socket.queue_end(code);
                    deferred.flush.push(socket);
                }
            }
            NodeOutput::Append(entry) => self.append(now, entry, deferred),
            NodeOutput::LookUp(lookup) => {
                let found = self.directory.look_up(&lookup);
                self.node.handle_found(now, lookup, found);
            }
            NodeOutput::Verify { connection, token } => deferred.tokens.push((connection, token)),
            NodeOutput::Query { purpose, query } => deferred.queries.push((purpose, query)),
            NodeOutput::AuditRecord(note) => deferred.notes.push(*note),
            NodeOutput::Tell { node, message } => match &self.share {
                Some(share) => share.tell(node, &message),
                None => debug_assert!(false, "a single node sends to no other"),
            },
        }
    }

    pub(super) fn with_socket(
        &mut self,
        now: Micros,
        id: ConnectionId,
        deferred: &mut Deferred,
        queue: impl FnOnce(&Socket) -> bool,
    ) {
        let Some(socket) = self.sockets.get(&id) else { return };
        let took_it = queue(socket);
        if deferred.flush.last().is_none_or(|last| last.id() != id) {
            deferred.flush.push(socket.clone());
        }
        if !took_it {
            let _ = self.sockets.remove(&id).map(|socket| socket.queue_end(RejectionCode::TooSlow));
            // The client would not read a `bye`, but the close is counted and logged.
            let text = "the client does not read fast enough";
            self.node.disconnect(now, id, Rejection::new(RejectionCode::TooSlow, text));
        }
    }
}
