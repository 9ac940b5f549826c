//! The platform of a simulated peer: a socket to the lobby, and the mesh it opens. Rooms run on it.
//! Absent: the network between peers.

use std::sync::Arc;

use gaggle_kit::{Micros, PeerId};
use gaggle_link::sim::SimNet;
use gaggle_lobby::client::{LobbySocket, SocketEvent};
use gaggle_lobby::node::ConnectionId;

use super::Held;
use super::lobby::{EPOCH, LOBBY_DELAY, Shared};
use super::mesh::SimMesh;
use crate::platform::{MeshSetup, Platform};

/// A peer's socket to the simulated lobby.
#[derive(Debug)]
pub struct SimSocket {
    peer: usize,
    shared: Held<Shared>,
    connection: Option<ConnectionId>,
}

impl LobbySocket for SimSocket {
    fn connect(&mut self) {
        let shared = &mut *self.shared.lock();
        let inbox = &mut shared.to_peer[self.peer];
        inbox.clear();
        if !shared.lobby_up {
            inbox.push_back((shared.now + LOBBY_DELAY, SocketEvent::Closed));
            return;
        }
        shared.next_connection += 1;
        let connection = ConnectionId(shared.next_connection);
        inbox.push_back((shared.now + LOBBY_DELAY, SocketEvent::Opened));
        shared.owners.insert(connection, self.peer);
        let address = format!("10.0.0.{}", self.peer + 1).parse().expect("an address");
        shared.node.handle_connected(EPOCH + shared.now, connection, address);
        self.connection = Some(connection);
    }

    fn send(&mut self, text: &str) {
        let shared = &mut *self.shared.lock();
        if let Some(connection) = self.connection.filter(|_| shared.lobby_up) {
            if text.contains(r#""type":"score""#) {
                shared.observed.scores.push((shared.now, self.peer, text.to_string()));
            }
            shared.to_node.push_back((shared.now + LOBBY_DELAY, connection, Some(text.to_string())));
        }
    }

    fn disconnect(&mut self) {
        let shared = &mut *self.shared.lock();
        if let Some(connection) = self.connection.take() {
            shared.owners.remove(&connection);
            shared.to_node.push_back((shared.now + LOBBY_DELAY, connection, None));
        }
    }

    fn poll(&mut self) -> Option<SocketEvent> {
        let shared = &mut *self.shared.lock();
        let inbox = &mut shared.to_peer[self.peer];
        let is_due = inbox.front().is_some_and(|(at, _)| *at <= shared.now);
        if is_due { inbox.pop_front().map(|(_, event)| event) } else { None }
    }
}

/// The platform of a peer: see [`SimLobby::platform`](super::SimLobby::platform).
#[derive(Debug)]
pub struct SimPlatform {
    socket: SimSocket,
    net: Held<SimNet>,
    ids: Arc<Vec<PeerId>>,
}

impl SimPlatform {
    pub(super) fn new(
        peer: usize,
        shared: Held<Shared>,
        net: Held<SimNet>,
        ids: Arc<Vec<PeerId>>,
    ) -> SimPlatform {
        SimPlatform { socket: SimSocket { peer, shared, connection: None }, net, ids }
    }
}

impl Platform for SimPlatform {
    type Lobby = SimSocket;
    type Mesh = SimMesh;

    fn lobby(&mut self) -> &mut SimSocket {
        &mut self.socket
    }

    fn open_mesh(&mut self, _now: Micros, setup: &MeshSetup<'_>) -> SimMesh {
        let (peer, shared) = (self.socket.peer, self.socket.shared.clone());
        shared.lock().peers.retain(|_, owner| *owner != peer);
        shared.lock().peers.insert(setup.local_id, peer);
        shared.lock().tickets.insert(setup.local_id, setup.ticket.to_string());
        let carrier = self.net.lock().restarted_carrier(peer);
        SimMesh::new(peer, shared, self.net.clone(), carrier, Arc::clone(&self.ids), setup)
    }
}
