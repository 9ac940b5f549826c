//! A room's view of the links to its members, on any kind of path.
//!
//! `gaggle::Room` calls it; [`MultipathMesh`](crate::MultipathMesh) implements it over real paths,
//! tests over simulated ones. Absent: rooms, games, and how signals reach the other side.

use gaggle_kit::{DecodeError, IceServer, Micros, PeerId};

use crate::{Path, PathChanged, Transport};

/// A [`Transport`] to the members of one room, which finds paths to them with the help of signals.
///
/// - Call [`add_peer`](Mesh::add_peer) and [`remove_peer`](Mesh::remove_peer) when members join and
///   leave.
/// - Pass signals: those the lobby delivers go into [`handle_signal`](Mesh::handle_signal), those
///   of [`poll_signal`](Mesh::poll_signal) go to the lobby. Drain it after polling.
///
/// Losing the lobby ends no link; signals wait.
pub trait Mesh: Transport {
    /// Adds a member and connects to it. No effect on an existing link.
    fn add_peer(&mut self, now: Micros, peer: PeerId);

    /// Adds a server that is a member at the relay itself, and connects to it there: it has no
    /// direct path and gets no signals. Without a relay the link never opens.
    fn add_server(&mut self, now: Micros, server: PeerId) {
        self.add_peer(now, server);
    }

    /// Removes a member: its link ends, and it cannot connect again.
    fn remove_peer(&mut self, now: Micros, peer: PeerId);

    /// Handles a signal of a member.
    ///
    /// # Errors
    /// If it is not a signal: the sender runs other software.
    fn handle_signal(&mut self, now: Micros, from: PeerId, text: &str) -> Result<(), DecodeError>;

    /// Next signal for the lobby, with its receiver.
    fn poll_signal(&mut self) -> Option<(PeerId, String)>;

    /// Sets the ticket to show to the relay.
    fn set_ticket(&mut self, now: Micros, ticket: &str) {
        let _ = (now, ticket);
    }

    /// Whether to request a newer ticket from the lobby now, because the relay rejected the current
    /// one. True once each time.
    fn wants_ticket(&mut self, now: Micros) -> bool {
        let _ = now;
        false
    }

    /// Sets the ICE servers for new connections. Existing links are not affected.
    fn set_ice_servers(&mut self, servers: &[IceServer]) {
        let _ = servers;
    }

    /// Current path of the link to a peer.
    fn path(&self, peer: PeerId) -> Option<Path>;

    /// Next change of a path, with the reason.
    fn poll_path_change(&mut self) -> Option<PathChanged> {
        None
    }
}
