//! All connections of a node: which of them speaks for each peer, and when each is checked.
//!
//! Owned by [`Node`](super::Node). Absent: messages, consequences of a check.

use std::collections::{BTreeMap, BTreeSet};

use gaggle_kit::{Micros, PeerId};

use super::ConnectionId;
use super::connection::{Connection, Session};

/// The connections of a node.
#[derive(Debug, Default)]
pub(super) struct Connections {
    all: BTreeMap<ConnectionId, Connection>,
    /// Connection that speaks for each peer.
    speakers: BTreeMap<PeerId, ConnectionId>,
    deadlines: BTreeSet<(Micros, ConnectionId)>,
}

impl Connections {
    pub(super) fn insert(&mut self, id: ConnectionId, connection: Connection) {
        self.all.insert(id, connection);
    }

    /// Removes a connection, also as the speaker of its peer.
    pub(super) fn remove(&mut self, id: ConnectionId) -> Option<Connection> {
        let connection = self.all.remove(&id)?;
        if let Some(session) = connection.session() {
            self.remove_speaker(session.peer, id);
        }
        Some(connection)
    }

    pub(super) fn get(&self, id: ConnectionId) -> Option<&Connection> {
        self.all.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        self.all.get_mut(&id)
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = ConnectionId> {
        self.all.keys().copied()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (ConnectionId, &Connection)> {
        self.all.iter().map(|(id, connection)| (*id, connection))
    }

    /// Session of an identified connection.
    pub(super) fn session(&self, id: ConnectionId) -> Option<&Session> {
        self.all.get(&id)?.session()
    }

    /// Mutable session of an identified connection.
    pub(super) fn session_mut(&mut self, id: ConnectionId) -> Option<&mut Session> {
        self.all.get_mut(&id)?.session_mut()
    }

    /// Connection that speaks for a peer.
    pub(super) fn speaker(&self, peer: PeerId) -> Option<ConnectionId> {
        self.speakers.get(&peer).copied()
    }

    pub(super) fn set_speaker(&mut self, peer: PeerId, id: ConnectionId) {
        self.speakers.insert(peer, id);
    }

    /// Ends the speaker role of a connection, if it has it.
    pub(super) fn remove_speaker(&mut self, peer: PeerId, id: ConnectionId) {
        if self.speaker(peer) == Some(id) {
            self.speakers.remove(&peer);
        }
    }

    /// Schedules a check of a connection.
    pub(super) fn check_at(&mut self, at: Micros, id: ConnectionId) {
        self.deadlines.insert((at, id));
    }

    /// When the next check is due.
    pub(super) fn due(&self) -> Option<Micros> {
        self.deadlines.first().map(|(at, _)| *at)
    }

    /// Next connection whose check is due.
    #[must_use]
    pub(super) fn take_due(&mut self, now: Micros) -> Option<ConnectionId> {
        let first = self.deadlines.first().copied().filter(|(at, _)| *at <= now)?;
        self.deadlines.remove(&first);
        Some(first.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: PeerId = PeerId::from_bytes([1; 16]);

    #[test]
    fn only_speaker_itself_steps_back() {
        let mut connections = Connections::default();
        connections.set_speaker(PEER, ConnectionId(2));
        connections.remove_speaker(PEER, ConnectionId(1));
        assert_eq!(connections.speaker(PEER), Some(ConnectionId(2)));
        connections.remove_speaker(PEER, ConnectionId(2));
        assert_eq!(connections.speaker(PEER), None);
    }

    #[test]
    fn checks_come_due_in_order() {
        let mut connections = Connections::default();
        connections.check_at(Micros::from_secs(2), ConnectionId(1));
        connections.check_at(Micros::from_secs(1), ConnectionId(2));
        assert_eq!(connections.due(), Some(Micros::from_secs(1)));
        assert_eq!(connections.take_due(Micros::from_secs(1)), Some(ConnectionId(2)));
        assert_eq!(connections.take_due(Micros::from_secs(1)), None);
        assert_eq!(connections.take_due(Micros::from_secs(2)), Some(ConnectionId(1)));
    }

    #[test]
    fn connection_without_hello_has_no_session() {
        let mut connections = Connections::default();
        let address = "10.0.0.1".parse().unwrap();
        connections.insert(ConnectionId(1), Connection::new(Micros::ZERO, address));
        assert!(connections.session(ConnectionId(1)).is_none());
        assert!(connections.remove(ConnectionId(1)).is_some());
        assert_eq!(connections.len(), 0);
    }
}
